// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A forked is a destination with a mark, which each spool must fork.
type forked struct {
	*far
	forks, closed *int
	mu            *sync.Mutex
	spool         uint64   // of the last record
	past          []uint64 // the spools before it
	t             testing.TB
}

func newForked(t testing.TB, f *far) *forked {
	return &forked{far: f, forks: new(int), closed: new(int), mu: new(sync.Mutex), t: t}
}

func (f *forked) Mark() []byte { return []byte("mark") }

func (f *forked) Resume(context.Context, []byte, []nib.Record) (int, error) { return 0, nil }

func (f *forked) Fork() (delivery.Destination, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	*f.forks++
	return &forked{far: f.far, forks: f.forks, closed: f.closed, mu: f.mu, t: f.t}, nil
}

func (f *forked) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	*f.closed++
	return nil
}

func (f *forked) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	for _, r := range batch {
		if f.spool == 0 {
			f.spool = r.Spool
		}
		if f.spool != r.Spool {
			f.past, f.spool = append(f.past, f.spool), r.Spool
		}
		if r.Spool != batch[0].Spool || slices.Contains(f.past, r.Spool) {
			f.t.Errorf("a destination with a mark has got records of several processes mixed")
		}
	}
	return f.far.Deliver(ctx, batch)
}

func shared(c Config) Config {
	c.Shared = true
	if c.SegmentSize == 0 {
		c.SegmentSize = segment.MinSize
	}
	c.poll, c.tick = time.Millisecond, time.Microsecond
	return c
}

