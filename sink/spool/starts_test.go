// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// used returns the size of the files of a spool, without the cursor and the
// lock.
func used(t testing.TB, dir string) (n int64) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it has been renamed or deleted just now
		}
		if err != nil || e.IsDir() || !strings.Contains(path, ".seg") && !strings.Contains(path, ".copy") {
			return err
		}
		info, err := e.Info()
		switch {
		case err == nil:
			n += info.Size()
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		return nil
	}))
	return n
}

// closeDown closes a spool whose destination is down.
func closeDown(t testing.TB, s *Sink) {
	t.Helper()
	if err := s.Close(); err != nil && !errors.Is(err, ErrPending) {
		t.Fatal(err)
	}
	checkIdentity(t, s)
}

// TestSizeBoundsAnyNumberOfStarts starts repeatedly while the destination is
// down (reliability row 29).
func TestSizeBoundsAnyNumberOfStarts(t *testing.T) {
	for _, c := range seed.Some(t, 1, []struct {
		name  string
		lines int // of each start
		bytes int // of each line
		boots bool
	}{
		{"no line", 0, 0, false},
		{"a line", 1, 100, false},
		{"lines", 20, 500, false},
		{"a segment", 30, 2000, false},
		{"no line after a reboot", 0, 0, true},
		{"a line after a reboot", 1, 100, true},
	}) {
		t.Run(c.name, func(t *testing.T) {
			dirs(t, func(t *testing.T, dir string) {
				if dir == "" {
					t.Skip("a spool in memory ends with its process")
				}
				startOften(t, dir, c.boots, c.lines, c.bytes)
			})
		})
	}
}

// startOften starts a spool repeatedly while its destination is down, and
// delivers its lines in the end.
func startOften(t *testing.T, dir string, boots bool, lines, bytes int) {
	const starts, size = 60, 256 << 10
	t.Helper()
	f := &far{do: down}
	conf := Config{Size: size, SegmentSize: segment.MinSize, MinFree: 1, Drain: time.Nanosecond, slow: eventTimeout}
	accepted := map[string]bool{}
	for n := range starts {
		conf.boot = 1
		if boots {
			conf.boot = uint64(n) + 1
		}
		s := open(t, dir, f, conf)
		for i := range lines {
			r := record(nib.LevelInfo, n*1000+i, bytes)
			switch err := s.WriteRecord(r); {
			case err == nil:
				accepted[string(r.Line)] = true
			case !errors.Is(err, errFull):
				t.Fatal(err)
			}
		}
		if lines == 1 && !boots && len(accepted) != n+1 {
			t.Fatalf("start %d: the line was dropped, although there is room for it", n)
		}
		if lines > 0 && s.chain.copier != nil {
			must(t, s.Sync(context.Background()))
		}
		closeDown(t, s)
		if got := used(t, dir); got > 2*size {
			t.Fatalf("after %d starts the spool has %d bytes on the disk, copies included; want at most %d", n+1, got, 2*size)
		}
	}
	f.set(nil)
	conf.Drain = eventTimeout
	s := open(t, dir, f, conf)
	must(t, s.Flush(context.Background()), s.Close())
	seen := map[uint64]bool{}
	for i, line := range f.take() {
		if seen[f.seqs[i]] {
			t.Errorf("number %d was given twice", f.seqs[i])
		}
		seen[f.seqs[i]] = true
		delete(accepted, string(line))
	}
	if len(accepted) > 0 {
		t.Errorf("%d accepted lines were lost", len(accepted))
	}
}

// fullDir makes a full spool, and returns the number of its lines.
func fullDir(t *testing.T, dir string, c Config) (lines int) {
	t.Helper()
	c.Drain = time.Nanosecond
	s := open(t, dir, &far{do: down}, c)
	for s.WriteRecord(record(nib.LevelInfo, lines, 2000)) == nil {
		lines++
	}
	closeDown(t, s)
	return lines
}

