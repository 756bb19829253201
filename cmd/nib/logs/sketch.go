// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"math"
	"slices"
)

// A Sketch computes percentiles of numbers to one percent, in memory that does
// not grow with the count: its buckets are each 2 % wider than the one before.
type Sketch struct {
	buckets map[int32]uint64 // in the order of the numbers, see bucketOf
	count   uint64
	max     float64
	sum     float64
}

// Max returns the greatest number.
func (s *Sketch) Max() float64 { return s.max }

var bucketWidth = math.Log(1.02)

// The exponents of the absolute values of numbers that have their own buckets.
const (
	leastBucket = -2000 // 6e-18
	mostBucket  = 2500  // 3e21
)

// Add counts a number.
func (s *Sketch) Add(v float64) {
	if math.IsNaN(v) {
		return
	}
	if s.count++; s.count == 1 || v > s.max {
		s.max = v
	}
	s.sum += v
	if s.buckets == nil {
		s.buckets = map[int32]uint64{}
	}
	s.buckets[bucketOf(v)]++
}

// bucketOf returns the bucket of a number: 0 for 0, and the negative one of the
// absolute value for a negative number.
func bucketOf(v float64) int32 {
	if v == 0 {
		return 0
	}
	b := int32(min(max(math.Ceil(math.Log(math.Abs(v))/bucketWidth), leastBucket),
		mostBucket)) - leastBucket + 1
	if v < 0 {
		return -b
	}
	return b
}

// middleOf returns the middle of a bucket.
func middleOf(b int32) float64 {
	if b == 0 {
		return 0
	}
	v := math.Exp((math.Abs(float64(b)) - 1 + leastBucket - 0.5) * bucketWidth)
	return math.Copysign(v, float64(b))
}

func (s *Sketch) merge(o *Sketch) {
	if o.count == 0 {
		return
	}
	if s.count == 0 || o.max > s.max {
		s.max = o.max
	}
	s.count += o.count
	s.sum += o.sum
	if s.buckets == nil {
		s.buckets = map[int32]uint64{}
	}
	for b, n := range o.buckets {
		s.buckets[b] += n
	}
}

// Quantile returns the number that a fraction q of all numbers does not exceed.
func (s *Sketch) Quantile(q float64) float64 {
	rank := uint64(math.Ceil(q * float64(s.count)))
	var list []int32
	for b := range s.buckets {
		list = append(list, b)
	}
	slices.Sort(list)
	for _, b := range list {
		n := s.buckets[b]
		if rank <= n {
			return min(middleOf(b), s.max)
		}
		rank -= n
	}
	return s.max
}
