// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"hash/crc32"
	"io"
	"math"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
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
	// How many numbers before the first record were in segments dropped by
	// ActionDropOld.
	droppedAt = 88
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

// unknown stands for a count that could not be stored: it is stored again by
// the next call of SetCounts. No count in a header is as high.
const unknown = math.MaxUint64

// SetCounts stores the counts of t in a section of the header. stored are the
// counts that the section has, before the call and after it. It must not be
// called concurrently.
func (g *Segment) SetCounts(s section, t, stored *Tally) (err error) {
	for c := range t {
		for l, n := range t[c] {
			if n == stored[c][l] {
				continue
			}
			at := dropAt(s, Cause(c), l)
			stored[c][l] = n
			if e := g.setWord(at, checked(n, at, g.crc)); e != nil {
				stored[c][l], err = unknown, e
			}
		}
	}
	return err
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

// EmptySize is the size of the file of a segment whose header alone is
// left, with its counts.
const EmptySize = StreamsAt

// HeaderOnly returns such a header. The segments before it that were dropped
// have so many numbers.
func (id Identity) HeaderOnly(s Start, numbers uint64) []byte {
	b, seed := make([]byte, EmptySize), id.Seed()
	id.Size = MinSize
	PutHeader(b, id)
	putStart(b, seed, s)
	le.PutUint64(b[droppedAt:], dropped(numbers, seed))
	le.PutUint64(b[unsureAt:], checked(s.Unsure, unsureAt, seed))
	return b
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

// A Cause is a delivery.Reason as an index.
type Cause int

const (
	CauseFull Cause = iota
	CauseFailed
	CauseOldest
	CauseTooLarge
	CauseClosed
	CauseRejected
	CauseDamaged
	Causes
)

var Reasons = [Causes]delivery.Reason{delivery.ReasonFull, delivery.ReasonFailed,
	delivery.ReasonOldest, delivery.ReasonTooLarge, delivery.ReasonClosed, delivery.ReasonRejected,
	delivery.ReasonDamaged}

// A Tally counts lines by cause and level.
type Tally [Causes]loss.Levels

// LevelUnknown is the level under which lines of unknown level are counted.
const LevelUnknown = nib.LevelInfo

// Add counts n lines.
func (t *Tally) Add(c Cause, l nib.Level, n uint64) {
	t[c][level.Row(int(l))] += n
}

// Plus returns the sum.
func (t *Tally) Plus(u *Tally) Tally {
	sum := *t
	for c := range sum {
		for l := range sum[c] {
			sum[c][l] += u[c][l]
		}
	}
	return sum
}

// Minus returns t minus u. A count may be higher in u than in t, if a line was
// reported as damaged and then got another number.
func (t *Tally) Minus(u *Tally) Tally {
	left := *t
	for c := range left {
		for l := range left[c] {
			left[c][l] -= min(left[c][l], u[c][l])
		}
	}
	return left
}

func (t *Tally) List() (drops []delivery.Drop) {
	for c := range t {
		for l, n := range t[c] {
			if n > 0 {
				drops = append(drops,
					delivery.Drop{Reason: Reasons[c], Level: nib.Level(level.At(l)), Lines: n})
			}
		}
	}
	return drops
}