// TestOpenWhenFull opens a spool without room for another segment: a line is
// handled as in a spool that has become full.
func TestOpenWhenFull(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		if dir == "" {
			t.Skip("a spool in memory ends with its process")
		}
		conf := Config{Size: 4 * segment.MinSize, SegmentSize: segment.MinSize, MinFree: 1, slow: eventTimeout, tick: time.Microsecond}
		lines := fullDir(t, dir, conf)

		f := &far{do: down}
		conf.Drain = time.Nanosecond
		for range 3 { // each process dies before it can write a notice
			s := open(t, dir, f, conf)
			if err := s.WriteRecord(record(nib.LevelWarn, 0, 2000)); !errors.Is(err, errFull) {
				t.Fatalf("DropNew: got %v, want errFull", err)
			}
			closeDown(t, s)
		}

		conf.OnFull = []FullRule{{From: nib.LevelTrace, Do: ActionBlock, Wait: eventTimeout}}
		conf.Drain = eventTimeout
		s := open(t, dir, f, conf)
		f.set(nil)
		for n := range 100 {
			must(t, s.WriteRecord(record(nib.LevelInfo, lines+n, 2000)))
		}
		must(t, s.Flush(context.Background()), s.Close())
		checkLines(t, f.take(), 0, lines+100, 2000)
		st := checkIdentity(t, s)
		want := []delivery.Drop{{Reason: delivery.ReasonFull, Level: nib.LevelInfo, Lines: 1}, {Reason: delivery.ReasonFull, Level: nib.LevelWarn, Lines: 3}}
		if !slices.Equal(st.Inherited, want) || st.Notices != 1 || len(f.notices) != 1 {
			t.Errorf("got the drops %v of former processes and %d notices %q, want %v and one", st.Inherited, st.Notices, f.notices, want)
		}
	})
}

// TestOpenWhenFullDropsOldest opens a full spool that drops its oldest
// segments.
func TestOpenWhenFullDropsOldest(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		if dir == "" {
			t.Skip("a spool in memory ends with its process")
		}
		conf := Config{Size: 4 * segment.MinSize, SegmentSize: segment.MinSize, MinFree: 1, slow: eventTimeout, tick: time.Microsecond}
		lines := fullDir(t, dir, conf)
		conf.OnFull = []FullRule{{From: nib.LevelTrace, Do: ActionDropOld}}
		f := &far{do: down}
		accepted := lines
		for range 3 {
			conf.Drain = time.Nanosecond
			s := open(t, dir, f, conf)
			for range 10 {
				must(t, s.WriteRecord(record(nib.LevelInfo, accepted, 2000)))
				accepted++
			}
			closeDown(t, s)
			if got := used(t, dir); got > 2*conf.Size {
				t.Errorf("the spool has %d bytes on the disk, want at most %d", got, 2*conf.Size)
			}
		}
		f.set(nil)
		conf.Drain = eventTimeout
		s := open(t, dir, f, conf)
		must(t, s.Flush(context.Background()), s.Close())
		got := f.take()
		if st := checkIdentity(t, s); st.Lost() != 0 || st.Unfinished != 0 {
			t.Errorf("lines that were dropped by a process before are counted again: %+v", st)
		}
		last := 30 // lines of this test
		for i, line := range got[len(got)-last:] {
			if want := record(nib.LevelInfo, accepted-last+i, 2000).Line; string(line) != string(want) {
				t.Fatalf("line %d from the end: got %.12s, want %.12s", last-i, line, want)
			}
		}
	})
}

// TestNextProcessContinuesTheLastSegment has a process deliver a part of its
// lines: the next one continues in the same segment, and delivers the rest once
// and in order.
func TestNextProcessContinuesTheLastSegment(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		if dir == "" {
			t.Skip("a spool in memory ends with its process")
		}
		f := &far{}
		conf := Config{SegmentSize: segment.MinSize, tick: time.Microsecond}
		total := 0
		for round := range 10 {
			conf.Drain = time.Nanosecond
			s := open(t, dir, f, conf)
			for range 10 {
				must(t, s.WriteRecord(record(nib.LevelInfo, total, 200)))
				total++
			}
			if round%3 > 0 {
				must(t, s.Flush(context.Background()))
			}
			f.set(down)
			for range 10 {
				r := record(nib.LevelInfo, total, 200)
				r.PC = 1 << 30
				must(t, s.WriteRecord(r))
				total++
			}
			closeDown(t, s)
			f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
				for _, r := range batch {
					if r.PC != 0 {
						t.Errorf("record %d has the program counter of another process", r.Seq)
					}
				}
				return delivery.Result{Accepted: len(batch)}, nil, false
			})
			if names := segmentFiles(t, dir); len(names) != 1 {
				t.Fatalf("got the segments %q after %d starts, want one", names, round+1)
			}
		}
		conf.Drain = eventTimeout
		s := open(t, dir, f, conf)
		must(t, s.Flush(context.Background()), s.Close())
		checkLines(t, f.take(), 0, total, 200)
	})
}

