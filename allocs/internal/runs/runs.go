// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	"github.com/nib-log/nib/allocs/internal/program"
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
	Keep    bool           // every function of the test files has code in the binary
}

// Binary is a test binary that holds the file that measures.
type Binary struct {
	Package *load.Package
	Path    string
	Names   []string // what it can run

	entries []string
	overlay string
	dir     string // of the module

	added    map[string]string // what is in the overlay
	mirrored string            // copy of the module for releases without overlays, or ""
}

// Build makes the test binary of a package, below work. It returns nil when
// nothing of the package is asked for and nothing is to be kept.
func Build(ctx context.Context, tc *toolchain.Toolchain, p *load.Package, o Options, moduleDir, work string) (*Binary, error) {
	b := &Binary{Package: p, dir: moduleDir, Path: filepath.Join(work, "measure-"+strings.ReplaceAll(p.ImportPath, "/", "-")+".test")}
	if err := b.prepare(o, work); err != nil || len(b.entries) == 0 && !o.Keep {
		return nil, err
	}
	return b, b.compile(ctx, tc, "-o", b.Path)
}

// prepare writes the overlay with the files that measure.
func (b *Binary) prepare(o Options, work string) error {
	p := b.Package
	replace := map[string]string{}
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
				return err
			}
			f.Benchmarks = append(f.Benchmarks, matching(bench, o.Bench)...)
			f.Tests = append(f.Tests, matching(tests, o.Tests)...)
		}
		if o.Keep && len(set.files) > 0 {
			f.Kept = program.References(p.Dir, set.files)
		}
		if len(f.Benchmarks)+len(f.Tests)+len(f.Kept) == 0 {
			continue
		}
		text, err := f.source()
		if err != nil {
			return err
		}
		to := filepath.Join(work, strings.ReplaceAll(p.ImportPath, "/", "-")+"-"+set.file)
		if err := os.WriteFile(to, []byte(text), 0o644); err != nil {
			return err
		}
		replace[filepath.Join(p.Dir, set.file)] = to
		if len(f.Benchmarks)+len(f.Tests) > 0 {
			b.entries = append(b.entries, f.Entry)
		}
		b.Names = append(append(b.Names, f.Benchmarks...), f.Tests...)
	}
	b.added = replace
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	b.overlay = b.Path + ".overlay.json"
	return os.WriteFile(b.overlay, text, 0o644)
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

// Run runs the binary and returns its results. They are kept in cache, a
// directory, by the content of the binary: the same program on the same inputs
// allocates the same.
func (b *Binary) Run(ctx context.Context, tc *toolchain.Toolchain, o Options, cache string) ([]Result, error) {
	name := b.keptName(cache, o)
	if text, err := os.ReadFile(name); name != "" && err == nil {
		var all []Result
		if json.Unmarshal(text, &all) == nil {
			return b.named(all), nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	var all []Result
	for _, entry := range b.entries {
		out := b.Path + "." + entry + ".out"
		env := append(tc.Env(), outEnv+"="+out, onlyEnv+"=.", fmt.Sprintf("%s=%d", budgetEnv, o.Budget.Milliseconds()),
			// The collector stays off in between, because it empties pools; the
			// limit keeps a benchmark that allocates much from taking the machine.
			"GODEBUG="+strings.Trim(os.Getenv("GODEBUG")+",memprofilerate=1", ","), "GOGC=off", "GOMEMLIMIT=2GiB", "GOMAXPROCS=1")
		if err := b.execute(ctx, b.Path, env, "-test.run=^"+entry+"$", "-test.cpu=1", "-test.timeout=0"); err != nil {
			return nil, err
		}
		results, err := decode(out)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %w", b.Package.ImportPath, ErrRun, err)
		}
		for _, r := range results {
			for _, s := range r.Sites {
				for i := range s.Stack {
					s.Stack[i].File = b.original(s.Stack[i].File)
				}
			}
		}
		all = append(all, results...)
	}
	if text, err := json.Marshal(all); name != "" && err == nil && os.MkdirAll(filepath.Dir(name), 0o755) == nil {
		if os.WriteFile(name+".new", text, 0o644) == nil {
			os.Rename(name+".new", name)
		}
	}
	return b.named(all), nil
}

func (b *Binary) named(all []Result) []Result {
	for i := range all {
		all[i].Package = b.Package.ImportPath
	}
	return all
}

func (b *Binary) execute(ctx context.Context, path string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = b.Package.Dir
	cmd.WaitDelay = time.Second
	cmd.Env = env
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("%s: %w: it took longer than --timeout allows", b.Package.ImportPath, ErrRun)
		}
		return fmt.Errorf("%s: %w: %w\n%s", b.Package.ImportPath, ErrRun, err, tail(text.String()))
	}
	return nil
}

// keptName is the file that the results of this binary are kept in, or "".
func (b *Binary) keptName(cache string, o Options) string {
	if cache == "" {
		return ""
	}
	f, err := os.Open(b.Path)
	if err != nil {
		return ""
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return ""
	}
	fmt.Fprintf(h, "\x00runs-10\x00%s\x00%v\x00%v\x00%s", b.Package.Dir, o.Bench, o.Tests, o.Budget)
	return filepath.Join(cache, "runs", hex.EncodeToString(h.Sum(nil))+".json")
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
