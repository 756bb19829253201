// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestPanicOfADeliveryIsReported has a delivery that panics itself, whenever it
// reads: it is reported with its stack, tried again, and ends with the spool.
func TestPanicOfADeliveryIsReported(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	reports, faults := make(chan error, 1), make(chan error, 1)
	s := &spoolOfNothing{report: func(err error) { reports <- err }, fault: func(err error) { faults <- err }}
	d := New(emptyChain(), s, Options{Context: ctx, Label: "test", Tick: time.Nanosecond}, nil)
	done := make(chan struct{})
	go d.Run(func() { close(done) })
	for range 3 {
		if err := <-reports; !strings.Contains(err.Error(), "nil pointer") || !strings.Contains(err.Error(), "fillOne") {
			t.Errorf("got %v, want the panic and its stack", err)
		}
		d.chain.Lock()
		d.outage.reported = time.Time{} // an hour later
		d.chain.Unlock()
	}
	stop()
	if err := <-faults; !strings.Contains(err.Error(), "abandon") {
		t.Errorf("got %v, want the panic of the end", err)
	}
	<-done
	if d.Failures < 3 {
		t.Errorf("got %d failures, want at least 3", d.Failures)
	}
}

// An endsGoroutine is an error whose Error method ends the goroutine.
type endsGoroutine struct{}

func (endsGoroutine) Error() string {
	runtime.Goexit()
	return ""
}

// TestAcceptedRecordsAreSettledIfTheGoroutineEnds has a destination that ends
// the goroutine after it has accepted records: it does not get them again.
func TestAcceptedRecordsAreSettledIfTheGoroutineEnds(t *testing.T) {
	ends := func() []byte { runtime.Goexit(); return nil }
	refuse := func([]nib.Record) (delivery.Result, error) {
		return delivery.Result{Accepted: 3, Rejected: []delivery.Rejection{{Index: 1, Reason: endsGoroutine{}}}}, nil
	}
	for name, c := range map[string]struct {
		dest     *answers
		opened   uint64 // after the batch: Resume is called
		rejected uint64
	}{
		"Mark after Deliver": {&answers{mark: ends, deliver: func([]nib.Record) (delivery.Result, error) { return delivery.Result{Accepted: 3}, nil }}, 1, 0},
		"Mark after Resume":  {&answers{mark: ends, resume: func(int) (int, error) { return 3, nil }}, 10, 0},
		"Error of a Reason":  {&answers{deliver: refuse}, 1, 1},
	} {
		d := newBed(t, vfstest.NewMem(nil), c.dest, 4, c.opened)
		d.begun = true
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { d.interrupted(interruption(recover())) }()
			d.deliver()
		}()
		<-done
		rejected := d.Dropped[segment.CauseRejected][level.Row(int(nib.LevelInfo))]
		if d.Settled != 4 || d.Delivered != 3-c.rejected || rejected != c.rejected || len(d.batch) != 1 || d.batch[0].Seq != 4 {
			t.Errorf("%s: got position %d, %d delivered, %d rejected and %d records left, want 4, %d, %d and 1",
				name, d.Settled, d.Delivered, rejected, len(d.batch), 3-c.rejected, c.rejected)
		}
	}
}

// TestSyncMarkWithoutProgressIsAFailure has a destination that always wants its
// mark synced, and accepts nothing: after some attempts delivery pauses between
// them, and reports it.
func TestSyncMarkWithoutProgressIsAFailure(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	calls := 0
	d := newBed(t, vfstest.NewMem(nil), &answers{
		sync: func() bool { return true },
		deliver: func([]nib.Record) (delivery.Result, error) {
			if calls++; calls == mostSyncs+4 {
				stop()
			}
			return delivery.Result{}, nil
		},
	}, 1, 1)
	d.Options.Context = ctx
	d.deliver()
	if want := uint64(calls - mostSyncs); d.Failures != want || want != 4 || d.Pause == 0 || len(d.reports) != 1 {
		t.Errorf("got %d failures in %d attempts, a pause of %v and reports %v, want %d failures and one report", d.Failures, calls, d.Pause, d.reports, want)
	}
}

// TestDeliveryGoesOnAfterPanicsWithoutText has panics of a delivery itself
// whose text ends the goroutine: it is tried again, or ends with the spool.
func TestDeliveryGoesOnAfterPanicsWithoutText(t *testing.T) {
	for _, finishing := range []bool{false, true} {
		d := newBed(t, vfstest.NewMem(nil), &answers{}, 0, 1)
		d.finishing = finishing
		calls := 0
		d.Options.Context = &checked{t.Context(), func() error {
			if calls++; calls == 1 {
				panic(endsGoroutine{})
			}
			return context.Canceled
		}}
		done := make(chan struct{})
		go d.Run(func() { close(done) })
		<-done
		got := d.reports
		if finishing {
			got = d.faults
		}
		if len(got) != 1 || !errors.Is(got[0], ErrEnded) {
			t.Errorf("finishing %v: got reports %v and faults %v, want one of %v", finishing, d.reports, d.faults, ErrEnded)
		}
	}
}

// A checked context calls a function in its Err method.
type checked struct {
	context.Context
	err func() error
}

func (c *checked) Err() error { return c.err() }

// A panicsTwice is an error whose Error method panics with another one.
type panicsTwice struct{ with error }

func (p panicsTwice) Error() string {
	if p.with == nil {
		panic("no text")
	}
	panic(p.with)
}

// TestOutageOfErrorsWithoutText reports an error whose Error method panics with
// a value that panics as well, which package fmt does not recover. A timer
// makes these reports too, whose panic would end the process.
func TestOutageOfErrorsWithoutText(t *testing.T) {
	d := newBed(t, vfstest.NewMem(nil), &answers{}, 0, 1)
	err := panicsTwice{panicsTwice{}}
	d.outage.since, d.outage.timer, d.outage.err = time.Now(), time.NewTimer(time.Hour), err
	for _, report := range []func(){func() { d.attemptFailed(err) }, d.watch} {
		d.outage.reported, d.reports = time.Time{}, nil
		report()
		if len(d.reports) != 1 || !errors.Is(d.reports[0], err) || !strings.Contains(d.reports[0].Error(), "panicsTwice, whose Error method panics; 0 lines wait") {
			t.Errorf("got reports %v, want one with the type of the error and the backlog", d.reports)
		}
	}
}
