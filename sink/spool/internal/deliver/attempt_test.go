// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package deliver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/retry"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A plain is a destination without abilities.
type plain struct {
	do func(batch []nib.Record) (delivery.Result, error)
}

func (p *plain) Deliver(_ context.Context, batch []nib.Record) (delivery.Result, error) {
	return p.do(batch)
}

// An overlapping is a plain destination that gets more records after the rest
// of a batch.
type overlapping struct {
	plain
	overlaps int
}

func (o *overlapping) Overlap() { o.overlaps++ }

// A batching is a plain destination with a batch size of its own.
type batching struct {
	plain
	records, bytes int
}

func (b *batching) BatchSize() (records, bytes int) { return b.records, b.bytes }

// An answer is the result of an attempt.
type answer struct {
	n   int
	err error
}

// scripted answers attempts in turn, and then accepts everything. seen is
// called before each answer.
func scripted(answers []answer, seen func(batch []nib.Record)) plain {
	return plain{func(batch []nib.Record) (delivery.Result, error) {
		if seen(batch); len(answers) == 0 {
			return delivery.Result{Accepted: len(batch)}, nil
		}
		a := answers[0]
		answers = answers[1:]
		return delivery.Result{Accepted: a.n}, a.err
	}}
}

// TestAttempts delivers a batch of four records: records that an attempt
// settles are not passed again, failures are counted and reported, and the
// pause starts over after a success.
func TestAttempts(t *testing.T) {
	const tick = time.Second
	for _, c := range []struct {
		name     string
		overlaps bool
		answers  []answer
		sizes    []int // of the batches
		failures uint64
		reports  []error
		pause    time.Duration // afterwards; before, it is long
		rest     int
	}{
		{"all", false, []answer{{4, nil}}, []int{4}, 0, nil, 0, 0},
		{"all, with an error", false, []answer{{4, errDown}}, []int{4}, 1, []error{errDown}, tick, 0},
		{"more than all", false, []answer{{5, nil}}, []int{4}, 0, nil, 0, 0},
		{"a part, and the rest", false, []answer{{3, nil}, {1, nil}}, []int{4, 1}, 1, nil, 0, 0},
		{"a part, with an error, and the rest", false, []answer{{3, errDown}, {1, errDown}}, []int{4, 1}, 2, []error{errDown}, tick, 0},
		{"nothing, and then all", false, []answer{{0, nil}, {4, nil}}, []int{4, 4}, 1, []error{ErrNothing}, 0, 0},
		{"less than nothing, and then all", false, []answer{{-1, errDown}, {4, nil}}, []int{4, 4}, 1, []error{errDown}, 0, 0},
		{"overlapping: all", true, []answer{{4, nil}}, []int{4}, 0, nil, 0, 0},
		{"overlapping: a part", true, []answer{{3, nil}}, []int{4}, 0, nil, 0, 1},
		{"overlapping: a part, with an error", true, []answer{{3, errDown}}, []int{4}, 1, []error{errDown}, tick, 1},
		{"overlapping: nothing", true, []answer{{0, nil}}, []int{4}, 1, []error{ErrNothing}, LongestPause, 4},
	} {
		synctest.Test(t, func(t *testing.T) {
			var sizes []int
			p := scripted(c.answers, func(batch []nib.Record) { sizes = append(sizes, len(batch)) })
			dest := delivery.Destination(&p)
			if c.overlaps {
				dest = &overlapping{plain: p}
			}
			d := newBed(t, vfstest.NewMem(nil), dest, 4, 1)
			d.Options.Tick, d.Pause = tick, retry.Pause(LongestPause)
			d.deliver()
			if !slices.Equal(sizes, c.sizes) || d.Failures != c.failures || d.Attempts != uint64(len(sizes)) || d.Pause != retry.Pause(c.pause) {
				t.Errorf("%s: got batches of %d records, %d failures, then a pause of %v, want %d, %d and %v", c.name, sizes, d.Failures, d.Pause, c.sizes, c.failures, c.pause)
			}
			if !slices.EqualFunc(d.reports, c.reports, errors.Is) || len(d.faults) != 0 {
				t.Errorf("%s: got reports %v and faults %v, want %v", c.name, d.reports, d.faults, c.reports)
			}
			if len(d.batch) != c.rest || d.Settled != uint64(5-c.rest) || c.rest > 0 && d.batch[0].Seq != d.Settled {
				t.Errorf("%s: got a rest of %d records, the first %d settled, want %d left", c.name, len(d.batch), d.Settled-1, c.rest)
			}
			d.endOutage()
		})
	}
}

