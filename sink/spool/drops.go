// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"hash/crc32"
	"os"
	"runtime/debug"
)

// The counts of dropped lines must survive the death of the process. So the
// counts that no notice has reported are stored in the header of the active
// segment, in two sections:
//
//	told   what the first record of the segment tells of, if that is committed
//	since  what was dropped since then
//
// Open reads them from the last segment: since, and told if there is no such
// record. Each count is one word with its own checksum, so no store is torn.
type section int

const (
	told section = iota
	since
	sections
)

const (
	droppedAt = 88 // how many numbers before the first record went with segments that ActionDropOld has taken away
	dropsAt   = 96
	dropsEnd  = dropsAt + int(sections)*int(causes)*levels*8
	unsureAt  = dropsEnd // start.unsure
)

func dropAt(s section, c cause, l int) int {
	return dropsAt + ((int(s)*int(causes)+int(c))*levels+l)*8
}

// checked packs a count of up to 48 bits with a checksum of it and its place.
// None is 0.
func checked(n uint64, at int, seed uint32) uint64 {
	if n == 0 {
		return 0
	}
	var b [10]byte
	le.PutUint64(b[:], n)
	le.PutUint16(b[8:], uint16(at))
	return n<<16 | uint64(uint16(crc32.Update(seed, castagnoli, b[:])))
}

// count reads what checked has packed, 0 if it does not make sense.
func count(b []byte, at int, seed uint32) uint64 {
	w := stored(word(b, at).Load())
	if w != checked(w>>16, at, seed) {
		return 0
	}
	return w >> 16
}

// countsIn reads a section of a header.
func countsIn(b []byte, seed uint32, s section) (t tally) {
	if len(b) < dropsEnd {
		return t
	}
	for c := range t {
		for l := range t[c] {
			t[c][l] = count(b, dropAt(s, cause(c), l), seed)
		}
	}
	return t
}

// hasCounts reports whether the header of a segment counts dropped lines.
func hasCounts(b []byte, g *oldSegment) bool {
	return countsIn(b, g.seed(), told) != tally{} || countsIn(b, g.seed(), since) != tally{}
}

// inherit adds the drops of the process that wrote b, its last segment, that no
// notice has reported.
func (s *Sink) inherit(b []byte, g *oldSegment) {
	if !hasNotice(b, g) {
		s.carried = countsIn(b, g.seed(), told)
	}
	s.inherited = untold(b, g)
}

// untold returns the unreported drops of the process that wrote b, the last
// segment of that process.
func untold(b []byte, g *oldSegment) tally {
	t := countsIn(b, g.seed(), since)
	if !hasNotice(b, g) {
		carried := countsIn(b, g.seed(), told)
		t = t.plus(&carried)
	}
	return t
}

// hasNotice reports whether the first record of a segment exists: the only one
// that can report the counts in the header.
func hasNotice(b []byte, g *oldSegment) bool {
	_, _, ok := recordAt(b, headerSize, g.gen, g.seed())
	return ok
}

// mark stores a word in the header. If that fails, a start counts what was
// counted before. mu is held.
func (s *Sink) mark(g *segment, at int, w uint64) {
	if g.free == nil {
		return // a spool in memory is never recovered
	}
	defer g.endGuard(debug.SetPanicOnFault(true))
	word(g.b, at).Store(stored(w))
	if err := g.header(at, at+8); err != nil {
		s.faultLocked("count dropped lines in a segment", err)
	}
}

// publish stores the counts that no notice has reported. It is called when any
// of them has changed. mu is held.
func (s *Sink) publish() {
	if s.dir == nil || s.unmapped {
		return
	}
	losses, g := s.losses(), s.active.Load()
	for c := range losses {
		for l := range losses[c] {
			n := losses[c][l] - min(losses[c][l], s.told[c][l]+s.carried[c][l])
			if n != s.published[c][l] {
				s.published[c][l] = n
				at := dropAt(since, cause(c), l)
				s.mark(g, at, checked(n, at, g.crc))
			}
		}
	}
}

// commission takes a segment into use that no other goroutine can see yet, and
// writes a notice into it if lines were dropped since the last notice. It
// reports false if the segment is broken. mu is held.
func (s *Sink) commission(g *segment, first start) bool {
	losses := s.losses()
	lost := losses.minus(&s.told)
	s.carried = tally{} // the header of g has them
	carry := func(t *tally) {
		for c := range t {
			for l := range t[c] {
				if at := dropAt(told, cause(c), l); lost[c][l] != 0 {
					s.mark(g, at, checked(t[c][l], at, g.crc))
				}
			}
		}
	}
	carry(&lost)
	if first.unsure != 0 {
		s.mark(g, unsureAt, checked(first.unsure, unsureAt, g.crc))
	}
	if !g.begin(first) {
		return false
	}
	if lost != (tally{}) {
		if s.notice(g, lost) {
			s.told, g.told = losses, lost
		} else {
			carry(&tally{})
		}
	}
	return true
}

// activate makes a commissioned segment the active one. mu is held, or no other
// goroutine is running yet.
func (s *Sink) activate(g *segment) {
	s.active.Store(g)
	s.published = tally{}
	s.publish()
}

// noteDropped stores in the header of a link that numbers before it went with
// segments that were dropped: else the next start would take them for damaged.
// mu is held.
func (s *Sink) noteDropped(l *link, numbers uint64) {
	if s.dir == nil {
		return
	}
	l.skipped, l.dropped = numbers, true
	if l.none {
		return // the next segment has it
	}
	w := dropped(numbers, l.seed())
	if l.live != nil {
		s.mark(l.live, droppedAt, w)
		return
	}
	f, err := s.dir.fs.Open(s.dir.name(segmentName(l.number)), os.O_RDWR, 0)
	if err == nil {
		var b [8]byte
		le.PutUint64(b[:], w)
		if _, err = f.WriteAt(b[:], droppedAt); err != nil {
			_ = f.Close() // it did not work either way
		} else {
			err = f.Close()
		}
	}
	if err != nil {
		s.stats.Errors++
	}
}

// dropped packs how many numbers before a segment were dropped. It is one word,
// so that it can be raised.
func dropped(numbers uint64, seed uint32) uint64 {
	n := uint32(min(numbers, 1<<32-1))
	return uint64(n) | uint64(crc32.Update(seed, castagnoli, le.AppendUint32(nil, n)))<<32
}

// withDropped takes the numbers that were dropped before the segment with
// header b into s.
func (s start) withDropped(b []byte, seed uint32) start {
	if len(b) < dropsAt {
		return s
	}
	w := le.Uint64(b[droppedAt:])
	if n := uint64(uint32(w)); n > s.skipped && n < s.first && w == dropped(n, seed) {
		s.skipped, s.dropped, s.unsure = n, true, 0
	}
	return s
}
