// SPDX-License-Identifier: Apache-2.0

// Package spools measures the cost of lines that survive the death of the
// process: a record into the spool beside a write(2) per line, and a whole log
// call into it beside calls of other loggers that discard their lines.
package spools

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

// line is 200 bytes long.
var line = []byte(`{"time":"2026-03-14T09:26:53.589Z","level":"info","message":"` + strings.Repeat("x", 136) + `"}` + "\n")

// Set returns the set of the spool.
func Set() measure.Set {
	const lines = 10_000 // a sustained round has 1,000 times as many and lasts for seconds
	return measure.Set{
		Name: "spool", Path: "docs/spool.md", Note: "Nanoseconds of one line.",
		Modules: bench.Set().Modules,
		Tables: []measure.Table{
			{Title: "A record", Note: "A line of 200 bytes. *nib* is a spool in a directory, *nib-memory* " +
				"one without, which ends with the process; lines are delivered from both while the calls " +
				"are measured. *os.File* is a write(2) per line, which survives the process too.",
				Scenarios: []measure.Scenario{
					{Name: "SpoolRecord", Title: "a record, 1 goroutine", Versus: osFile, Ops: lines,
						Contestants: records},
					{Name: "SpoolRecord8", Title: "a record, 8 goroutines", Versus: osFile, Ops: lines,
						Goroutines: 8, Contestants: records},
					{Name: "SpoolRecordSustained", Title: "a record, sustained", Versus: osFile,
						Ops: 1000 * lines, Rounds: 5, Contestants: records},
				}},
			{Title: "A whole log call", Note: "nib's into the spool, the calls of the others into a writer " +
				"that does nothing.", Scenarios: []measure.Scenario{
				{Name: "SpoolFields", Title: "10 fields", Ops: lines, Contestants: calls()},
			}},
		},
	}
}

const osFile = "os.File"

var records = []measure.Contestant{
	{Name: "nib", New: func(p measure.Place) (measure.Run, error) { return recordRun(filepath.Join(p.Dir, "spool")) }},
	{Name: "nib-memory", New: func(measure.Place) (measure.Run, error) { return recordRun("") }},
	{Name: osFile, New: func(p measure.Place) (measure.Run, error) {
		f, err := os.OpenFile(filepath.Join(p.Dir, "app.log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		return measure.Run{Close: f.Close, Do: func(n int) {
			for i := range n {
				_, err := f.Write(line)
				if err == nil && i%1_000_000 == 999_999 { // about as large as a spool
					err = f.Truncate(0)
				}
				if err != nil {
					panic(fmt.Sprintf("spools: %v", err))
				}
			}
		}}, err
	}},
}

// calls returns whole log calls: nib's into the spool, the calls of the others
// into a writer that discards them.
func calls() []measure.Contestant {
	all := []measure.Contestant{{Name: "nib", New: func(p measure.Place) (measure.Run, error) {
		s, err := open(filepath.Join(p.Dir, "spool"))
		if err != nil {
			return measure.Run{}, err
		}
		l := nib.NewSink(s)
		return measure.Run{Do: func(n int) { bench.NibTen(l, n) }, Check: noneLost(s), Close: s.Close}, nil
	}}}
	for _, p := range bench.Peers() {
		if setup := p.Rows["TenFields"]; setup != nil && p.Name != "nib" {
			all = append(all, measure.Contestant{Name: p.Name, New: func(measure.Place) (measure.Run, error) {
				return setup(nothing{}), nil
			}})
		}
	}
	return all
}

// nothing is an io.Writer that discards everything. Some libraries encode
// nothing for io.Discard.
type nothing struct{}

func (nothing) Write(p []byte) (int, error) { return len(p), nil }

// accepting is a destination that accepts everything at once.
type accepting struct{}

func (accepting) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	return delivery.Result{Accepted: len(batch)}, nil
}

// open opens a spool that is emptied continuously. Its callers wait for room,
// so that no contestant is timed for dropped lines.
func open(dir string) (*spool.Sink, error) {
	return spool.Open(dir, accepting{}, spool.Config{Size: 256 << 20,
		OnFull: []spool.FullRule{{Do: spool.ActionBlock, Wait: time.Minute}}})
}

func recordRun(dir string) (measure.Run, error) {
	s, err := open(dir)
	if err != nil {
		return measure.Run{}, err
	}
	return measure.Run{Check: noneLost(s), Close: s.Close, Do: func(n int) {
		r := nib.Record{Level: nib.LevelInfo, Line: line}
		for range n {
			if err := s.WriteRecord(&r); err != nil {
				panic(fmt.Sprintf("spools: %v", err))
			}
		}
	}}, nil
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
