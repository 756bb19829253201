// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"io"

	"github.com/nib-log/nib"
)

// An Old is a segment that another process has left.
type Old struct {
	Identity
	Start
	End     uint64   // number after its last record
	Used    int      // offset after that record, if more records may follow there, otherwise 0
	Sure    uint64   // all lower numbers were used; those up to End could not be read
	Copied  bool     // a copy of the segment exists
	Damaged bool     // numbers up to End are in a segment that is gone
	Label   uint32   // of its last record, or of the process that made it, if Used is known
	Streams []uint64 // of the processes that continued it; 0 where it is lost
	Whole   bool     // every number had a record: a missing one is damaged
}

// EndBefore determines the end of g from the start of the next segment. If g
// was dropped, it is the copy of a segment, which a dead process had no time to
// delete: the header of a copy does not have what was dropped before it.
func (g *Old) EndBefore(next *Old) {
	end := next.First - next.Skipped
	if next.Dropped && g.First > end {
		g.Skipped, g.Dropped = g.First-end, true
	}
	g.End = max(end, g.First)
	g.Sure = max(g.End-min(next.Unsure, g.End), g.First)
	g.Damaged = next.Number != g.Number+1 && !next.Dropped
}

// NeverGiven returns the number of missing numbers before seq that were
// probably never used: those after the last record, if a start could not read
// that record and assumed the highest possible number for it.
func (g *Old) NeverGiven(seq, missing uint64) uint64 {
	if seq < g.End {
		return 0
	}
	return min(missing, g.End-g.Sure)
}

// Complete copies the records of kept, the copy of the segment, into b where
// the bytes of b differ, and returns b. A record has the same offset in both.
func (g *Old) Complete(b, kept []byte) []byte {
	b = append(b, make([]byte, max(len(kept)-len(b), 0))...)
	sc := NewScanner(kept, g.Identity, g.First)
	for sc.isCopy = true; ; {
		rec, _, ok := sc.Next()
		if !ok {
			return b
		}
		at := sc.At - Align(len(rec))
		if _, _, ok := recordAt(b, at, g.Seed()); !ok {
			copy(b[at:], rec)
		}
	}
}

// IsWhole reports whether b consists of records without a gap, followed by
// zeros.
func (g *Old) IsWhole(b []byte) bool {
	sc := NewScanner(b, g.Identity, g.First)
	for {
		_, missing, ok := sc.Next()
		if !ok {
			return !missing.Damaged && sc.Want >= g.End
		}
		if missing.numbers > 0 {
			return false
		}
	}
}

// HasAll reports whether all records of a segment are in b.
func (g *Old) HasAll(b []byte) bool {
	sc := NewScanner(b, g.Identity, g.First)
	for sc.Want < g.End {
		if _, missing, ok := sc.Next(); !ok || missing.numbers > 0 {
			return false
		}
	}
	return true
}

// Window is the number of bytes that QuickEnd reads at a time.
const Window = 256 << 10

var zeroWindow [Window]byte

// isEmpty reports whether f is all zeros in [from, to).
func isEmpty(f io.ReaderAt, buf []byte, from, to int64) bool {
	for from < to {
		n, _ := f.ReadAt(buf[:min(Window, to-from)], from)
		if n == 0 { // the file ends, or cannot be read
			return false
		}
		if !bytes.Equal(buf[:n], zeroWindow[:n]) {
			return false
		}
		from += int64(n)
	}
	return true
}

// A Line is the number and the level of a line, for counting.
type Line struct {
	Seq   uint64
	Level nib.Level
	To    string // the destination that a notice is for; "" for a line that is for all
}

// LinesIn returns the lines in b with numbers before end, and whether any are
// damaged.
func (g *Old) LinesIn(b []byte, end uint64) (lines []Line, harmed bool) {
	for sc := NewScanner(b, g.Identity, g.First); ; {
		rec, gap, ok := sc.Next()
		harmed = harmed || gap.Damaged
		if !ok || sc.Want > end {
			return lines, harmed
		}
		to, _, _ := addressOf(rec)
		lines = append(lines, Line{sc.Want - 1, nib.Level(int16(le.Uint16(rec[28:]))), string(to)})
	}
}

// RunToEnd follows the records up to the zeros after the last one, and returns
// the label of that record.
func (g *Old) RunToEnd(f io.ReaderAt) (next uint64, used int, label uint32, ok bool) {
	buf := make([]byte, Window)
	seed, label := g.Seed(), labelOf(g.Stream)
	next = g.First
	for base := int64(HeaderSize); ; {
		b, at := buf[:min(Window, g.Size-base)], 0
		if n, _ := f.ReadAt(b, base); n < len(b) {
			return 0, 0, 0, false // cut off, or unreadable
		}
		for {
			rec, seq, ok := recordAt(b, at, seed)
			if !ok || seq != next {
				break
			}
			at, next, label = at+Align(len(rec)), next+1, le.Uint32(rec[24:])
		}
		switch {
		case at < len(b) && stored(word(b, at).Load()) == 0:
			return next, int(base) + at, label, isEmpty(f, buf, base+int64(at), g.Size)
		case base+int64(at) == g.Size:
			return next, int(base) + at, label, true
		case at == 0:
			return 0, 0, 0, false // a record that is longer than the window, or none
		}
		base += int64(at)
	}
}
