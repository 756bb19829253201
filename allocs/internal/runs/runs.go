// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/program"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// Result is what one leaf showed: a benchmark without sub-benchmarks, or a test.
type Result struct {
	Package  string        `json:"-"`
	Name     string        // "BenchmarkX/sub"
	Title    string        `json:"-"` // with the package, where two packages have the name; or ""
	PerOp    float64       // all allocations of the process for one operation
	N        int           // operations that were counted
	Unstable bool          `json:"-"` // another process gave the leaf another name
	Failed   string        // why there is no count, or ""
	Slow     bool          // it failed by the processor time that it uses, as it would again
	Within   time.Duration // what --timeout left of processor time, where that did not suffice
	Inexact  bool          // objects below 16 bytes were not counted one by one
	Sites    []Site
}

// Shown is the name in reports.
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

// Cut is how much of PerOp has stacks that are cut off: below which function that
// is allocated is not known.
func (r *Result) Cut() (perOp float64) {
	for _, s := range r.Sites {
		if s.Cut {
			perOp += s.PerOp
		}
	}
	return perOp
}

// Options say what to run.
type Options struct {
	Bench   *regexp.Regexp // benchmarks; nil runs none
	Tests   *regexp.Regexp // tests; nil runs none
	Timeout time.Duration  // processor time of the runs of one package
	Budget  time.Duration  // processor time aimed at for one benchmark
	Hang    time.Duration  // processor time, or time without progress, at which one is given up; 0 is two minutes
	Keep    bool           // every function of the test files has code in the binary
}

// hang is the default of Options.Hang.
const hang = 2 * time.Minute

// Binary is a test binary that holds the file that measures.
type Binary struct {
	Package *load.Package
	Path    string
	Names   []string // benchmarks and tests that it can run

	tc       *toolchain.Toolchain
	tests    map[string]bool // of the names
	overlay  string
	dir      string            // of the module
	added    map[string]string // what is in the overlay
	mirrored string            // copy of the module for releases without overlays, or ""
	sum      string            // of its content
}

// Build makes the test binary of a package, below work. It returns nil when
// nothing of the package is asked for and nothing is to be kept.
func Build(ctx context.Context, tc *toolchain.Toolchain, p *load.Package, o Options, moduleDir, work string) (*Binary, error) {
	b := &Binary{Package: p, dir: moduleDir, tests: map[string]bool{}, Path: filepath.Join(work, "measure-"+strings.ReplaceAll(p.ImportPath, "/", "-")+".test")}
	var err error
	if b.tc, err = tc.Measuring(); err != nil {
		return nil, err
	}
	if err := b.prepare(b.tc, o, work); err != nil || len(b.Names) == 0 && !o.Keep {
		return nil, err
	}
	return b, b.compile(ctx, "-o", b.Path)
}

// testFiles are the test files of one of the two packages in a directory.
type testFiles struct {
	names []string
	pkg   string
	file  string // what is added to them
}

// prepare writes the overlay with the files that measure.
func (b *Binary) prepare(tc *toolchain.Toolchain, o Options, work string) error {
	p := b.Package
	var err error
	if b.added, err = standard(tc, work); err != nil {
		return err
	}
	measures := false
	for _, set := range []testFiles{
		{p.TestGoFiles, p.Name, "allocs_measures_this_"},
		{p.XTestGoFiles, p.Name + "_test", "allocs_measures_this_x_"},
	} {
		if len(set.names) == 0 {
			continue
		}
		f := file{Package: set.pkg, Entry: entryName, Windows: tc.GOOS == "windows"}
		if err := b.fill(&f, set.names, o); err != nil {
			return err
		}
		if !measures { // one of the two is enough
			measures = true
			if err := b.add(f, "harness.go.txt", set.file+"main_test.go", work); err != nil {
				return err
			}
		}
		if len(f.Tests)+len(f.Kept) > 0 {
			if err := b.add(f, "tests.go.txt", set.file+"tests_test.go", work); err != nil {
				return err
			}
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": b.added})
	if err != nil {
		return err
	}
	b.overlay = b.Path + ".overlay.json"
	return os.WriteFile(b.overlay, text, 0o644)
}

// fill lists what the test files have.
func (b *Binary) fill(f *file, names []string, o Options) error {
	for _, name := range names {
		bench, tests, err := functions(filepath.Join(b.Package.Dir, name))
		if err != nil {
			return err
		}
		b.Names = append(b.Names, matching(bench, o.Bench)...)
		f.Tests = append(f.Tests, matching(tests, o.Tests)...)
	}
	for _, t := range f.Tests {
		b.tests[t] = true
	}
	b.Names = append(b.Names, f.Tests...)
	if o.Keep {
		f.Kept = program.References(b.Package.Dir, names)
	}
	return nil
}

// add puts a file into the overlay.
func (b *Binary) add(f file, template, name, work string) error {
	text, err := f.source(template)
	if err != nil {
		return err
	}
	to := filepath.Join(work, strings.ReplaceAll(b.Package.ImportPath, "/", "-")+"-"+name)
	b.added[filepath.Join(b.Package.Dir, name)] = to
	return os.WriteFile(to, []byte(text), 0o644)
}

func matching(names []string, re *regexp.Regexp) []string {
	var out []string
	for _, n := range names {
		if re != nil && re.MatchString(n) {
			out = append(out, n)
		}
	}
	return out
}

// functions lists the benchmarks and tests that a file declares.
func functions(name string) (bench, tests []string, err error) {
	f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || fn.Type.TypeParams != nil || len(fn.Type.Params.List) != 1 {
			continue
		}
		switch id := fn.Name.Name; {
		case strings.HasPrefix(id, "Benchmark"):
			bench = append(bench, id)
		case strings.HasPrefix(id, "Test") && id != "TestMain":
			tests = append(tests, id)
		}
	}
	return bench, tests, nil
}
