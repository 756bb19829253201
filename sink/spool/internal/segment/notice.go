// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"math"

	"github.com/nib-log/nib/internal/level"
)

const countSize = 1 + 8

// AppendCounts appends the counts of a notice for one destination, its message:
// those that are not 0, each after its index.
func AppendCounts(dst []byte, t *Tally) []byte {
	for c := range t {
		for l, n := range t[c] {
			if n != 0 {
				dst = le.AppendUint64(append(dst, byte(c*level.Count+l)), n)
			}
		}
	}
	return dst
}

// countsOf returns the counts in b, from AppendCounts.
func countsOf(b []byte) (t Tally) {
	for ; len(b) >= countSize; b = b[countSize:] {
		if i := int(b[0]); i < int(Causes)*level.Count {
			t[i/level.Count][i%level.Count] = le.Uint64(b[1:])
		}
	}
	return t
}

// IsFor reports whether a record is for the destination called name: each
// record is, except notices for others.
func IsFor(rec []byte, name string) bool {
	to, _, ok := addressOf(rec)
	return !ok || string(to) == name[:min(len(name), math.MaxUint8)]
}

// NoticeIn returns the counts that a notice for one destination reports.
func NoticeIn(rec []byte) (t Tally, ok bool) {
	_, counts, ok := addressOf(rec)
	return countsOf(counts), ok
}

// addressOf returns the name of the destination that a record is for, and the
// counts that it reports. ok is false if it is for all destinations.
func addressOf(rec []byte) (to, counts []byte, ok bool) {
	if len(rec) < RecordHead || rec[30] != apart|addressed {
		return nil, nil, false
	}
	body, name := rec[RecordHead:], int64(rec[31])
	at := int64(len(body)) - int64(le.Uint32(rec[44:]))
	if at < name {
		return nil, nil, false // inconsistent: DecodeInto rejects it
	}
	return body[at-name : at], body[at:], true
}

// Notices calls f with the notices at the beginning of a segment that are for
// the destination called name. b is the first part of the segment.
func (g *Old) Notices(b []byte, name string, f func(seq uint64, t Tally)) {
	for at := HeaderSize; ; {
		rec, seq, ok := recordAt(b, at, g.Seed())
		if !ok || seq >= g.End {
			return
		}
		if t, ok := NoticeIn(rec); ok && IsFor(rec, name) {
			f(seq, t)
		} else if !ok && at > HeaderSize {
			return // the first record may be a notice for all
		}
		at += Align(len(rec))
	}
}
