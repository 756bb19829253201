// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
)

// A class is one of the groups of levels that the page distinguishes.
type class uint8

const (
	classNone class = iota // no level
	classTrace
	classDebug
	classInfo
	classWarn
	classError
	classFatal
	classes
)

func classOf(l nib.Level, ok bool) class {
	if !ok {
		return classNone
	}
	return min(classTrace+class(level.Row(int(l))), classFatal)
}

// counts has the number of lines per class.
type counts [classes]int64

// A histogram counts lines over time. When it has too many buckets, they become
// wider, so its memory is bounded.
type histogram struct {
	step    int // index of the width in steps
	buckets map[int64]*counts
}

// steps are the widths of buckets, in nanoseconds. Each divides the next.
var steps = []int64{1e6, 1e7, 1e8, 1e9, 1e10, 60e9, 600e9, 3600e9, 6 * 3600e9, 24 * 3600e9,
	240 * 3600e9, 2400 * 3600e9}

const maxBuckets = 20_000

func (h *histogram) add(at int64, c class) {
	if h.buckets == nil {
		h.buckets = make(map[int64]*counts)
	}
	h.bucket(floor(at, steps[h.step]))[c]++
	for len(h.buckets) > maxBuckets && h.step < len(steps)-1 {
		h.step++
		old := h.buckets
		h.buckets = make(map[int64]*counts)
		for at, n := range old {
			h.bucket(floor(at, steps[h.step])).add(n)
		}
	}
}

func (h *histogram) bucket(at int64) *counts {
	b := h.buckets[at]
	if b == nil {
		b = new(counts)
		h.buckets[at] = b
	}
	return b
}

func (c *counts) add(d *counts) {
	for i, n := range d {
		c[i] += n
	}
}

func floor(at, step int64) int64 {
	rest := at % step
	if rest < 0 {
		rest += step
	}
	return at - rest
}

// bars are the buckets that the page draws.
type bars struct {
	Start  int64    `json:"start"` // milliseconds since 1970
	Step   int64    `json:"step"`  // milliseconds
	Counts []counts `json:"counts"`
}

// barSteps are widths of bars that people can read.
var barSteps = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond,
	20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second,
	30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute,
	30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
	24 * time.Hour, 48 * time.Hour, 168 * time.Hour, 720 * time.Hour, 2160 * time.Hour,
	8760 * time.Hour, 87600 * time.Hour, 876000 * time.Hour,
}

// bars returns at most n bars.
func (h *histogram) bars(n int) *bars {
	if len(h.buckets) == 0 || n < 1 {
		return nil
	}
	first, last := int64(0), int64(0)
	started := false
	for at := range h.buckets {
		if !started {
			first, last, started = at, at, true
		}
		first, last = min(first, at), max(last, at)
	}
	i, _ := slices.BinarySearchFunc(barSteps, n, func(step time.Duration, n int) int {
		// These are differences of quotients: last-first may overflow.
		if last/int64(step)-first/int64(step)+2 > int64(n) {
			return -1
		}
		return 1
	})
	step := int64(barSteps[min(i, len(barSteps)-1)])
	start := floor(first, step)
	b := &bars{Start: start / 1e6, Step: step / 1e6,
		Counts: make([]counts, min(int64(n), last/step-start/step+1))}
	for at, c := range h.buckets {
		i := at/step - start/step
		b.Counts[max(0, min(i, int64(len(b.Counts)-1)))].add(c)
	}
	return b
}