func slotsIn(t testing.TB, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range all {
		if store.IsSlot(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// destinations runs f with both kinds of destinations that a shared spool may
// have.
func destinations(t *testing.T, f func(t *testing.T, far *far, dest func() delivery.Destination)) {
	t.Run("in turns", func(t *testing.T) {
		d := &far{}
		f(t, d, func() delivery.Destination { return d })
	})
	t.Run("forked", func(t *testing.T) {
		d := &far{}
		own := newForked(t, d)
		f(t, d, func() delivery.Destination {
			own, _ := own.Fork()
			return own
		})
		if *own.closed > *own.forks {
			t.Errorf("%d destinations were forked and %d closed", *own.forks, *own.closed)
		}
	})
}

// TestSharedRollingRestart starts each process while the previous one drains,
// or was closed before its destination had accepted everything (reliability row
// 44).
func TestSharedRollingRestart(t *testing.T) {
	destinations(t, func(t *testing.T, f *far, dest func() delivery.Destination) {
		dir := spoolDir(t)
		const each = 100
		f.set(down)
		var before *Sink
		n, rounds := 0, 10
		for range rounds {
			s := open(t, dir, dest(), shared(Config{Drain: time.Nanosecond}))
			for range each {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
				n++
			}
			if before != nil {
				closeDown(t, before)
			}
			before = s
		}
		if got := slotsIn(t, dir); len(got) > rounds {
			t.Errorf("got the slots %q", got)
		}
		f.set(nil)
		await.Until(t, "everything is delivered", func() bool { return before.Stats().Pending == 0 && len(slotsIn(t, dir)) == 1 })
		must(t, before.Close())
		st := checkIdentity(t, before)
		checkOnce(t, f, n)
		if st.Lost() > 0 || st.Errors > 0 {
			t.Errorf("got %+v", st)
		}
	})
}

// checkOnce checks that the records below n have arrived once each, and each
// hundred in order.
func checkOnce(t testing.TB, f *far, n int) {
	t.Helper()
	seen, last := map[int]bool{}, map[int]int{}
	for _, line := range f.take() {
		var i int
		if _, err := fmt.Sscanf(string(line), `{"n":%d,`, &i); err != nil {
			t.Fatal(err)
		}
		if seen[i] {
			t.Errorf("line %d came twice", i)
		}
		if before, ok := last[i/100]; ok && before > i {
			t.Errorf("line %d came after line %d of the same process", i, before)
		}
		seen[i], last[i/100] = true, i
	}
	if len(seen) != n {
		t.Errorf("got %d lines, want %d", len(seen), n)
	}
}

// TestSharedProcessesRaceForSlots has many processes deliver the slots of as
// many dead ones.
func TestSharedProcessesRaceForSlots(t *testing.T) {
	destinations(t, func(t *testing.T, f *far, dest func() delivery.Destination) {
		dir := spoolDir(t)
		const processes, each = 8, 100
		f.set(down)
		var dead []*Sink
		for p := range processes {
			s := open(t, dir, dest(), shared(Config{Drain: time.Nanosecond, poll: time.Hour}))
			for i := range each {
				must(t, s.WriteRecord(record(nib.LevelInfo, p*each+i, 200)))
			}
			dead = append(dead, s)
		}
		for _, s := range dead {
			closeDown(t, s)
		}
		f.set(nil)
		var wg sync.WaitGroup
		alive := make([]*Sink, processes)
		for p := range processes {
			wg.Add(1)
			go func() {
				defer wg.Done()
				alive[p] = open(t, dir, dest(), shared(Config{}))
				for i := range each {
					must(t, alive[p].WriteRecord(record(nib.LevelInfo, (processes+p)*each+i, 200)))
				}
			}()
		}
		wg.Wait()
		delivered := func() (n uint64) {
			for _, s := range alive {
				n += s.Stats().Delivered
			}
			return n
		}
		await.Until(t, "everything is delivered", func() bool { return delivered() == 2*processes*each })
		for _, s := range alive {
			must(t, s.Close())
			checkIdentity(t, s)
		}
		checkOnce(t, f, 2*processes*each)
	})
}

// TestSharedReusesSlots starts many processes, two at a time: the number of
// slots does not grow.
func TestSharedReusesSlots(t *testing.T) {
	dir, f := spoolDir(t), &far{}
	before := open(t, dir, f, shared(Config{}))
	for n := range 30 {
		s := open(t, dir, f, shared(Config{}))
		must(t, s.WriteRecord(record(nib.LevelInfo, 100*n, 100)), before.Close())
		if got := slotsIn(t, dir); len(got) > 3+mostSlots { // including those that are delivered and deleted
			t.Fatalf("got the slots %q of two processes", got)
		}
		before = s
	}
	await.Until(t, "the slots of the dead are deleted", func() bool { return len(slotsIn(t, dir)) == 1 })
	must(t, before.Close())
	checkOnce(t, f, 30)
}

// TestSharedSizeIsForAll fills the slots of several processes while the
// destination is down.
func TestSharedSizeIsForAll(t *testing.T) {
	const size = 8 * segment.MinSize
	for _, do := range []Action{ActionDropNew, ActionDropOld} {
		dir, f := spoolDir(t), &far{do: down}
		c := shared(Config{Size: size, Drain: time.Nanosecond, MinFree: 1, slow: time.Millisecond})
		if do != ActionDropNew {
			c.OnFull = []FullRule{{From: nib.LevelTrace, Do: do}}
		}
		var all []*Sink
		n := 0
		for p := range 5 {
			s := open(t, dir, f, c)
			all = append(all, s)
			for range 500 {
				if err := s.WriteRecord(record(nib.LevelInfo, n, 1000)); err != nil && !errors.Is(err, errFull) && !errors.Is(err, errSlow) {
					t.Fatal(err)
				}
				n++
			}
			// Two processes that make one at the same time delete it again. The
			// first segment of a process is made in a full home, too.
			most := size/segment.MinSize + p + 1
			await.Until(t, fmt.Sprintf("%d processes have at most %d segments", p+1, most), func() bool {
				return len(segmentFiles(t, filepath.Join(dir, "*"))) <= most
			})
			if p%2 == 1 {
				closeDown(t, all[p-1])
			}
		}
		for _, s := range all {
			closeDown(t, s)
		}
		if got := used(t, dir); got > 2*size {
			t.Errorf("there are %d bytes on the disk, copies included; want at most %d", got, 2*size)
		}
		f.set(nil)
		s := open(t, dir, f, shared(Config{}))
		await.Until(t, "everything is delivered", func() bool { return s.Stats().Pending == 0 && len(slotsIn(t, dir)) == 1 })
		must(t, s.Close())
	}
}

// TestSharedDropOldTakesSlotsOfTheDead has a process whose own slot is empty in
// a full home.
func TestSharedDropOldTakesSlotsOfTheDead(t *testing.T) {
	dir, f := spoolDir(t), &far{do: down}
	c := shared(Config{Size: 4 * segment.MinSize, Drain: time.Nanosecond, MinFree: 1})
	old := open(t, dir, f, c)
	n := 0
	for ; old.WriteRecord(record(nib.LevelInfo, n, 2000)) == nil; n++ {
	}
	c.OnFull = []FullRule{{From: nib.LevelTrace, Do: ActionDropOld}}
	s := open(t, dir, f, c)
	closeDown(t, old)
	await.Until(t, "the slot is taken over", func() bool { return s.Stats().Recovered > 0 })
	for i := range 10 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n+i, 2000)))
	}
	closeDown(t, s)
	if st := s.Stats(); !slices.ContainsFunc(st.Dropped, func(d delivery.Drop) bool { return d.Reason == delivery.ReasonOldest && d.Lines > 0 }) {
		t.Errorf("got %+v, want the oldest lines to be dropped", st)
	}
}

