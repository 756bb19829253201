// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package deliver

import (
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A damage is done to a segment of ten lines that is in use.
type damage struct {
	name     string
	do       func(t *testing.T, g *segment.Segment)
	gone     []uint64 // lines that do not arrive
	damaged  uint64
	searched bool // the length of the first damaged record is of no use
}

// claim claims a record that is not written.
func claim(g *segment.Segment) (at, size int, seq uint64) {
	size = segment.RecordHead + oldSize
	at, seq, _ = g.Reserve(size)
	return at, size, seq
}

// lengthen gives a record a length that does not lead to the next one.
func lengthen(g *segment.Segment, i int) { g.Bytes()[recordAt(i)] += 16 }

var damages = []damage{
	{"nothing", func(*testing.T, *segment.Segment) {}, nil, 0, false},
	{"a line", func(_ *testing.T, g *segment.Segment) { harm(4)(g.Bytes()) }, []uint64{5}, 1, false},
	{"the first line", func(_ *testing.T, g *segment.Segment) { harm(0)(g.Bytes()) }, []uint64{1}, 1, false},
	{"the last line", func(_ *testing.T, g *segment.Segment) { harm(9)(g.Bytes()) }, []uint64{10}, 1, false},
	{"two lines", func(_ *testing.T, g *segment.Segment) { harm(4)(g.Bytes()); harm(5)(g.Bytes()) }, []uint64{5, 6}, 2, true},
	{"two lines apart", func(_ *testing.T, g *segment.Segment) { harm(4)(g.Bytes()); harm(6)(g.Bytes()) }, []uint64{5, 7}, 2, false},
	{"a longer record", func(_ *testing.T, g *segment.Segment) { lengthen(g, 4) }, []uint64{5}, 1, true},
	{"two longer records", func(_ *testing.T, g *segment.Segment) { lengthen(g, 2); lengthen(g, 6) }, []uint64{3, 7}, 2, true},
	{"the last record, longer", func(_ *testing.T, g *segment.Segment) { lengthen(g, 9) }, []uint64{10}, 1, true},
	{"a record as long as two", func(_ *testing.T, g *segment.Segment) {
		g.Bytes()[recordAt(4)+1]++
		g.Bytes()[recordAt(4)] -= 256 - 152
	}, []uint64{5}, 1, true},
	{"a record of 64 KiB", func(_ *testing.T, g *segment.Segment) { g.Bytes()[recordAt(4)+2]++ }, []uint64{5}, 1, true},
	{"a record of 2 GiB", func(_ *testing.T, g *segment.Segment) { copy(g.Bytes()[recordAt(4):], "\xf0\xff\xff\x7f") }, []uint64{5}, 1, true},
	{"a short record", func(_ *testing.T, g *segment.Segment) { g.Bytes()[recordAt(4)] = segment.RecordHead - 1 }, []uint64{5}, 1, true},
	{"another record in its place", func(_ *testing.T, g *segment.Segment) {
		copy(g.Bytes()[recordAt(4):recordAt(5)], g.Bytes()[recordAt(3):])
	}, []uint64{5}, 1, false},
	{"a line before a claim", func(_ *testing.T, g *segment.Segment) { harm(9)(g.Bytes()); claim(g) }, []uint64{10, 11}, 2, true},
	{"a line before a void claim", func(_ *testing.T, g *segment.Segment) {
		harm(9)(g.Bytes())
		g.VoidClaim(claim(g))
	}, []uint64{10, 11}, 1, true},
}

// TestDamageInASegmentInUse damages records before they are read. One whose
// length leads to the next record is skipped; otherwise the segment is sealed
// and searched a few times.
func TestDamageInASegmentInUse(t *testing.T) {
	for _, c := range damages {
		for _, most := range []int{1, 2, 3, 100} {
			synctest.Test(t, func(t *testing.T) {
				s := &chainSpool{}
				l := s.grow(t, 10, oldSize)
				c.do(t, l.Live)
				_, s.next, _ = l.Live.Claimed()
				s.grow(t, 5, oldSize)
				s.close()
				var got, want []uint64
				batches := 0
				p := scripted(nil, func(batch []nib.Record) {
					batches++
					for _, r := range batch {
						got = append(got, r.Seq)
					}
				})
				d := newChain(t, s, &p)
				limit(d, most)
				for seq := range s.next {
					if l.Live.VoidsIn(seq, seq+1) > 0 {
						d.Void(seq)
					}
				}
				begin := time.Now()
				run(t, d)
				took := time.Since(begin)
				for seq := uint64(1); seq < s.next; seq++ {
					if !slices.Contains(c.gone, seq) {
						want = append(want, seq)
					}
				}
				if pieces := 2 + len(c.gone); most == 100 && batches > pieces {
					t.Errorf("%s: got %d batches, want up to %d", c.name, batches, pieces)
				}
				damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
				if !slices.Equal(got, want) || damaged != c.damaged || d.Settled != s.next || d.Skipped != 0 || d.Unfinished != 0 {
					t.Errorf("%s: got records %d, %d damaged, %d skipped and position %d, want %d, %d, 0 and %d", c.name, got, damaged, d.Skipped, d.Settled, want, c.damaged, s.next)
				}
				faults, waited := 0, time.Duration(0)
				if c.searched {
					faults, waited = 1, linger+(1+2+4)*d.Options.Tick/2
				}
				if len(s.errors) != faults || l.Live.IsAbandoned() != c.searched || d.Pause != 0 || d.again != (rereading{}) || took < waited || took > 2*waited {
					t.Errorf("%s: got errors %q after %v, want %d after at least %v", c.name, s.errors, took, faults, waited)
				}
				if faults > 0 && s.errors[0] != "read a segment that is in use: written records are gone" {
					t.Errorf("%s: got error %q", c.name, s.errors[0])
				}
			})
		}
	}
}

// TestClaimInASearchedSegment has a call that writes its record while the
// segment is searched for records: it arrives if it is written before the last
// attempt.
func TestClaimInASearchedSegment(t *testing.T) {
	for attempt, lost := range map[int]uint64{1: 1, rescueTries - 1: 1, rescueTries: 2} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			g := s.grow(t, 10, oldSize).Live
			at, size, seq := claim(g)
			s.next++
			lengthen(g, 9)
			s.grow(t, 5, oldSize)
			s.close()
			attempts := 0 // each looks for a copy, after it has read the segment
			s.fs.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: "*" + store.CopyExt, Err: fs.ErrNotExist, Reached: func() {
				if attempts++; attempts == attempt {
					write(g, at, size, seq)
				}
			}})
			p := scripted(nil, func([]nib.Record) {})
			d := s.deliveryOf(t, &p, 0)
			d.opened, d.Recovered = 1, 0
			run(t, d)
			if damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]; damaged != lost || d.Delivered != 16-lost || attempts != rescueTries {
				t.Errorf("written at attempt %d of %d: got %d records, %d damaged, want %d", attempt, attempts, d.Delivered, damaged, lost)
			}
		})
	}
}

