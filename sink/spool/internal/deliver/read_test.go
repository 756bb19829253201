// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package deliver

import (
	"bytes"
	"encoding/binary"
	"runtime/debug"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// text is a line without zeros.
var text = bytes.Repeat([]byte{'x'}, oldSize)

// write writes a record to a claim.
func write(g *segment.Segment, at, size int, seq uint64) {
	g.Write(at, size, seq, &nib.Record{Line: text}, -1)
}

// TestErasedClaim erases a part of a segment while a call has a claim there
// that it does not write. The delivery notices that if the record before the
// claim, which it has read, is gone as well; otherwise it waits for the call.
func TestErasedClaim(t *testing.T) {
	for _, c := range []struct {
		name    string
		line    int // length of the lines
		from    int // bounds of the erased bytes, from the end of the first record
		to      int
		state   string // of the claim
		noticed bool
	}{
		{"nothing", oldSize, 0, 0, "", false},
		{"the end of the record", oldSize, -8, 0, "", true},
		{"more than the end of the record", oldSize, -16, 64, "", true},
		{"all but the end of the record", oldSize, -64, -8, "", false},
		{"a record up to the end of a page", segment.PageSize - segment.RecordHead, -8, 0, "", false},
		{"the end of the record, and the call has begun to write", oldSize, -8, 0, "marked", false},
		{"the end of the record, and the claim is void", oldSize, -8, 0, "void", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &chainSpool{}
			l := s.grow(t, 0, 0)
			g := l.Live
			line := bytes.Repeat([]byte{'x'}, c.line)
			at, seq, _ := g.Reserve(segment.RecordHead + c.line)
			g.Write(at, segment.RecordHead+c.line, seq, &nib.Record{Line: line}, -1)
			behind, size, second := claim(g)
			s.next += 2
			s.grow(t, 5, oldSize)
			s.close()
			calls := 0
			p := scripted(nil, func([]nib.Record) {
				if calls++; calls == 1 {
					clear(g.Bytes()[behind+c.from : behind+c.to])
				}
			})
			lines := uint64(7)
			switch {
			case c.state == "marked":
				binary.LittleEndian.PutUint64(g.Bytes()[behind:], uint64(uint32(-int32(size))))
			case c.state == "void":
				g.VoidClaim(behind, size, second)
				lines = 6
			}
			if !c.noticed && c.state != "void" {
				time.AfterFunc(time.Second, func() { write(g, behind, size, second) })
			}
			d := newChain(t, s, &p)
			begin := time.Now()
			run(t, d)
			took := time.Since(begin)
			damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
			if noticed := len(s.errors) > 0; noticed != c.noticed || damaged > 0 != c.noticed || d.Delivered+damaged != lines || (took < time.Second) != (c.noticed || c.state == "void") {
				t.Errorf("%s: got %d lines, %d damaged, after %v, and errors %q", c.name, d.Delivered, damaged, took, s.errors)
			}
		})
	}
}

