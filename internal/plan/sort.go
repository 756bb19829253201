// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"
)

// few is the number of names up to which they are sorted without a branch.
const few = 8

// A place represents a name during sorting: its front, and in the lowest bits
// its index.
type place uint64

const indexBits = few - 1

func makePlace(name string, i int) place { return place(frontOf(name)&^indexBits | uint64(i)) }

func (p place) index() int { return int(p & indexBits) }

// frontOf returns the first 8 bytes of s as a number, the first one highest, so
// that numbers are ordered as their strings. Missing bytes are 0.
func frontOf(s string) uint64 {
	b, n := viewBytes(s), len(s)
	switch {
	case n >= 8:
		return binary.BigEndian.Uint64(b)
	case n >= 4: // bytes that are read twice end up in the same position
		first, last := binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[n-4:])
		return uint64(first)<<32 | uint64(last)<<(64-8*n)
	case n > 0:
		return uint64(b[0])<<56 | uint64(b[n>>1])<<(56-n>>1*8) | uint64(b[n-1])<<(64-8*n)
	}
	return 0
}

// sortFew sorts n places, whose names nameOf returns. The order of a map is
// random, so half of the branches on comparisons would be mispredicted. Minima
// and maxima need no branch: this is the network of 19 comparisons that sorts 8
// numbers (K. E. Batcher, 1968). Names with the same front are sorted
// afterwards.
func sortFew(p *[few]place, n int, nameOf func(int) string) {
	for i := n; i < few; i++ {
		p[i] = math.MaxUint64
	}
	a, b, c, d, e, f, g, h := p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	a, c, b, d, e, g, f, h = min(a, c), max(a, c), min(b, d), max(b, d), min(e, g), max(e,
		g), min(f, h), max(f, h)
	a, e, b, f, c, g, d, h = min(a, e), max(a, e), min(b, f), max(b, f), min(c, g), max(c,
		g), min(d, h), max(d, h)
	a, b, c, d, e, f, g, h = min(a, b), max(a, b), min(c, d), max(c, d), min(e, f), max(e,
		f), min(g, h), max(g, h)
	c, e, d, f = min(c, e), max(c, e), min(d, f), max(d, f)
	b, e, d, g = min(b, e), max(b, e), min(d, g), max(d, g)
	b, c, d, e, f, g = min(b, c), max(b, c), min(d, e), max(d, e), min(f, g), max(f, g)
	p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7] = a, b, c, d, e, f, g, h
	for i := 1; i < n; i++ {
		for j := i; j > 0 && p[j]^p[j-1] <= indexBits &&
			nameOf(p[j].index()) < nameOf(p[j-1].index()); j-- {
			p[j], p[j-1] = p[j-1], p[j]
		}
	}
}

// An order sorts any number of names.
type order struct {
	names  []string
	places []place // the entries in the order of their names, once sorted
	mask   place   // the bits of a place with the index
}

// sort sorts places. Numbers are sorted several times faster than strings, and
// few names have the same front.
func (o *order) sort() {
	o.mask = 1<<16 - 1
	if len(o.names) > 1<<16 {
		o.mask = 1<<32 - 1
	}
	for i, name := range o.names {
		o.places = append(o.places, place(frontOf(name))&^o.mask|place(i))
	}
	slices.Sort(o.places)
	for i := 0; i < len(o.places); {
		end := i + 1
		for end < len(o.places) && o.places[end]^o.places[i] <= o.mask {
			end++
		}
		if end > i+1 {
			slices.SortFunc(o.places[i:end], func(a, b place) int {
				return strings.Compare(o.name(a), o.name(b))
			})
		}
		i = end
	}
}

func (o *order) index(p place) int   { return int(p & o.mask) }
func (o *order) name(p place) string { return o.names[o.index(p)] }

// clear removes all names and keeps the memory.
func (o *order) clear() {
	clear(o.names)
	o.names, o.places = o.names[:0], o.places[:0]
}
