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
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

func TestDeliveredLinesAreOnTheDisk(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 500})
	for n := range 10 {
		res, err := s.Deliver(context.Background(), batchOf(20*n, 20))
		if err != nil || res.Accepted != 20 {
			t.Fatalf("got %+v, %v, want 20 accepted", res, err)
		}
		checkNumbers(t, memAll(t, m.CrashClone(vfstest.Nothing)), 20*(n+1))
	}
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

// untorn returns text without a line that was cut off at its end.
func untorn(text string) string { return text[:strings.LastIndexByte(text, '\n')+1] }

// TestDeliveriesBehindASpoolKeepMaxSize checks that the file is ended as soon
// as the spool has stored the place.
func TestDeliveriesBehindASpoolKeepMaxSize(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 500})
	k := desk{lines: 60, noted: []cursor{{}}, make: deskRecord, point: func(desk) {}}
	k.deliver(t, s, 0)
	must(t, s.Close())
	for _, name := range memFiles(t, m) {
		if got := len(memText(t, m, filepath.Join(logDir, name))); got > 500 {
			t.Errorf("%s has %d bytes, want at most 500", name, got)
		}
	}
	if got := s.Stats().Rotations; got < 5 {
		t.Errorf("got %d rotations, want some", got)
	}
	checkNumbers(t, memAll(t, m), k.lines)
}