// TestSharedCountsOfTheDead reports the drops of a dead process once.
func TestSharedCountsOfTheDead(t *testing.T) {
	dir, f := spoolDir(t), &far{do: down}
	c := shared(Config{Drain: time.Nanosecond, poll: time.Hour})
	old := open(t, dir, f, c)
	alive := open(t, dir, f, shared(Config{}))
	must(t, old.WriteRecord(record(nib.LevelInfo, 0, 100)))
	for range 3 {
		if err := old.WriteRecord(record(nib.LevelError, 0, 2*segment.MinSize)); !errors.Is(err, errTooLarge) {
			t.Fatal(err)
		}
	}
	closeDown(t, old)
	f.set(nil)
	await.Until(t, "the slot is taken over and deleted", func() bool { return len(slotsIn(t, dir)) == 1 })
	st := alive.Stats()
	if want := []delivery.Drop{{Reason: delivery.ReasonTooLarge, Level: nib.LevelError, Lines: 3}}; !slices.Equal(st.Inherited, want) {
		t.Errorf("got the drops %v of a dead process, want %v", st.Inherited, want)
	}
	for n := range 700 { // until there is a new segment, with the notice
		must(t, alive.WriteRecord(record(nib.LevelInfo, 1+n, 100)))
	}
	must(t, alive.Flush(context.Background()), alive.Close())
	if len(f.notices) != 1 || !strings.Contains(string(f.notices[0]), `"dropped":3`) {
		t.Errorf("got the announcements %q, want one of 3 lines", f.notices)
	}
}

