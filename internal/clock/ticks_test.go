// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestCounterIsUsedOnceCalibrated(t *testing.T) {
	for _, perNs := range []float64{0.2, 1, 2.4, 5} {
		w := newWorld(1)
		w.perNs = perNs
		c, reading := tickReading(w)
		if !calibrate(w, c, reading) {
			t.Errorf("%v ticks/ns: never calibrated", perNs)
			continue
		}
		looks := w.looks
		reading()
		if got := w.looks - looks; got != 1 {
			t.Errorf("%v ticks/ns: got %d looks at clocks for a reading, want 1, at the counter", perNs, got)
		}
	}
}

func TestCounterIsNotUsedBeforeCalibration(t *testing.T) {
	w := newWorld(1)
	c, reading := tickReading(w)
	for range 10 {
		if off, _ := w.offBy(reading); off != 0 {
			t.Errorf("got %v outside of the bracket, want a reading of the fallback", time.Duration(off))
		}
		w.pass(calibrateFor / 20)
	}
	if got := c.limit.Load(); got != 0 {
		t.Errorf("got a limit of %d after half of the time that calibration takes, want 0", got)
	}
}

func TestImplausibleRateIsRefused(t *testing.T) {
	for _, perNs := range []float64{0, -1, 0.01, 100} {
		w := newWorld(1)
		w.perNs = perNs
		c, reading := tickReading(w)
		if calibrate(w, c, reading) {
			t.Errorf("%v ticks/ns: got a calibrated clock, want the fallback", perNs)
		}
	}
}

// TestCounterThatMisbehaves makes the counter deviate from its rate. The clock
// must stay within the bound, the time of one step apart, and then use the
// counter again.
func TestCounterThatMisbehaves(t *testing.T) {
	cases := []struct {
		name string
		do   func(w *world)
	}{
		{"jumps ahead", func(w *world) { w.counter += 1e6 }},
		{"jumps ahead by an hour", func(w *world) { w.counter += 3600e9 * w.perNs }},
		{"jumps back", func(w *world) { w.counter -= 1e6 }},
		{"starts anew", func(w *world) { w.counter = 0 }},
		{"runs 1 % faster", func(w *world) { w.perNs *= 1.01 }},
		{"runs at half the rate", func(w *world) { w.perNs /= 2 }},
		{"runs on through an hour of sleep", func(w *world) { w.counter += 3600e9 * w.perNs; w.step(3600e9) }},
		{"sleeps for an hour", func(w *world) { w.step(3600e9) }},
	}
	for _, c := range cases {
		w := newWorld(6)
		w.pause = 0.001
		clock, reading := tickReading(w)
		if !calibrate(w, clock, reading) {
			t.Fatalf("%s: never calibrated", c.name)
		}
		c.do(w)
		done := w.now
		for w.now-done < 100e6 {
			off, _ := w.offBy(reading)
			if off > bound && w.now-done > afterStep {
				t.Errorf("%s: got %v outside of the bracket %v later, want at most %v",
					c.name, time.Duration(off), time.Duration(w.now-done), time.Duration(bound))
				break
			}
			w.pass(w.rnd.Int64N(20_000))
		}
		if clock.limit.Load() == 0 {
			t.Errorf("%s: the counter is not used any more after 100 ms, want it used", c.name)
		}
	}
}

func TestSmallDifferencesBetweenProcessors(t *testing.T) {
	w := newWorld(7)
	w.skew = 24_000 // 10 µs
	c, reading := tickReading(w)
	if !calibrate(w, c, reading) {
		t.Fatal("never calibrated")
	}
	for range 20_000 {
		if off, _ := w.offBy(reading); off > bound {
			t.Fatalf("got %v outside of the bracket, want at most %v", time.Duration(off), time.Duration(bound))
		}
		w.pass(w.rnd.Int64N(1_000_000))
	}
}

