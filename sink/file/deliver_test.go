// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

func TestDeliveredLinesAreOnTheDisk(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 500})
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpRead, Path: "app.log", Reached: func() { t.Error("a delivery without a spool reads the file") }})
	for n := range 10 {
		res, err := s.Deliver(context.Background(), batchOf(20*n, 20))
		if err != nil || res.Accepted != 20 {
			t.Fatalf("got %+v, %v, want 20 accepted", res, err)
		}
		checkNumbers(t, memAll(t, m.CrashClone(vfstest.Nothing)), 20*(n+1))
	}
	heal()
	if st := s.Stats(); st.Lines != 200 || st.Bytes != uint64(len(memAll(t, m))) {
		t.Errorf("got %+v, want 200 lines of %d bytes", st, len(memAll(t, m)))
	}
}

// TestDeliverAcceptsTheLinesThatFitTheDisk fills the disk in the middle of a
// batch and checks the Result.
func TestDeliverAcceptsTheLinesThatFitTheDisk(t *testing.T) {
	for room := int64(0); room < 1200; room += 37 {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{MaxSize: 500})
		must(t, s.Flush(context.Background()))
		m.SetFree(room)
		res, err := s.Deliver(context.Background(), batchOf(0, 20))
		if !errors.Is(err, syscall.ENOSPC) || res.Accepted != int(room/60) && res.Accepted != int(room/60)-1 {
			t.Errorf("room %d: got %+v, %v, want the lines that fit and ENOSPC", room, res, err)
		}
		checkNumbers(t, untorn(memAll(t, m.CrashClone(vfstest.Nothing))), res.Accepted)
		if st := s.Stats(); st.Lines != uint64(res.Accepted) || st.Lost() != 0 {
			t.Errorf("room %d: got %+v, want %d lines, none lost: they are the spool's", room, st, res.Accepted)
		}
		m.SetFree(-1)
		clock.advance(time.Second)
		res2, err := s.Deliver(context.Background(), batchOf(res.Accepted, 20-res.Accepted))
		if err != nil || res2.Accepted != 20-res.Accepted {
			t.Errorf("room %d: got %+v, %v the second time", room, res2, err)
		}
		checkHas(t, memAll(t, m), 20)
	}
}

func TestDeliverAfterAFailedSyncAcceptsNothing(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	_, err := s.Deliver(context.Background(), batchOf(0, 5))
	must(t, err)
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Times: 1, Err: syscall.EIO})
	if res, err := s.Deliver(context.Background(), batchOf(5, 5)); !errors.Is(err, syscall.EIO) || res.Accepted != 0 {
		t.Errorf("got %+v, %v, want nothing and EIO", res, err)
	}
	if res, err := s.Deliver(context.Background(), batchOf(5, 5)); err != nil || res.Accepted != 5 {
		t.Errorf("again: got %+v, %v, want 5", res, err)
	}
	checkHas(t, memAll(t, m.CrashClone(vfstest.Nothing)), 10)
}

// TestFailedSyncSpoilsNoLaterLine checks that no line after a failed sync
// begins in a hole. After a power failure the unsynced data is a hole of the
// size of a sector.
func TestFailedSyncSpoilsNoLaterLine(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	batch := make([]nib.Record, 4)
	for i := range batch {
		batch[i] = *record(nib.LevelInfo, i, 128)
	}
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Times: 1, Err: syscall.EIO})
	_, err := s.Deliver(context.Background(), batch)
	if !errors.Is(err, syscall.EIO) {
		t.Fatalf("got %v, want EIO", err)
	}
	res, err := s.Deliver(context.Background(), batch)
	if err != nil || res.Accepted != 4 {
		t.Fatalf("got %+v, %v", res, err)
	}
	left := memAll(t, m.CrashClone(vfstest.Nothing))
	if !strings.HasPrefix(left, "\x00") {
		t.Fatalf("got %q, want a hole: this tests nothing", left)
	}
	checkHas(t, left, 4)
}

