// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// wipe overwrites a part of the active segment's file with zeros, as a hole
// would read.
func wipe(t *testing.T, s *Sink, dir string, from, to int) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, store.SegmentName(s.chain.active.Load().Number)), os.O_WRONLY, 0)
	must(t, err)
	defer f.Close()
	_, err = f.WriteAt(make([]byte, to-from), int64(from))
	must(t, err)
}

// TestWipedPage erases the pages after the record that is being delivered:
// their lines are counted as damaged, and later lines arrive. There is no copy
// that could have them.
func TestWipedPage(t *testing.T) {
	dir := spoolDir(t)
	f, reached, release := &far{}, make(chan struct{}, 10), make(chan struct{})
	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		reached <- struct{}{}
		<-release
		return delivery.Result{Accepted: len(batch)}, nil, false
	})
	s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Sync: SyncNever})
	must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
	<-reached
	for n := 1; n <= 20; n++ {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
	}
	wipe(t, s, dir, segment.HeaderSize, segment.HeaderSize+segment.PageSize)
	close(release)
	must(t, s.Flush(context.Background()))
	must(t, s.WriteRecord(record(nib.LevelInfo, 21, 100)), s.Flush(context.Background()))
	if lines := f.take(); len(lines) != 2 {
		t.Errorf("got %d lines, want the first and the last", len(lines))
	}
	if st := checkIdentity(t, s); st.Lost() != 20 {
		t.Errorf("got %+v, want 20 damaged", st)
	}
}

// TestSlowWriterIsWaitedFor checks that delivery waits for a slow writer even
// if the previous page was erased.
func TestSlowWriterIsWaitedFor(t *testing.T) {
	dir, f := spoolDir(t), &far{}
	s := open(t, dir, f, Config{SegmentSize: segment.MinSize})
	const lines = 40
	for n := range lines {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
	}
	must(t, s.Flush(context.Background()))
	r := record(nib.LevelInfo, lines, 100)
	g, size := s.chain.active.Load(), segment.RecordSize(r, -1)
	at, seq, _ := g.Reserve(size)
	wipe(t, s, dir, segment.HeaderSize, at/segment.PageSize*segment.PageSize)
	must(t, s.WriteRecord(record(nib.LevelInfo, lines+1, 100)))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := s.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Flush: got %v, want the deadline", err)
	}
	if ok, _ := g.Write(at, size, seq, r, -1); !ok {
		t.Error("the record was not written")
	}
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, lines+2, 100)
}
