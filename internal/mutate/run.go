// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A pkg is the package whose tests are tested.
type pkg struct {
	dir, temp string
	path      string // import path
	name      string
	switched  string // the tests with all mutants that can be switched on
	opt       options
	mu        sync.Mutex // protects recent
	recent    []string   // tests that failed last, the last one at the end
	sources   map[string][]byte
	mutants   []mutant
	tests     []test
}

// options select the tests that run.
type options struct {
	short    bool
	together bool   // run only mutants and tests that are built together
	run      string // -test.run of the tests
	build
}

// A build is a test binary.
type build struct {
	tests string // directory of the tests, relative to the package
	tags  string
}

// A test is a top-level test and the blocks that it covers.
type test struct {
	name   string
	took   time.Duration
	blocks []block
	alone  bool // the test fails with the code that can be switched, for example because it counts allocations
}

// A block is a covered part of a file.
type block struct {
	file                                string
	fromLine, fromCol, toLine, toColumn int
}

func (b block) has(m mutant) bool {
	at := m.covered
	after := at.Line > b.fromLine || at.Line == b.fromLine && at.Column >= b.fromCol
	before := at.Line < b.toLine || at.Line == b.toLine && at.Column < b.toColumn
	return b.file == m.file && after && before
}

// A result is the result of a mutant.
type result int

const (
	killed result = iota
	survived
	equivalent // survived, and explained
	timedOut   // a test did not end, which counts as killed
	invalid    // the mutant does not compile
	uncovered  // no test executes it
)

// load reads the package, and runs each test once to record its coverage.
func load(dir string, opt options) (*pkg, error) {
	p := &pkg{dir: dir, opt: opt, sources: map[string][]byte{}}
	var err error
	if p.dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if p.temp, err = os.MkdirTemp("", "mutate"); err != nil {
		return nil, err
	}
	out, err := p.goTool("list", "-f", "{{.ImportPath}} {{.Name}}{{range .GoFiles}} {{.}}{{end}}", ".")
	if err != nil {
		return nil, err
	}
	names, consts := strings.Fields(out), map[string]bool{}
	p.path, p.name, names = names[0], names[1], names[2:]
	for _, name := range names {
		src, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		p.sources[name] = src
		if err := tuningConstants(name, src, consts); err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		list, err := mutantsOf(name, p.sources[name], consts)
		if err != nil {
			return nil, err
		}
		p.mutants = append(p.mutants, list...)
	}
	if err := p.cover(); err != nil {
		return nil, err
	}
	if err := p.buildSwitched(); err != nil {
		return nil, err
	}
	return p, p.tryUnchanged()
}

// goTool runs the go command in the directory of the package.
func (p *pkg) goTool(args ...string) (string, error) {
	cmd := exec.Command("go", slices.Insert(args, 1, "-tags="+p.opt.tags)...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, out)
	}
	return string(out), nil
}

// cover runs each test separately.
func (p *pkg) cover() error {
	bin := filepath.Join(p.temp, "covered.test")
	if _, err := p.goTool("test", "-c", "-vet=off", "-coverpkg="+p.path, "-o", bin, "./"+p.opt.tests); err != nil {
		return err
	}
	pattern := "^(Test|Example|Fuzz)"
	if p.opt.run != "" {
		pattern = p.opt.run
	}
	list := exec.Command(bin, "-test.list", pattern)
	list.Dir = p.testDir()
	out, err := list.Output()
	if err != nil {
		return err
	}
	profile := filepath.Join(p.temp, "profile")
	if err := os.Mkdir(p.children(), 0o700); err != nil {
		return err
	}
	for _, name := range strings.Fields(string(out)) {
		if strings.HasPrefix(name, "Benchmark") {
			continue
		}
		start := time.Now()
		out, err := p.execute(bin, 0, 5*time.Minute, "^"+name+"$", "-test.coverprofile", profile)
		if err != nil {
			return fmt.Errorf("%s fails without a change: %w\n%s", name, err, out)
		}
		t := test{name: name, took: time.Since(start)}
		if t.blocks, err = readProfile(profile); err != nil {
			return err
		}
		ofChildren, err := p.readChildren(profile)
		if err != nil {
			return err
		}
		t.blocks = append(t.blocks, ofChildren...)
		p.tests = append(p.tests, t)
	}
	return nil
}

// testDir returns the directory that the tests run in.
func (p *pkg) testDir() string { return filepath.Join(p.dir, p.opt.tests) }

// children returns the directory for the coverage data of processes that tests
// start.
func (p *pkg) children() string { return filepath.Join(p.temp, "children") }

// readChildren returns the blocks that the child processes of a test have
// executed, and removes their data.
func (p *pkg) readChildren(profile string) ([]block, error) {
	files, err := filepath.Glob(filepath.Join(p.children(), "*"))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+p.children(), "-o="+profile).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go tool covdata: %w\n%s", err, out)
	}
	for _, name := range files {
		if err := os.Remove(name); err != nil {
			return nil, err
		}
	}
	return readProfile(profile)
}

var profileLine = regexp.MustCompile(`([^/:]+):(\d+)\.(\d+),(\d+)\.(\d+) \d+ (\d+)$`)

// readProfile returns the blocks that were executed.
func readProfile(name string) (blocks []block, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(string(text), "\n") {
		m := profileLine.FindStringSubmatch(line)
		if m == nil || m[6] == "0" {
			continue
		}
		var n [4]int
		for i := range n {
			n[i], _ = strconv.Atoi(m[i+2])
		}
		blocks = append(blocks, block{m[1], n[0], n[1], n[2], n[3]})
	}
	return blocks, nil
}

