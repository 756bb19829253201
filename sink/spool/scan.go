// SPDX-License-Identifier: Apache-2.0

package spool

import "bytes"

// A scanner reads the records of a segment that has no writers any more, and
// finds out what is missing. It changes nothing.
type scanner struct {
	b     []byte // the segment, as much of it as there is
	gen   uint32
	seed  uint32
	at    int    // where the next record should be
	want  uint64 // its number
	limit uint64 // number that no record of the segment reaches
}

// A gap is what lies before a record.
type gap struct {
	numbers uint64 // how many numbers are missing
	damaged bool   // something was committed there that is not what was written
}

var zeros [512]byte

// newScanner begins at the first record.
func newScanner(b []byte, id identity, first uint64) *scanner {
	room := uint64(max(len(b)-headerSize, 0) / recordHead)
	return &scanner{b: b, gen: id.gen, seed: id.seed(), at: headerSize, want: first, limit: first + room}
}

// next returns the next record and what is missing before it. At the end ok is
// false, and the gap reports whether something damaged lies there; how many
// numbers are missing then, only the next segment can tell.
//
// A claim that has its length is skipped, and so are zeros. Behind anything
// else the next record is looked for at each multiple of 8, and no length is
// trusted: a record proves itself by generation, number and a checksum that is
// different for each segment.
func (s *scanner) next() (rec []byte, g gap, ok bool) {
	lost := false // what is at s.at may be the inside of a record
	for s.at+recordHead <= len(s.b) {
		if rec, seq, ok := recordAt(s.b, s.at, s.gen, s.seed); ok && seq >= s.want && seq < s.limit {
			g.numbers = seq - s.want
			s.at += align(len(rec))
			s.want = seq + 1
			return rec, g, true
		}
		w := stored(word(s.b, s.at).Load())
		claim := -int(int32(uint32(w)))
		switch {
		case w == 0: // free, or claimed: a writer that has not marked its claim has written nothing
			s.at += 8
			for s.at+len(zeros) <= len(s.b) && bytes.Equal(s.b[s.at:s.at+len(zeros)], zeros[:]) {
				s.at += len(zeros) // a start waits until the free rest of a segment is looked through
			}
		case !lost && w>>32 == 0 && claim >= recordHead && align(claim) <= len(s.b)-s.at:
			s.at += align(claim)
		default:
			lost, g.damaged = true, true
			s.at += 8
		}
	}
	return nil, g, false
}
