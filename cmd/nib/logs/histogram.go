// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"time"

	"github.com/nib-log/nib"
)

// maxBuckets bounds the memory for a histogram.
const maxBuckets = 8192

// A Rate has the numbers of lines in a part of the time.
type Rate struct{ All, Warn, Error uint64 }

func (r *Rate) add(s Rate) {
	r.All, r.Warn, r.Error = r.All+s.All, r.Warn+s.Warn, r.Error+s.Error
}

// A histogram counts lines over time. Its buckets become wider as the range of
// times grows.
type histogram struct {
	width   int64 // nanoseconds
	buckets map[int64]Rate
	first   int64
	last    int64
}

func newHistogram() histogram {
	return histogram{width: int64(time.Millisecond), buckets: map[int64]Rate{}}
}

func (h *histogram) add(at int64, level nib.Level) {
	r := Rate{All: 1}
	switch {
	case level >= nib.LevelError:
		r.Error = 1
	case level >= nib.LevelWarn:
		r.Warn = 1
	}
	h.addRate(at, r)
}

func (h *histogram) addRate(at int64, r Rate) {
	if len(h.buckets) == 0 || at < h.first {
		h.first = at
	}
	if len(h.buckets) == 0 || at > h.last {
		h.last = at
	}
	b := h.buckets[floorDiv(at, h.width)]
	b.add(r)
	h.buckets[floorDiv(at, h.width)] = b
	for len(h.buckets) > maxBuckets {
		h.widen()
	}
}

// widen makes one bucket of two.
func (h *histogram) widen() {
	h.width *= 2
	wide := map[int64]Rate{}
	for k, r := range h.buckets {
		b := wide[floorDiv(k, 2)]
		b.add(r)
		wide[floorDiv(k, 2)] = b
	}
	h.buckets = wide
}

func (h *histogram) merge(o *histogram) {
	if len(o.buckets) == 0 {
		return
	}
	for h.width < o.width {
		h.widen()
	}
	first, last := o.first, o.last
	if len(h.buckets) > 0 {
		first, last = min(first, h.first), max(last, h.last)
	}
	for k, r := range o.buckets {
		h.addRate(k*o.width, r)
	}
	h.first, h.last = first, last
}

// columns divides the whole time into n parts and returns their rates.
func (h *histogram) columns(n int) []Rate {
	list := make([]Rate, n)
	span := h.last - h.first + 1
	for k, r := range h.buckets {
		at := min(max(k*h.width+h.width/2, h.first), h.last)
		i := int(float64(at-h.first) / float64(span) * float64(n))
		list[min(i, n-1)].add(r)
	}
	return list
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

var bars = []rune(" ▁▂▃▄▅▆▇█")

// sparkline draws one of the numbers of rates.
func sparkline(rates []Rate, number func(Rate) uint64) string {
	var most uint64
	for _, r := range rates {
		most = max(most, number(r))
	}
	line := make([]rune, len(rates))
	for i, r := range rates {
		n := number(r)
		line[i] = bars[0]
		if n > 0 {
			line[i] = bars[1+(n*uint64(len(bars)-2)+most/2)/most]
		}
	}
	return string(line)
}