// tryUnchanged runs the tests with the code that can be switched, and no
// mutant.
func (p *pkg) tryUnchanged() error {
	for {
		var names []string
		for _, t := range p.tests {
			if !t.alone {
				names = append(names, t.name)
			}
		}
		if len(names) == 0 {
			return nil
		}
		out, err := p.execute(p.switched, 0, 10*time.Minute, "^("+strings.Join(names, "|")+")$")
		if err == nil {
			return nil
		}
		m := failure.FindSubmatch(out)
		if m == nil {
			return fmt.Errorf("tests fail without a change: %w\n%s", err, out)
		}
		i := slices.IndexFunc(p.tests, func(t test) bool { return t.name == string(m[1]) })
		if i < 0 || p.tests[i].alone {
			return fmt.Errorf("tests fail without a change: %w\n%s", err, out)
		}
		p.tests[i].alone = true
		fmt.Printf("%s runs only with mutants that are built alone: it fails with the others\n", m[1])
	}
}

// execute runs tests in a new process group, and ends the group with them.
func (p *pkg) execute(bin string, number int, timeout time.Duration, pattern string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	group, end, err := newGroup()
	if err != nil {
		return nil, err
	}
	defer end()
	args = append(args, "-test.run", pattern, "-test.failfast", "-test.short="+strconv.FormatBool(p.opt.short), "-test.count=1",
		"-test.timeout", (timeout + 10*time.Second).String()) // a limit in case that nothing else ends it
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = p.testDir()
	cmd.Env = append(os.Environ(), "NIB_SEED=1", // the same random cases for each mutant
		"GOCOVERDIR="+p.children(), mutantVariable+"="+strconv.Itoa(number))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pgid: group}
	cmd.Cancel = func() error { return syscall.Kill(-group, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.Bytes(), err
}

// newGroup makes a process group. All processes in it end when end is called,
// and when this process ends in any way: the first member of the group detects
// that.
func newGroup() (group int, end func(), err error) {
	first := exec.Command("/bin/sh", "-c", "read -r line; kill -KILL 0")
	first.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	pipe, err := first.StdinPipe()
	if err != nil {
		return 0, nil, err
	}
	if err := first.Start(); err != nil {
		return 0, nil, err
	}
	group = first.Process.Pid
	return group, func() {
		_ = syscall.Kill(-group, syscall.SIGKILL)
		_ = first.Wait()
		_ = pipe.Close()
	}, nil
}

// run runs the tests that cover m with it, the quickest ones first, until one
// fails.
func (p *pkg) run(number int) result {
	m := p.mutants[number-1]
	groups := p.groups(m, func(t test) bool { return m.switched != nil && !t.alone })
	rest := p.groups(m, func(t test) bool { return m.switched == nil || t.alone })
	if len(groups)+len(rest) == 0 {
		return uncovered
	}
	if r := p.runGroups(p.switched, number, groups); r != survived || len(rest) == 0 || p.opt.together {
		return r
	}
	src := p.sources[m.file]
	text := append(append(append([]byte{}, src[:m.from]...), m.text...), src[m.to:]...)
	dir, err := os.MkdirTemp(p.temp, "mutant")
	if err != nil {
		return invalid
	}
	defer os.RemoveAll(dir)
	bin := filepath.Join(dir, "mutant.test")
	if err := p.buildWith(dir, map[string][]byte{m.file: text}, bin); err != nil {
		if len(groups) > 0 {
			return survived
		}
		return invalid
	}
	return p.runGroups(bin, 0, rest)
}

func (p *pkg) runGroups(bin string, number int, groups [][]test) result {
	for _, tests := range groups {
		var names []string
		var took time.Duration
		for _, t := range tests {
			names, took = append(names, t.name), took+t.took
		}
		out, err := p.execute(bin, number, 5*time.Second+5*took, "^("+strings.Join(names, "|")+")$")
		if errors.Is(err, context.DeadlineExceeded) {
			return timedOut
		}
		if err != nil {
			p.remember(out)
			return killed
		}
	}
	return survived
}

// groups returns the chosen tests that cover m: first those that failed last,
// and then the others by their duration.
func (p *pkg) groups(m mutant, chosen func(test) bool) [][]test {
	p.mu.Lock()
	defer p.mu.Unlock()
	const recent = 3 // groups of tests that take longer follow
	groups := make([][]test, 1+len(slowerThan))
	for _, t := range p.tests {
		if !chosen(t) || !slices.ContainsFunc(t.blocks, func(b block) bool { return b.has(m) }) {
			continue
		}
		if i := slices.Index(p.recent, t.name); i >= 0 && i >= len(p.recent)-recent {
			groups[0] = append(groups[0], t)
			continue
		}
		for i := len(slowerThan) - 1; i >= 0; i-- {
			if t.took >= slowerThan[i] {
				groups[1+i] = append(groups[1+i], t)
				break
			}
		}
	}
	return slices.DeleteFunc(groups, func(g []test) bool { return len(g) == 0 })
}

var slowerThan = []time.Duration{0, 50 * time.Millisecond, 400 * time.Millisecond}

var failure = regexp.MustCompile(`(?m)^--- FAIL: ([^ /]+) `)

// remember keeps the name of the test that failed: the next mutant is often in
// the same function.
func (p *pkg) remember(out []byte) {
	m := failure.FindSubmatch(out)
	if m == nil {
		return
	}
	name := string(m[1])
	p.mu.Lock()
	defer p.mu.Unlock()
	p.recent = append(slices.DeleteFunc(p.recent, func(n string) bool { return n == name }), name)
}
