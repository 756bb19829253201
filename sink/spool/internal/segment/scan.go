// SPDX-License-Identifier: Apache-2.0

package segment

import "bytes"

// A Scanner reads the records of a segment without writers, and determines
// which are missing. It changes nothing.
type Scanner struct {
	b      []byte // the existing part of the segment
	seed   uint32
	At     int    // offset at which the next record should be
	Want   uint64 // number of the next record
	limit  uint64 // the numbers of all records of the segment are below it
	isCopy bool   // b is a copy, which has no claims, but may have bytes of other segments
}

// A Gap describes the records that are missing before a record.
type Gap struct {
	numbers uint64 // number of missing records
	Damaged bool   // something there was committed but differs from the written bytes
}

var zeros [512]byte

// NewScanner begins at the first record.
func NewScanner(b []byte, id Identity, first uint64) *Scanner {
	room := uint64(max(len(b)-HeaderSize, 0) / RecordHead)
	return &Scanner{b: b, seed: id.Seed(), At: HeaderSize, Want: first, limit: first + room}
}

// Next returns the next record and the gap before it. At the end ok is false,
// and the gap reports whether something there is damaged; how many numbers are
// missing then follows only from the next segment.
//
// A marked claim is skipped, and so are zeros. After anything else Next
// searches for the next record at each multiple of 8, and trusts no length: a
// record is recognized by its number and a checksum that is different for each
// segment.
func (s *Scanner) Next() (rec []byte, g Gap, ok bool) {
	lost := s.isCopy // s.At may be inside a record
	for s.At+RecordHead <= len(s.b) {
		// The number is compared first: the checksum of what is no record may
		// be of megabytes.
		if seq := SeqOf(s.b[s.At:]); seq >= s.Want && seq < s.limit {
			if rec, _, ok := recordAt(s.b, s.At, s.seed); ok {
				g.numbers = seq - s.Want
				s.At += Align(len(rec))
				s.Want = seq + 1
				return rec, g, true
			}
		}
		w := stored(word(s.b, s.At).Load())
		claim := -int(int32(uint32(w)))
		switch {
		case w == 0: // free, or claimed: a writer that has not marked its claim has written nothing
			s.At += 8
			for s.At+len(zeros) <= len(s.b) && bytes.Equal(s.b[s.At:s.At+len(zeros)], zeros[:]) {
				s.At += len(zeros) // fast path: a start scans the free rest of a segment
			}
		case !lost && w>>32 == 0 && claim >= RecordHead && Align(claim) <= len(s.b)-s.At:
			s.At += Align(claim)
		default:
			lost, g.Damaged = true, true
			s.At += 8
		}
	}
	return nil, g, false
}

// Poison fills a page that cannot be read: it is neither free nor a claim.
const Poison = 0xff

// SetBytes continues in a later copy of the segment.
func (s *Scanner) SetBytes(b []byte) { s.b = b }
