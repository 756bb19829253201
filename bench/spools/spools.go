// SPDX-License-Identifier: Apache-2.0

// Package spools measures the cost of lines that survive the death of the
// process: a record into the spool beside a write(2) per line, a whole log call
// into it beside calls of other loggers that discard their lines, and the
// distribution of calls at a fixed rate. Scenarios is the table of the
// contests; cmd/nibbench runs them.
package spools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

// Names of the contestants.
const (
	Nib       = "nib"        // a spool in a directory
	NibMemory = "nib-memory" // a spool without a directory, which ends with the process
	OSFile    = "os.File"    // a write(2) per line, which survives the process too
	Nothing   = "nothing"    // calls that do nothing: the noise of the machine itself
)

// Line is 200 bytes long.
var Line = []byte(`{"time":"2026-03-14T09:26:53.589Z","level":"info","message":"` + strings.Repeat("x", 136) + `"}` + "\n")

// A Scenario is one contest.
type Scenario struct {
	Name       string // name in results and for -run
	Title      string // name in tables
	Goroutines int
	// Versus is the contestant that ratios refer to. If it is empty, they refer to
	// the fastest one that is not nib.
	Versus      string
	Contestants []Contestant

	// A sustained scenario has rounds of seconds. It shows the cost for a service
	// that logs at full speed while lines are delivered and segments are made and
	// deleted.
	Times  int // number of lines of a round, as a multiple of that of other scenarios; 0 means 1
	Rounds int // maximum number of rounds; 0 means no limit
}

// Lines returns the number of lines in a round, if a round of other scenarios
// has n.
func (s *Scenario) Lines(n int) int { return n * max(s.Times, 1) }

// Limit returns the number of rounds, if the other scenarios have n.
func (s *Scenario) Limit(n int) int {
	if s.Rounds == 0 {
		return n
	}
	return min(n, s.Rounds)
}

// A Contestant is one way to perform the operation of the scenario.
type Contestant struct {
	Name string
	New  func(dir string) (Run, error)
}

// A Run is a contestant that is ready.
type Run struct {
	Do    func(n int)  // writes n lines; several goroutines may call it
	Check func() error // returns an error if lines were lost
	Close func() error
}

// Scenarios lists all contests in the order in which they run.
func Scenarios() []Scenario {
	return []Scenario{
		{Name: "SpoolRecord", Title: "1 goroutine", Goroutines: 1, Versus: OSFile, Contestants: records},
		{Name: "SpoolRecord8", Title: "8 goroutines", Goroutines: 8, Versus: OSFile, Contestants: records},
		{Name: "SpoolRecord64", Title: "64 goroutines", Goroutines: 64, Versus: OSFile, Contestants: records},
		{Name: "SpoolRecordSustained", Title: "sustained", Goroutines: 1, Versus: OSFile, Contestants: records, Times: 1000, Rounds: 5},
		{Name: "SpoolFields", Title: "10 fields", Goroutines: 1, Contestants: calls()},
		{Name: "SpoolFieldsSustained", Title: "sustained", Goroutines: 1, Contestants: calls(), Times: 200, Rounds: 3},
	}
}

// Rate is the number of calls per second, which are timed one by one.
const Rate = 100_000

// Latency is the contest of calls at a fixed rate.
var Latency = Scenario{Name: "SpoolRate", Title: "at a fixed rate", Goroutines: 1, Contestants: append(slices.Clone(records),
	Contestant{Nothing, func(string) (Run, error) {
		return Run{Do: func(int) {}, Check: func() error { return nil }, Close: func() error { return nil }}, nil
	}})}

// fileLines is the number of lines that are written to a file before it is
// emptied, so that it becomes about as large as a spool.
const fileLines = 1_000_000

var records = []Contestant{
	{Nib, func(dir string) (Run, error) { return recordRun(filepath.Join(dir, "spool")) }},
	{NibMemory, func(string) (Run, error) { return recordRun("") }},
	{OSFile, func(dir string) (Run, error) {
		f, err := os.OpenFile(filepath.Join(dir, "app.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return Run{}, err
		}
		do := func(n int) {
			for i := range n {
				_, err := f.Write(Line)
				if err == nil && i%fileLines == fileLines-1 {
					err = f.Truncate(0)
				}
				if err != nil {
					panic(fmt.Sprintf("spools: %v", err))
				}
			}
		}
		return Run{Do: do, Check: func() error { return nil }, Close: f.Close}, nil
	}},
}

// calls returns whole log calls: nib's into the spool, those of the others into
// a writer that discards them.
func calls() []Contestant {
	all := []Contestant{{Nib, func(dir string) (Run, error) {
		s, err := open(filepath.Join(dir, "spool"))
		if err != nil {
			return Run{}, err
		}
		return Run{Do: bench.NibFields(s).Do, Check: noneLost(s), Close: s.Close}, nil
	}}}
	for _, p := range bench.Peers() {
		if p.Fields == nil || p.Name == Nib {
			continue
		}
		all = append(all, Contestant{p.Name, func(string) (Run, error) {
			run := p.Fields(nothing{})
			return Run{Do: run.Do, Check: func() error { return nil }, Close: func() error { return nil }}, nil
		}})
	}
	return all
}

// nothing is an io.Writer that discards everything. Some libraries encode
// nothing for io.Discard.
type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }

// taken is a destination that accepts everything at once.
type taken struct{}

func (taken) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	return delivery.Result{Accepted: len(batch)}, nil
}

// open opens a spool that is emptied continuously. Its callers wait for room,
// so that no contestant is timed for dropped lines.
func open(dir string) (*spool.Sink, error) {
	return spool.Open(dir, taken{}, spool.Config{Size: 256 << 20, OnFull: []spool.FullRule{{Do: spool.ActionBlock, Wait: time.Minute}}})
}

func recordRun(dir string) (Run, error) {
	s, err := open(dir)
	if err != nil {
		return Run{}, err
	}
	do := func(n int) {
		r := nib.Record{Level: nib.LevelInfo, Line: Line}
		for range n {
			if err := s.WriteRecord(&r); err != nil {
				panic(fmt.Sprintf("spools: %v", err))
			}
		}
	}
	return Run{Do: do, Check: noneLost(s), Close: s.Close}, nil
}

func noneLost(s *spool.Sink) func() error {
	return func() error {
		if err := s.Flush(context.Background()); err != nil {
			return err
		}
		if st := s.Stats(); st.Lost() > 0 || st.Errors > 0 || st.Pending > 0 || st.Delivered != st.Logged {
			return fmt.Errorf("lines lost or errors: %+v", st)
		}
		return nil
	}
}

// Start prepares a contestant, in a new directory that Close removes.
func (s *Scenario) Start(c *Contestant) (Run, error) {
	dir, err := os.MkdirTemp("", "nibbench")
	if err != nil {
		return Run{}, err
	}
	run, err := c.New(dir)
	if err != nil {
		return Run{}, errors.Join(err, os.RemoveAll(dir))
	}
	end, dismiss := run.Close, func() {}
	if s.Goroutines > 1 {
		crew := measure.NewCrew(s.Goroutines, run.Do)
		run.Do, dismiss = crew.Do, crew.Close
	}
	run.Close = func() error {
		dismiss()
		return errors.Join(end(), os.RemoveAll(dir))
	}
	return run, nil
}
