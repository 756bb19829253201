// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/retry"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestWhichMarkIsStored gets the mark of a destination at each occasion. An
// empty mark replaces the previous one only after a delivery.
func TestWhichMarkIsStored(t *testing.T) {
	whole := bytes.Repeat([]byte{'w'}, store.MaxMark)
	for _, c := range []struct {
		answer                 string
		mark                   func() []byte
		want, wantAfterDeliver string
		faults                 int
	}{
		{"a mark", func() []byte { return []byte("new") }, "new", "new", 0},
		{"40 bytes", func() []byte { return whole }, string(whole), string(whole), 0},
		{"41 bytes", func() []byte { return append(whole, 'x') }, "old", "old", 1},
		{"nil", func() []byte { return nil }, "old", "", 0},
		{"a panic", func() []byte { panic("no") }, "old", "old", 1},
	} {
		for _, occasion := range []struct {
			name string
			do   func(d *bed)
			want string
		}{
			{"Resume", func(d *bed) { _, _, _ = d.deliverOnce(d.batch) }, c.want},
			{"the first Deliver", func(d *bed) { d.storeFirstMark() }, c.want},
			{"Deliver", func(d *bed) { d.resumer, d.begun = nil, true; _, _, _ = d.deliverOnce(d.batch) }, c.wantAfterDeliver},
			{"SyncMark", func(d *bed) { d.syncMark() }, c.want},
		} {
			m := vfstest.NewMem(nil)
			d := newBed(t, m, &answers{
				mark:   c.mark,
				resume: func(n int) (int, error) { return n, nil },
				sync:   func() bool { return occasion.name == "SyncMark" },
			}, 2, 10)
			d.Cursor.Mark = []byte("old")
			must(t, d.writeCursor())
			occasion.do(d)
			if got := markOf(t, m); got != occasion.want || len(d.faults) != c.faults {
				t.Errorf("%s at %s: got mark %q and errors %v, want %q and %d", c.answer, occasion.name, got, d.faults, occasion.want, c.faults)
			}
		}
	}
}

// TestMarkIsTakenAfterProgress asks for the mark before the first attempt, and
// after an attempt that has settled something.
func TestMarkIsTakenAfterProgress(t *testing.T) {
	marks, calls := 0, 0
	d := newBed(t, vfstest.NewMem(nil), &answers{
		mark: func() []byte { marks++; return []byte("here") },
		deliver: func(batch []nib.Record) (delivery.Result, error) {
			if calls++; calls < 3 {
				return delivery.Result{}, errDown
			}
			return delivery.Result{Accepted: len(batch)}, nil
		},
	}, 2, 1)
	if d.deliver(); marks != 2 || calls != 3 {
		t.Errorf("got %d marks in %d calls, want 2 in 3", marks, calls)
	}
}

// TestInvalidResultsOfResumeAreErrors returns impossible counts: nothing is
// settled, and Resume is called again.
func TestInvalidResultsOfResumeAreErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(n int) (int, error)
		want   error
	}{
		{"less than nothing", func(int) (int, error) { return -1, nil }, ErrTaken},
		{"more than there is", func(n int) (int, error) { return n + 1, nil }, ErrTaken},
		{"an error", func(int) (int, error) { return 3, errDown }, errDown},
		{"an error and less than nothing", func(int) (int, error) { return -1, errDown }, errDown},
	} {
		calls := 0
		d := newBed(t, vfstest.NewMem(nil), &answers{resume: func(n int) (int, error) {
			if calls++; calls == 1 {
				return c.answer(n)
			}
			return 0, nil
		}}, 10, 11)
		n, again, err := d.deliverOnce(d.batch)
		if n != 0 || !again || !errors.Is(err, c.want) || d.Settled != 1 {
			t.Errorf("%s: got %d taken, again=%v, %v and %d settled, want none and %v", c.name, n, again, err, d.Settled-1, c.want)
		}
		if d.deliver(); calls != 2 || d.Delivered != 10 || d.Settled != 11 {
			t.Errorf("%s: Resume was called %d times, and %d records were delivered, want 2 and 10", c.name, calls, d.Delivered)
		}
	}
}

// TestCursorIsSyncedOnceBeforeDelivery checks that the cursor is not synced for
// each batch, and that failures count even if the destination may require a
// sync.
func TestCursorIsSyncedOnceBeforeDelivery(t *testing.T) {
	m, synced, calls := vfstest.NewMem(nil), 0, 0
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*" + store.CursorExt, Reached: func() { synced++ }})
	d := newBed(t, m, &answers{deliver: func(batch []nib.Record) (res delivery.Result, err error) {
		if calls++; calls > 3 {
			res.Accepted = 1
		}
		return res, nil
	}}, 5, 1)
	d.deliver()
	if synced != 1 || d.Failures != 7 || d.Attempts != 8 || d.Delivered != 5 {
		t.Errorf("got %d syncs, %d failures of %d attempts and %d records, want 1, 7 of 8 and 5", synced, d.Failures, d.Attempts, d.Delivered)
	}
}