// TestInvalidRecordsAreNotDelivered has records whose content is invalid at
// each place of a batch: they count as damaged.
func TestInvalidRecordsAreNotDelivered(t *testing.T) {
	const lines = 4
	for invalid := range 1 << lines {
		var got []uint64
		p := scripted(nil, func(batch []nib.Record) {
			for _, r := range batch {
				if r.Line == nil {
					t.Errorf("%04b: record %d has no line", invalid, r.Seq)
				}
				got = append(got, r.Seq)
			}
		})
		d := newBed(t, vfstest.NewMem(nil), &p, lines, 1)
		var want []uint64
		for i := range d.batch {
			if invalid>>i&1 != 0 {
				d.batch[i].Line = nil
			} else {
				want = append(want, uint64(i+1))
			}
		}
		d.deliver()
		damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
		if !slices.Equal(got, want) || d.Settled != lines+1 || d.Delivered != uint64(len(want)) || damaged != uint64(lines-len(want)) || len(d.batch) != 0 {
			t.Errorf("%04b: got records %d, %d settled, %d damaged, want %d", invalid, got, d.Settled-1, damaged, want)
		}
	}
}

// TestNothingIsDeliveredAfterTheEnd ends the context before a batch, and while
// it is delivered.
func TestNothingIsDeliveredAfterTheEnd(t *testing.T) {
	for _, calls := range []int{0, 1, 2} {
		ctx, stop := context.WithCancel(t.Context())
		made := 0
		p := scripted([]answer{{1, nil}, {1, nil}, {1, nil}}, func([]nib.Record) {
			if made++; made == calls {
				stop()
			}
		})
		d := newBed(t, vfstest.NewMem(nil), &p, 4, 1)
		if d.Options.Context = ctx; calls == 0 {
			stop()
		}
		if d.deliver(); made != calls || len(d.batch) != 4-calls {
			t.Errorf("got %d calls and a rest of %d records, want %d and %d", made, len(d.batch), calls, 4-calls)
		}
	}
}

// TestOutageBeginsWithTheFirstFailure checks since when a destination accepts
// nothing, at the second attempt.
func TestOutageBeginsWithTheFirstFailure(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  answer
		resume bool
		goesOn bool
	}{
		{"nothing", answer{0, nil}, false, true},
		{"an error", answer{0, errDown}, false, true},
		{"a part", answer{1, nil}, false, false},
		{"a part, with an error", answer{1, errDown}, false, false},
		{"nothing is there yet", answer{0, nil}, true, false},
		{"it is not known what is there", answer{0, errDown}, true, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			begin, calls := time.Now(), 0
			var d *bed
			call := func(int) (int, error) {
				calls++
				time.Sleep(time.Millisecond)
				if calls == 1 {
					return c.first.n, c.first.err
				}
				if d.outage.since.Equal(begin) != c.goesOn || d.outage.since.IsZero() || d.outage.oldest != 7 {
					t.Errorf("%s: the outage began %v after the first attempt, with a record of time %d", c.name, d.outage.since.Sub(begin), d.outage.oldest)
				}
				return 3 - int(d.Settled), nil
			}
			a := &answers{deliver: func([]nib.Record) (res delivery.Result, err error) {
				res.Accepted, err = call(0)
				return res, err
			}}
			opened := uint64(1)
			if c.resume {
				opened, a.resume = 100, call
			}
			d = newBed(t, vfstest.NewMem(nil), a, 2, opened)
			d.batch[0].Time, d.batch[1].Time = 7, 7
			d.deliver()
			failures := map[bool]uint64{false: 1}[c.resume && c.first.err == nil]
			if calls < 2 || !d.outage.since.IsZero() || d.Settled != 3 || !d.Since.IsZero() || d.Failures != failures {
				t.Errorf("%s: after %d calls, %d records are settled, and the outage began %v", c.name, calls, d.Settled-1, d.outage.since)
			}
		})
	}
}

