// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestLineWithoutItsNewlineIsWritten has writes that fail just before the
// newline of a line, in one piece or two: the line counts as written, is in the
// file once, and the next one ends it.
func TestLineWithoutItsNewlineIsWritten(t *testing.T) {
	for before := range 2 { // the first line of a file is written in another way
		for _, cut := range []int{0, 5} {
			m, clock := newMem(t)
			s := openMem(t, m, clock, Config{})
			writeNumbers(t, s, 0, before)
			size := len(record(nib.LevelInfo, before, 0).Line)
			if cut > 0 {
				m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: 1, Short: cut})
			}
			m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: 1, Short: size - cut - 1})
			m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: 1, Err: syscall.EIO})
			writeNumbers(t, s, before, before+1)
			clock.advance(time.Second)
			writeNumbers(t, s, before+1, before+2)
			checkNumbers(t, memAll(t, m), before+2)
			if st := s.Stats(); st.Lines != uint64(before+2) || st.Lost() != 0 {
				t.Errorf("%d lines before, cut after %d bytes: got %+v", before, cut, st)
			}
		}
	}
}

// TestClosedSinkDoesNotWrite checks that a line that is logged after Close is
// dropped without a call of the system or an error of it.
func TestClosedSinkDoesNotWrite(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	writeNumbers(t, s, 0, 1)
	must(t, s.Close())
	m.Fail(vfstest.Fault{Fits: func(op vfstest.Op, base string) bool {
		t.Errorf("%s of %s after Close", op, base)
		return false
	}})
	if err := s.WriteRecord(record(nib.LevelInfo, 1, 0)); !errors.Is(err, delivery.ErrClosed) || s.Stats().Errors > 0 {
		t.Errorf("got %v and %d errors, want %v", err, s.Stats().Errors, delivery.ErrClosed)
	}
}

// TestLineAfterAFailedDelivery logs a line after a delivery to a file that was
// deleted, and that cannot be made again: the line is not written to the
// deleted file.
func TestLineAfterAFailedDelivery(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	must(t, m.Remove(livePath))
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpCreate, Path: "app.log", Err: fs.ErrPermission})
	clock.advance(time.Second)
	if _, err := s.Deliver(context.Background(), batchOf(0, 1)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("Deliver: got %v, want %v", err, fs.ErrPermission)
	}
	if err := s.WriteRecord(record(nib.LevelInfo, 0, 0)); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("WriteRecord: got %v, want %v", err, fs.ErrPermission)
	}
	heal()
	clock.advance(time.Second)
	writeNumbers(t, s, 1, 2)
	wantText(t, "file", numbers(memAll(t, m)), "1")
	checkIdentity(t, s, 2)
}

// TestLineAfterADeliveryThatWaits logs a line after a delivery that waits for a
// mark, in a file in which another process has left a part of a line: the line
// begins a new one. This is so after a failed sync as well, when the delivery
// does not look at the end.
func TestLineAfterADeliveryThatWaits(t *testing.T) {
	for _, tainted := range []bool{false, true} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{OnError: func(error) {}})
		s.Mark()
		deliverAll(t, s, *deskRecord(0))
		if tainted {
			m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "app.log", Times: 1, Err: syscall.EIO})
			if _, err := s.Deliver(context.Background(), []nib.Record{*deskRecord(1)}); !errors.Is(err, syscall.EIO) {
				t.Fatalf("got %v, want %v", err, syscall.EIO)
			}
		}
		clock.advance(time.Second)
		writeNumbers(t, s, 1, 2)
		s.Mark()
		appendTo(t, m, "partial")
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: claimsName("app.log"), Err: syscall.EIO})
		res, err := s.Deliver(context.Background(), []nib.Record{*deskRecord(2)})
		if must(t, err); res.Accepted != 0 || !s.SyncMark() {
			t.Fatalf("tainted %v: got %+v, want a mark to be stored first", tainted, res)
		}
		line := record(nib.LevelInfo, 3, 0)
		mustWrite(t, s, line)
		if got := memAll(t, m); !strings.HasSuffix(got, "partial\n"+string(line.Line)) {
			t.Errorf("tainted %v: got %q, want the line on its own", tainted, got)
		}
	}
}