// TestDeliverWithASyncThatFailsInARotation has a failed sync of a file that is
// no longer in use when Deliver returns.
func TestDeliverWithASyncThatFailsInARotation(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 200})
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Times: 1, Err: syscall.EIO})
	res, err := s.Deliver(context.Background(), batchOf(0, 10))
	if !errors.Is(err, syscall.EIO) || res.Accepted != 0 {
		t.Errorf("got %+v, %v, want nothing and EIO", res, err)
	}
	if res, err = s.Deliver(context.Background(), batchOf(0, 10)); err != nil || res.Accepted != 10 {
		t.Errorf("again: got %+v, %v, want 10", res, err)
	}
	checkHas(t, memAll(t, m.CrashClone(vfstest.Nothing)), 10)
}

func TestDeliverEndsWithItsContext(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: 1, Reached: func() { cancel(why) }})
	batch := []nib.Record{*record(nib.LevelInfo, 0, deliverySize), *record(nib.LevelInfo, 1, 100), *record(nib.LevelInfo, 2, 2*deliverySize)}
	res, err := s.Deliver(ctx, batch)
	if !errors.Is(err, why) || res.Accepted != 1 {
		t.Errorf("got %+v, %v, want the first record accepted and the cause", res, err)
	}
	checkNumbers(t, memAll(t, m.CrashClone(vfstest.Nothing)), 1)
	if res, err = s.Deliver(ctx, batch[1:]); !errors.Is(err, why) || res.Accepted != 0 {
		t.Errorf("got %+v, %v, want nothing", res, err)
	}
	if res, err = s.Deliver(context.Background(), batch[1:]); err != nil || res.Accepted != 2 {
		t.Errorf("got %+v, %v, want both", res, err)
	}
	checkNumbers(t, memAll(t, m), 3)
}

// TestDeliverAfterClose checks that a closed sink accepts no batch, and does
// not search for one.
func TestDeliverAfterClose(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	mark := s.Mark()
	must(t, s.Close())
	if res, err := s.Deliver(context.Background(), batchOf(0, 1)); !errors.Is(err, delivery.ErrClosed) || res.Accepted != 0 {
		t.Errorf("Deliver: got %+v, %v, want %v", res, err, delivery.ErrClosed)
	}
	if n, err := s.Resume(context.Background(), mark, batchOf(0, 1)); !errors.Is(err, delivery.ErrClosed) || n != 0 {
		t.Errorf("Resume: got %d, %v, want %v", n, err, delivery.ErrClosed)
	}
}

// untorn returns text without a line that was cut off at its end.
func untorn(text string) string { return text[:strings.LastIndexByte(text, '\n')+1] }

// TestDeliveriesBehindASpoolKeepMaxSize checks that the file is ended as soon
// as the spool has stored the place.
func TestDeliveriesBehindASpoolKeepMaxSize(t *testing.T) {
	for _, c := range []struct {
		max, lines int
		make       func(n int) *nib.Record
	}{
		{500, 60, deskRecord},
		{2 * deliverySize, 16, func(n int) *nib.Record {
			return record(nib.LevelInfo, n, deliverySize+n%2)
		}},
	} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{MaxSize: int64(c.max)})
		k := desk{lines: c.lines, noted: []cursor{{}}, make: c.make, point: func(desk) {}}
		k.deliver(t, s, 0)
		must(t, s.Close())
		for _, name := range memFiles(t, m) {
			if got := len(memText(t, m, filepath.Join(logDir, name))); got > c.max {
				t.Errorf("%s has %d bytes, want at most %d", name, got, c.max)
			}
		}
		if got := s.Stats().Rotations; got < 5 {
			t.Errorf("got %d rotations, want some", got)
		}
		checkNumbers(t, memAll(t, m), k.lines)
	}
}

// TestDeliverLeavesRoom checks that nothing is written if less than MinFree is
// free, by a line of any length.
func TestDeliverLeavesRoom(t *testing.T) {
	for _, size := range []int{100, deliverySize + 1} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{MinFree: 1 << 20})
		m.SetFree(1<<20 - 1)
		clock.advance(time.Second)
		res, err := s.Deliver(context.Background(), []nib.Record{*record(nib.LevelInfo, 0, size)})
		if !errors.Is(err, delivery.ErrFull) || res.Accepted != 0 {
			t.Errorf("got %+v, %v, want nothing and %v", res, err, delivery.ErrFull)
		}
		wantText(t, "file", memAll(t, m), "")
	}
}

