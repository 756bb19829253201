// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/toolchain"
)

// Result is what one benchmark or test showed.
type Result struct {
	Package string `json:"-"`
	Name    string
	PerOp   float64 // all allocations of the process for one operation
	N       int
	Failed  string
	Sites   []Site
}

// Site is one stack that allocated.
type Site struct {
	Stack               []binary.Frame // allocation first
	PerOp, Total, Bytes float64
}

// Options say what to run.
type Options struct {
	Bench   *regexp.Regexp // benchmarks; nil runs none
	Tests   *regexp.Regexp // tests; nil runs none
	Timeout time.Duration  // of one package
	Budget  time.Duration  // aimed at for one benchmark
}

// Binary is a test binary that holds the file that measures.
type Binary struct {
	Package *load.Package
	Path    string
	Entries []string
	Names   []string // what it can run
}

// Build makes the test binary of a package, below work. It returns nil when
// nothing of the package is asked for.
func Build(ctx context.Context, tc *toolchain.Toolchain, p *load.Package, o Options, moduleDir, work string) (*Binary, error) {
	replace := map[string]string{}
	b := &Binary{Package: p, Path: filepath.Join(work, "measure-"+strings.ReplaceAll(p.ImportPath, "/", "-")+".test")}
	for _, set := range []struct {
		files          []string
		pkg, file, end string
	}{
		{p.TestGoFiles, p.Name, "allocs_measures_this_test.go", ""},
		{p.XTestGoFiles, p.Name + "_test", "allocs_measures_this_x_test.go", "X"},
	} {
		f := file{Package: set.pkg, Entry: entryName + set.end}
		for _, name := range set.files {
			bench, tests, err := functions(filepath.Join(p.Dir, name))
			if err != nil {
				return nil, err
			}
			f.Benchmarks = append(f.Benchmarks, matching(bench, o.Bench)...)
			f.Tests = append(f.Tests, matching(tests, o.Tests)...)
		}
		if len(f.Benchmarks)+len(f.Tests) == 0 {
			continue
		}
		text, err := f.source()
		if err != nil {
			return nil, err
		}
		to := filepath.Join(work, strings.ReplaceAll(p.ImportPath, "/", "-")+"-"+set.file)
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return nil, err
		}
		replace[filepath.Join(p.Dir, set.file)] = to
		b.Entries = append(b.Entries, f.Entry)
		b.Names = append(append(b.Names, f.Benchmarks...), f.Tests...)
	}
	if len(replace) == 0 {
		return nil, nil
	}
	overlay := b.Path + ".overlay.json"
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
		return nil, err
	}
	_, err = tc.Go(ctx, moduleDir, "test", "-c", "-vet=off", "-overlay", overlay, "-o", b.Path, p.ImportPath)
	return b, err
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

// ErrRun is matched when a test binary did not end well: what it measured
// before is not returned, as half of the evidence looks like a clean result.
var ErrRun = errors.New("the measuring run failed")

// Run runs the binary and returns its results.
func (b *Binary) Run(ctx context.Context, tc *toolchain.Toolchain, o Options) ([]Result, error) {
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	var all []Result
	for _, entry := range b.Entries {
		out := b.Path + "." + entry + ".out"
		cmd := exec.CommandContext(ctx, b.Path, "-test.run=^"+entry+"$", "-test.cpu=1", "-test.timeout=0")
		cmd.Dir = b.Package.Dir
		cmd.WaitDelay = time.Second
		var text bytes.Buffer
		cmd.Stdout, cmd.Stderr = &text, &text
		// The collector stays off in between, because it empties pools; the
		// limit keeps a benchmark that allocates much from taking the machine.
		cmd.Env = append(tc.Env(), outEnv+"="+out, onlyEnv+"=", fmt.Sprintf("%s=%d", budgetEnv, o.Budget.Milliseconds()),
			"GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+",memprofilerate=1", ","), "GOGC=off", "GOMEMLIMIT=2GiB", "GOMAXPROCS=1")
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s: %w: %w\n%s", b.Package.ImportPath, ErrRun, err, tail(text.String()))
		}
		results, err := decode(out)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", b.Package.ImportPath, ErrRun, err)
		}
		all = append(all, results...)
	}
	for i := range all {
		all[i].Package = b.Package.ImportPath
	}
	return all, nil
}

func decode(name string) ([]Result, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []Result
	for dec := json.NewDecoder(f); ; {
		var r Result
		if err := dec.Decode(&r); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		r.correct()
		out = append(out, r)
	}
}

// tail returns the last lines of what a program printed.
func tail(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > 20 {
		lines = append([]string{"…"}, lines[len(lines)-20:]...)
	}
	return strings.Join(lines, "\n")
}
