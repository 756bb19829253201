// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// dead copies the files of an open spool, as the death of the process would
// leave them.
func dead(t testing.TB, dir string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "dead")
	must(t, os.MkdirAll(to, 0o700))
	files, err := os.ReadDir(dir)
	must(t, err)
	for _, f := range files {
		if b, err := os.ReadFile(filepath.Join(dir, f.Name())); err == nil { // otherwise it was made or deleted just now
			must(t, os.WriteFile(filepath.Join(to, f.Name()), b, 0o600))
		}
	}
	return to
}

// linesReported returns how many dropped lines the notices that f got report.
func linesReported(t testing.TB, f *far) (n uint64) {
	t.Helper()
	for _, line := range f.notices {
		var notice struct{ Dropped uint64 }
		must(t, json.Unmarshal(line, &notice))
		n += notice.Dropped
	}
	return n
}

// TestDropsSurviveDeath kills a process whose spool is full, and the next one
// at its start: the dropped lines are reported once.
func TestDropsSurviveDeath(t *testing.T) {
	bothWays(t, func(t *testing.T, written bool) {
		c := Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize,
			Drain: time.Millisecond, Written: written, Sync: SyncNever}
		dir := filepath.Join(t.TempDir(), "spool")
		s := open(t, dir, &far{do: down}, c)
		n := 0
		for ; s.WriteRecord(record(nib.LevelInfo, n, 1000)) == nil; n++ {
		}
		for range 4 {
			if err := s.WriteRecord(record(nib.LevelError, n, 1000)); err != errFull {
				t.Fatalf("got %v, want errFull", err)
			}
		}
		want := []delivery.Drop{{Reason: delivery.ReasonFull, Level: nib.LevelInfo, Lines: 1}, {Reason: delivery.ReasonFull, Level: nib.LevelError, Lines: 4}}
		first := dead(t, dir)

		c.Size = 0
		s = open(t, first, nil, c)
		if st := checkIdentity(t, s); !slices.Equal(st.Inherited, want) || st.Lost() != 0 || st.Notices != 1 {
			t.Errorf("got %+v, want %v inherited and a notice", st, want)
		}
		second := dead(t, first)
		unwritten := dead(t, first)
		must(t, s.Close())
		for _, x := range []struct {
			dir  string
			want []delivery.Drop
		}{{second, nil}, {unwritten, want}} {
			if x.want != nil { // its process died before the notice was committed
				eraseFirst(t, x.dir)
			}
			f := &far{}
			s = open(t, x.dir, f, c)
			must(t, s.Flush(context.Background()))
			if st := checkIdentity(t, s); !slices.Equal(st.Inherited, x.want) || st.Lost() != 0 {
				t.Errorf("got %+v, want %v inherited", st, x.want)
			}
			must(t, s.Close())
			checkLines(t, f.take(), 0, n, 1000)
			if got := linesReported(t, f); got != 5 {
				t.Errorf("notices report %d lines, want 5: %q", got, f.notices)
			}
		}
	})
}

// eraseFirst turns the first record of the last segment back into a claim.
func eraseFirst(t testing.TB, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"+store.SegmentExt))
	must(t, err)
	slices.Reverse(names)
	for _, name := range names {
		b, err := os.ReadFile(name)
		must(t, err)
		if n := binary.LittleEndian.Uint64(b[segment.HeaderSize:]); n != 0 {
			clear(b[segment.HeaderSize : segment.HeaderSize+8])
			must(t, os.WriteFile(name, b, 0o600))
			return
		}
	}
	t.Fatal("no segment has a record")
}

// TestDroppedSegmentsAreNotDamage kills a process that has dropped its oldest
// segments except the first: the next process counts them as dropped.
func TestDroppedSegmentsAreNotDamage(t *testing.T) {
	bothWays(t, func(t *testing.T, written bool) {
		c := Config{SegmentSize: segment.MinSize, Size: 4 * segment.MinSize,
			Drain: time.Millisecond, Written: written, Sync: SyncNever,
			OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}}
		dir := filepath.Join(t.TempDir(), "spool")
		s := open(t, dir, &far{do: down}, c)
		const lines = 1000
		for n := range lines {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
		}
		st := checkIdentity(t, s)
		if st.Lost() < lines/2 {
			t.Fatalf("got %+v, want most lines dropped", st)
		}
		f := &far{}
		next := open(t, dead(t, dir), f, Config{SegmentSize: segment.MinSize, Written: written})
		must(t, next.Flush(context.Background()))
		got := checkIdentity(t, next)
		if got.Lost() != 0 || got.Unfinished != 0 || got.Recovered != st.Logged-st.Lost() {
			t.Errorf("got %+v, want %d recovered, nothing lost and nothing unfinished", got, st.Logged-st.Lost())
		}
		if reported := linesReported(t, f); reported != st.Lost() {
			t.Errorf("notices report %d lines, want %d", reported, st.Lost())
		}
		v, err := Inspect(dir)
		must(t, err)
		for _, g := range v.Segments {
			if g.Absent {
				t.Errorf("segment %d seems to be followed by one that is gone", g.Number)
			}
		}
	})
}