// TestPausesGrowBetweenSyncs has a destination that requires a sync of its mark
// before each failure: the pauses between attempts still grow.
func TestPausesGrowBetweenSyncs(t *testing.T) {
	m, synced, calls := vfstest.NewMem(nil), 0, 0
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*" + store.CursorExt, Reached: func() { synced++ }})
	a := &answers{}
	d := newBed(t, m, a, 1, 1)
	longest := d.Pause
	a.sync = func() bool { return calls%2 == 1 }
	a.deliver = func([]nib.Record) (delivery.Result, error) {
		longest = max(longest, d.Pause)
		switch calls++; {
		case calls > 12:
			return delivery.Result{Accepted: 1}, nil
		case calls%2 == 1:
			return delivery.Result{}, nil
		}
		return delivery.Result{}, errDown
	}
	d.deliver()
	if want := retry.Pause(32 * d.Options.Tick); longest != want {
		t.Errorf("got a pause of %v after six failures, want %v", longest, want)
	}
	if d.Failures != 6 || synced != 8 {
		t.Errorf("got %d failures and %d syncs, want 6 and 8", d.Failures, synced)
	}
}

// TestSyncThatADestinationRequires fails in each way: it is repeated until the
// cursor is synced or the spool is closed, and its failures are no failures of
// an attempt.
func TestSyncThatADestinationRequires(t *testing.T) {
	const failures = 3
	for _, c := range []struct {
		name   string
		op     vfstest.Op // that fails
		times  int
		sync   func() bool
		again  bool
		faults int
	}{
		{"not required", vfstest.OpSync, 0, func() bool { return false }, false, 0},
		{"a panic", vfstest.OpSync, 0, func() bool { panic("no") }, false, 1},
		{"the file cannot be written", vfstest.OpWrite, failures, func() bool { return true }, true, failures},
		{"the file cannot be synced", vfstest.OpSync, failures, func() bool { return true }, true, failures},
	} {
		m, synced := vfstest.NewMem(nil), 0
		d := newBed(t, m, &answers{sync: c.sync, mark: func() []byte { return []byte("here") }}, 4, 1)
		d.begun = true
		if c.times > 0 {
			m.Fail(vfstest.Fault{Op: c.op, Path: "*" + store.CursorExt, Times: c.times, Err: syscall.EIO})
		}
		m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*" + store.CursorExt, Reached: func() { synced++ }})
		d.Settled = 3
		if got := d.syncMark(); got != c.again || len(d.faults) != c.faults || d.Failures != 0 {
			t.Errorf("%s: got %v, errors %v and %d failures, want %v and %d errors", c.name, got, d.faults, d.Failures, c.again, c.faults)
		}
		want := 0
		if c.again {
			if want = 1; markOf(t, m) != "here" || storedPosition(t, m) != 3 {
				t.Errorf("%s: got mark %q and position %d in the cursor", c.name, markOf(t, m), storedPosition(t, m))
			}
		}
		pause := map[bool]time.Duration{true: 4 * d.Options.Tick}[c.times > 0]
		if d.Pause != retry.Pause(pause) {
			t.Errorf("%s: got a pause of %v after the last failure, want %v", c.name, d.Pause, pause)
		}
		if synced != want {
			t.Errorf("%s: synced %d times, want %d", c.name, synced, want)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	m := vfstest.NewMem(nil)
	d := newBed(t, m, &answers{sync: func() bool { return true }}, 4, 1)
	d.Options.Context = ctx
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*" + store.CursorExt, Err: syscall.EIO, Reached: stop})
	if !d.syncMark() || len(d.faults) != 1 {
		t.Errorf("the spool is closed: got errors %v, want one", d.faults)
	}
}

// TestFirstMarkIsStoredEvenIfItIsNotSynced cannot sync the cursor before the
// first attempt: that is reported, and delivery goes on.
func TestFirstMarkIsStoredEvenIfItIsNotSynced(t *testing.T) {
	m := vfstest.NewMem(nil)
	d := newBed(t, m, &answers{mark: func() []byte { return []byte("here") }}, 4, 1)
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Path: "*" + store.CursorExt, Err: syscall.EIO})
	d.storeFirstMark()
	if len(d.faults) != 1 || markOf(t, m) != "here" || !d.begun {
		t.Errorf("got errors %v and mark %q", d.faults, markOf(t, m))
	}
}

// TestCursorThatCannotBeOpened returns the error, and the delivery is as
// before.
func TestCursorThatCannotBeOpened(t *testing.T) {
	m := vfstest.NewMem(nil)
	d := newBed(t, m, &answers{}, 0, 1)
	m.Fail(vfstest.Fault{Path: "*" + store.CursorExt, Err: syscall.EMFILE})
	if _, err := d.OpenCursor(store.LookInto(m, dirOfTest)); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("got %v", err)
	}
}

// TestResumeIsCalledUntilSomethingIsMissing has a destination that has all of
// the first batches and a part of another.
func TestResumeIsCalledUntilSomethingIsMissing(t *testing.T) {
	var calls []string
	left := 10
	d := newBed(t, vfstest.NewMem(nil), &answers{
		resume: func(n int) (int, error) {
			calls = append(calls, "resume")
			n = min(n, left)
			left -= n
			return n, nil
		},
		deliver: func(batch []nib.Record) (delivery.Result, error) {
			calls = append(calls, "deliver")
			return delivery.Result{Accepted: len(batch)}, nil
		},
	}, 20, 100)
	all := d.batch
	for _, part := range [][]nib.Record{all[:5], all[5:10], all[10:15], all[15:]} {
		d.batch = part
		d.deliver()
	}
	if want := []string{"resume", "resume", "resume", "deliver", "deliver"}; !slices.Equal(calls, want) || d.Delivered != 20 || d.Settled != 21 {
		t.Errorf("got calls %q and %d delivered, want %q", calls, d.Delivered, want)
	}
}