// TestOutageIsReported has a destination that does not answer, or fails: it is
// reported after a while, and then once a minute, until it accepts something.
func TestOutageIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		p := plain{func(batch []nib.Record) (delivery.Result, error) {
			<-hold
			return delivery.Result{Accepted: 1}, nil
		}}
		d := newBed(t, vfstest.NewMem(nil), &p, 2, 1)
		d.batch[0].Time = time.Now().Add(-time.Hour).UnixNano()
		reports := func() int {
			synctest.Wait()
			d.chain.Lock()
			defer d.chain.Unlock()
			return len(d.reports)
		}
		done := make(chan struct{})
		go func() { d.deliver(); close(done) }()
		for _, c := range []struct {
			after time.Duration
			want  int
		}{{OutageDelay - 1, 0}, {1, 1}, {outagePause - 1, 1}, {1, 2}, {outagePause, 3}} {
			await.Sleep(c.after)
			if got := reports(); got != c.want {
				t.Errorf("got %d reports, want %d", got, c.want)
			}
		}
		if want := "no answer for 2m4s; 0 lines wait, of up to 0 bytes, the oldest for 1h2m4s"; d.reports[2].Error() != want {
			t.Errorf("got %q, want %q", d.reports[2], want)
		}
		hold <- struct{}{}
		await.Sleep(10 * time.Second) // a new outage within a minute
		if got := reports(); got != 3 {
			t.Errorf("got %d reports, want 3", got)
		}
		await.Sleep(outagePause)
		if got := reports(); got != 4 {
			t.Errorf("got %d reports, want 4", got)
		}
		hold <- struct{}{}
		<-done
		await.Sleep(time.Hour)
		if got := reports(); got != 4 {
			t.Errorf("got %d reports after the end, want 4", got)
		}
	})
}

// TestNew makes deliveries for destinations with different abilities.
func TestNew(t *testing.T) {
	for name, c := range map[string]struct {
		dest           delivery.Destination
		records, bytes int
		other          int
	}{
		"plain":       {&plain{}, BatchRecords, batchBytes, 0},
		"batching":    {&batching{records: 10, bytes: 200 << 10}, 10, 200 << 10, 0},
		"too small":   {&batching{}, 1, segment.MinSize, 0},
		"overlapping": {&overlapping{}, BatchRecords, batchBytes / 2, batchBytes / 2},
	} {
		d := New(emptyChain(), &spoolOfNothing{}, Options{}, c.dest)
		if cap(d.batch) != c.records || cap(d.buf) != c.bytes || d.bufSize != c.bytes || cap(d.other) != c.other || d.Overlaps != (c.other > 0) || d.Settled != 1 {
			t.Errorf("%s: got %d records of %d bytes, and %d more, want %d of %d, and %d", name, cap(d.batch), cap(d.buf), cap(d.other), c.records, c.bytes, c.other)
		}
		if o, ok := c.dest.(*overlapping); ok && o.overlaps != 1 {
			t.Errorf("%s: Overlap was called %d times, want once", name, o.overlaps)
		}
	}
}

// TestCloseCursorForgetsProgress closes a cursor before another directory is
// tried.
func TestCloseCursorForgetsProgress(t *testing.T) {
	d := newBed(t, vfstest.NewMem(nil), &answers{}, 0, 1)
	d.Settled, d.Recovered, d.Skipped = 7, 8, 9
	d.CloseCursor()
	if d.Settled != 1 || d.Recovered != 0 || d.Skipped != 0 || d.Cursor != nil || d.dir != nil {
		t.Errorf("got position %d, %d recovered, %d skipped, cursor %v", d.Settled, d.Recovered, d.Skipped, d.Cursor)
	}
}