// TestDroppedLastSegmentIsNotDamage opens a full spool, and drops the last
// segment of the previous process while the first one is delivered, before or
// after there is a new one: the next process does not miss it.
func TestDroppedLastSegmentIsNotDamage(t *testing.T) {
	const first = 247 // lines in a segment
	for _, c := range []struct{ segments, lines int }{{2, 1}, {3, first + 10}} {
		m, f := memBacklog(t, c.segments*first-10, 200, SyncNever), &far{}
		hanging, end := make(chan struct{}, 1), make(chan struct{})
		f.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			store.Signal(hanging)
			<-end
			return delivery.Result{}, errDown, true
		})
		conf := Config{SegmentSize: segment.MinSize, Size: int64(c.segments) * segment.MinSize, fs: m, boot: 2, Sync: SyncNever, Drain: 1, OnError: func(error) {},
			OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}} // after a restart, the last segment is not continued
		s := open(t, memDir, sized{eager{f}, 10, 1 << 20}, conf)
		<-hanging
		for n := range c.lines {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		close(end)
		closeDown(t, s)
		if st := s.Stats(); st.Lost() != uint64((c.segments-1)*first-10) {
			t.Errorf("%d segments: got %+v, want the lines of all but the first one dropped", c.segments, st)
		}
		f.set(nil)
		s = open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, boot: 2, Sync: SyncNever})
		must(t, s.Flush(context.Background()))
		if st := checkIdentity(t, s); st.Lost() != 0 || st.Unfinished != 0 || len(f.take()) != first+c.lines {
			t.Errorf("%d segments: got %+v, want nothing else lost", c.segments, st)
		}
	}
}

// TestDropOldWithoutDestination drops segments of earlier processes and of this
// one.
func TestDropOldWithoutDestination(t *testing.T) {
	bothWays(t, func(t *testing.T, written bool) {
		c := Config{SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, Written: written,
			Sync: SyncNever, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}}
		dir := filepath.Join(t.TempDir(), "spool")
		logged, lost, notices := 0, uint64(0), uint64(0)
		for round := range 3 {
			s := open(t, dir, nil, c)
			for range 150 * (1 + round) {
				must(t, s.WriteRecord(record(nib.LevelInfo, logged, 1000)))
				logged++
			}
			must(t, s.Close())
			st := checkIdentity(t, s)
			lost, notices = lost+st.Lost(), notices+st.Notices
			if st.Segments > 4 || round > 0 && st.Lost() == 0 {
				t.Errorf("round %d: got %+v, want lines dropped and 4 segments at most", round, st)
			}
		}
		f := &far{}
		c.Size = 0
		s := open(t, dir, f, c)
		must(t, s.Flush(context.Background()))
		st := checkIdentity(t, s)
		if st.Lost() != 0 || st.Unfinished != 0 {
			t.Errorf("got %+v, want nothing lost and nothing unfinished", st)
		}
		reported, all := linesReported(t, f), uint64(len(f.notices))
		got := f.take()
		if want := record(nib.LevelInfo, logged-1, 1000).Line; len(got) == 0 || string(got[len(got)-1]) != string(want) {
			t.Fatalf("the last of %d lines is not the last that was logged", len(got))
		}
		all, notices = all+uint64(len(got)), notices+st.Notices
		if in := uint64(logged) + notices; reported != lost || all != in-lost {
			t.Errorf("got %d lines, and notices of %d that were lost, want %d of %d, and %d", all, reported, in-lost, in, lost)
		}
	})
}