// TestBatchGoesToOneFile renames the file while a batch behind a spool is
// written.
func TestBatchGoesToOneFile(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Times: 1, Reached: func() {
		must(t, m.Rename(livePath, livePath+".1"))
		clock.advance(time.Second)
	}})
	deliverAll(t, s, *record(nib.LevelInfo, 0, deliverySize), *record(nib.LevelInfo, 1, deliverySize))
	checkNumbers(t, memText(t, m, livePath+".1"), 2)
}

// TestPlaceBeforeAPartialLine has no room for the second line of a batch: after
// a crash, the place before it is found, although the line was completed.
func TestPlaceBeforeAPartialLine(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	first, second := *deskRecord(0), *deskRecord(1)
	m.SetFree(int64(len(first.Line) + 5))
	res, err := s.Deliver(context.Background(), []nib.Record{first, second})
	if !errors.Is(err, syscall.ENOSPC) || res.Accepted != 1 {
		t.Fatalf("got %+v, %v, want 1 and %v", res, err, syscall.ENOSPC)
	}
	mark := firstMark(s.Mark())
	m.SetFree(-1)
	deliverAll(t, s, second)
	wantTaken(t, m.CrashClone(vfstest.Everything), clock, Config{}, mark, 1, second, *deskRecord(2))
}

// TestPlaceIsStoredAfterACompletedLine completes a line in a file that the mark
// is not in: the next line is written when a mark in that file is stored.
func TestPlaceIsStoredAfterACompletedLine(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	must(t, m.Rename(livePath, livePath+".1"), s.Reopen())
	appendTo(t, m, string(deskRecord(0).Line[:9]))
	for n, want := range []int{1, 0, 1} {
		res, err := s.Deliver(context.Background(), []nib.Record{*deskRecord(min(n, 1))})
		if must(t, err); res.Accepted != want || s.SyncMark() != (want == 0) {
			t.Errorf("batch %d: got %+v, want %d accepted", n, res, want)
		}
	}
	checkNumbers(t, memText(t, m, livePath), 2)
}

// TestErrorsOfADeliveryBehindASpool fails each operation with which a delivery
// begins: it accepts nothing and returns the error, and the next one accepts
// the batch.
func TestErrorsOfADeliveryBehindASpool(t *testing.T) {
	for name, c := range map[string]struct {
		fault vfstest.Fault
		torn  bool
		want  error
	}{
		"write":          {fault: vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Err: syscall.EIO}, want: syscall.EIO},
		"sync":           {fault: vfstest.Fault{Op: vfstest.OpSync, Path: "app.log", Err: syscall.EIO}, want: syscall.EIO},
		"free":           {want: delivery.ErrFull},
		"partial line":   {fault: vfstest.Fault{Op: vfstest.OpRead, Path: "app.log", Skip: 1, Err: syscall.EIO}, torn: true, want: syscall.EIO},
		"lock":           {fault: vfstest.Fault{Op: vfstest.OpLock, Path: "app.log", Err: syscall.EIO}, torn: true, want: syscall.EIO},
		"rest of a line": {fault: vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Err: syscall.EIO}, torn: true, want: syscall.EIO},
	} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{MinFree: 1000, OnError: func(error) {}})
		s.Mark()
		if c.torn {
			appendTo(t, m, string(deskRecord(0).Line[:9]))
		}
		heal := m.Fail(c.fault)
		if c.fault.Op == "" {
			heal()
			clock.advance(time.Second)
			m.SetFree(999)
		}
		if res, err := s.Deliver(context.Background(), []nib.Record{*deskRecord(0)}); !errors.Is(err, c.want) || res.Accepted != 0 {
			t.Errorf("%s: got %+v, %v, want %v", name, res, err, c.want)
		}
		heal()
		m.SetFree(-1)
		clock.advance(time.Second)
		deliverAll(t, s, *deskRecord(0))
		checkHas(t, memAll(t, m), 1)
	}
}

