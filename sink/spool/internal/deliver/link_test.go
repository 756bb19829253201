// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package deliver

import (
	"context"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// twoLinks returns a chain of two segments. Two destinations need the first
// one. released counts how often its memory was given back.
func twoLinks(t *testing.T, released *int) *chainSpool {
	t.Helper()
	f, err := vfstest.NewMem(nil).Open("/segment", os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	id := segment.Identity{Spool: 5, Number: 1, Gen: 1, Size: segment.MinSize}
	g := segment.NewWritten(f, id, func(vfs.File, vfs.File) { *released++ })
	g.Begin(segment.Start{First: 1})
	g.Seal()
	next := segment.Old{Identity: id, Start: segment.Start{First: 1}}
	next.Number = 2
	return &chainSpool{
		Chain: Chain{Links: []*Link{{Old: *g.Old(), Live: g, Waiting: 2}, {Old: next, Waiting: 2}}},
		next:  1,
	}
}

// TestSegmentStaysUntilAllHaveLeftIt has two destinations: when the first one
// leaves a segment, the other one still reads it.
func TestSegmentStaysUntilAllHaveLeftIt(t *testing.T) {
	released := 0
	s := twoLinks(t, &released)
	l := s.Links[0]
	first, second := newChain(t, s, &plain{}), newChain(t, s, &plain{})
	first.leaveLink(s.Links[1])
	if released != 0 || l.Live == nil || l.Waiting != 1 || len(s.removed) != 0 || len(s.Links) != 2 {
		t.Errorf("the first one has left: released %d times, removed %d, %d waiting", released, s.removed, l.Waiting)
	}
	second.leaveLink(s.Links[1])
	if !slices.Equal(s.removed, []uint64{1}) || len(s.Links) != 1 || released != 0 { // Remove releases it
		t.Errorf("both have left: released %d times, removed %d", released, s.removed)
	}
}

// TestSegmentWithoutADestinationIsReleased has nothing to deliver to: the last
// delivery that leaves gives the memory back, and the segment stays.
func TestSegmentWithoutADestinationIsReleased(t *testing.T) {
	released := 0
	s := twoLinks(t, &released)
	l := s.Links[0]
	d := newChain(t, s, nil)
	d.leaveLink(s.Links[1])
	if released != 0 || l.Live == nil {
		t.Errorf("one is left: released %d times", released)
	}
	d.cur = l
	d.leaveLink(s.Links[1])
	if released != 1 || l.Live != nil || l.End != 1 || len(s.Links) != 2 || len(s.removed) != 0 {
		t.Errorf("none is left: released %d times, removed %d, %d lines", released, s.removed, l.End-1)
	}
}

// TestFileStaysIfACursorIsNotSynced cannot sync the cursor of one of two
// destinations, the first or the second to leave a segment: the next start
// would count the records as lost if the file were gone.
func TestFileStaysIfACursorIsNotSynced(t *testing.T) {
	for _, c := range []struct{ first, second, want bool }{
		{false, false, false}, {true, false, true}, {false, true, true}, {true, true, true},
	} {
		released := 0
		s := twoLinks(t, &released)
		l := s.Links[0]
		for _, fails := range []bool{c.first, c.second} {
			m := vfstest.NewMem(nil)
			d := newBed(t, m, &answers{}, 0, 1)
			d.chain, d.spool = &s.Chain, s
			d.Begin(1, l)
			if fails {
				m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*" + store.CursorExt, Err: syscall.EIO})
			}
			d.leaveLink(s.Links[len(s.Links)-1])
		}
		if l.KeepFile != c.want || len(s.errors) > 0 != c.want {
			t.Errorf("%+v: got that the file stays: %v, and errors %q", c, l.KeepFile, s.errors)
		}
	}
}

// TestEndedOutageIsNotReported has a report become due when there is no outage
// any more, or when the spool is closed.
func TestEndedOutageIsNotReported(t *testing.T) {
	for _, c := range []struct {
		outage, closed bool
		want           int
	}{{true, false, 1}, {false, false, 0}, {true, true, 0}} {
		ctx, stop := context.WithCancel(t.Context())
		d := newBed(t, vfstest.NewMem(nil), &answers{}, 0, 1)
		d.Options.Context = ctx
		d.outage.timer = time.AfterFunc(time.Hour, func() {})
		if c.outage {
			d.outage.since = time.Now()
		}
		if c.closed {
			stop()
		}
		d.watch()
		if len(d.reports) != c.want {
			t.Errorf("%+v: got reports %v, want %d", c, d.reports, c.want)
		}
		d.endOutage()
		stop()
	}
}

// TestPendingBytes adds the records in segments of this process, and the whole
// of those that an earlier one has left.
func TestPendingBytes(t *testing.T) {
	s := &chainSpool{}
	s.grow(t, 3, 1000)
	s.grow(t, 2, 1000)
	old := segment.Old{Identity: segment.Identity{Number: 1, Size: segment.MinSize}}
	s.Links = append([]*Link{{Old: old, Waiting: 1}}, s.Links...)
	d := newChain(t, s, &plain{})
	const each = 1000 + segment.RecordHead
	if got, _ := d.Pending(time.Now()); got != segment.MinSize-segment.HeaderSize+5*each {
		t.Errorf("got %d bytes, want one segment and 5 records of %d", got, each)
	}
	d.Settled = s.next
	if got, _ := d.Pending(time.Now()); got != 0 {
		t.Errorf("got %d bytes after everything is settled, want none", got)
	}
}

// TestSegmentsAreLeftWhenTheyAreSettled has a rest of a batch from the first of
// three segments on, as an Overlapper may leave it.
func TestSegmentsAreLeftWhenTheyAreSettled(t *testing.T) {
	for _, c := range []struct {
		settled uint64
		rest    int
		left    []uint64
	}{
		{5, 10, nil}, {10, 10, nil}, {11, 10, []uint64{1}}, {20, 5, []uint64{1}}, {21, 5, []uint64{1, 2}}, {25, 0, []uint64{1, 2}},
	} {
		s := &chainSpool{}
		for range 3 {
			s.grow(t, 10, 100)
		}
		d := newChain(t, s, &overlapping{})
		d.reading, d.Settled, d.batch = s.Links[2], c.settled, d.batch[:c.rest]
		if d.leaveSettled(); !slices.Equal(s.removed, c.left) || d.cur != s.Links[0] {
			t.Errorf("%d settled: got segments %d left, want %d", c.settled-1, s.removed, c.left)
		}
	}
}

// TestDropReadsNoBytesThatAreWritten reads a segment that is going to be
// dropped while a call writes to it. Its lines are read once the call has
// returned.
func TestDropReadsNoBytesThatAreWritten(t *testing.T) {
	s := &chainSpool{}
	l := s.grow(t, 3, 100)
	r := nib.Record{Line: make([]byte, 10000)}
	size := segment.RecordSize(&r, -1)
	at, seq, _ := l.Live.Reserve(size)
	s.next++
	s.grow(t, 1, 100)
	read := func() *Drop {
		s.Lock()
		defer s.Unlock()
		x, err := s.ReadDrop(l, nil)
		must(t, err)
		return x
	}
	x := read()
	if !x.Unfinished || len(x.lines) > 0 {
		t.Errorf("got %d lines, unfinished %v, want none, unfinished", len(x.lines), x.Unfinished)
	}
	go l.Live.Write(at, size, seq, &r, -1)
	for x.Unfinished {
		x = read()
	}
	if len(x.lines) != 4 || x.harmed || x.end != 5 {
		t.Errorf("got %d lines up to %d, harmed %v, want 4", len(x.lines), x.end, x.harmed)
	}
}