// TestPauses waits between attempts: between half the pause and all of it,
// unless a call waits for the delivery, which ends all but the first half of a
// tick, or the spool is closed.
func TestPauses(t *testing.T) {
	const tick = time.Second
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name     string
			prepare  func(d *bed, stop func())
			from, to time.Duration
		}{
			{"nothing", func(*bed, func()) {}, LongestPause / 2, LongestPause},
			{"woken", func(d *bed, _ func()) { d.Wake() }, LongestPause / 2, LongestPause},
			{"urged", func(d *bed, _ func()) { d.Urge() }, tick / 2, tick / 2},
			{"urged later", func(d *bed, _ func()) { time.AfterFunc(tick, d.Urge) }, tick, tick},
			{"closed", func(_ *bed, stop func()) { stop() }, 0, 0},
			{"closed later", func(_ *bed, stop func()) { time.AfterFunc(tick, stop) }, tick, tick},
		} {
			ctx, stop := context.WithCancel(t.Context())
			d := newBed(t, vfstest.NewMem(nil), &answers{}, 0, 1)
			d.Options.Tick, d.Options.Context = tick, ctx
			d.Pause = retry.Pause(LongestPause)
			c.prepare(d, stop)
			begin := time.Now()
			d.wait()
			took := time.Since(begin)
			if took < c.from || took > c.to || d.Pause != retry.Pause(LongestPause) {
				t.Errorf("%s: waited %v, want %v to %v", c.name, took, c.from, c.to)
			}
			stop()
		}
	})
}

// TestInterruptedDeliveryGoesOn ends the goroutine while a batch is being
// settled: only the rest is delivered again, after a pause.
func TestInterruptedDeliveryGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newBed(t, vfstest.NewMem(nil), &answers{}, 4, 1)
		d.Options.Tick = time.Second
		d.settleBatch(d.batch[:2], nil)
		d.Since = time.Now()
		begin := time.Now()
		d.interrupted(errDown)
		took := time.Since(begin)
		if took < time.Second/2 || d.Pause != retry.Pause(time.Second) {
			t.Errorf("waited %v, want a pause", took)
		}
		if len(d.batch) != 2 || d.batch[0].Seq != 3 || d.Failures != 1 || !d.Since.IsZero() || fmt.Sprint(d.reports) == "[]" {
			t.Errorf("got a rest of %d records, %d failures and reports %v", len(d.batch), d.Failures, d.reports)
		}
	})
}

// TestCallsInTurn has two spools that deliver to one destination: it is called
// for one at a time, and the other one waits until that call has returned or
// its spool is closed.
func TestCallsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hold, turn, calls := make(chan struct{}), make(chan struct{}, 1), 0
		p := plain{func(batch []nib.Record) (delivery.Result, error) {
			if calls++; calls == 2 {
				panic("no")
			}
			<-hold
			return delivery.Result{Accepted: len(batch)}, nil
		}}
		ctx, stop := context.WithCancelCause(t.Context())
		first, second := newBed(t, vfstest.NewMem(nil), &p, 1, 1), newBed(t, vfstest.NewMem(nil), &p, 1, 1)
		first.Turn, second.Turn, second.Options.Context = turn, turn, ctx
		go first.deliver()
		synctest.Wait()
		errs := make(chan error)
		go func() {
			errs <- second.try(second.batch, func(context.Context) error { t.Error("called out of turn"); return nil })
		}()
		synctest.Wait()
		stop(errDown)
		if err := <-errs; err != errDown || calls != 1 {
			t.Errorf("got %v after %d calls, want the cause of the end", err, calls)
		}
		hold <- struct{}{}
		synctest.Wait()
		if first.Settled != 2 || len(turn) != 0 {
			t.Errorf("got position %d after the call, and %d turns taken", first.Settled, len(turn))
		}
		second.Options.Context = t.Context()
		_, _, err := second.deliverOnce(second.batch)
		if err == nil || len(turn) != 0 {
			t.Errorf("got %v from a call that panics, and %d turns taken", err, len(turn))
		}
		first.endOutage()
		second.endOutage()
	})
}

// TestDestinationWithoutMarks stores no mark before the first attempt.
func TestDestinationWithoutMarks(t *testing.T) {
	m, synced := vfstest.NewMem(nil), 0
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Reached: func() { synced++ }})
	p := scripted(nil, func([]nib.Record) {})
	d := newBed(t, m, &p, 4, 1)
	if d.deliver(); !d.begun || synced > 0 || d.Settled != 5 {
		t.Errorf("got %d syncs and position %d", synced, d.Settled)
	}
}
