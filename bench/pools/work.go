// SPDX-License-Identifier: Apache-2.0

package pools

const (
	bufferSize = 1024 // the size in zeropool's own benchmark

	// steps of the work that is done on a value where its place in the caches
	// should matter: about 150 ns if the value is at hand.
	steps = bufferSize / stride
	// stride is short enough that each step in a buffer is on the same cache line
	// as the previous step, or on the next one.
	stride = 8
)

// A record is a value that is stored directly.
type record struct{ words [8]uint64 }

// A page is a value to which a pool keeps a pointer.
type page struct{ content [bufferSize]byte }

// work goes through b in the given number of steps. Each step depends on the
// previous one, as in a checksum.
func work(b []byte, steps int) {
	sum := byte(1)
	for i := range steps {
		sum = sum*31 + b[i*stride]
		b[i*stride] = sum
	}
}

// work goes through a record in the given number of steps.
func (r *record) work(steps int) {
	sum := uint64(1)
	for i := range steps {
		w := &r.words[i%len(r.words)]
		sum = sum*31 + *w
		*w = sum
	}
}

// work goes through a page in the given number of steps.
func (p *page) work(steps int) { work(p.content[:], steps) }