// TestSharedTakesOverOlderDirectories opens a directory that another process
// uses unshared.
func TestSharedTakesOverOlderDirectories(t *testing.T) {
	dir, f := spoolDir(t), &far{do: down}
	old := open(t, dir, f, Config{SegmentSize: segment.MinSize, Drain: time.Nanosecond})
	for n := range 1000 {
		must(t, old.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	s := open(t, dir, f, shared(Config{}))
	closeDown(t, old)
	f.set(nil)
	await.Until(t, "everything is delivered", func() bool {
		names, err := os.ReadDir(dir)
		return err == nil && s.Stats().Delivered == 1000 && len(names) == 1
	})
	checkOnce(t, f, 1000)
	must(t, s.WriteRecord(record(nib.LevelInfo, 1000, 200)), s.Close())

	_, err := Open(dir, f, Config{})
	if err == nil || !strings.Contains(err.Error(), "set Config.Shared") {
		t.Errorf("unshared: got %v, want an error that says what to set", err)
	}
	if dirs, err := Find(dir); err != nil || !slices.Equal(dirs, []string{filepath.Join(dir, store.SlotName(1))}) {
		t.Errorf("Find: got %q and %v, want the slot", dirs, err)
	}
	if _, err := Inspect(dir); err == nil || !strings.Contains(err.Error(), store.SlotName(1)) {
		t.Errorf("Inspect: got %v, want an error that names the slots", err)
	}
}

// A badFork is a destination whose Fork is faulty.
type badFork struct {
	far
	err    error
	panics bool
}

func (f *badFork) Fork() (delivery.Destination, error) {
	if f.panics {
		panic("no")
	}
	return nil, f.err
}

// TestSharedFaults opens shared spools with destinations that cannot be shared.
func TestSharedFaults(t *testing.T) {
	type marked struct {
		delivery.Destination
		delivery.Resumer
	}
	for _, c := range []struct {
		name string
		dest delivery.Destination
		c    Config
		want string
	}{
		{"a mark without Fork", marked{&far{}, newForked(t, &far{})}, Config{Shared: true}, "delivery.Forker"},
		{"overlapping batches without Fork", eager{&far{}}, Config{Shared: true}, "delivery.Forker"},
		{"a Fork that fails", &badFork{err: errDown}, Config{Shared: true}, "down"},
		{"a Fork that panics", &badFork{panics: true}, Config{Shared: true}, "method Fork: panic"},
		{"a Fork that returns nothing", &badFork{}, Config{Shared: true}, "neither a destination nor an error"},
		{"no locks", &far{}, Config{Shared: true, volume: store.Volume{Size: 1 << 40, Remote: true}}, "needs locks"},
		{"adopted", &far{}, Config{Shared: true, Adopt: true}, "Adopt with Shared"},
		{"deliver only", &far{}, Config{Shared: true, DeliverOnly: true}, "DeliverOnly with Shared"},
	} {
		dir := spoolDir(t)
		s, err := Open(dir, c.dest, c.c)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "nib/spool: ") {
			t.Errorf("%s: got %v, want an error with %q", c.name, err, c.want)
		}
	}
	if _, err := Open("", &far{}, Config{Shared: true}); err == nil {
		t.Error("a spool in memory cannot be shared")
	}
}

// TestSharedDestinationThatHangs closes a spool whose destination hangs with
// records of a dead process.
func TestSharedDestinationThatHangs(t *testing.T) {
	dir, f := spoolDir(t), &far{do: down}
	c := shared(Config{Drain: time.Nanosecond, poll: time.Hour})
	old := open(t, dir, f, c)
	alive := open(t, dir, f, shared(Config{Drain: time.Millisecond}))
	must(t, old.WriteRecord(record(nib.LevelInfo, 0, 100)))
	closeDown(t, old)
	hangs := make(chan struct{}, 1)
	f.set(func(ctx context.Context, _ []nib.Record) (delivery.Result, error, bool) {
		store.Signal(hangs)
		<-ctx.Done()
		return delivery.Result{}, ctx.Err(), true
	})
	<-hangs
	closeDown(t, alive)
	if got := slotsIn(t, dir); len(got) != 1 {
		t.Errorf("got the slots %q, want the one with a line", got)
	}
	f.set(nil)
	s := open(t, dir, f, shared(Config{}))
	await.Until(t, "the line is delivered", func() bool { return s.Stats().Delivered == 1 })
	must(t, s.Close())
}

// TestInUseNamesTheProcess checks the error for a spool that is in use.
func TestInUseNamesTheProcess(t *testing.T) {
	dir := spoolDir(t)
	s := open(t, dir, &far{}, Config{SegmentSize: segment.MinSize})
	defer s.Close()
	_, err := Open(dir, &far{}, Config{})
	if !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "this process") || !strings.Contains(err.Error(), "Config.Shared") {
		t.Errorf("got %v, want an error that names the process and what to do", err)
	}
	if runtime.GOOS == "windows" {
		return // no other process may read the lock file
	}
	for _, c := range []struct{ text, want string }{
		{"1 \"shop\"\n", `process 1 ("shop") has it`},
		{"1 \"\\x1b[2J\"\n", `process 1 ("\x1b[2J") has it`},
		{"1 \"\"\n", "process 1 has it"},
		{"", "open: give each"},
		{"\x1b[2J", "open: give each"},
		{"-1 \"shop\"\n", "open: give each"},
	} {
		must(t, os.WriteFile(filepath.Join(dir, "lock"), []byte(c.text), 0o600))
		if _, err := Open(dir, &far{}, Config{}); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}