// TestClaimWithoutAWitness has a claim that is written late, after zeros that
// prove nothing: the delivery waits for it.
func TestClaimWithoutAWitness(t *testing.T) {
	for _, c := range []struct {
		name    string
		before  func(t *testing.T, s *oldChain) *segment.Segment
		settled uint64
		lost    uint64
	}{
		{"the first claim", func(t *testing.T, s *oldChain) *segment.Segment { return s.grow(t, 0, 0).Live }, 0, 0},
		{"after a line that ends in zeros", func(t *testing.T, s *oldChain) *segment.Segment { return s.grow(t, 1, oldSize).Live }, 0, 0},
		{"after such a line that is settled", func(t *testing.T, s *oldChain) *segment.Segment { return s.grow(t, 1, oldSize).Live }, 1, 0},
		{"after a void claim", func(t *testing.T, s *oldChain) *segment.Segment {
			g := s.grow(t, 0, 0).Live
			g.VoidClaim(claim(g))
			s.next++
			return g
		}, 0, 0},
		{"after a damaged line", func(t *testing.T, s *oldChain) *segment.Segment {
			g := s.grow(t, 1, oldSize).Live
			harm(0)(g.Bytes())
			return g
		}, 0, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			g := c.before(t, s)
			first := s.next
			p := scripted(nil, func([]nib.Record) {})
			d := s.deliveryOf(t, &p, c.settled)
			d.opened, d.Recovered = first, 0
			var at, size int
			var seq uint64
			time.AfterFunc(time.Second, func() {
				s.Lock()
				defer s.Unlock()
				at, size, seq = claim(g)
				s.next++
				d.Wake()
			})
			time.AfterFunc(2*time.Second, func() {
				write(g, at, size, seq)
				s.close()
				d.Wake()
			})
			s.Closed = false
			run(t, d)
			damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
			if d.Settled != first+1 || damaged != c.lost || len(s.errors) > 0 {
				t.Errorf("%s: got position %d, %d damaged and errors %q", c.name, d.Settled, damaged, s.errors)
			}
		})
	}
}

// TestVoidClaimsAreSkipped has void claims at each place of a segment: the
// records before one are delivered first, and no number is missing.
func TestVoidClaimsAreSkipped(t *testing.T) {
	const lines = 4
	for void := range 1 << lines {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			g := s.grow(t, 0, 0).Live
			var want, got []uint64
			for i := range lines {
				at, size, seq := claim(g)
				if s.next++; void>>i&1 != 0 {
					g.VoidClaim(at, size, seq)
				} else {
					write(g, at, size, seq)
					want = append(want, seq)
				}
			}
			s.close()
			var d *Delivery
			p := scripted(nil, func(batch []nib.Record) {
				if d.Settled != batch[0].Seq {
					t.Errorf("%04b: the position is %d when record %d is delivered", void, d.Settled, batch[0].Seq)
				}
				for _, r := range batch {
					got = append(got, r.Seq)
				}
			})
			d = s.deliveryOf(t, &p, 0)
			d.opened, d.Recovered, d.Skipped = 1, 0, uint64(lines-len(want))
			begin, isWoken := time.Now(), woken(d.chain)
			run(t, d)
			if !slices.Equal(got, want) || d.Settled != lines+1 || d.Skipped != 0 || d.Dropped != (segment.Tally{}) || storedPosition(t, s.fs) != lines+1 {
				t.Errorf("%04b: got records %d, %d skipped and position %d, %d in the cursor, want %d", void, got, d.Skipped, d.Settled, storedPosition(t, s.fs), want)
			}
			if took := time.Since(begin); took > 10*linger || !isWoken() {
				t.Errorf("%04b: took %v, and calls were woken: %v", void, took, isWoken())
			}
		})
	}
}

// TestVoidClaimWithoutADestination leaves the position.
func TestVoidClaimWithoutADestination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		l := s.grow(t, 3, oldSize)
		l.Live.VoidClaim(claim(l.Live))
		s.next++
		s.grow(t, 3, oldSize)
		s.next += 5 // numbers that are never given
		s.grow(t, 3, oldSize)
		s.close()
		d := newChain(t, s, nil)
		d.Skipped = 6
		run(t, d)
		if d.Settled != 1 || d.Skipped != 6 || s.Links[0].Live != nil || s.Links[1].Live != nil {
			t.Errorf("got position %d and %d skipped", d.Settled, d.Skipped)
		}
	})
}

