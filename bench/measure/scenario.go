// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// A Set is a part of the benchmark with its own results and its own document.
type Set struct {
	Name    string // of the file with the results, and for -set
	Path    string // of the document, below the root of the repository
	Note    string // in front of the tables
	Tables  []Table
	Modules []Module // that take part, for their versions
}

// A Module is a library that takes part.
type Module struct{ Name, Path string }

// A Table has a row for each scenario, and a column for each contestant.
type Table struct {
	Title, Note string
	Scenarios   []Scenario
}

// A Scenario is one contest, and one row of a table.
type Scenario struct {
	Name   string // in results and for -run
	Title  string // in tables
	Versus string // the contestant that ratios refer to; "" is the fastest that is not nib's
	// Price, if not "", is what the contestant Versus does: the work that nib
	// cannot avoid.
	Price string
	// Goroutines that share the operations; 0 is 1. If they take Turns, each
	// yields after every operation.
	Goroutines int
	Turns      bool
	// Pipe is set if the lines go into a pipe that another process reads, and not
	// to io.Discard.
	Pipe bool
	// Latency is set if every operation is also timed separately.
	Latency bool
	// Ops is the number of operations in a round; with 0 rounds take about the
	// same time for all contestants. Rounds is the maximum number of rounds; 0 is
	// no limit.
	Ops, Rounds int
	// Same, if not nil, returns an error if the text that a contestant writes in
	// one operation is not what all should write.
	Same        func(c *Contestant, text []byte) error
	Contestants []Contestant
}

// A Contestant is one way to perform the operation of a scenario. New panics if
// the contestant cannot be prepared.
type Contestant struct {
	Name  string
	Aside bool // shown, but ratios never refer to it
	New   func(p Place) Run
}

// A Place is where a contestant may write: W is io.Discard, a pipe or a file,
// and Dir a new directory.
type Place struct {
	W   io.Writer
	Dir string
}

// A Run is a contestant that is ready. All functions but Do may be nil.
type Run struct {
	// Do performs n operations. The loop is the contestant's own, so that the cost
	// of the indirect call is paid once per round. Several goroutines may call it
	// at once if the scenario has several.
	Do func(n int)
	// Flush writes what was held back, as a part of the timed round.
	Flush func()
	// Prepare is called before each Do with the same n, and is neither timed nor
	// counted.
	Prepare func(n int)
	// Check returns an error if the contestant has not done its work: lost lines,
	// for example.
	Check func() error
	Close func() error
}

// Ready returns a contestant that needs no place.
func Ready(name string, r Run) Contestant {
	return Contestant{Name: name, New: func(Place) Run { return r }}
}

// Must returns v. It panics if err is not nil.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Own reports whether a contestant is one of nib's.
func Own(name string) bool { return strings.HasPrefix(name, "nib") }

// Start prepares a contestant in a new directory, which Close removes, and adds
// the goroutines. Without a w, lines go to a file in the directory.
func (s *Scenario) Start(c *Contestant, w io.Writer) (started Run, dir string) {
	dir = Must(os.MkdirTemp("", "nibbench"))
	closeFile := func() error { return nil }
	if w == nil {
		f := Must(os.Create(filepath.Join(dir, "lines")))
		w, closeFile = f, f.Close
	}
	run := c.New(Place{W: w, Dir: dir})
	started = run
	do, dismiss := run.Do, func() {}
	if s.Turns {
		do = func(n int) {
			for range n {
				run.Do(1)
				runtime.Gosched()
			}
		}
	}
	if s.Goroutines > 1 {
		do, dismiss = crew(s.Goroutines, do)
	}
	started.Do = do
	if run.Flush != nil {
		started.Do = func(n int) { do(n); run.Flush() }
	}
	started.Close = func() (err error) {
		dismiss()
		if run.Close != nil {
			err = run.Close()
		}
		return errors.Join(err, closeFile(), removeAll(dir))
	}
	return started, dir
}

