// SPDX-License-Identifier: Apache-2.0

package runs

import "math"

// tinyBlock is the size of the block that the runtime packs objects without
// pointers into when they are smaller. Its profile sees the block, not the
// objects, so it counts boxed integers by half.
const tinyBlock = 16

// correct brings the counts of the smallest objects up to the exact total,
// which the runtime counts object by object.
func (r *Result) correct() {
	defer r.settle()
	excess := r.PerOp
	var tiny, whole []*Site
	for i := range r.Sites {
		s := &r.Sites[i]
		excess -= s.PerOp
		if s.PerOp <= 0 || math.Abs(s.Bytes/s.PerOp-tinyBlock) >= 0.1 {
			continue
		}
		// Blocks that are shared make fractions, other objects of this size
		// do not; with few iterations a fraction can come out whole.
		if math.Abs(s.PerOp-math.Round(s.PerOp)) > 0.02 {
			tiny = append(tiny, s)
		} else {
			whole = append(whole, s)
		}
	}
	if len(tiny) == 0 {
		tiny = whole
	}
	sum := 0.0
	for _, s := range tiny {
		sum += s.PerOp
	}
	const noise = 0.05
	if excess < noise || len(tiny) == 0 {
		return
	}
	for _, s := range tiny {
		s.PerOp += excess * s.PerOp / sum
	}
}

// settle makes whole numbers of counts that are a single object away from one:
// that object was made by something else.
func (r *Result) settle() {
	if r.N == 0 {
		return
	}
	near := 1.5 / float64(r.N)
	for i := range r.Sites {
		s := &r.Sites[i]
		if whole := math.Round(s.PerOp); whole >= 1 && math.Abs(s.PerOp-whole) <= min(near, 0.1) {
			s.PerOp, s.Bytes = whole, math.Round(s.Bytes)
		}
	}
}
