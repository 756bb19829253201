// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// renewAfter is the time for which a measurement is valid, in nanoseconds. It
	// limits how long a step of the wall clock goes unseen.
	renewAfter = int64(10 * time.Millisecond)

	// retryAfter is the time after which a disturbed measurement is repeated.
	retryAfter = int64(time.Millisecond)

	// maxWidth is the maximum distance of the two readings around a third if the
	// three are to count as one moment. Undisturbed they take 0.1 µs; with a
	// suspended goroutine or machine, milliseconds.
	maxWidth = int64(10 * time.Microsecond)

	// tries is the number of times that a disturbed measurement is repeated at
	// once.
	tries = 4

	// resolution is the coarsest resolution of a wall clock that is followed
	// closely: microseconds, on some systems.
	resolution = int64(time.Microsecond)
)

// A wallClock turns monotonic time into wall time by their difference. It is
// safe for concurrent use once start has returned. All times are nanoseconds:
// wall time since 1970 in UTC, monotonic time since any fixed moment.
//
// offset and due need not be read as a pair: every offset that was ever stored
// is a correct one, and due is only how long it stays so. It is stored after
// its offset, so a goroutine that sees the new due sees an offset at least as
// new.
type wallClock struct {
	offset atomic.Int64 // wall minus monotonic time
	due    atomic.Int64 // monotonic time at which to measure offset again
	retry  atomic.Int64 // monotonic time before which that is not tried again

	measuring  sync.Mutex // held by renew, with TryLock only
	wall, mono func() int64
}

// start makes the first measurement, with the given clocks. mono must not be
// negative.
func (c *wallClock) start(wall, mono func() int64) {
	c.wall, c.mono = wall, mono
	c.renew(0)
}

// reading returns the wall time at the monotonic time m, which must have been
// read just now. It is small enough to be inlined.
func (c *wallClock) reading(m int64) int64 {
	if m >= c.due.Load() {
		return c.renew(m)
	}
	return m + c.offset.Load()
}

// renew measures the offset again and returns the wall time. While another
// goroutine measures, or after a measurement that was disturbed, it returns a
// reading of the wall clock itself. So no goroutine waits, and no reading uses
// an overdue offset, however long the other goroutine is suspended.
func (c *wallClock) renew(m int64) int64 {
	if m < c.retry.Load() || !c.measuring.TryLock() {
		return c.wall()
	}
	defer c.measuring.Unlock()
	s := c.sample()
	if s.width() > maxWidth {
		c.retry.Store(s.after + retryAfter)
		return s.wall
	}
	c.offset.Store(s.correct(c.offset.Load()))
	c.due.Store(s.after + renewAfter)
	return s.wall
}

// A sample is a reading of the wall clock between two of the monotonic clock.
// The offset at that moment is certainly between lowest and lowest plus width,
// whatever happened between the readings.
type sample struct{ before, wall, after int64 }

func (s sample) width() int64  { return s.after - s.before }
func (s sample) lowest() int64 { return s.wall - s.after }

// correct returns offset if the sample does not contradict it, otherwise the
// middle of the offsets that the sample allows. So in the absence of steps the
// clock never jumps, not even by the inaccuracy of a sample.
func (s sample) correct(offset int64) int64 {
	low, high := s.lowest(), s.lowest()+s.width()
	if offset >= low-resolution && offset <= high+resolution {
		return offset
	}
	return low + s.width()/2
}

// sample takes up to tries samples, and returns the first undisturbed one or
// else the best.
func (c *wallClock) sample() sample {
	var best sample
	for i := range tries {
		var s sample
		s.before = c.mono()
		s.wall = c.wall()
		s.after = c.mono()
		if i == 0 || s.width() < best.width() {
			best = s
		}
		if best.width() <= maxWidth {
			break
		}
	}
	return best
}