// TestEachDropWritesOneCount checks that each drop writes one count to the
// header, and none after Close.
func TestEachDropWritesOneCount(t *testing.T) {
	m, writes := vfstest.NewMem(nil), 0
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, &far{}, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
	awaitNext(s)
	must(t, s.Flush(context.Background()))
	uncount := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*" + store.SegmentExt + "*", Reached: func() { writes++ }})
	for n, l := range []nib.Level{nib.LevelInfo, nib.LevelWarn, nib.LevelInfo, nib.LevelError} {
		if err := s.WriteRecord(record(l, 0, 2*segment.MinSize)); !errors.Is(err, errTooLarge) || writes != n+1 {
			t.Errorf("drop %d: got %v and %d writes", n+1, err, writes)
		}
	}
	uncount()
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*" + store.SegmentExt + "*", Times: 1, Err: syscall.EIO})
	if err := s.WriteRecord(record(nib.LevelInfo, 0, 2*segment.MinSize)); !errors.Is(err, errTooLarge) || s.Stats().Errors != 1 {
		t.Errorf("a write fails: got %v and %d errors, want one", err, s.Stats().Errors)
	}
	must(t, s.Close())
	if err := s.WriteRecord(record(nib.LevelInfo, 0, 100)); !errors.Is(err, errClosed) || s.Stats().Errors != 1 {
		t.Errorf("after Close: got %v and %d errors, want errClosed and no more", err, s.Stats().Errors)
	}
}

// TestAnnouncementIsRepeatedIfItIsDropped drops the segment that holds the
// notice about a dead process before the notice is delivered, or that should
// have held it: its process died before the notice was written.
func TestAnnouncementIsRepeatedIfItIsDropped(t *testing.T) {
	for _, unwritten := range []bool{false, true} {
		m, f := vfstest.NewMem(nil), &far{do: down}
		must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
		conf := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever, Drain: 1, OnError: func(error) {}}
		s := open(t, memDir, nil, conf)
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100))) // f stays at its segment
		for range 5 {
			if err := s.WriteRecord(record(nib.LevelError, 0, 2*segment.MinSize)); !errors.Is(err, errTooLarge) {
				t.Fatal(err)
			}
		}
		must(t, s.Close())
		s = open(t, memDir, nil, conf) // begins with the notice
		if n := s.Stats().Notices; n != 1 {
			t.Fatalf("got %d announcements, want 1", n)
		}
		if !unwritten { // else it leaves no record
			must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		}
		must(t, s.Close())
		if unwritten {
			edit(t, m, store.SegmentName(s.chain.active.Load().Number), func(b []byte) { clear(b[segment.HeaderSize : segment.HeaderSize+8]) })
		}

		conf.Size, conf.OnFull = 4*segment.MinSize, []FullRule{{nib.LevelTrace, ActionDropOld, 0}}
		s = open(t, memDir, f, conf)
		for n := range 2000 {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
		}
		f.set(nil)
		must(t, s.Flush(context.Background()))
		st, reported := checkIdentity(t, s), linesReported(t, f)
		if st.Lost() == 0 || reported < 5+st.Lost()-50 || st.Errors != 0 {
			t.Errorf("unwritten: %v: notices report %d lines, want 5 and %d", unwritten, reported, st.Lost())
		}
		if n := loss.Sum(st.Inherited); n != 5 {
			t.Errorf("unwritten: %v: got %d lines of dead processes, want 5", unwritten, n)
		}
	}
}

// TestDropOldCountsItsFaults drops segments of an earlier process while the
// header of the next one cannot be written: the error is counted, and no file
// stays open.
func TestDropOldCountsItsFaults(t *testing.T) {
	for _, op := range []vfstest.Op{"", vfstest.OpOpen, vfstest.OpWrite, vfstest.OpClose} {
		m := memBacklog(t, 900, 200, SyncNever) // four segments
		s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 5 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
			OnError: func(error) {}, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}})
		want := uint64(0)
		if op != "" {
			want = 1
			m.Fail(vfstest.Fault{Op: op, Path: store.SegmentName(3), Times: 1, Err: syscall.EIO})
		}
		for n := 0; s.Stats().Lost() == 0; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		if n := s.Stats().Errors; n != want {
			t.Errorf("%s: got %d errors, want %d", op, n, want)
		}
		closeDown(t, s)
		if n := m.Opened(); n > 0 {
			t.Errorf("%s: %d files are open after Close", op, n)
		}
	}
}

