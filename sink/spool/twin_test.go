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
	"github.com/nib-log/nib/internal/vfs"
)

// TestWriteFails lets one write to a segment fail, each in its turn, while several
// goroutines log: their lines get other places, and each arrives once.
func TestWriteFails(t *testing.T) {
	for skip := range 25 {
		m := vfs.NewMem(nil)
		f := &far{}
		s := open(t, memDir, f, Config{SegmentSize: minSegment, fs: m, tick: time.Microsecond})
		awaitNext(s)
		m.Fail(vfs.Fault{Op: vfs.OpWrite, Path: "*" + segmentExt + "*", Err: syscall.EIO, Skip: 2 * skip, Times: 1})
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

// TestWrittenTogether lets a write hang, and looks how many there are for the lines that
// wait for it: far less than lines.
func TestWrittenTogether(t *testing.T) {
	m := vfs.NewMem(nil)
	s := open(t, memDir, &far{}, Config{SegmentSize: minSegment, fs: m, Sync: SyncNever})
	reached, hold := make(chan struct{}, 100), make(chan struct{})
	var writes atomic.Int64
	m.Fail(vfs.Fault{Op: vfs.OpWrite, Path: "*" + segmentExt + "*", Hold: hold, Reached: func() {
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
	for { // until all are ready
		g := s.active.Load()
		end, next, _ := g.claimed()
		if next == waiting+2 && allReady(g, end) {
			break
		}
		time.Sleep(time.Millisecond)
	}
	close(hold)
	wg.Wait()
	if n := writes.Load(); n > waiting/4 {
		t.Errorf("got %d writes for %d lines, want a few", n, waiting+1)
	}
}

func allReady(g *segment, end int) bool {
	for at := headerSize; at < end; {
		w := stored(word(g.b, at).Load())
		if w>>32 == 0 {
			return false
		}
		n := int(int32(uint32(w)))
		at += align(max(n, -n))
	}
	return true
}

// TestReadyIsNotARecord writes what is in memory before it is in the file: no reader may
// take it for a record.
func TestReadyIsNotARecord(t *testing.T) {
	g, offsets := filled(t, sample())
	for _, at := range offsets {
		w := stored(word(g.b, at).Load())
		if got := negated(negated(w)); got != w {
			t.Errorf("negated twice: got %x, want %x", got, w)
		}
		word(g.b, at).Store(stored(negated(w)))
		if _, _, ok := recordAt(g.b, at, g.gen, g.crc); ok || g.committed(at) {
			t.Errorf("the record at %d counts as committed", at)
		}
	}
}
