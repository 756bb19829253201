// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestFaultyDestinations has destinations that fail, panic, accept only a part
// or break their contract: in the end each line arrives once and in order.
func TestFaultyDestinations(t *testing.T) {
	type answer = func(ctx context.Context, batch []nib.Record) (delivery.Result, error, bool)
	calls := 0
	everyOther := func(do answer) answer {
		return func(ctx context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			if calls++; calls%2 == 1 {
				return do(ctx, batch)
			}
			return delivery.Result{Accepted: len(batch)}, nil, false
		}
	}
	for _, c := range []struct {
		name string
		do   answer
	}{
		{"flapping", everyOther(down)},
		{"panicking", everyOther(func(context.Context, []nib.Record) (delivery.Result, error, bool) { panic("no") })},
		{"ending its goroutine", everyOther(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			runtime.Goexit()
			return delivery.Result{}, nil, true
		})},
		{"nothing and no error", everyOther(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			return delivery.Result{}, nil, true
		})},
		{"less than nothing", everyOther(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			return delivery.Result{Accepted: -5}, nil, true
		})},
		{"a third at a time", func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			return delivery.Result{Accepted: (len(batch) + 2) / 3}, nil, false
		}},
		{"part and error", func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			return delivery.Result{Accepted: (len(batch) + 1) / 2}, errDown, false
		}},
		{"overwriting", everyOther(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			clear(batch)
			return delivery.Result{}, errDown, true
		})},
	} {
		t.Run(c.name, func(t *testing.T) {
			calls = 0
			f := &far{do: c.do}
			s := open(t, "", f, Config{SegmentSize: segment.MinSize, tick: time.Microsecond})
			for n := range 2000 {
				must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
				if n%500 == 0 {
					must(t, s.Flush(context.Background()))
				}
			}
			must(t, s.Flush(context.Background()), s.Close())
			checkLines(t, f.take(), 0, 2000, 100)
		})
	}
}

// TestRejectedRecordsAreSettled settles the records that a destination rejects,
// even if its rejections are invalid.
func TestRejectedRecordsAreSettled(t *testing.T) {
	reason := errors.New("too odd")
	f := &far{}
	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		res := delivery.Result{Accepted: len(batch)}
		for i, r := range batch {
			if r.Level == nib.LevelWarn {
				res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: reason})
			}
		}
		return res, nil, false
	})
	var reported error
	s := open(t, "", f, Config{SegmentSize: segment.MinSize, OnError: func(err error) { reported = err }})
	for n := range 100 {
		l := nib.LevelInfo
		if n >= 90 {
			l = nib.LevelWarn
		}
		must(t, s.WriteRecord(record(l, n, 100)))
	}
	must(t, s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), 0, 90, 100)
	if st := checkIdentity(t, s); st.Delivered != 90 || len(st.Dropped) != 1 || st.Dropped[0] != (delivery.Drop{Reason: delivery.ReasonRejected, Level: nib.LevelWarn, Lines: 10}) {
		t.Errorf("got %+v, want 90 delivered and 10 rejected", st)
	}
	if !errors.Is(reported, reason) {
		t.Errorf("OnError got %v, want the reason", reported)
	}

	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		wrong := []delivery.Rejection{{Index: -1}, {Index: 0}, {Index: 0}, {Index: 1}, {Index: 5000}}
		return delivery.Result{Accepted: len(batch) + 7, Rejected: wrong}, nil, true
	})
	s = open(t, "", f, Config{SegmentSize: segment.MinSize})
	must(t, s.WriteRecord(record(0, 0, 100)), s.Flush(context.Background()))
	if st := checkIdentity(t, s); st.Delivered != 0 || st.Lost() != 1 {
		t.Errorf("got %+v, want one rejected", st)
	}
}

// TestHangingDestination has a destination that returns only when its context
// ends, and another that does not return even then.
func TestHangingDestination(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		f := &far{}
		f.set(func(ctx context.Context, _ []nib.Record) (delivery.Result, error, bool) {
			<-ctx.Done()
			return delivery.Result{}, ctx.Err(), true
		})
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Drain: time.Millisecond})
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if err := s.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Flush: got %v, want the deadline", err)
		}
		if err := s.Close(); !errors.Is(err, ErrPending) {
			t.Errorf("Close: got %v, want ErrPending", err)
		}
		if err := s.Flush(context.Background()); dir != "" && err != errClosed {
			t.Errorf("Flush after Close: got %v, want errClosed", err)
		}
	})
	t.Run("without end", func(t *testing.T) {
		dir := spoolDir(t)
		reached, release := make(chan struct{}, 1), make(chan struct{})
		f := &far{}
		f.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			reached <- struct{}{}
			<-release
			return delivery.Result{}, nil, true
		})
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Drain: time.Millisecond, hang: time.Millisecond})
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		<-reached
		if err := s.Close(); !errors.Is(err, ErrPending) {
			t.Errorf("Close: got %v, want ErrPending", err)
		}
		if _, err := Open(dir, f, Config{}); !errors.Is(err, ErrInUse) {
			t.Errorf("Open while a delivery hangs: got %v, want ErrInUse", err)
		}
		close(release)
		<-s.done
		f.set(nil)
		must(t, open(t, dir, f, Config{SegmentSize: segment.MinSize}).Close())
		checkLines(t, f.take(), 0, 1, 100)
	})
}

// large is a destination with a configurable batch size.
type large struct {
	far
	records, bytes int
}

func (l *large) BatchSize() (records, bytes int) { return l.records, l.bytes }

// TestBatchesAreAsLargeAsTheDestinationWants has a backlog when the destination
// comes up.
func TestBatchesAreAsLargeAsTheDestinationWants(t *testing.T) {
	for _, c := range seed.Some(t, 1, []struct{ records, bytes, want int }{
		{3000, 4 << 20, 3000},
		{10, 4 << 20, 10},
		{0, 0, 1},
		{100_000, 1 << 20, 1 << 20 / (segment.RecordHead + 90)},
	}) {
		dir := t.TempDir()
		before := open(t, dir, nil, Config{})
		for n := range 20_000 {
			must(t, before.WriteRecord(record(nib.LevelInfo, n, 90)))
		}
		must(t, before.Close())
		most := 0
		l := &large{records: c.records, bytes: c.bytes}
		l.do = func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			most = max(most, len(batch))
			return delivery.Result{Accepted: len(batch)}, nil, false
		}
		s := open(t, dir, l, Config{})
		must(t, s.Flush(context.Background()), s.Close())
		if most > c.want || most < c.want*9/10 {
			t.Errorf("%d records and %d bytes: got %d records at most, want %d", c.records, c.bytes, most, c.want)
		}
		if len(l.lines) != 20_000 {
			t.Errorf("got %d lines", len(l.lines))
		}
	}
}

// TestSleeperIsWoken delivers lines one by one without a Flush.
func TestSleeperIsWoken(t *testing.T) {
	got := make(chan uint64, 1)
	f := &far{}
	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		got <- batch[0].Seq
		return delivery.Result{Accepted: 1}, nil, false
	})
	s := open(t, "", f, Config{SegmentSize: segment.MinSize})
	for n := uint64(1); n <= 5; n++ {
		for !s.chain.idle.Load() {
			awaitNext(s)
		}
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		if seq := <-got; seq != n {
			t.Errorf("got number %d, want %d", seq, n)
		}
	}
}
