// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"hash/crc32"
	"io"

	"github.com/nib-log/nib/internal/level"
)

// The counts of dropped lines must survive the death of the process. So the
// counts that no notice has reported are stored in the header of the active
// segment, in two sections:
//
//	reported    the counts in the first record of the segment, if it is committed
//	unreported  the lines dropped since then
//
// Open reads them from the last segment: unreported, and reported if there is
// no such record. Each count is one word with its own checksum, so no store is
// torn.
type section int

const (
	SectionReported section = iota
	SectionUnreported
	sections
)

const (
	droppedAt = 88 // how many numbers before the first record were in segments dropped by ActionDropOld
	dropsAt   = 96
	dropsEnd  = dropsAt + int(sections)*int(Causes)*level.Count*8
	unsureAt  = dropsEnd // Start.Unsure
)

func dropAt(s section, c Cause, l int) int {
	return dropsAt + ((int(s)*int(Causes)+int(c))*level.Count+l)*8
}

// checked packs a count of up to 48 bits with a checksum of it and its offset.
// A count of 0 is 0.
func checked(n uint64, at int, seed uint32) uint64 {
	if n == 0 {
		return 0
	}
	var b [10]byte
	le.PutUint64(b[:], n)
	le.PutUint16(b[8:], uint16(at))
	return n<<16 | uint64(uint16(crc32.Update(seed, castagnoli, b[:])))
}

// count unpacks a count packed by checked. It returns 0 if the checksum is
// wrong.
func count(b []byte, at int, seed uint32) uint64 {
	w := stored(word(b, at).Load())
	if w != checked(w>>16, at, seed) {
		return 0
	}
	return w >> 16
}

// countsIn reads a section of a header.
func countsIn(b []byte, seed uint32, s section) (t Tally) {
	if len(b) < dropsEnd {
		return t
	}
	for c := range t {
		for l := range t[c] {
			t[c][l] = count(b, dropAt(s, Cause(c), l), seed)
		}
	}
	return t
}

// Counts reads a section of a header.
func (id Identity) Counts(b []byte, s section) Tally { return countsIn(b, id.Seed(), s) }

// SetCount stores a count in the header. It must not be called concurrently.
func (g *Segment) SetCount(s section, c Cause, level int, n uint64) error {
	at := dropAt(s, c, level)
	return g.setWord(at, checked(n, at, g.crc))
}

// SetUnsure stores Start.Unsure, unless it is 0, as in a new segment.
func (g *Segment) SetUnsure(n uint64) error {
	if n == 0 {
		return nil
	}
	return g.setWord(unsureAt, checked(n, unsureAt, g.crc))
}

// SetDropped stores how many numbers before the segment were dropped.
func (g *Segment) SetDropped(numbers uint64) error {
	return g.setWord(droppedAt, dropped(numbers, g.crc))
}

// WriteDropped is SetDropped for a segment that is not of this process.
func (id Identity) WriteDropped(f io.WriterAt, numbers uint64) error {
	_, err := f.WriteAt(le.AppendUint64(nil, dropped(numbers, id.Seed())), droppedAt)
	return err
}

// HasCounts reports whether the header of a segment counts dropped lines.
func (id Identity) HasCounts(b []byte) bool {
	return id.Counts(b, SectionReported) != Tally{} || id.Counts(b, SectionUnreported) != Tally{}
}

// Unreported returns the unreported drops of the process that wrote b, the last
// segment of that process.
func (id Identity) Unreported(b []byte) Tally {
	t := id.Counts(b, SectionUnreported)
	if !id.HasNotice(b) {
		carried := id.Counts(b, SectionReported)
		t = t.Plus(&carried)
	}
	return t
}

// HasNotice reports whether the first record of a segment exists. Only that
// record can report the counts in the header.
func (id Identity) HasNotice(b []byte) bool {
	_, _, ok := recordAt(b, HeaderSize, id.Seed())
	return ok
}

// dropped packs how many numbers before a segment were dropped. It is a single
// word, so that it can be increased in place.
func dropped(numbers uint64, seed uint32) uint64 {
	n := uint32(min(numbers, 1<<32-1))
	return uint64(n) | uint64(crc32.Update(seed, castagnoli, le.AppendUint32(nil, n)))<<32
}

// withDropped adds to s the numbers that were dropped before the segment with
// header b.
func (s Start) withDropped(b []byte, seed uint32) Start {
	if len(b) < dropsAt {
		return s
	}
	w := le.Uint64(b[droppedAt:])
	if n := uint64(uint32(w)); n > s.Skipped && n < s.First && w == dropped(n, seed) {
		s.Skipped, s.Dropped, s.Unsure = n, true, 0
	}
	return s
}
