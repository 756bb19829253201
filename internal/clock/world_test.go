// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"math/rand/v2"
	"time"
)

const (
	bound     = int64(50 * time.Microsecond)
	afterStep = int64(20 * time.Millisecond)
)

// A world has a wall clock and a monotonic clock that advance only when they
// are read, now and then by the length of a preemption. It is for one
// goroutine.
type world struct {
	rnd     *rand.Rand
	pause   float64 // probability that a look is followed by a preemption
	now     int64   // true time, monotonic
	ahead   int64   // wall time minus now
	stepped int64   // true time of the last step
	looks   int
	atLook  func() // called at each look, may be nil
}

func newWorld(seed uint64) *world {
	return &world{
		rnd:     rand.New(rand.NewPCG(seed, 0)),
		now:     1e9,
		ahead:   1_790_000_000e9,
		stepped: -afterStep,
	}
}

// pass lets ns nanoseconds go by.
func (w *world) pass(ns int64) { w.now += ns }

// look advances time by the duration of a reading, half of it before the
// instant that the reading shows.
func (w *world) look() {
	w.looks++
	w.pass(int64(10 + w.rnd.IntN(30)))
	if w.rnd.Float64() < w.pause {
		w.pass(int64(w.rnd.IntN(5_000_000)))
	}
	if w.atLook != nil {
		w.atLook()
	}
}

func (w *world) wall() int64 { w.look(); return w.now + w.ahead }
func (w *world) mono() int64 { w.look(); return w.now }

// step sets the wall clock forward or back.
func (w *world) step(by int64) { w.ahead += by; w.stepped = w.now }

// offBy returns how far reading, which returned got, is outside of two readings
// of the wall clock around it.
func (w *world) offBy(reading func() int64) (off, got int64) {
	before := w.wall()
	got = reading()
	after := w.wall()
	return max(before-got, got-after, 0), got
}

// justStepped reports whether a reading may be off because the clock was set.
func (w *world) justStepped() bool { return w.now-w.stepped < afterStep }

// wallReading starts a clock in w and returns how to read it.
func wallReading(w *world) (*wallClock, func() int64) {
	c := new(wallClock)
	c.start(w.wall, w.mono)
	return c, func() int64 { return c.reading(w.mono()) }
}
