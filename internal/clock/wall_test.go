// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"testing"
	"time"
)

// TestWithinTheBound reads at random times, through preemptions between any two
// steps of the code and through steps of the wall clock.
func TestWithinTheBound(t *testing.T) {
	worlds := []struct {
		name      string
		pause     float64
		stepEvery int // readings
		longest   int // between two readings, in ns
	}{
		{"busy", 0, 0, 100},
		{"busy with preemptions", 0.01, 0, 100},
		{"always preempted", 0.7, 0, 10_000},
		{"seldom", 0.01, 0, 30_000_000},
		{"steps", 0, 500, 1_000_000},
		{"steps and preemptions", 0.05, 500, 1_000_000},
	}
	for i, c := range worlds {
		w := newWorld(uint64(i))
		w.pause = c.pause
		_, reading := wallReading(w)
		for n := range 20_000 {
			if c.stepEvery > 0 && n%c.stepEvery == c.stepEvery-1 {
				w.step(w.rnd.Int64N(2e9) - 1e9)
			}
			off, _ := w.offBy(reading)
			if off > bound && !w.justStepped() {
				t.Errorf("%s: reading %d: got %v outside of its bracket, want at most %v",
					c.name, n, time.Duration(off), time.Duration(bound))
				break
			}
			w.pass(w.rnd.Int64N(int64(c.longest)))
		}
	}
}

func TestStepIsFollowed(t *testing.T) {
	steps := map[string]int64{
		"forward 100 µs": 100_000, "back 100 µs": -100_000,
		"forward 1 h": 3600e9, "back 1 h": -3600e9,
		"forward 10 years": 315_360_000e9, "back 10 years": -315_360_000e9,
	}
	for name, by := range steps {
		w := newWorld(1)
		_, reading := wallReading(w)
		for range 1000 { // in full use
			reading()
			w.pass(100_000)
		}
		w.step(by)
		w.pass(afterStep)
		if off, _ := w.offBy(reading); off > bound {
			t.Errorf("%s: got %v outside of the bracket 20 ms later, want at most %v",
				name, time.Duration(off), time.Duration(bound))
		}
	}
}

// TestStepIsSeenWhileReading is the same without a pause after the step: the
// clock is read all the time.
func TestStepIsSeenWhileReading(t *testing.T) {
	w := newWorld(2)
	_, reading := wallReading(w)
	for range 1030 { // between two renewals
		reading()
		w.pass(100_000)
	}
	w.step(5e9)
	wrong := int64(0)
	for since := w.now; w.now-since < 30e6; w.pass(1000) {
		if off, _ := w.offBy(reading); off > bound {
			wrong = w.now - since
		}
	}
	if wrong == 0 || wrong > 20e6 {
		t.Errorf("got the old time until %v after the step, want at all but not after 20ms", time.Duration(wrong))
	}
}

func TestWallClockDoesNotJumpWithoutAStep(t *testing.T) {
	w := newWorld(3)
	w.pause = 0.2
	c, reading := wallReading(w)
	want := c.offset.Load()
	for range 20_000 {
		reading()
		w.pass(w.rnd.Int64N(5_000_000))
		if got := c.offset.Load(); got != want && want >= w.ahead-resolution && want <= w.ahead+resolution {
			t.Fatalf("got offset %d, want it to stay %d: no sample can have contradicted it", got, want)
		} else {
			want = got
		}
	}
}

// TestPreemptedRenewal stops the renewing goroutine between two readings of a
// sample, each time, and sets the wall clock before it resumes.
func TestPreemptedRenewal(t *testing.T) {
	for at := 1; at <= 3*tries; at++ {
		w := newWorld(4)
		c, reading := wallReading(w)
		w.pass(2 * renewAfter)
		first := w.looks
		w.atLook = func() {
			if w.looks == first+1+at { // one for the reading itself
				w.pass(3e6)
				w.step(1e9)
			}
		}
		reading()
		w.atLook = nil
		w.pass(afterStep)
		if off, _ := w.offBy(reading); off > bound {
			t.Errorf("preempted before look %d: got %v outside of the bracket, want at most %v", at, time.Duration(off), time.Duration(bound))
		}
		if c.measuring.TryLock() {
			c.measuring.Unlock()
		} else {
			t.Errorf("preempted before look %d: the lock is still held", at)
		}
	}
}

// TestDisturbedStart preempts every try of the first sample.
func TestDisturbedStart(t *testing.T) {
	for _, pause := range []int64{20_000, 2_000_000, 200_000_000} {
		w := newWorld(11)
		w.atLook = func() { w.pass(w.rnd.Int64N(pause)) }
		_, reading := wallReading(w)
		w.atLook = nil
		for since := w.now; w.now-since < 100e6; w.pass(w.rnd.Int64N(100_000)) {
			if off, _ := w.offBy(reading); off > bound {
				t.Errorf("preempted for up to %v: got %v outside of the bracket %v later, want at most %v",
					time.Duration(pause), time.Duration(off), time.Duration(w.now-since), time.Duration(bound))
				break
			}
		}
	}
}

func TestCorrect(t *testing.T) {
	const us = int64(time.Microsecond)
	cases := []struct {
		name          string
		width, low    int64 // of the sample
		offset, wants int64
	}{
		{"inside", 5 * us, 100 * us, 103 * us, 103 * us},
		{"at the resolution below", 5 * us, 100 * us, 99 * us, 99 * us},
		{"at the resolution above", 5 * us, 100 * us, 106 * us, 106 * us},
		{"below", 10 * us, 100 * us, 90 * us, 105 * us},
		{"above", 10 * us, 100 * us, 190 * us, 105 * us},
	}
	for _, c := range cases {
		s := sample{before: 7 * us, after: 7*us + c.width, wall: 7*us + c.width + c.low}
		if got := s.correct(c.offset); got != c.wants {
			t.Errorf("%s: got %d, want %d", c.name, got, c.wants)
		}
	}
}

func TestReaderDoesNotWaitForARenewal(t *testing.T) {
	w := newWorld(5)
	c, reading := wallReading(w)
	w.pass(2 * renewAfter)
	w.step(1e9)
	c.measuring.Lock() // another goroutine is suspended in renew
	defer c.measuring.Unlock()
	if off, got := w.offBy(reading); off != 0 {
		t.Errorf("got %d, %v outside of the bracket, want a reading of the wall clock itself", got, time.Duration(off))
	}
}
