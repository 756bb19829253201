// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// both is a configuration with a second destination called "other".
func both(other delivery.Destination, c Config) Config {
	c.Also = append(c.Also, NamedDestination{Name: "other", To: other})
	if c.SegmentSize == 0 {
		c.SegmentSize = segment.MinSize
	}
	return c
}

// of returns the counts of one destination.
func of(t testing.TB, st Stats, name string) DestinationStats {
	t.Helper()
	for _, d := range st.Destinations {
		if d.Name == name {
			return d
		}
	}
	t.Fatalf("there is no destination %q in %+v", name, st)
	return DestinationStats{}
}

// TestDeadDestinationDoesNotDelayOthers has two destinations. One is down: the
// other one gets everything. The first gets the pending lines after
// the next start, and the second gets nothing twice.
func TestDeadDestinationDoesNotDelayOthers(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		alive, dead := &far{}, &far{do: down}
		s := open(t, dir, dead, both(alive, Config{Drain: time.Millisecond}))
		const lines = 2000
		for n := range lines {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		for of(t, s.Stats(), "other").Pending > 0 {
			s.chain.poke()
		}
		checkLines(t, alive.take(), 0, lines, 200)
		st := checkIdentity(t, s)
		if st.Pending != lines || of(t, st, "other").Delivered != lines || st.Segments < 5 {
			t.Errorf("got %+v, want %d lines in the spool for the first destination", st, lines)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if err := s.Flush(ctx); err == nil {
			t.Error("Flush did not wait for the destination that is down")
		}
		if err := s.Close(); !errors.Is(err, ErrPending) {
			t.Errorf("Close: got %v, want ErrPending", err)
		}
		if dir == "" {
			return
		}
		dead.set(nil)
		s = open(t, dir, dead, both(alive, Config{}))
		must(t, s.Flush(context.Background()))
		checkLines(t, dead.take(), 0, lines, 200)
		checkLines(t, alive.take(), 0, 0, 200)
		if st := checkIdentity(t, s); st.Delivered != lines || of(t, st, "other").Recovered != 0 {
			t.Errorf("got %+v, want %d delivered to the first alone", st, lines)
		}
	})
}

// TestRemovedDestinationDoesNotKeepSegments removes a destination with pending
// lines from the configuration, and then adds it again: its lines are gone by
// then, except in the last segment.
func TestRemovedDestinationDoesNotKeepSegments(t *testing.T) {
	dir := spoolDir(t)
	f, dead := &far{}, &far{do: down}
	s := open(t, dir, f, both(dead, Config{Drain: time.Millisecond}))
	for n := range 1000 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	name := of(t, s.Stats(), "other").Name
	if err := s.Close(); !errors.Is(err, ErrPending) || !strings.Contains(err.Error(), "left in "+dir+": ") || !strings.Contains(err.Error(), "1000 for "+name) {
		t.Fatalf("got %v, want ErrPending with the directory and 1000 lines for %s", err, name)
	}
	s = open(t, dir, f, Config{SegmentSize: segment.MinSize})
	must(t, s.WriteRecord(record(nib.LevelInfo, 1000, 200)), s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), 0, 1001, 200)
	names, err := filepath.Glob(filepath.Join(dir, "*"+store.SegmentExt))
	if must(t, err); len(names) != 1 {
		t.Errorf("got the segments %q, want the last one alone", names)
	}
	dead.set(nil)
	s = open(t, dir, f, both(dead, Config{}))
	must(t, s.WriteRecord(record(nib.LevelInfo, 1001, 200)), s.Flush(context.Background()), s.Close())
	left := dead.take()
	if len(left) < 2 || len(left) > 1000 {
		t.Fatalf("got %d lines, want those of the last segment alone", len(left))
	}
	checkLines(t, left, 1002-len(left), 1002, 200)
	checkLines(t, f.take(), 1001, 1002, 200)
}