// TestDropOldCountsWhatCouldNotBeReadBefore drops a segment with a page that
// could not be read at the start and has the last records, a damaged one among
// them: no line had the other numbers that might have been there.
func TestDropOldCountsWhatCouldNotBeReadBefore(t *testing.T) {
	const lines, first = 300, 247 // in the first segment
	b := badSector{memBacklog(t, lines, 200, SyncNever), store.SegmentName(2), segment.HeaderSize + 3*segment.PageSize, new(atomic.Bool)}
	b.on.Store(true)
	f, hanging, end := &far{}, make(chan struct{}, 1), make(chan struct{})
	f.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
		store.Signal(hanging)
		<-end
		return delivery.Result{}, errDown, true
	})
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, fs: b, Sync: SyncNever, Drain: 1, OnError: func(error) {},
		OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}})
	<-hanging
	b.on.Store(false)
	edit(t, b.FS.(*vfstest.Mem), store.SegmentName(2), func(b []byte) {
		b[segment.HeaderSize+51*segment.Align(segment.RecordHead+200)+segment.RecordHead+5]++
	})
	must(t, s.WriteRecord(record(nib.LevelInfo, lines, 200)))
	st := checkIdentity(t, s)
	want := []delivery.Drop{{Reason: delivery.ReasonOldest, Level: nib.LevelInfo, Lines: lines - first - 1}, {Reason: delivery.ReasonDamaged, Level: segment.LevelUnknown, Lines: 1}}
	slices.SortFunc(st.Dropped, func(a, b delivery.Drop) int { return int(b.Lines) - int(a.Lines) })
	if !slices.Equal(st.Dropped, want) || st.Recovered != lines || st.Unfinished != 0 {
		t.Errorf("got %+v, want %d recovered and %v dropped", st, lines, want)
	}
	close(end)
	closeDown(t, s)
}

// TestDropOldCountsCallsThatDidNotReturn drops a segment in which a call of an
// earlier process has claimed space and has not written its record.
func TestDropOldCountsCallsThatDidNotReturn(t *testing.T) {
	const inSegment = 247
	m := memBacklog(t, 900, 200, SyncNever) // four segments
	edit(t, m, store.SegmentName(2), func(b []byte) {
		clear(b[segment.HeaderSize+4*segment.Align(segment.RecordHead+200):][:segment.Align(segment.RecordHead+200)])
	})
	s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 5 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1,
		OnError: func(error) {}, OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}})
	for n := 0; s.Stats().Lost() == 0; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	if st := checkIdentity(t, s); st.Lost() != inSegment-1 || st.Unfinished != 1 {
		t.Errorf("got %+v, want %d lines dropped, and one unfinished", st, inSegment-1)
	}
	closeDown(t, s)
}

// TestDropOldLeavesASegmentThatIsWrittenTo fills a spool while a call still
// writes to the oldest segment that could be dropped: the next one is dropped,
// and the line of the call is delivered.
func TestDropOldLeavesASegmentThatIsWrittenTo(t *testing.T) {
	const inSegment = 247
	f := &far{do: down}
	s, n := open(t, "", f, Config{
		SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, OnError: func(error) {},
		OnFull: []FullRule{{Do: ActionDropOld}}, slow: time.Minute,
	}), 0
	for ; s.chain.active.Load().Number < 2; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	r, g := record(nib.LevelInfo, n, 200), s.chain.active.Load()
	size := segment.RecordSize(r, -1)
	at, seq, _ := g.Reserve(size)
	for n++; s.Stats().Lost() == 0; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	g.Write(at, size, seq, r, -1)
	f.set(nil)
	must(t, s.Flush(context.Background()))
	if st := checkIdentity(t, s); st.Unfinished != 0 || st.Lost() != inSegment {
		t.Errorf("got %+v, want the lines of another segment dropped", st)
	}
	checkLines(t, f.take()[:2*inSegment], 0, 2*inSegment, 200)
	must(t, s.Close())
}

// TestDropOldCountsWhatTheFileHasLost damages the file of a segment of this
// process whose memory was freed, and then drops it: its lines were written, so
// those that are missing are damaged.
func TestDropOldCountsWhatTheFileHasLost(t *testing.T) {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(filepath.Dir(memDir), 0o700))
	s := open(t, memDir, &far{do: down}, Config{SegmentSize: segment.MinSize, Size: 5 * segment.MinSize, fs: m, Sync: SyncNever, Drain: 1, OnError: func(error) {},
		OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}})
	n := 0
	write := func(until uint64) {
		for ; s.chain.active.Load().Number < until; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
	}
	write(4)
	edit(t, m, store.SegmentName(2), func(b []byte) { clear(b[segment.HeaderSize+100*segment.Align(segment.RecordHead+200):]) })
	write(6)
	st := checkIdentity(t, s)
	if i := slices.IndexFunc(st.Dropped, func(d delivery.Drop) bool { return d.Reason == delivery.ReasonDamaged }); st.Unfinished != 0 || i < 0 || st.Dropped[i].Lines != 247-100 {
		t.Errorf("got %+v, want %d lines damaged", st, 247-100)
	}
	closeDown(t, s)
}