// TestNumbersBetweenSegments has segments with numbers missing between them: a
// batch does not reach across, and the position does not stop there.
func TestNumbersBetweenSegments(t *testing.T) {
	for _, overlaps := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			s.grow(t, 10, oldSize)
			s.grow(t, 10, oldSize)
			s.next += 5
			s.grow(t, 10, oldSize)
			s.close()
			var batches [][2]uint64
			p := scripted(nil, func(batch []nib.Record) {
				batches = append(batches, [2]uint64{batch[0].Seq, batch[len(batch)-1].Seq})
			})
			dest, want := delivery.Destination(&p), [][2]uint64{{1, 10}, {11, 20}, {26, 35}}
			if overlaps {
				dest, want = &overlapping{plain: p}, [][2]uint64{{1, 20}, {26, 35}}
			}
			d := s.deliveryOf(t, dest, 0)
			d.opened, d.Recovered, d.Skipped = 1, 0, 5
			run(t, d)
			if !slices.Equal(batches, want) || d.Settled != 36 || d.Skipped != 0 || storedPosition(t, s.fs) != 36 {
				t.Errorf("overlaps=%v: got batches %d, %d skipped and position %d, want %d", overlaps, batches, d.Skipped, d.Settled, want)
			}
		})
	}
}

// TestInvalidContentIsDamage has records that are whole but whose content is
// inconsistent.
func TestInvalidContentIsDamage(t *testing.T) {
	for _, at := range []int{0, 2, 4} {
		synctest.Test(t, func(t *testing.T) {
			s := &chainSpool{}
			g := s.grow(t, 0, 0).Live
			for i := range 5 {
				r, message := nib.Record{Line: text, Message: text}, 0
				if i == at {
					message = 1 // then the message reaches beyond the line
				}
				size := segment.RecordSize(&r, message)
				offset, seq, _ := g.Reserve(size)
				g.Write(offset, size, seq, &r, message)
				s.next++
			}
			s.close()
			var got []uint64
			p := scripted(nil, func(batch []nib.Record) {
				for _, r := range batch {
					got = append(got, r.Seq)
					if !bytes.Equal(r.Line, text) || !bytes.Equal(r.Message, text) {
						t.Errorf("record %d arrives with line %q and message %q", r.Seq, r.Line, r.Message)
					}
				}
			})
			d := newChain(t, s, &p)
			run(t, d)
			damaged := d.Dropped[segment.CauseDamaged][level.Row(int(segment.LevelUnknown))]
			if len(got) != 4 || slices.Contains(got, uint64(at+1)) || damaged != 1 || d.Settled != 6 {
				t.Errorf("record %d is invalid: got records %d, %d damaged", at+1, got, damaged)
			}
		})
	}
}

// TestBuffersOfABatch fills the buffer of a delivery: an Overlapper has a
// second one, until the records in the first are settled.
func TestBuffersOfABatch(t *testing.T) {
	const each = segment.RecordHead + oldSize
	for _, c := range []struct {
		overlaps bool
		settle   int
		want     []int // sizes of the batch after each call of fill
	}{
		{false, 0, []int{10, 10}},
		{false, 4, []int{10, 6}},
		{false, 10, []int{10, 10}},
		{true, 0, []int{20, 20}},
		{true, 4, []int{20, 16}}, // some are left in the first buffer
		{true, 9, []int{20, 11}},
		{true, 10, []int{20, 20}}, // none is
		{true, 15, []int{20, 15}},
		{true, 20, []int{20, 20}},
	} {
		s := &chainSpool{}
		s.grow(t, 100, oldSize)
		dest := delivery.Destination(&plain{})
		if c.overlaps {
			dest = &overlapping{}
		}
		d := newChain(t, s, dest)
		d.bufSize = 10 * each
		d.buf, d.other = make([]byte, 0, d.bufSize), make([]byte, 0, d.bufSize)
		var got []int
		for range c.want {
			d.fill()
			got = append(got, len(d.batch))
			d.settleBatch(d.batch[:c.settle], nil)
			d.retain(d.batch[c.settle:])
			for i, r := range d.batch {
				if r.Seq != d.Settled+uint64(i) || !bytes.Equal(r.Line, make([]byte, oldSize)) {
					t.Errorf("overlaps=%v, %d settled: record %d is at place %d, with line %q", c.overlaps, c.settle, r.Seq, i, r.Line)
				}
			}
		}
		if !slices.Equal(got, c.want) || cap(d.buf) != d.bufSize {
			t.Errorf("overlaps=%v, %d settled: got batches of %d records and a buffer of %d bytes, want %d", c.overlaps, c.settle, got, cap(d.buf), c.want)
		}
	}
}