// TestSearchedSegmentIsCompletedFromItsCopy has the copy of a segment that is
// searched: records in neither of them are missing.
func TestSearchedSegmentIsCompletedFromItsCopy(t *testing.T) {
	for _, c := range []struct {
		name   string
		copied bool
		edit   func(b []byte) []byte // of the copy; nil: there is none
		fault  error
		lost   uint64
		errors int
	}{
		{"a whole copy", true, func(b []byte) []byte { return b }, nil, 0, 1},
		{"a copy with another line damaged", true, harm(2), nil, 0, 1},
		{"a copy with the same line damaged", true, harm(4), nil, 1, 1},
		{"a copy with a page that cannot be read", true, func(b []byte) []byte { return b }, syscall.EIO, 0, 1},
		{"a copy up to the line", true, cut(4), nil, 0, 1},
		{"a copy up to the one before", true, cut(3), nil, 1, 1},
		{"no copy", true, nil, nil, 1, 1},
		{"a copy that cannot be read", true, func(b []byte) []byte { return b }, syscall.EMFILE, 1, 1 + rescueTries},
		{"no copies", false, func(b []byte) []byte { return b }, syscall.EMFILE, 1, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			l := s.grow(t, 10, oldSize)
			if c.edit != nil {
				s.put(t, store.CopyName(1), c.edit(slices.Clone(l.Live.Bytes())))
			}
			lengthen(l.Live, 4)
			s.close()
			if c.fault == syscall.EIO {
				s.breakPage(store.CopyName(1), 2)
			} else if c.fault != nil {
				s.fs.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: "*" + store.CopyExt, Err: c.fault})
			}
			p := scripted(nil, func([]nib.Record) {})
			d := s.deliveryOf(t, &p, 0)
			l.Copied = c.copied
			d.opened, d.Recovered = 1, 0
			begin := time.Now()
			run(t, d)
			damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
			if damaged != c.lost || d.Delivered != 10-c.lost || d.Settled != 11 || len(s.errors) != c.errors {
				t.Errorf("%s: got %d records, %d damaged, and errors %q, want %d damaged", c.name, d.Delivered, damaged, s.errors, c.lost)
			}
			if took := time.Since(begin); (took > linger) != (c.lost > 0) {
				t.Errorf("%s: took %v", c.name, took)
			}
			if c.errors > 1 && !strings.HasPrefix(s.errors[1], "read the copy of a segment: ") {
				t.Errorf("%s: got error %q", c.name, s.errors[1])
			}
		})
	}
}

