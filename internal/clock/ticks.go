// SPDX-License-Identifier: Apache-2.0

package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// calibrateFor is the shortest time over which the rate of a counter is
	// measured. Two samples of 0.1 µs that far apart determine it to 40 ppm, which
	// is 0.4 µs until the next sample.
	calibrateFor = int64(5 * time.Millisecond)

	// rateOver is the time over which the rate is measured later on: long
	// against the inaccuracy of a sample, short against the times in which the
	// system changes the rate of its clocks.
	rateOver = int64(time.Second)

	// tolerance is the maximum difference of counter and monotonic clock from one
	// sample to the next, apart from a thousandth of the time between.
	tolerance = int64(20 * time.Microsecond)

	// maxFaults is the number of disagreements after which the counter is no
	// longer used.
	maxFaults = 8

	// retryTicks is the number of ticks between two attempts at a sample: 0.2
	// to 1 ms at the rates of today's processors. It is counted in ticks
	// because the rate may not be known yet.
	retryTicks = 1 << 20
)

// A tickClock turns a counter of unknown rate into wall time. It is safe for
// concurrent use once start has returned.
//
// The counter may differ between processors, it may run on or start anew while
// the machine sleeps, and its rate may change when a virtual machine moves. So
// every sample compares it with the monotonic clock. As long as the two agree,
// readings count from that sample; when they do not, readings come from the
// fallback until the rate has been measured again, or permanently after
// maxFaults disagreements. A change of the rate of all clocks by more than half
// a percent, as a daemon may use to correct seconds, counts as a step: it is
// followed within 20 ms.
type tickClock struct {
	// The fields that reading needs, under a sequence number that is odd while
	// they are written. A reader that sees an odd one does not wait but takes
	// the slow path.
	seq   atomic.Uint64
	from  atomic.Uint64 // counter at the last sample
	wall  atomic.Int64  // wall time at the last sample
	rate  atomic.Uint64 // nanoseconds per tick, times 2^32
	limit atomic.Uint64 // ticks for which these hold; 0 without calibration

	tried atomic.Uint64 // counter at the last attempt at a sample

	// Protected by sampling, which is taken with TryLock only.
	sampling  sync.Mutex
	last      tickSample // the sample that from and wall are computed from
	far, near tickSample // the rate is measured from far, and will be from near
	perTick   uint64     // like rate; 0 before calibration
	faults    int

	ticks    func() uint64
	both     func() (wall, mono int64)
	fallback func() int64
}

// start takes the first sample. ticks reads the counter, both reads the wall
// clock and the monotonic clock at one moment, fallback returns the wall time
// when the counter cannot be used.
func (c *tickClock) start(ticks func() uint64, both func() (wall, mono int64), fallback func() int64) {
	c.ticks, c.both, c.fallback = ticks, both, fallback
	s := c.sample()
	c.last, c.far, c.near = s, s, s
	c.tried.Store(s.at)
}

// reading returns the wall time at the counter's value t, which must have been
// read just now.
func (c *tickClock) reading(t uint64) int64 {
	seq := c.seq.Load()
	passed := t - c.from.Load() // huge if t precedes from
	limit := c.limit.Load()
	wall := c.wall.Load() + int64(passed*c.rate.Load()>>32)
	if passed >= limit || seq&1 != 0 || c.seq.Load() != seq {
		return c.renew(t)
	}
	return wall
}

// renew takes a sample if it is time for one, and returns the wall time.
func (c *tickClock) renew(t uint64) int64 {
	if t-c.tried.Load() < retryTicks || !c.sampling.TryLock() {
		return c.fallback()
	}
	defer c.sampling.Unlock()
	if c.faults >= maxFaults {
		c.tried.Store(t)
		return c.fallback()
	}
	s := c.sample()
	c.tried.Store(s.at)
	// Inside a testing/synctest bubble the monotonic clock is behind all
	// others. That does not make the counter wrong, and others must not see
	// such a time.
	if s.mono >= c.last.mono {
		c.learn(s)
	}
	return s.wall
}

// learn makes s the sample to count from, provided that it is an undisturbed
// one and that counter and monotonic clock agree. sampling is held.
func (c *tickClock) learn(s tickSample) {
	if c.perTick != 0 && !s.agrees(c.last, c.perTick) {
		if s.mono-c.last.mono < rateOver {
			c.faults++ // otherwise the machine may have slept
		}
		c.restart(s)
		return
	}
	passed := s.mono - c.far.mono
	if passed < calibrateFor {
		return
	}
	rate, ok := s.rate(c.far)
	if !ok {
		c.faults++
		c.restart(s)
		return
	}
	if c.far.wide(rate) {
		c.restart(s) // only the first sample can be wide: it was not checked
		return
	}
	if s.wide(rate) {
		return
	}
	c.perTick = rate
	c.publish(s.at, s.wall, rate, uint64(renewAfter)<<32/rate)
	c.last = s
	if s.mono-c.near.mono >= rateOver {
		c.far, c.near = c.near, s
	}
}

// restart discards the rate, so that readers use the fallback.
func (c *tickClock) restart(s tickSample) {
	c.perTick = 0
	c.last, c.far, c.near = s, s, s
	c.publish(0, 0, 0, 0)
}

// publish changes the sample from which readers count.
func (c *tickClock) publish(from uint64, wall int64, rate, limit uint64) {
	c.seq.Add(1)
	c.from.Store(from)
	c.wall.Store(wall)
	c.rate.Store(rate)
	c.limit.Store(limit)
	c.seq.Add(1)
}

// sample takes several samples and returns the narrowest.
func (c *tickClock) sample() tickSample {
	var best tickSample
	for i := range tries {
		before := c.ticks()
		wall, mono := c.both()
		width := c.ticks() - before
		if i == 0 || width < best.width {
			best = tickSample{at: before + width/2, width: width, wall: wall, mono: mono}
		}
	}
	return best
}

// A tickSample holds the readings of three clocks at one moment, which is
// within width ticks around at.
type tickSample struct {
	at, width  uint64
	wall, mono int64
}

// wide reports whether the sample was disturbed. A counter that jumped back
// between its two readings shows as a huge width.
func (s tickSample) wide(rate uint64) bool {
	return s.width >= uint64(maxWidth)<<32/rate
}

// rate returns the nanoseconds per tick since the sample before, times 2^32. ok
// is false if that is not the rate of any processor: 62 MHz to 64 GHz.
func (s tickSample) rate(before tickSample) (rate uint64, ok bool) {
	ticks, ns := int64(s.at-before.at), s.mono-before.mono
	if ns <= 0 || ticks < ns/16 || ticks/64 > ns {
		return 0, false
	}
	return uint64(float64(ns) / float64(ticks) * (1 << 32)), true
}

// agrees reports whether counter and monotonic clock agree on the time since
// the sample before.
func (s tickSample) agrees(before tickSample, rate uint64) bool {
	toNs := float64(rate) / (1 << 32)
	counted := float64(int64(s.at-before.at)) * toNs
	passed := float64(s.mono - before.mono)
	slack := float64(tolerance) + float64(s.width)*toNs + passed/1000
	return counted >= passed-slack && counted <= passed+slack
}