func segmentFiles(t testing.TB, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+store.SegmentExt))
	must(t, err)
	return names
}

// TestDeliverOnly delivers a spool without adding to it.
func TestDeliverOnly(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		if dir == "" {
			if _, err := Open("", &far{}, Config{DeliverOnly: true}); err == nil {
				t.Error("a spool in memory has nothing to deliver")
			}
			return
		}
		s := open(t, dir, nil, Config{SegmentSize: segment.MinSize})
		for n := range 1000 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		must(t, s.Close())
		f := &far{}
		s = open(t, dir, f, Config{SegmentSize: segment.MinSize, DeliverOnly: true})
		must(t, s.Flush(context.Background()), s.Close())
		checkLines(t, f.take(), 0, 1000, 200)
		if names := segmentFiles(t, dir); len(names) > 0 {
			t.Errorf("got the segments %q after everything was delivered, want none", names)
		}
		s = open(t, dir, f, Config{SegmentSize: segment.MinSize})
		must(t, s.WriteRecord(record(nib.LevelInfo, 1000, 200)), s.Flush(context.Background()), s.Close())
		checkLines(t, f.take(), 1000, 1001, 200)
	})
}

// TestDeliverOnlyKeepsCounts delivers a spool while a line is dropped and
// others are rejected: the last segment stays, and the next process reports
// them.
func TestDeliverOnlyKeepsCounts(t *testing.T) {
	bothWays(t, func(t *testing.T, written bool) {
		dir := filepath.Join(t.TempDir(), "spool")
		c := Config{SegmentSize: segment.MinSize, Written: written}
		s := open(t, dir, nil, c)
		for n := range 1000 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		must(t, s.Close())
		f := &far{}
		f.set(func(_ context.Context, b []nib.Record) (delivery.Result, error, bool) {
			return delivery.Result{
				Accepted: len(b), Rejected: []delivery.Rejection{{Index: 0, Reason: errDown}},
			}, nil, true
		})
		c.DeliverOnly = true
		s = open(t, dir, f, c)
		if err := s.WriteRecord(record(nib.LevelInfo, 0, 200)); !errors.Is(err, errFull) {
			t.Errorf("got %v, want errFull", err)
		}
		must(t, s.Flush(context.Background()), s.Close())
		want := s.Stats().Lost()
		if names := segmentFiles(t, dir); len(names) != 1 || want < 2 {
			t.Errorf("got the segments %q and %d lines lost, want one segment", names, want)
		}
		f.set(nil)
		for _, only := range []bool{true, false} {
			c.DeliverOnly = only
			s = open(t, dir, f, c)
			must(t, s.Flush(context.Background()), s.Close())
		}
		if got := linesReported(t, f); got != want {
			t.Errorf("notices report %d lines, want %d", got, want)
		}
	})
}

// TestStartsFillTheListOfStreams starts so often that the list of a segment is
// full, with a line of each process or without: only processes with lines take
// places in the list, and all lines arrive, each under the stream of its
// process.
func TestStartsFillTheListOfStreams(t *testing.T) {
	const starts = 2*segment.MaxStreams + 10
	for _, lines := range []int{0, 1} {
		m, f := vfstest.NewMem(nil), &far{}
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		c := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever}
		s := open(t, memDir, nil, c)
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 200)), s.Close())
		for n := range starts {
			s = open(t, memDir, nil, c)
			for range lines {
				must(t, s.WriteRecord(record(nib.LevelInfo, n+1, 200)))
			}
			want := uint64(1 + lines*(n+1)/(segment.MaxStreams+1))
			if got := s.chain.active.Load().Number; got != want {
				t.Fatalf("%d lines, start %d: got segment %d, want %d", lines, n, got, want)
			}
			must(t, s.Close())
		}
		s = open(t, memDir, f, c)
		must(t, s.Flush(context.Background()), s.Close())
		checkLines(t, f.take(), 0, 1+lines*starts, 200)
		slices.Sort(f.ids)
		if got := len(slices.Compact(f.ids)); got != 1+lines*starts {
			t.Errorf("got lines of %d processes, want %d", got, 1+lines*starts)
		}
	}
}