// TestForeignPanicIsNoFault panics while a segment is read, but not because of
// an access to it.
func TestForeignPanicIsNoFault(t *testing.T) {
	s := &chainSpool{}
	l := s.grow(t, 1, oldSize)
	d := newChain(t, s, &plain{})
	defer func() {
		if debug.SetPanicOnFault(false) {
			t.Error("the setting of the goroutine has changed")
		}
		if p := recover(); p != "foreign" || d.rescued || len(s.errors) > 0 {
			t.Errorf("got %v, and errors %q", p, s.errors)
		}
	}()
	if d.fill(); debug.SetPanicOnFault(false) {
		t.Error("reading has changed the setting of the goroutine")
	}
	defer d.endGuard(l.Live, debug.SetPanicOnFault(true))
	panic("foreign")
}

// TestErasedClaimAfterARest erases a claim and the end of the record before it,
// when an Overlapper has settled a part of the batch: the rest is settled
// before the segment is searched.
func TestErasedClaimAfterARest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		g := s.grow(t, 0, 0).Live
		for range 3 {
			at, size, seq := claim(g)
			write(g, at, size, seq)
		}
		behind, size, last := claim(g)
		s.next += 4
		s.grow(t, 5, oldSize)
		s.close()
		var got []uint64
		var d *Delivery
		o := &overlapping{}
		o.do = func(batch []nib.Record) (delivery.Result, error) {
			switch got = append(got, batch[0].Seq); len(got) {
			case 1:
				clear(g.Bytes()[behind-8 : behind])
			case 2:
				s.Lock()
				g.VoidClaim(behind, size, last) // then the segment has everything
				d.Void(last)
				s.Unlock()
			}
			return delivery.Result{Accepted: 1}, nil
		}
		d = newChain(t, s, o)
		run(t, d)
		if !slices.Equal(got, []uint64{1, 2, 3, 5, 6, 7, 8, 9}) || d.Dropped != (segment.Tally{}) || len(s.errors) > 0 {
			t.Errorf("got records %d, drops %v and errors %q", got, d.Dropped, s.errors)
		}
	})
}

// TestFirstSegmentIsDeliveredWhenItIsSafe waits until the records of the first
// segment may be delivered.
func TestFirstSegmentIsDeliveredWhenItIsSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		s.grow(t, 10, oldSize)
		s.close()
		safe := make(chan struct{})
		time.AfterFunc(time.Second, func() { close(safe) })
		begin := time.Now()
		p := scripted(nil, func([]nib.Record) {
			if took := time.Since(begin); took < time.Second {
				t.Errorf("delivered after %v", took)
			}
		})
		d := newChain(t, s, &p)
		d.Options.Safe = safe
		if run(t, d); d.Delivered != 10 {
			t.Errorf("got %d records, want 10", d.Delivered)
		}
	})
}

// TestSettledSegmentsAreRemovedWithoutMoreRecords delivers all of a segment to
// an Overlapper, with an empty one after it.
func TestSettledSegmentsAreRemovedWithoutMoreRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		s.grow(t, 10, oldSize)
		o := &overlapping{plain: scripted(nil, func([]nib.Record) {})}
		d := newChain(t, s, o)
		time.AfterFunc(time.Second, func() {
			if !d.Options.Idle.Load() {
				t.Error("the delivery does not sleep")
			}
			s.grow(t, 0, oldSize)
			d.Wake()
		})
		time.AfterFunc(2*time.Second, func() {
			if s.Lock(); !slices.Equal(s.removed, []uint64{1}) {
				t.Errorf("segments %d are removed, want the first one", s.removed)
			}
			s.Unlock()
			s.close()
			d.Wake()
		})
		run(t, d)
	})
}
