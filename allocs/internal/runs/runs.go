// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// Result is the result of one leaf: a benchmark without sub-benchmarks.
type Result struct {
	Package string  `json:"-"`
	Name    string  // "BenchmarkX/sub"
	Title   string  `json:"-"` // name with the package, if two packages have the same name
	PerOp   float64 // all allocations of the process for one operation
	Bytes   float64 // bytes of them
	N       int     // operations that were counted
	Failed  string  // why there is no count, or ""
	Slow    bool    // the first iteration took too long
	Inexact bool    // objects below 16 bytes were not counted one by one
	Sites   []Site
}

// Shown returns the name in reports.
func (r *Result) Shown() string {
	if r.Title != "" {
		return r.Title
	}
	return r.Name
}

// Site is one stack that allocated.
type Site struct {
	Stack               []binary.Frame // allocation first
	Cut                 bool           // the stack is deeper than the release notes
	PerOp, Total, Bytes float64
}

// Cut returns the part of PerOp whose stacks are cut off, so that the functions
// above it are unknown.
func (r *Result) Cut() (perOp float64) {
	for _, s := range r.Sites {
		if s.Cut {
			perOp += s.PerOp
		}
	}
	return perOp
}

// Options select the runs.
type Options struct {
	Bench  *regexp.Regexp // names of benchmarks
	Budget time.Duration  // target processor time of one benchmark
	// Processor time, or time without progress, at which one is given up; 0 is
	// two minutes.
	Hang time.Duration
}

// hang is the default of Options.Hang.
const hang = 2 * time.Minute

// Binary is a test binary with the measuring code.
type Binary struct {
	Package *load.Package
	Path    string
	Names   []string // benchmarks that it can run
	Broken  error    // why it could not be built, or nil

	tc      *toolchain.Toolchain
	overlay string
	dir     string            // directory of the module
	added   map[string]string // content of the files in the overlay
	read    map[string]string // what the runs have read, and its state; nil if unknown
}

// Run measures the benchmarks of the binary, and returns a result for
// each leaf, with the reason if it failed.
func (b *Binary) Run(ctx context.Context, o Options) ([]Result, error) {
	var all []Result
	b.read = map[string]string{}
	for _, name := range b.Names {
		all = append(all, b.unit(ctx, o, name)...)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for i := range all {
		all[i].Package = b.Package.ImportPath
	}
	return all, nil
}

// benchmarks lists the benchmarks that a file declares and whose name matches.
// With an error it lists the benchmarks of the part that can be read.
func benchmarks(name string, match *regexp.Regexp) (out []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if f == nil {
		return nil, err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Type.TypeParams != nil || len(fn.Type.Params.List) != 1 {
			continue
		}
		// A lower-case letter after the prefix makes it another word.
		rest, ok := strings.CutPrefix(fn.Name.Name, "Benchmark")
		first, _ := utf8.DecodeRuneInString(rest)
		if ok && !unicode.IsLower(first) && match.MatchString(fn.Name.Name) {
			out = append(out, fn.Name.Name)
		}
	}
	return out, err
}
