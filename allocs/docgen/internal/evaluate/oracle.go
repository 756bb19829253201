// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// place of a source line, relative to the module.
type line struct {
	file string
	n    int
}

func (l line) String() string { return l.file + ":" + strconv.Itoa(l.n) }

// MarshalText makes a line the key of a JSON object.
func (l line) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads the text that MarshalText returns.
func (l *line) UnmarshalText(text []byte) error {
	at := strings.LastIndexByte(string(text), ':')
	n, err := strconv.Atoi(string(text[at+1:]))
	if at < 0 || err != nil {
		return fmt.Errorf("%q is not a line of a file", text)
	}
	*l = line{string(text[:at]), n}
	return nil
}

// Truth has the counts of a module's profiles.
type Truth struct {
	Benchmarks []string // the benchmarks without sub-benchmarks
	// PerOp is by benchmark and line: allocations for one operation below a
	// root. A line is the innermost of the module on the stack.
	PerOp map[string]map[line]float64
	// Roots are the roots above a line, the innermost of each stack.
	Roots map[line][]string
	// Visited are the lines that the benchmarks execute in each operation.
	Visited map[line]bool
}

// threshold is the number of allocations per operation from which a line
// counts: fewer happen while something grows or when a pool is empty.
const threshold = 0.01

// iterations of the shorter run of a benchmark; the longer has twice as many.
// One that takes long has fewer, and two at least.
const iterations = 1000

// long is the maximum time of the iterations of a run in which nothing is
// counted.
const long = 200 * time.Millisecond

// leaf is a benchmark without sub-benchmarks.
type leaf struct {
	name string
	n    int    // iterations
	skip string // expression for others whose names begin with this one and a slash
	// without is an expression for all that runs with this one, but not
	// itself: a leaf to whose name and a slash this one adds, which b.Loop
	// runs in full.
	without string
}

// lines returns all lines that reach the threshold in a benchmark.
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
	t := &Truth{PerOp: map[string]map[line]float64{}, Roots: map[line][]string{}}
	test := filepath.Join(dir, "evaluate.test")
	overlay, env, err := exact(ctx, dir)
	if err != nil {
		return nil, err
	}
	if _, err := run(ctx, dir, env, "go", "test", "-c", "-vet=off", "-overlay", overlay, "-o", test, m.Package); err != nil {
		return nil, err
	}
	pkg := filepath.Join(dir, m.Package)
	say(m.Name + ": its benchmarks")
	leaves, err := m.leaves(ctx, pkg, test)
	if err != nil {
		return nil, err
	}
	for _, l := range leaves {
		say(fmt.Sprintf("%s: profile of %s, %d times", m.Name, l.name, l.n))
		if t.PerOp[l.name], err = m.perOp(ctx, t, dir, pkg, test, l); err != nil {
			return nil, err
		}
		t.Benchmarks = append(t.Benchmarks, l.name)
	}
	t.Visited, err = m.visit(ctx, dir, pkg)
	return t, err
}

// exact writes an overlay that makes the runtime allocate objects below 16
// bytes one by one. It would otherwise pack them into blocks, and the profile
// would count the blocks.
func exact(ctx context.Context, dir string) (overlay string, env []string, err error) {
	out, err := run(ctx, dir, nil, "go", "env", "GOROOT")
	if err != nil {
		return "", nil, err
	}
	root := strings.TrimSpace(string(out))
	malloc := filepath.Join(root, "src", "runtime", "malloc.go")
	text, err := os.ReadFile(malloc)
	if err != nil {
		return "", nil, err
	}
	changed := strings.ReplaceAll(string(text), "if size < maxTinySize && gp.secret", "if size < 0*maxTinySize && gp.secret")
	changed = strings.ReplaceAll(changed, "if size < maxTinySize {", "if size < 0*maxTinySize {")
	if changed == string(text) {
		return "", nil, fmt.Errorf("%s: small objects cannot be kept apart", malloc)
	}
	to := filepath.Join(dir, "..", "evaluate-malloc.go")
	if err := os.WriteFile(to, []byte(changed), 0o644); err != nil {
		return "", nil, err
	}
	if _, err := os.Stat(filepath.Join(root, "src", "internal", "goexperiment", "exp_sizespecializedmalloc_off.go")); err == nil {
		env = append(env, "GOEXPERIMENT=nosizespecializedmalloc")
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {malloc: to}})
	if err != nil {
		return "", nil, err
	}
	overlay = filepath.Join(dir, "..", "evaluate-overlay.json")
	return overlay, env, os.WriteFile(overlay, replace, 0o644)
}