// TestNoticeAfterACompletedLine has a delivery that ends the failure, but
// completes only a line: the next line is preceded by the notice of the lines
// lost before.
func TestNoticeAfterACompletedLine(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	s.Mark()
	m.SetFree(9)
	delivered := *deskRecord(0)
	if _, err := s.Deliver(context.Background(), []nib.Record{delivered}); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want %v", err, syscall.ENOSPC)
	}
	if err := s.WriteRecord(record(nib.LevelInfo, 1, 0)); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v, want %v", err, syscall.ENOSPC)
	}
	m.SetFree(-1)
	deliverAll(t, s, delivered)
	wantText(t, "file", memAll(t, m), string(delivered.Line))
	writeNumbers(t, s, 2, 3)
	if _, notices, _ := parse(memAll(t, m)); len(notices) != 1 || notices[0].Dropped != 1 {
		t.Errorf("got notices %+v, want one of 1", notices)
	}
}

// TestLowDiskStaysLow logs a line at less than MinFree, and another one after
// the pause, before the next look at the file: neither is written.
func TestLowDiskStaysLow(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MinFree: 1000})
	m.SetFree(999)
	for n, pause := range []time.Duration{time.Second, 10 * time.Millisecond} {
		clock.advance(pause)
		if err := s.WriteRecord(record(nib.LevelInfo, n, 0)); !errors.Is(err, delivery.ErrFull) {
			t.Errorf("line %d: got %v, want %v", n, err, delivery.ErrFull)
		}
	}
	wantText(t, "file", memAll(t, m), "")
}

// TestNameIsSyncedBeforeALine fails the sync of the directory once and twice
// with SyncAlways: the line is in the file once, or not at all.
func TestNameIsSyncedBeforeALine(t *testing.T) {
	for times, want := range map[int]string{1: "0", 2: ""} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Sync: SyncAlways, OnError: func(error) {}})
		m.Fail(vfstest.Fault{Op: vfstest.OpSyncDir, Times: times, Err: syscall.EIO})
		if err := s.WriteRecord(record(nib.LevelInfo, 0, 0)); (err != nil) != (want == "") {
			t.Errorf("%d faults: got %v", times, err)
		}
		wantText(t, "file", numbers(memAll(t, m)), want)
	}
}

// TestLinesRarelyCheckTheName counts the looks at the name: there is one in
// each interval, whichever way lines are written.
func TestLinesRarelyCheckTheName(t *testing.T) {
	for _, c := range []Config{{}, {Sync: SyncAlways}, {Buffer: 100}} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, c)
		looks := 0
		m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: "app.log", Reached: func() { looks++ }})
		for n := range 100 {
			writeNumbers(t, s, n, n+1)
			clock.advance(10 * time.Millisecond)
		}
		if looks < 5 || looks > 11 {
			t.Errorf("%+v: got %d looks in a second, want about 10", c, looks)
		}
	}
}

// TestEndThatCannotBeReadIsReported has a file whose end is unknown: the next
// line begins with a newline.
func TestEndThatCannotBeReadIsReported(t *testing.T) {
	for _, fault := range []vfstest.Fault{
		{Op: vfstest.OpStat, Err: syscall.EIO},
		{Op: vfstest.OpStat, Skip: 1, Err: syscall.EIO},
		{Op: vfstest.OpRead, Err: syscall.EIO},
	} {
		m, clock := newMem(t)
		put(t, m, livePath, "partial")
		var reported error
		s := openMem(t, m, clock, Config{OnError: func(err error) { reported = err }})
		fault.Path = "app.log"
		heal := m.Fail(fault)
		writeNumbers(t, s, 0, 1)
		if heal(); !errors.Is(reported, syscall.EIO) {
			t.Errorf("%s: OnError got %v, want %v", fault.Op, reported, syscall.EIO)
		}
		wantText(t, string(fault.Op), memAll(t, m), "partial\n"+string(record(nib.LevelInfo, 0, 0).Line))
	}
}

// TestLongLineBehindASpool delivers lines longer than MaxSize: each has a file
// of its own.
func TestLongLineBehindASpool(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 100})
	s.Mark()
	for n := range 3 {
		deliverAll(t, s, *record(nib.LevelInfo, n, 200))
	}
	checkNumbers(t, memAll(t, m), 3)
	if n := len(memFiles(t, m)); n != 3 {
		t.Errorf("got %d files, want 3", n)
	}
}