// TestProgramCountersOfThisProcess delivers records of a segment that an
// earlier process began: only the program counters of this one have a meaning.
func TestProgramCountersOfThisProcess(t *testing.T) {
	for _, searched := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &chainSpool{}
			l := s.grow(t, 10, oldSize)
			if searched {
				lengthen(l.Live, 0)
			}
			s.close()
			p := scripted(nil, func(batch []nib.Record) {
				for _, r := range batch {
					if own := r.Seq >= 5; own != (r.PC != 0) {
						t.Errorf("searched=%v: record %d has program counter %d", searched, r.Seq, r.PC)
					}
				}
			})
			d := newChain(t, s, &p)
			d.opened = 5
			run(t, d)
			if d.Settled != 11 || l.Live.IsAbandoned() != searched {
				t.Errorf("searched=%v: got position %d", searched, d.Settled)
			}
		})
	}
}

// TestSettledRecordsAreNotDeliveredAgain delivers a segment that an earlier
// process has settled in part, and in which a record is damaged: it counts only
// if it is not settled.
func TestSettledRecordsAreNotDeliveredAgain(t *testing.T) {
	for _, c := range []struct {
		name    string
		do      func(g *segment.Segment)
		damaged uint64 // the number of the record
	}{
		{"nothing", func(*segment.Segment) {}, 0},
		{"the first line", func(g *segment.Segment) { harm(0)(g.Bytes()) }, 1},
		{"a line", func(g *segment.Segment) { harm(4)(g.Bytes()) }, 5},
		{"a longer record", func(g *segment.Segment) { lengthen(g, 4) }, 5},
		{"another record in its place", func(g *segment.Segment) { copy(g.Bytes()[recordAt(4):recordAt(5)], g.Bytes()[recordAt(3):]) }, 5},
		{"the last record, longer", func(g *segment.Segment) { lengthen(g, 9) }, 10},
	} {
		for settled := range uint64(15) {
			synctest.Test(t, func(t *testing.T) {
				s := newOldChain(t)
				l := s.grow(t, 10, oldSize)
				c.do(l.Live)
				s.close()
				var got, want []uint64
				p := scripted(nil, func(batch []nib.Record) {
					for _, r := range batch {
						got = append(got, r.Seq)
					}
				})
				d := s.deliveryOf(t, &p, settled)
				d.batch = make([]nib.Record, 0, 2)
				copies := 0
				s.fs.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: "*" + store.CopyExt, Err: fs.ErrNotExist, Reached: func() { copies++ }})
				run(t, d)
				for seq := settled + 1; seq <= 10; seq++ {
					if seq != c.damaged {
						want = append(want, seq)
					}
				}
				damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
				if damaged == 0 && copies > 0 {
					t.Errorf("%s, %d settled: a copy was looked for, although nothing is missing", c.name, settled)
				}
				if !slices.Equal(got, want) || d.Settled != max(settled, 10)+1 || (damaged == 1) != (c.damaged > settled) || damaged > 1 {
					t.Errorf("%s, %d settled: got records %d, %d damaged and position %d, want %d", c.name, settled, got, damaged, d.Settled, want)
				}
			})
		}
	}
}

// TestPositionAfterAFullSegment has a cursor that is ahead of the records of a
// segment, which fill it to its end.
func TestPositionAfterAFullSegment(t *testing.T) {
	const lines = (segment.MinSize - segment.HeaderSize) / segment.PageSize
	synctest.Test(t, func(t *testing.T) {
		s := newOldChain(t)
		s.grow(t, lines, segment.PageSize-segment.RecordHead)
		s.close()
		p := scripted(nil, func([]nib.Record) { t.Error("settled records are delivered") })
		d := s.deliveryOf(t, &p, lines+5)
		run(t, d)
		if d.Settled != lines+6 || len(s.errors) > 0 {
			t.Errorf("got position %d and errors %q", d.Settled, s.errors)
		}
	})
}

// TestSearchedSegmentWithoutADestination leaves a segment that cannot be read.
func TestSearchedSegmentWithoutADestination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		l := s.grow(t, 10, oldSize)
		lengthen(l.Live, 4)
		s.grow(t, 10, oldSize)
		s.close()
		d := newChain(t, s, nil)
		begin := time.Now()
		run(t, d)
		if l.Live != nil || d.Settled != 1 || d.Dropped != (segment.Tally{}) || len(s.errors) != 1 || time.Since(begin) > linger {
			t.Errorf("got position %d and errors %q after %v", d.Settled, s.errors, time.Since(begin))
		}
	})
}

// TestSearchedSegmentGetsNoMoreLines seals a segment in which a record is
// damaged: lines continue in another one.
func TestSearchedSegmentGetsNoMoreLines(t *testing.T) {
	s := &chainSpool{}
	g := s.grow(t, 10, oldSize).Live
	lengthen(g, 0)
	d := newChain(t, s, &plain{})
	d.fill()
	if _, _, ok := g.Reserve(segment.RecordHead); ok || !d.rescued {
		t.Errorf("a line continues in the segment: %v", ok)
	}
}
