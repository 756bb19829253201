// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"io/fs"
	"iter"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A Gap is a range of numbers without a record.
type Gap struct {
	First   uint64 // the first number
	Numbers uint64 // number of records; 0 if unknown, at the end of the last segment
	Kind    GapKind
	Err     error // error of GapUnreadable
}

// A GapKind is the reason why numbers have no record.
type GapKind string

// The kinds of gaps.
const (
	// The calls did not return, or not yet if a process has the spool open.
	GapUnfinished GapKind = "unfinished"
	GapDamaged    GapKind = "damaged"    // the file no longer contains the record
	GapAbsent     GapKind = "absent"     // the segment is missing
	GapRemoved    GapKind = "removed"    // the segment was deleted after Inspect
	GapUnreadable GapKind = "unreadable" // the segment cannot be read
)

// Unsettled returns the records and gaps that the destination called name has
// not settled, or all of them if it has no cursor, without notices for others.
// See [View.Records].
func (v *View) Unsettled(name string) iter.Seq2[nib.Record, Gap] {
	return v.records(v.settled(name), name)
}

// Records returns the records starting at number from, up to the last record
// that Inspect saw, and the gaps between them. For a record the Gap has Kind
// ""; for a gap the record has no Line. Records reads one segment at a time
// into memory. The bytes of a record belong to the caller. It does not disturb
// a process that has the spool open: a record that is being written is read
// again before it counts as damaged, and nothing is reported after the last
// record.
func (v *View) Records(from uint64) iter.Seq2[nib.Record, Gap] { return v.records(from, "") }

// records is Records without the notices for destinations other than to, unless
// that is "".
func (v *View) records(from uint64, to string) iter.Seq2[nib.Record, Gap] {
	return func(yield func(nib.Record, Gap) bool) {
		names := map[string]string{}
		for i := range v.Segments {
			s := &v.Segments[i]
			w := walk{v: v, s: s, from: from, to: to, names: names, yield: yield}
			w.last = i == len(v.Segments)-1
			if (s.End > from || w.last) && !w.run() {
				return
			}
		}
	}
}

// A walk goes through one segment.
type walk struct {
	v     *View
	s     *SegmentInfo
	last  bool   // the segment is the last one
	from  uint64 // lower numbers are skipped
	to    string // notices for other destinations are skipped, unless it is ""
	names map[string]string
	yield func(nib.Record, Gap) bool
}

// run reports whether the next segment is wanted.
func (w *walk) run() bool {
	s := w.s
	b, err := w.read()
	sc := segment.NewScanner(b, s.old.Identity, s.First)
	for tries, at := 0, uint64(0); ; {
		before := *sc
		// The following records are being written.
		if w.v.Owner == OwnerAlive && before.Want >= s.End {
			return w.end(before.Want, w.isCut(b), err)
		}
		rec, gap, ok := sc.Next()
		if before.Want > at {
			tries, at = 0, before.Want
		}
		if gap.Damaged && w.v.Owner != OwnerNone && tries < attempts {
			// The record may have been read while it was being written; by now
			// its writer has marked it.
			tries++
			again, _ := w.read()
			before.SetBytes(again)
			*sc = before
			continue
		}
		seq := sc.Want - 1 // number of rec
		if !ok || seq >= s.End {
			return w.end(before.Want, gap.Damaged && !ok || w.isCut(b), err)
		}
		if !w.gap(before.Want, seq, w.kind(gap.Damaged, pagesOf(gap, err))) {
			return false
		}
		if seq >= w.from && (w.to == "" || segment.IsFor(rec, w.to)) && !w.record(rec, seq) {
			return false
		}
	}
}

// read returns a copy of the segment.
func (w *walk) read() ([]byte, error) {
	return store.LookInto(w.v.fs, w.v.Dir).Read(&w.s.old)
}

// isCut reports whether the file with the bytes b was cut off.
func (w *walk) isCut(b []byte) bool {
	return len(b) != segment.EmptySize && int64(len(b)) < w.s.Size&^7
}

// record yields rec, or a gap in its place if it is damaged. It reports whether
// to continue.
func (w *walk) record(rec []byte, seq uint64) bool {
	r, ok := segment.Decode(rec, false, w.names)
	if !ok {
		return w.gap(seq, seq+1, Gap{Kind: GapDamaged})
	}
	r.Spool = w.s.old.StreamOf(rec)
	return w.yield(r, Gap{})
}

// end yields the gap after the last record. The numbers of damaged records at
// the end of the last segment are unknown.
func (w *walk) end(want uint64, damaged bool, err error) bool {
	g := w.kind(damaged, err)
	if want < w.s.End {
		return w.gap(want, w.s.End, g)
	}
	if w.last && g.Kind != GapUnfinished {
		g.First = want
		return w.yield(nib.Record{}, g)
	}
	return true
}

// pagesOf returns err, which is about unreadable pages, if g may be in them.
func pagesOf(g segment.Gap, err error) error {
	if g.Damaged {
		return err
	}
	return nil
}

// kind returns why numbers are missing.
func (w *walk) kind(damaged bool, err error) Gap {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Gap{Kind: GapRemoved}
	case err != nil:
		return Gap{Kind: GapUnreadable, Err: err}
	case damaged:
		return Gap{Kind: GapDamaged}
	}
	return Gap{Kind: GapUnfinished}
}

// gap yields the numbers from first to end, except those before w.from.
func (w *walk) gap(first, end uint64, g Gap) bool {
	if end == w.s.End && w.s.Absent && g.Kind == GapUnfinished {
		g.Kind = GapAbsent
		first = max(first, w.v.settledByAll()) // a settled segment may have been deleted
	}
	first = max(first, w.from)
	if first >= end {
		return true
	}
	g.First, g.Numbers = first, end-first
	return w.yield(nib.Record{}, g)
}