// result is the line that a benchmark without sub-benchmarks prints.
var result = regexp.MustCompile(`^(Benchmark\S*)\s+(\d+)\s+([0-9.]+) ns/op`)

// leaves lists the benchmarks that have a result, in the order in which they
// run.
func (m *Module) leaves(ctx context.Context, pkg, test string) ([]leaf, error) {
	out, err := run(ctx, pkg, nil, test, "-test.run=^$", "-test.bench="+m.Bench, "-test.benchtime=5x", "-test.cpu=1")
	if err != nil {
		return nil, err
	}
	var leaves []leaf
	for _, text := range strings.Split(string(out), "\n") {
		f := result.FindStringSubmatch(text)
		if f == nil {
			continue
		}
		each, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			return nil, err
		}
		leaves = append(leaves, leaf{name: f[1], n: max(2, min(iterations, int(float64(long)/max(each, 1))))})
	}
	for i := range leaves {
		leaves[i].among(leaves)
	}
	return leaves, nil
}

// nothing is an expression that no part of a name matches.
const nothing = `[^\x00-\x{10FFFF}]`

// among records which other leaves match the expression for this one: names of
// sub-benchmarks may have slashes.
func (l *leaf) among(all []leaf) {
	var longer []string
	for _, other := range all {
		if strings.HasPrefix(other.name, l.name+"/") {
			longer = append(longer, expression(other.name))
		}
		if strings.HasPrefix(l.name, other.name+"/") {
			l.without = expression(l.name[:strings.LastIndex(l.name, "/")]) + "/" + nothing
		}
	}
	l.skip = strings.Join(longer, "|")
}

// expression returns an expression for a benchmark: each part of its name has
// its own.
func expression(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// perOp runs one benchmark for n and for 2n iterations, each twice: allocations
// that happen once cancel out, and the smaller of two counts is the more
// accurate one.
func (m *Module) perOp(ctx context.Context, t *Truth, dir, pkg, test string, b leaf) (map[line]float64, error) {
	var least [2]map[line]int64
	for round := range 2 {
		for i, n := range []int{b.n, 2 * b.n} {
			counts, err := m.count(ctx, t, dir, pkg, test, expression(b.name), b.skip, n)
			if err != nil {
				return nil, err
			}
			if b.without != "" {
				others, err := m.count(ctx, t, dir, pkg, test, b.without, "", n)
				if err != nil {
					return nil, err
				}
				for l, c := range others {
					counts[l] -= c
				}
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
		out[l] = float64(c-least[0][l]) / float64(b.n)
	}
	return out, nil
}

// count returns the objects that one process makes below the roots, by line.
func (m *Module) count(ctx context.Context, t *Truth, dir, pkg, test, only, skip string, n int) (map[line]int64, error) {
	out := test + ".profile"
	if _, err := run(ctx, pkg, []string{"GOGC=off", "GOMEMLIMIT=2GiB", "GOMAXPROCS=1"}, test, "-test.run=^$", "-test.bench="+only, "-test.skip="+skip, "-test.cpu=1",
		fmt.Sprintf("-test.benchtime=%dx", n), "-test.memprofile="+out, "-test.memprofilerate=1"); err != nil {
		return nil, err
	}
	samples, err := readProfile(out)
	if err != nil {
		return nil, err
	}
	counts := map[line]int64{}
	for _, s := range samples {
		if l, root := m.home(dir, s.stack); root != "" {
			counts[l] += s.objects
			if !slices.Contains(t.Roots[l], root) {
				t.Roots[l] = append(t.Roots[l], root)
			}
		}
	}
	return counts, nil
}

// home returns the innermost line of the module, and the innermost root; ""
// when none is on the stack.
func (m *Module) home(dir string, stack []frame) (line, string) {
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
			return at, f.fn
		}
	}
	return line{}, ""
}

func (m *Module) isRoot(fn string) bool {
	for _, r := range m.Roots {
		if prefix, all := strings.CutSuffix(r, "*"); fn == r || all && strings.HasPrefix(fn, prefix) && !strings.ContainsAny(fn[len(prefix):], ".(") {
			return true
		}
	}
	return false
}

// run runs a command. The error contains its output.
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
