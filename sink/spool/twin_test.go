// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestWriteFails makes one write to a segment fail, each in turn, while several
// goroutines log: their lines are written elsewhere, and each arrives once.
func TestWriteFails(t *testing.T) {
	for skip := range 25 {
		m := vfstest.NewMem(nil)
		f := &far{}
		s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, fs: m, tick: time.Microsecond})
		awaitNext(s)
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*" + store.SegmentExt + "*", Err: syscall.EIO, Skip: 2 * skip, Times: 1})
		const writers, each = 4, 50
		var wg sync.WaitGroup
		for w := range writers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for n := range each {
					if err := s.WriteRecord(record(nib.LevelInfo, w*each+n, 100)); err != nil {
						t.Errorf("line %d: %v", n, err)
					}
				}
			}()
		}
		wg.Wait()
		must(t, s.Flush(context.Background()), s.Close())
		count := map[string]int{}
		for _, line := range f.take() {
			count[string(line)]++
		}
		for n := range writers * each {
			if got := count[string(record(nib.LevelInfo, n, 100).Line)]; got != 1 {
				t.Errorf("after %d writes: line %d arrived %d times, want once", 2*skip, n, got)
			}
		}
		if st := checkIdentity(t, s); st.Retired != 1 || st.Logged != writers*each || st.Lost() != 0 {
			t.Errorf("after %d writes: got %+v, want one segment retired", 2*skip, st)
		}
	}
}

// TestWrittenTogether makes a write hang, and counts the writes for the lines
// that wait for it: far fewer than lines.
func TestWrittenTogether(t *testing.T) {
	m := vfstest.NewMem(nil)
	s := open(t, memDir, &far{}, Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever})
	reached, hold := make(chan struct{}, 100), make(chan struct{})
	var writes atomic.Int64
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*" + store.SegmentExt + "*", Hold: hold, Reached: func() {
		writes.Add(1)
		reached <- struct{}{}
	}})
	var wg sync.WaitGroup
	log := func(n int) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := s.WriteRecord(record(nib.LevelInfo, n, 100)); err != nil {
				t.Error(err)
			}
		}()
	}
	log(0)
	<-reached
	const waiting = 20
	for n := range waiting {
		log(n + 1)
	}
	await.Until(t, "all are ready", func() bool {
		g := s.chain.active.Load()
		end, next, _ := g.Claimed()
		return next == waiting+2 && allReady(g, end)
	})
	close(hold)
	wg.Wait()
	if n := writes.Load(); n > waiting/4 {
		t.Errorf("got %d writes for %d lines, want a few", n, waiting+1)
	}
}

// TestOnlyWholeSegmentsAreUnloaded has a writer that is suspended in the second
// segment while others fill later ones: the memory of the later ones is freed,
// but not of the second, whose lines would be lost.
func TestOnlyWholeSegmentsAreUnloaded(t *testing.T) {
	f := &far{do: down}
	m := vfstest.NewMem(nil)
	s := open(t, memDir, f, Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize, fs: m,
		Written: true, Sync: SyncNever})
	n := 0
	fill := func(number uint64) {
		for s.chain.active.Load().Number < number {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
			n++
		}
	}
	fill(2)
	g, r := s.chain.active.Load(), record(nib.LevelInfo, n, 200)
	size := segment.RecordSize(r, -1)
	at, seq, ok := g.Reserve(size)
	if !ok {
		t.Fatal("no room")
	}
	n++
	fill(6)
	s.chain.Lock()
	for i, want := range []bool{true, true, false, false} { // the first one is read
		if got := s.chain.Links[i].Live != nil; got != want {
			t.Errorf("segment %d is in memory: %v, want %v", i+1, got, want)
		}
	}
	s.chain.Unlock()
	if ok, _ := g.Write(at, size, seq, r, -1); !ok {
		t.Fatal("the suspended write failed")
	}
	f.set(nil)
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, n, 200)
	must(t, s.Close())
}

// TestFullWrittenSpoolGivesUpItsOldest opens a full spool of files that are not
// mapped. The first line drops the oldest segment; the segments after it are
// delivered.
func TestFullWrittenSpoolGivesUpItsOldest(t *testing.T) {
	m := vfstest.NewMem(nil)
	c := Config{
		SegmentSize: segment.MinSize, Size: 4 * segment.MinSize, fs: m, Written: true,
		Sync: SyncNever, Drain: 1,
		OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}},
	}
	f := &far{do: down}
	s := open(t, memDir, f, c)
	n := 0
	for ; s.Stats().Lost() == 0; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
	}
	_ = s.Close() // lines are left
	c.boot = 77   // the last segment is not continued
	s = open(t, memDir, f, c)
	for range 200 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
		n++
	}
	f.set(nil)
	must(t, s.Flush(context.Background()))
	got := f.take()
	if len(got) < 100 {
		t.Fatalf("got %d lines", len(got))
	}
	checkLines(t, got[len(got)-100:], n-100, n, 1000)
	if st := checkIdentity(t, s); st.Unfinished != 0 || st.Delivered != uint64(len(got)+len(f.notices)) {
		t.Errorf("got %+v, and %d lines with %d notices", st, len(got), len(f.notices))
	}
	must(t, s.Close())
}

func allReady(g *segment.Segment, end int) bool {
	for at := segment.HeaderSize; at < end; {
		w := g.State(at)
		if w>>32 == 0 {
			return false
		}
		n := int(int32(uint32(w)))
		at += segment.Align(max(n, -n))
	}
	return true
}
