// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// place of a source line, relative to the module.
type line struct {
	file string
	n    int
}

func (l line) String() string { return l.file + ":" + strconv.Itoa(l.n) }

// Truth is what the profiles show of a module.
type Truth struct {
	Benchmarks []string
	// PerOp is by benchmark and line: allocations for one operation below a
	// root. A line is the innermost of the module on the stack.
	PerOp map[string]map[line]float64
	// Visited are the lines that the benchmarks come by.
	Visited map[line]bool
}

// threshold is how often a line must allocate to count: what is less happens
// while something grows or when a pool is empty.
const threshold = 0.01

// iterations of the shorter run of a benchmark; the longer has twice as many.
const iterations = 1000

// lines are all that reach the threshold in a benchmark.
func (t *Truth) lines() map[line]float64 {
	all := map[line]float64{}
	for _, of := range t.PerOp {
		for l, n := range of {
			if n >= threshold {
				all[l] = max(all[l], n)
			}
		}
	}
	return all
}

// measure runs the benchmarks of the module in dir.
func (m *Module) measure(ctx context.Context, dir string, say func(string)) (*Truth, error) {
	t := &Truth{PerOp: map[string]map[line]float64{}}
	test := filepath.Join(dir, "evaluate.test")
	if _, err := run(ctx, dir, nil, "go", "test", "-c", "-vet=off", "-o", test, m.Package); err != nil {
		return nil, err
	}
	pkg := filepath.Join(dir, m.Package)
	list, err := run(ctx, pkg, nil, test, "-test.list", "^Benchmark")
	if err != nil {
		return nil, err
	}
	want := regexp.MustCompile(m.Bench)
	for _, name := range strings.Fields(string(list)) {
		if !want.MatchString(name) {
			continue
		}
		say(m.Name + ": profile of " + name)
		if t.PerOp[name], err = m.perOp(ctx, dir, pkg, test, name); err != nil {
			return nil, err
		}
		t.Benchmarks = append(t.Benchmarks, name)
	}
	t.Visited, err = m.visit(ctx, dir, pkg)
	return t, err
}

// perOp runs one benchmark for n and for 2n iterations, each twice: what
// happens once cancels out, and of what comes on top the smaller count is the
// truer.
func (m *Module) perOp(ctx context.Context, dir, pkg, test, name string) (map[line]float64, error) {
	var least [2]map[line]int64
	for round := range 2 {
		for i, n := range []int{iterations, 2 * iterations} {
			counts, err := m.count(ctx, dir, pkg, test, name, n)
			if err != nil {
				return nil, err
			}
			if round == 0 {
				least[i] = counts
				continue
			}
			for l, c := range least[i] {
				least[i][l] = min(c, counts[l])
			}
		}
	}
	out := map[line]float64{}
	for l, c := range least[1] {
		out[l] = float64(c-least[0][l]) / iterations
	}
	return out, nil
}

// count returns the objects that one process makes below the roots, by line.
func (m *Module) count(ctx context.Context, dir, pkg, test, name string, n int) (map[line]int64, error) {
	out := test + ".profile"
	if _, err := run(ctx, pkg, []string{"GOGC=off", "GOMEMLIMIT=2GiB", "GOMAXPROCS=1"}, test, "-test.run=^$", "-test.bench=^"+name+"$", "-test.cpu=1",
		fmt.Sprintf("-test.benchtime=%dx", n), "-test.memprofile="+out, "-test.memprofilerate=1"); err != nil {
		return nil, err
	}
	samples, err := readProfile(out)
	if err != nil {
		return nil, err
	}
	counts := map[line]int64{}
	for _, s := range samples {
		if l, ok := m.home(dir, s.stack); ok {
			counts[l] += s.objects
		}
	}
	return counts, nil
}

// home is the innermost line of the module, when a root is on the stack.
func (m *Module) home(dir string, stack []frame) (line, bool) {
	var at line
	found := false
	for _, f := range stack {
		rel, inside := strings.CutPrefix(f.file, dir+string(filepath.Separator))
		if !inside {
			continue
		}
		if !found {
			at, found = line{filepath.ToSlash(rel), f.line}, true
		}
		if m.isRoot(f.fn) {
			return at, true
		}
	}
	return line{}, false
}

func (m *Module) isRoot(fn string) bool {
	for _, r := range m.Roots {
		if prefix, all := strings.CutSuffix(r, "*"); fn == r || all && strings.HasPrefix(fn, prefix) && !strings.ContainsAny(fn[len(prefix):], ".(") {
			return true
		}
	}
	return false
}

// visit returns the lines that the benchmarks come by: those of the blocks
// that a run with coverage executes.
func (m *Module) visit(ctx context.Context, dir, pkg string) (map[line]bool, error) {
	profile := filepath.Join(dir, "evaluate.cover")
	if _, err := run(ctx, dir, nil, "go", "test", "-vet=off", "-run=^$", "-bench="+m.Bench, "-benchtime=2x", "-coverpkg=./...", "-coverprofile="+profile, m.Package); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	module, err := run(ctx, dir, nil, "go", "list", "-m")
	if err != nil {
		return nil, err
	}
	block := regexp.MustCompile(`^` + regexp.QuoteMeta(strings.TrimSpace(string(module))) + `/(.*):(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)
	out := map[line]bool{}
	for _, l := range strings.Split(string(text), "\n") {
		f := block.FindStringSubmatch(l)
		if f == nil || f[4] == "0" {
			continue
		}
		from, _ := strconv.Atoi(f[2])
		to, _ := strconv.Atoi(f[3])
		for n := from; n <= to; n++ {
			out[line{f[1], n}] = true
		}
	}
	return out, nil
}

// run runs a command; its error holds what it printed.
func run(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, append(append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off"), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		text := out.String() + errs.String()
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, text[max(0, len(text)-2000):])
	}
	return out.Bytes(), nil
}