// TestNewDestinationBeginsWithTheOldest adds a destination to a spool with
// lines in it.
func TestNewDestinationBeginsWithTheOldest(t *testing.T) {
	dir := spoolDir(t)
	f, late := &far{do: down}, &far{}
	s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Drain: time.Millisecond})
	for n := range 1000 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	_ = s.Close() // lines are left
	f.set(nil)
	s = open(t, dir, f, both(late, Config{}))
	must(t, s.WriteRecord(record(nib.LevelInfo, 1000, 200)), s.Close())
	checkLines(t, f.take(), 0, 1001, 200)
	checkLines(t, late.take(), 0, 1001, 200)
}

// TestBothSleepersAreWoken logs lines one by one to destinations that sleep.
func TestBothSleepersAreWoken(t *testing.T) {
	got := [2]chan uint64{make(chan uint64, 1), make(chan uint64, 1)}
	var f [2]far
	for i := range f {
		f[i].set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			got[i] <- batch[0].Seq
			return delivery.Result{Accepted: 1}, nil, false
		})
	}
	s := open(t, "", &f[0], both(&f[1], Config{}))
	for n := uint64(1); n <= 50; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		for i := range got {
			if seq := <-got[i]; seq != n {
				t.Fatalf("destination %d: got number %d, want %d", i, seq, n)
			}
		}
	}
}

// TestDropOldWithTwo drops segments that one destination has settled and the
// other has not: they count as dropped for the slower one.
func TestDropOldWithTwo(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		alive, behind := &far{}, &far{}
		reached, hold := make(chan struct{}, 1), make(chan struct{})
		behind.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			reached <- struct{}{}
			<-hold
			return delivery.Result{Accepted: 1}, nil, false
		})
		s := open(t, dir, alive, both(behind, Config{Size: 4 * segment.MinSize, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}}))
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
		<-reached
		const lines = 1000
		for n := 1; n < lines; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
			for n%20 == 0 && of(t, s.Stats(), "destination").Pending > 0 {
				s.chain.poke()
			}
		}
		behind.set(nil)
		close(hold)
		must(t, s.Flush(context.Background()))
		checkLines(t, alive.take(), 0, lines, 1000)
		st := checkIdentity(t, s)
		if d := of(t, st, "other"); d.Lost() < lines/2 || d.Dropped[0].Reason != delivery.ReasonOldest || d.Delivered != d.Logged-d.Lost() {
			t.Errorf("got %+v, want most of %d lines dropped as oldest", d, lines)
		}
		if st.Lost() != 0 || st.Delivered != st.Logged {
			t.Errorf("got %+v, want nothing lost for the first", st)
		}
		n, m, lost := linesReported(t, alive), linesReported(t, behind), of(t, st, "other").Lost()
		if n > 0 || m == 0 || m > lost {
			t.Errorf("notices report %d lines to the first, and %d of %d to the second", n, m, lost)
		}
	})
}

func TestValidateDestinations(t *testing.T) {
	for _, c := range []struct {
		config Config
		want   string
	}{
		{both(&far{}, Config{Name: "other"}), `two destinations have the Name "other"`},
		{Config{Also: []NamedDestination{{"destination", &far{}}}}, "two destinations"},
		{both(&far{}, Config{Name: "OTHER"}), `two destinations have the Name "other"`},
		{Config{Also: []NamedDestination{{"", &far{}}}}, "empty"},
		{Config{Also: []NamedDestination{{"a/b", &far{}}}}, "other characters"},
		{Config{Also: []NamedDestination{{"a", nil}}}, "no destination To"},
		{both(&far{}, Config{}), ""},
	} {
		err := c.config.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.config.Also, err, c.want)
		}
	}
}

// TestOnlyAlso opens a spool with destinations only in Config.Also.
func TestOnlyAlso(t *testing.T) {
	dir, f := spoolDir(t), &far{}
	s := open(t, dir, nil, both(f, Config{}))
	must(t, s.WriteRecord(record(0, 0, 100)), s.Close())
	checkLines(t, f.take(), 0, 1, 100)
	if _, err := os.Stat(filepath.Join(dir, "other.cursor")); err != nil {
		t.Error(err)
	}
}
