// SPDX-License-Identifier: Apache-2.0

package pools

const (
	bufferSize = 1024 // as in zeropool's own benchmark

	// steps of the work that is done on a value where its place in the caches
	// should matter: about 150 ns if the value is at hand.
	steps = bufferSize / stride
	// stride is such that each step of a buffer is on the same cache line as
	// the last or on the next.
	stride = 8
)

// A record is a value that is stored as it is.
type record struct{ words [8]uint64 }

// A page is a value that a pool keeps a pointer to.
type page struct{ content [bufferSize]byte }

// work goes through b, in so many steps. Each needs the one before, as in a
// checksum.
func work(b []byte, steps int) {
	sum := byte(1)
	for i := range steps {
		sum = sum*31 + b[i*stride]
		b[i*stride] = sum
	}
}

// work is the same for a record.
func (r *record) work(steps int) {
	sum := uint64(1)
	for i := range steps {
		w := &r.words[i%len(r.words)]
		sum = sum*31 + *w
		*w = sum
	}
}

// work is the same for a page.
func (p *page) work(steps int) { work(p.content[:], steps) }
