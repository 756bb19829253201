// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestVoidClaimIsCountedOnce voids the claim of a number before and after the
// destination has given up on it.
func TestVoidClaimIsCountedOnce(t *testing.T) {
	const seq = 7
	damaged := func(d *bed) uint64 {
		return d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
	}
	for _, passed := range []bool{false, true} {
		d := newBed(t, vfstest.NewMem(nil), &answers{}, 0, 1)
		want := uint64(1)
		d.settleMissing(seq-1, 0)
		if passed {
			d.settleMissing(1, 1)
			want = 0
		}
		d.Void(seq)
		if n := damaged(d); n != 0 || d.Skipped != want {
			t.Errorf("passed=%v: %d lines count as damaged and %d are skipped, want 0 and %d", passed, n, d.Skipped, want)
		}
	}
}

// TestInvalidRejectionsAreIgnored rejects records twice, and ones that are not
// in the batch or not settled.
func TestInvalidRejectionsAreIgnored(t *testing.T) {
	d := newBed(t, vfstest.NewMem(nil), &answers{}, 3, 1)
	d.settleBatch(d.batch[:2], []delivery.Rejection{{Index: -1}, {Index: 1}, {Index: 1}, {Index: 2}, {Index: 5000}})
	if n := d.Dropped[segment.CauseRejected][level.Row(int(nib.LevelInfo))]; n != 1 || d.Delivered != 1 || d.Settled != 3 {
		t.Errorf("got %d rejected, %d delivered and position %d, want 1, 1 and 3", n, d.Delivered, d.Settled)
	}
}

// storedPosition returns the position in the file of the cursor.
func storedPosition(t *testing.T, m *vfstest.Mem) uint64 {
	t.Helper()
	_, _, p, err := store.ReadSlots(bytes.NewReader(fileOf(t, m, store.CursorExt)))
	must(t, err)
	return p.Seq
}

// TestProgressIsStoredAndWakesCalls moves the position in each way: calls that
// wait for it are woken, and the cursor has it.
func TestProgressIsStoredAndWakesCalls(t *testing.T) {
	for name, move := range map[string]func(d *bed){
		"a batch":                  func(d *bed) { d.settleBatch(d.batch, nil) },
		"numbers without a record": func(d *bed) { d.settleMissing(4, 2) },
		"unused numbers": func(d *bed) {
			for range 4 {
				d.skipVoid(0)
			}
		},
		"numbers never given":      func(d *bed) { d.neverGiven(4) },
		"numbers before a segment": func(d *bed) { d.skipUnused(5) },
		"a segment given up":       func(d *bed) { d.giveUp(5) },
	} {
		m := vfstest.NewMem(nil)
		d := newBed(t, m, &answers{}, 4, 1)
		d.Recovered, d.Skipped = 10, 10
		isWoken := woken(d.chain)
		move(d)
		if got := storedPosition(t, m); got != 5 || d.Settled != 5 || !isWoken() || len(d.faults) > 0 {
			t.Errorf("%s: got position %d, %d in the cursor, woken %v, errors %v, want 5", name, d.Settled, got, isWoken(), d.faults)
		}
		if lost := d.Cursor.Losses().Lines; lost != d.Dropped {
			t.Errorf("%s: the cursor has %v, want %v", name, lost, d.Dropped)
		}
	}
}

// TestCursorIsWrittenAtTheEnd has a cursor that cannot be written for the last
// batch: the position is written when the delivery ends.
func TestCursorIsWrittenAtTheEnd(t *testing.T) {
	m := vfstest.NewMem(nil)
	d := newBed(t, m, &answers{}, 4, 1)
	m.Fail(vfstest.Fault{
		Op: vfstest.OpWrite, Path: "*" + store.CursorExt, Times: 1, Err: syscall.EIO,
	})
	d.settleBatch(d.batch[:1], nil)
	d.finish()
	if at := storedPosition(t, m); at != 2 || len(d.faults) != 1 {
		t.Errorf("got position %d and the errors %v, want 2 and one", at, d.faults)
	}
}

// TestCursorIsWrittenAgain has a cursor that cannot be written once: the
// position is written when the cursor is synced, and only then.
func TestCursorIsWrittenAgain(t *testing.T) {
	m, written := vfstest.NewMem(nil), 0
	d := newBed(t, m, &answers{}, 4, 1)
	d.settleBatch(d.batch[:1], nil)
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*" + store.CursorExt, Err: syscall.ENOSPC})
	d.settleBatch(d.batch[1:3], nil)
	if len(d.faults) != 1 || !errors.Is(d.faults[0], syscall.ENOSPC) || d.Settled != 4 || storedPosition(t, m) != 2 {
		t.Errorf("got errors %v and position %d, %d in the cursor", d.faults, d.Settled, storedPosition(t, m))
	}
	if err := d.syncCursor(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("sync: got %v while the cursor cannot be written", err)
	}
	heal()
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "*" + store.CursorExt, Reached: func() { written++ }})
	for range 3 {
		must(t, d.syncCursor())
	}
	if written != 1 || storedPosition(t, m) != 4 {
		t.Errorf("written %d times, got position %d, want once and 4", written, storedPosition(t, m))
	}
}

// panics is an error whose Error method panics.
type panics struct{}

func (panics) Error() string { panic("no text") }

func TestTextOf(t *testing.T) {
	if got := TextOf(errDown); got != "down" {
		t.Errorf("got %q", got)
	}
	if got := TextOf(panics{}); !strings.Contains(got, "deliver.panics") {
		t.Errorf("got %q, want the type", got)
	}
}

// TestTrafficIsThatOfDeliveredRecords rejects some records of a batch, which
// have levels and lengths of their own. Without rejections there is no file of
// them.
func TestTrafficIsThatOfDeliveredRecords(t *testing.T) {
	levels := []nib.Level{nib.LevelDebug, nib.LevelInfo, nib.LevelWarn, nib.LevelError}
	for rejected := range 1 << len(levels) {
		m := vfstest.NewMem(nil)
		d := newBed(t, m, &answers{}, len(levels), 1)
		var want level.Traffic
		var rejections []delivery.Rejection
		for i, l := range levels {
			d.batch[i].Level, d.batch[i].Line = l, make([]byte, 10*i+1)
			if rejected>>i&1 != 0 {
				rejections = append(rejections, delivery.Rejection{Index: i})
			} else {
				want.Add(int(l), 10*i+1)
			}
		}
		d.settleBatch(d.batch, rejections)
		if d.Traffic != want || d.Delivered != uint64(len(levels)-len(rejections)) {
			t.Errorf("%04b is rejected: got %d delivered and %v, want %v", rejected, d.Delivered, d.Traffic, want)
		}
		if _, err := m.Lstat(filepath.Join(dirOfTest, nameOfTest+RejectedExt)); (err == nil) != (rejected != 0) {
			t.Errorf("%04b is rejected: got %v for the file of rejected lines", rejected, err)
		}
	}
}