func TestUnreliableCounterIsGivenUp(t *testing.T) {
	w := newWorld(8)
	w.skew = 1e8 // 40 ms: the processors were started one after the other
	c, reading := tickReading(w)
	for range 20_000 {
		reading()
		w.pass(w.rnd.Int64N(1_000_000))
	}
	if c.faults < maxFaults {
		t.Fatalf("got %d faults, want %d", c.faults, maxFaults)
	}
	w.skew = 0 // too late
	if calibrate(w, c, reading) {
		t.Error("got a calibrated clock, want the fallback to stay")
	}
	if off, _ := w.offBy(reading); off != 0 {
		t.Errorf("got %v outside of the bracket, want a reading of the fallback", time.Duration(off))
	}
}

// TestSynctestBubble reads in a bubble, whose time begins in 2000 and has no
// monotonic part: readers outside must not see it.
func TestSynctestBubble(t *testing.T) {
	w := newWorld(9)
	c, reading := tickReading(w)
	if !calibrate(w, c, reading) {
		t.Fatal("never calibrated")
	}
	now, ahead := w.now, w.ahead
	outside := c.both
	c.both = func() (wall, mono int64) { return 946_684_800e9, 946_684_800e9 - ahead }
	w.pass(2 * renewAfter)
	if got := reading(); got != 946_684_800e9 {
		t.Errorf("in the bubble: got %d, want its time", got)
	}
	c.both = outside
	for range 100 {
		w.pass(100_000)
		if off, got := w.offBy(reading); off > bound {
			t.Fatalf("outside, %v later: got %d, %v outside of the bracket", time.Duration(w.now-now), got, time.Duration(off))
		}
	}
	if c.faults != 0 {
		t.Errorf("got %d faults, want 0", c.faults)
	}
}

func TestReaderDoesNotWaitForASample(t *testing.T) {
	w := newWorld(10)
	c, reading := tickReading(w)
	if !calibrate(w, c, reading) {
		t.Fatal("never calibrated")
	}
	c.sampling.Lock() // a writer is suspended
	c.seq.Add(1)
	c.wall.Store(0)
	if off, _ := w.offBy(reading); off != 0 {
		t.Errorf("got %v outside of the bracket, want a reading of the fallback", time.Duration(off))
	}
}

// TestConcurrentReadings lets one goroutine publish without a pause, on real
// clocks, while two others read: no reading may mix two samples.
func TestConcurrentReadings(t *testing.T) {
	both := func() (wall, mono int64) {
		now := time.Now()
		return now.UnixNano(), int64(now.Sub(base))
	}
	ticks := func() uint64 { return uint64(3 * systemMono()) }
	var c tickClock
	c.start(ticks, both, systemWall)
	start := time.Now()
	for c.perTick == 0 && time.Since(start) < 10*time.Second {
		c.reading(ticks())
	}
	var readers, writer sync.WaitGroup
	var done atomic.Bool
	writer.Add(1)
	go func() {
		defer writer.Done()
		for back := uint64(0); !done.Load(); back = 3e6 - back { // by 1 ms, so that a mixture shows
			c.sampling.Lock()
			s := c.sample()
			if rate := c.perTick; rate != 0 && !s.wide(rate) {
				c.publish(s.at-back, s.wall-int64(back*rate>>32), rate, back+uint64(renewAfter)<<32/rate)
			}
			c.sampling.Unlock()
		}
	}()
	for range 2 {
		readers.Add(1)
		go func() {
			defer readers.Done()
			for range 100_000 {
				before := time.Now()
				got := c.reading(ticks())
				after := time.Now()
				off := max(before.UnixNano()-got, got-after.UnixNano())
				if off > bound && !wallWasSet(start) {
					t.Errorf("got %v outside of the bracket, want at most %v", time.Duration(off), time.Duration(bound))
					return
				}
			}
		}()
	}
	readers.Wait()
	done.Store(true)
	writer.Wait()
}