// removeAll removes dir, even while phuslu/log creates a link in it on a
// goroutine whose end cannot be awaited.
func removeAll(dir string) (err error) {
	for range 100 {
		if err = os.RemoveAll(dir); err == nil {
			break
		}
		runtime.Gosched()
	}
	return err
}

// crew starts goroutines that share the operations of a round. They stay across
// rounds, so that neither their start nor the growth of their stacks is
// measured.
func crew(size int, do func(n int)) (shared func(n int), dismiss func()) {
	shares := make([]chan int, size)
	var done sync.WaitGroup
	for i := range shares {
		shares[i] = make(chan int)
		go func() {
			for n := range shares[i] {
				do(n)
				done.Done()
			}
		}()
	}
	shared = func(n int) {
		done.Add(size)
		for i, share := range shares {
			share <- (n + i) / size
		}
		done.Wait()
	}
	return shared, func() {
		for _, share := range shares {
			close(share)
		}
	}
}

// StartAll starts all contestants, and returns a function that closes them.
func (s *Scenario) StartAll(w io.Writer) (runs []Run, end func() error) {
	for i := range s.Contestants {
		r, _ := s.Start(&s.Contestants[i], w)
		runs = append(runs, r)
	}
	return runs, func() (err error) {
		for _, r := range runs {
			err = errors.Join(err, r.Close())
		}
		return err
	}
}

// Verify lets each contestant perform one operation, and compares what it
// writes.
func (s *Scenario) Verify() error {
	var errs []error
	for i := range s.Contestants {
		if err := s.verify(&s.Contestants[i]); err != nil {
			errs = append(errs, fmt.Errorf("%s, %s: %w", s.Name, s.Contestants[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

func (s *Scenario) verify(c *Contestant) (err error) {
	run, dir := s.Start(c, nil)
	defer func() { err = errors.Join(err, run.Close()) }()
	run.prepare(1)
	run.Do(1)
	if run.Check != nil {
		err = run.Check()
	}
	if err != nil || s.Same == nil {
		return err
	}
	var text []byte
	for _, e := range Must(os.ReadDir(dir)) {
		if e.Type().IsRegular() {
			text = append(text, Must(os.ReadFile(filepath.Join(dir, e.Name())))...)
		}
	}
	return s.Same(c, text)
}

// Only returns a Same for contestants that all write the same bytes.
func Only(want []byte) func(*Contestant, []byte) error {
	return func(_ *Contestant, text []byte) error {
		if !bytes.Equal(text, want) {
			return fmt.Errorf("writes %q, want %q", text, want)
		}
		return nil
	}
}

// Part returns a Same for contestants that all write a text with a part. If the
// part is "", they write nothing.
func Part(want string) func(*Contestant, []byte) error {
	return func(_ *Contestant, text []byte) error {
		if !strings.Contains(string(text), want) || want == "" && len(text) > 0 {
			return fmt.Errorf("writes %q, want a text with %q", text, want)
		}
		return nil
	}
}

// Complete returns an error if a set has a row twice, or one without a title,
// without nib or without the contestant that ratios refer to.
func (s *Set) Complete() error {
	var errs []error
	seen := map[string]bool{}
	for _, table := range s.Tables {
		for _, x := range table.Scenarios {
			names := []string{""}
			for _, c := range x.Contestants {
				if slices.Contains(names, c.Name) || strings.ContainsAny(c.Name, " ") {
					errs = append(errs, fmt.Errorf("%s: %q twice, or not a name", x.Name, c.Name))
				}
				names = append(names, c.Name)
			}
			if seen[x.Name] || x.Title == "" || strings.ContainsAny(x.Name, " /") ||
				!slices.Contains(names, "nib") || !slices.Contains(names, x.Versus) {
				errs = append(errs,
					fmt.Errorf("%s: twice, no title, no nib, or no %q", x.Name, x.Versus))
			}
			seen[x.Name] = true
		}
	}
	return errors.Join(errs...)
}