// TestPartialLineAfterAFailedSync checks that a partial line is not completed
// if its beginning may not be on the disk, but that later ones are.
func TestPartialLineAfterAFailedSync(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Sync: SyncFlush, OnError: func(error) {}})
	s.Mark()
	partly := func(r *nib.Record) {
		t.Helper()
		m.SetFree(9)
		if _, err := s.Deliver(context.Background(), []nib.Record{*r}); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("got %v, want %v", err, syscall.ENOSPC)
		}
		m.SetFree(-1)
	}
	first, second := deskRecord(0), deskRecord(1)
	partly(first)
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "app.log", Err: syscall.EIO})
	if err := s.Flush(context.Background()); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Flush: got %v, want %v", err, syscall.EIO)
	}
	heal()
	deliverAll(t, s, *first)
	want := string(first.Line[:9]) + "\n" + string(first.Line)
	wantText(t, "after a failed sync", memAll(t, m), want)
	partly(second)
	deliverAll(t, s, *second)
	wantText(t, "after another sync", memAll(t, m), want+string(second.Line))
}

// TestLinesAfterADeliveryRotate checks that lines that are logged after a
// delivery end the file and are not synced.
func TestLinesAfterADeliveryRotate(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 200})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	syncs := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Reached: func() { syncs++ }})
	writeNumbers(t, s, 1, 30)
	if st := s.Stats(); st.Rotations < 2 || syncs > 0 {
		t.Errorf("got %d rotations and %d syncs, want some and none", st.Rotations, syncs)
	}
	checkNumbers(t, memAll(t, m), 30)
}

// TestDeliveryReadsLittle checks that a delivery behind a spool reads only the
// bytes before the next place if no other process writes.
func TestDeliveryReadsLittle(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	deliverAll(t, s, *deskRecord(0))
	reads := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpRead, Path: "app.log", Reached: func() { reads++ }})
	if deliverAll(t, s, *deskRecord(1)); reads != 1 {
		t.Errorf("got %d reads, want 1", reads)
	}
}

// TestPartialLineInAFileThatCannotBeDescribed has another process die while it
// writes the first line of a file.
func TestPartialLineInAFileThatCannotBeDescribed(t *testing.T) {
	for times := 1; times <= 2; times++ {
		m, clock := newMem(t)
		var reported error
		s := openMem(t, m, clock, Config{OnError: func(err error) { reported = err }})
		s.Mark()
		appendTo(t, m, "partial")
		m.Fail(vfstest.Fault{Op: vfstest.OpStat, Path: "app.log", Times: times, Err: syscall.EIO})
		deliverAll(t, s, *deskRecord(0))
		wantText(t, "file", memAll(t, m), "partial\n"+string(deskRecord(0).Line))
		if !errors.Is(reported, syscall.EIO) {
			t.Errorf("OnError got %v, want %v", reported, syscall.EIO)
		}
	}
}

// TestBatchThatFillsFiles checks that a batch that fills several files takes
// one write for each.
func TestBatchThatFillsFiles(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 1000, Buffer: 10_000, Delay: never})
	writes := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Reached: func() { writes++ }})
	for n := range 95 {
		mustWrite(t, s, record(nib.LevelInfo, n, 100))
	}
	must(t, s.Close())
	checkNumbers(t, memAll(t, m), 95)
	if got := len(memFiles(t, m)); got != 10 || writes != 10 {
		t.Errorf("got %d writes for %d files, want 10", writes, got)
	}
}

// TestDeliverWithoutAName has a directory that cannot be synced. A batch must
// not be written repeatedly while that lasts.
func TestDeliverWithoutAName(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpSyncDir, Err: syscall.EIO})
	for range 10 {
		if res, err := s.Deliver(context.Background(), batchOf(0, 5)); !errors.Is(err,
			syscall.EIO) || res.Accepted != 0 {
			t.Errorf("got %+v, %v, want nothing and EIO", res, err)
		}
	}
	heal()
	if res, err := s.Deliver(context.Background(), batchOf(0, 5)); err != nil || res.Accepted != 5 {
		t.Errorf("afterwards: got %+v, %v, want 5", res, err)
	}
	checkNumbers(t, memAll(t, m.CrashClone(vfstest.Nothing)), 5)
}
