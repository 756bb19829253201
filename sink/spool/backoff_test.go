// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestNothingShortensBackoff fills many segments, with a second destination
// that is woken for each of them, and flushes repeatedly: a destination that is
// down is called only once during its first pause.
func TestNothingShortensBackoff(t *testing.T) {
	dead, alive := &far{do: down}, &far{}
	s := open(t, "", dead, both(alive, Config{tick: time.Hour, Drain: time.Nanosecond}))
	for n := range 2000 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		if n%100 == 0 {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			if s.Flush(ctx) == nil {
				t.Fatal("Flush returned without an error")
			}
		}
	}
	for of(t, s.Stats(), "other").Pending > 0 {
		s.chain.poke()
	}
	checkLines(t, alive.take(), 0, 2000, 200)
	if d := of(t, s.Stats(), defaultName); d.Attempts > 1 || d.Failures > 1 {
		t.Errorf("got %+v, want one attempt", d)
	}
}

// TestStatsShowHowLongDeliverTakes checks the duration of a call that does not
// return.
func TestStatsShowHowLongDeliverTakes(t *testing.T) {
	f := &far{}
	reached := make(chan struct{})
	f.set(func(ctx context.Context, _ []nib.Record) (delivery.Result, error, bool) {
		close(reached)
		<-ctx.Done()
		return delivery.Result{}, ctx.Err(), true
	})
	s := open(t, "", f, Config{SegmentSize: segment.MinSize, Drain: time.Nanosecond})
	if d := s.Stats().Destinations[0]; d.Busy != 0 {
		t.Errorf("got %+v before anything was logged, want no call under way", d)
	}
	must(t, s.WriteRecord(record(0, 0, 100)))
	<-reached
	if d := s.Stats().Destinations[0]; d.Busy <= 0 || d.Attempts != 1 {
		t.Errorf("got %+v, want a call under way", d)
	}
	_ = s.Close() // the line is left
	if d := s.Stats().Destinations[0]; d.Busy != 0 {
		t.Errorf("got %+v after Close, want no call under way", d)
	}
}

// TestFakesConform checks the destinations that these tests use.
func TestFakesConform(t *testing.T) {
	nibtest.TestDestination(t, func(testing.TB) (delivery.Destination, func() [][]byte) {
		f := &far{}
		return f, f.take
	})
	nibtest.TestDestination(t, func(testing.TB) (delivery.Destination, func() [][]byte) {
		c := &clerk{}
		return c, c.take
	})
}
