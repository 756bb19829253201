// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package deliver

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A chainSpool is a Spool with segments in memory.
type chainSpool struct {
	Chain
	apart   uint64 // number of segments with the same stream; 0: all
	next    uint64
	removed []uint64
	errors  []string
	noted   int // how often noted errors were reported
}

// woken returns a function that reports whether calls were woken since.
func woken(c *Chain) func() bool {
	changed := c.Change()
	return func() bool {
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}
}

func (s *chainSpool) Leave(g *segment.Segment) { g.Done(nil) }

func (s *chainSpool) Remove(l *Link) {
	s.Lock()
	defer s.Unlock()
	s.removed = append(s.removed, l.Number)
}

func (s *chainSpool) Fault(op string, err error)  { s.note(op, err) }
func (s *chainSpool) Report(op string, err error) { s.note(op, err) }
func (s *chainSpool) ReportNoted()                { s.noted++ }

func (s *chainSpool) note(op string, err error) {
	s.Lock()
	defer s.Unlock()
	s.errors = append(s.errors, fmt.Sprint(op, ": ", err))
}

// grow adds a segment with so many lines of some size, and seals the one before
// it.
func (s *chainSpool) grow(t *testing.T, lines, size int) *Link {
	t.Helper()
	s.Lock()
	defer s.Unlock()
	if s.next == 0 {
		s.next = 1
	}
	number := uint64(len(s.Links) + len(s.removed) + 1)
	stream := uint64(9)
	if s.apart > 0 {
		stream += (number - 1) / s.apart
	}
	id := segment.Identity{
		Spool: 5, Number: number, Gen: 1, Stream: stream, Size: segment.MinSize,
	}
	g := segment.New(make([]byte, segment.MinSize), id, nil)
	g.Begin(segment.Start{First: s.next})
	if n := len(s.Links); n > 0 && s.Links[n-1].Live != nil {
		s.Links[n-1].Live.Seal()
	}
	l := &Link{Old: *g.Old(), Live: g, Waiting: 1}
	s.Links = append(s.Links, l)
	for range lines {
		log(t, g, size)
		s.next++
	}
	return l
}

// log writes a line of some size.
func log(t *testing.T, g *segment.Segment, size int) {
	t.Helper()
	r := nib.Record{Line: make([]byte, size), Level: nib.LevelWarn, PC: 1}
	n := segment.RecordSize(&r, -1)
	at, seq, ok := g.Reserve(n)
	if !ok {
		t.Fatal("the segment is full")
	}
	g.Write(at, n, seq, &r, -1)
}

// close ends the chain: no more lines are written.
func (s *chainSpool) close() {
	s.Lock()
	defer s.Unlock()
	s.Links[len(s.Links)-1].Live.Seal()
	s.Closed = true
}

// newChain returns a delivery from s, which begins with its first segment.
func newChain(t *testing.T, s *chainSpool, dest delivery.Destination) *Delivery {
	t.Helper()
	safe := make(chan struct{})
	close(safe)
	d := New(&s.Chain, s, Options{Context: t.Context(), Tick: time.Millisecond, Safe: safe, Idle: new(atomic.Bool), Size: 100 * segment.MinSize, SegmentSize: segment.MinSize}, dest)
	d.Begin(1, s.Links[0])
	d.Expect(nil, 1)
	return d
}

// run runs d until it has ended, in the bubble of a test.
func run(t *testing.T, d *Delivery) {
	t.Helper()
	ctx, stop := context.WithTimeout(d.Options.Context, 2*time.Minute)
	defer stop()
	d.Options.Context = ctx
	done := make(chan struct{})
	go d.Run(func() { close(done) })
	<-done
	if ctx.Err() == context.DeadlineExceeded {
		t.Error("delivery has waited for something that will not come")
	}
}

// TestRunDeliversEverythingInOrder delivers several segments, by destinations
// that settle all of a batch or a part of it, and that overlap or not: each
// record arrives once, with records of the same stream only, and each segment
// is removed when its records are settled.
func TestRunDeliversEverythingInOrder(t *testing.T) {
	const segments, lines = 4, 50
	for _, part := range []int{1, 7, 1000} {
		for _, overlaps := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				s := &chainSpool{apart: 2}
				for range segments {
					s.grow(t, lines, 1000)
				}
				s.close()
				want, removed := uint64(1), 0
				p := plain{func(batch []nib.Record) (delivery.Result, error) {
					for i, r := range batch {
						stream := 9 + (want-1)/lines/2
						if r.Seq != want+uint64(i) || r.Spool != stream {
							t.Errorf("part %d, overlaps %v: got record %d of %d, want %d of %d",
								part, overlaps, r.Seq, r.Spool, want+uint64(i), stream)
						}
					}
					for len(s.removed) > removed {
						removed++
						if last := uint64(removed * lines); want <= last {
							t.Errorf("part %d, overlaps %v: segment %d was removed before record %d was settled", part, overlaps, removed, last)
						}
					}
					n := min(part, len(batch))
					want += uint64(n)
					return delivery.Result{Accepted: n}, nil
				}}
				dest := delivery.Destination(&p)
				if overlaps {
					dest = &overlapping{plain: p}
				}
				d := newChain(t, s, dest)
				run(t, d)
				const all = segments * lines
				if want != all+1 || d.Delivered != all || d.Settled != all+1 || d.Skipped != 0 || d.Unfinished != 0 {
					t.Errorf("part %d, overlaps %v: got %d delivered, %d settled, %d skipped, want %d", part, overlaps, d.Delivered, d.Settled-1, d.Skipped, all)
				}
				if !slices.Equal(s.removed, []uint64{1, 2, 3}) || len(s.Links) != 1 || d.cur != s.Links[0] || len(s.errors) > 0 {
					t.Errorf("part %d, overlaps %v: got segments %d removed, and errors %q", part, overlaps, s.removed, s.errors)
				}
				if got := d.Traffic[level.Row(int(nib.LevelWarn))]; got.Lines != all || got.Bytes != 1000*all {
					t.Errorf("part %d, overlaps %v: got %+v in the metrics, want %d lines", part, overlaps, got, all)
				}
			})
		}
	}
}

// TestOverlapReadsAhead has a destination that holds back the last record of
// each batch: it gets the records of the next segment after it, and the segment
// of the record stays. At most half of the spool is read ahead.
func TestOverlapReadsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		for range 4 {
			s.grow(t, 10, 100)
		}
		s.close()
		var batches [][2]uint64
		o := &overlapping{}
		d := newChain(t, s, o)
		d.Options.Size = 6 * segment.MinSize
		o.do = func(batch []nib.Record) (delivery.Result, error) {
			batches = append(batches, [2]uint64{batch[0].Seq, batch[len(batch)-1].Seq})
			if len(batches) > 1 && len(s.removed) > 0 && d.Settled <= 10 {
				t.Errorf("segments %d are removed, and %d records settled", s.removed, d.Settled-1)
			}
			if batch[len(batch)-1].Seq == 40 {
				return delivery.Result{Accepted: len(batch)}, nil
			}
			return delivery.Result{Accepted: 1}, nil
		}
		run(t, d)
		if len(batches) < 2 || batches[0] != [2]uint64{1, 30} || batches[1][0] != 2 || d.Delivered != 40 {
			t.Errorf("got batches %d, want records of three segments in the first one", batches)
		}
	})
}

// TestDeliveryWithoutADestination leaves the segments that are complete: they
// are kept, and their memory is not needed any more.
func TestDeliveryWithoutADestination(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		first := s.grow(t, 10, 100)
		harm(3)(first.Live.Bytes())
		s.grow(t, 5, 100)
		s.close()
		d := newChain(t, s, nil)
		run(t, d)
		if len(s.Links) != 2 || len(s.removed) != 0 || first.Live != nil || first.End != 11 || first.Waiting != 0 || d.Settled != 1 || d.Dropped != (segment.Tally{}) {
			t.Errorf("got %d segments, the first one with %d lines, mapped %v", len(s.Links), first.End-1, first.Live != nil)
		}
	})
}

// TestRecordsLeftInMemoryAreCounted closes a spool in memory whose destination
// is down.
func TestRecordsLeftInMemoryAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		s.grow(t, 30, 1000)
		s.grow(t, 20, 1000)
		s.close()
		ctx, stop := context.WithCancel(t.Context())
		p := scripted([]answer{{5, nil}, {0, errDown}, {0, errDown}, {0, errDown}}, func([]nib.Record) {})
		d := newChain(t, s, &p)
		d.Options.Context = ctx
		d.Options.Tick = time.Second
		time.AfterFunc(700*time.Millisecond, stop)
		run(t, d)
		lost := d.Dropped[segment.CauseClosed][level.Row(int(nib.LevelWarn))]
		if lost != 45 || d.Delivered != 5 || d.Settled != 51 || d.LinesLeft != 45 || !d.outage.since.IsZero() {
			t.Errorf("got %d delivered, %d lost, %d settled, left %d, want 5, 45, 50 and 45", d.Delivered, lost, d.Settled-1, d.LinesLeft)
		}
	})
}

// TestSleep sleeps until there is something to do: a record that was written
// before Idle is set is noticed, and no writer has to wake the delivery.
func TestSleep(t *testing.T) {
	const never = time.Hour
	for _, c := range []struct {
		name    string
		prepare func(s *chainSpool, d *Delivery, stop func())
		takes   time.Duration
		idle    bool
	}{
		{"nothing to do", func(*chainSpool, *Delivery, func()) {}, never, true},
		{"woken before", func(_ *chainSpool, d *Delivery, _ func()) { d.Wake() }, 0, false},
		{"urged before", func(_ *chainSpool, d *Delivery, _ func()) { d.Urge() }, 0, false},
		{"woken", func(_ *chainSpool, d *Delivery, _ func()) { time.AfterFunc(time.Second, d.Wake) }, time.Second, true},
		{"woken twice", func(_ *chainSpool, d *Delivery, _ func()) { time.AfterFunc(time.Second, func() { d.Wake(); d.Wake() }) }, time.Second, true},
		{"a record", func(s *chainSpool, _ *Delivery, _ func()) { log(t, s.Links[0].Live, 10) }, linger, false},
		{"a record after a batch", func(s *chainSpool, d *Delivery, _ func()) { log(t, s.Links[0].Live, 10); d.want = BatchRecords }, linger, false},
		{"a record after more", func(s *chainSpool, d *Delivery, _ func()) { log(t, s.Links[0].Live, 10); d.want = BatchRecords + 1 }, shortLinger, false},
		{"sealed", func(s *chainSpool, _ *Delivery, _ func()) { s.Links[0].Live.Seal() }, linger, false},
		{"closed before", func(_ *chainSpool, _ *Delivery, stop func()) { stop() }, 0, false},
		{"closed", func(_ *chainSpool, _ *Delivery, stop func()) { time.AfterFunc(time.Second, stop) }, time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &chainSpool{}
			s.grow(t, 0, 0)
			d := newChain(t, s, &plain{})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			d.Options.Context, d.at = ctx, segment.HeaderSize
			c.prepare(s, d, stop)
			defer time.AfterFunc(never, stop).Stop()
			begin := time.Now()
			d.sleep()
			if took := time.Since(begin); took != c.takes || d.Options.Idle.Load() != c.idle {
				t.Errorf("%s: slept for %v, idle %v, want %v, %v", c.name, took, d.Options.Idle.Load(), c.takes, c.idle)
			}
		})
	}
}

// TestSlowWriterDelaysLaterRecords has a call that has claimed a record and not
// written it yet: later records wait for it.
func TestSlowWriterDelaysLaterRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		l := s.grow(t, 3, 100)
		slow := nib.Record{Line: []byte("slow")}
		size := segment.RecordSize(&slow, -1)
		at, seq, _ := l.Live.Reserve(size)
		log(t, l.Live, 100)
		s.next += 2
		s.close()
		var got []uint64
		p := scripted(nil, func(batch []nib.Record) {
			s.Lock()
			defer s.Unlock()
			for _, r := range batch {
				got = append(got, r.Seq)
			}
		})
		d := newChain(t, s, &p)
		time.AfterFunc(50*time.Millisecond, func() {
			s.Lock()
			defer s.Unlock()
			if len(got) != 3 {
				t.Errorf("got records %d before the slow one was written, want 3", got)
			}
			l.Live.Write(at, size, seq, &slow, -1)
		})
		run(t, d)
		if !slices.Equal(got, []uint64{1, 2, 3, 4, 5}) {
			t.Errorf("got records %d, want 5 in order", got)
		}
	})
}

// TestRejectedRecordsAreNotTraffic rejects some records of a batch, in no
// order.
func TestRejectedRecordsAreNotTraffic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		s.grow(t, 10, 100)
		s.close()
		p := plain{func(batch []nib.Record) (delivery.Result, error) {
			return delivery.Result{Accepted: len(batch), Rejected: []delivery.Rejection{{Index: 9}, {Index: 0}, {Index: 4}, {Index: 0}}}, nil
		}}
		d := newChain(t, s, &p)
		isWoken := woken(d.chain)
		run(t, d)
		row := level.Row(int(nib.LevelWarn))
		if d.Delivered != 7 || d.Traffic[row].Lines != 7 || d.Dropped[segment.CauseRejected][row] != 3 || d.Unsaved != 3 || !isWoken() {
			t.Errorf("got %d delivered, %+v in the metrics, %d rejected, %d of them not stored", d.Delivered, d.Traffic[row], d.Dropped[segment.CauseRejected][row], d.Unsaved)
		}
	})
}

// TestLongRecordsGetBatchesOfTheirOwn has records longer than the buffer, whose
// memory is not kept.
func TestLongRecordsGetBatchesOfTheirOwn(t *testing.T) {
	for _, overlaps := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := &chainSpool{}
			s.grow(t, 2, 20<<10)
			s.grow(t, 2, 20<<10)
			s.grow(t, 1, 100)
			s.close()
			sizes := map[int]int{}
			b := plain{func(batch []nib.Record) (delivery.Result, error) {
				sizes[len(batch)]++
				return delivery.Result{Accepted: len(batch)}, nil
			}}
			dest := delivery.Destination(&b)
			if overlaps {
				dest = &overlapping{plain: b}
			}
			d := newChain(t, s, dest)
			d.bufSize = 16 << 10
			d.buf, d.other = make([]byte, 0, d.bufSize), make([]byte, 0, d.bufSize)
			run(t, d)
			if sizes[1] != 5 || len(sizes) != 1 || cap(d.buf) > d.bufSize || d.Delivered != 5 {
				t.Errorf("overlaps %v: got batches %v (by length), and a buffer of %d bytes at the end", overlaps, sizes, cap(d.buf))
			}
		})
	}
}

// TestOffsetOfThePosition returns the offset in a segment of this process when
// all that was read from it is settled, and otherwise an earlier one.
func TestOffsetOfThePosition(t *testing.T) {
	s := &chainSpool{}
	s.grow(t, 10, oldSize)
	s.grow(t, 5, oldSize)
	d := newChain(t, s, &plain{})
	d.fill()
	check := func(name string, number uint64, wantAt int, wantSeq uint64) {
		t.Helper()
		if at, seq := d.settledIn(number); at != wantAt || seq != wantSeq {
			t.Errorf("%s: got offset %d and record %d in segment %d, want %d and %d", name, at, seq, number, wantAt, wantSeq)
		}
	}
	check("nothing is settled", 1, 0, 0)
	d.settleBatch(d.batch[:9], nil)
	check("one is not settled", 1, 0, 0)
	d.settleBatch(d.batch[9:], nil)
	check("all are settled", 1, recordAt(10), 11)
	check("another segment", 2, 0, 0)
	d.retain(nil)
	d.leave()
	check("left", 1, recordAt(10), 11)
	d.fill()
	d.settleBatch(d.batch, nil)
	check("the next one", 2, recordAt(5), 16)
	check("the one before", 1, 0, 0)
}

// TestRunWaitsForAnotherSegment has read everything, in a segment that is
// complete: the next one is delivered when it is there, and the end is noticed.
func TestRunWaitsForAnotherSegment(t *testing.T) {
	for _, end := range []string{"closed", "stopped"} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			s.Closed = false
			s.grow(t, 10, oldSize).Live.Seal()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			p := scripted(nil, func([]nib.Record) {})
			d := s.deliveryOf(t, &p, 0)
			d.opened, d.Recovered, d.Options.Context = 1, 0, ctx
			time.AfterFunc(time.Second, func() {
				s.grow(t, 5, oldSize).Live.Seal()
				d.Wake()
			})
			time.AfterFunc(time.Minute, func() {
				if s.Lock(); d.Delivered != 15 {
					t.Errorf("got %d records before the end, want 15", d.Delivered)
				}
				s.Unlock()
				if end == "stopped" {
					stop()
					return
				}
				s.close()
				d.Wake()
			})
			begin := time.Now()
			run(t, d)
			if took := time.Since(begin); took != time.Minute || d.Delivered != 15 || !slices.Equal(s.removed, []uint64{1}) {
				t.Errorf("%s: got %d records after %v, and segments %d removed", end, d.Delivered, took, s.removed)
			}
		})
	}
}

// TestLinesInMemoryOfACallInProgress closes a spool in memory while a call has
// not written its line yet: it counts as well, and lines in a file do not.
func TestLinesInMemoryOfACallInProgress(t *testing.T) {
	for _, files := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := newOldChain(t)
			g := s.grow(t, 5, oldSize).Live
			at, size, seq := claim(g)
			s.next++
			s.close()
			ctx, stop := context.WithCancel(t.Context())
			stop()
			time.AfterFunc(time.Second, func() { write(g, at, size, seq) })
			d := newChain(t, &s.chainSpool, &plain{})
			if files {
				d = s.deliveryOf(t, &plain{}, 0)
			}
			d.Options.Context = ctx
			run(t, d)
			var lost uint64
			for _, n := range d.Dropped[segment.CauseClosed] {
				lost += n
			}
			if want := map[bool]uint64{false: 6}[files]; lost != want || d.LinesLeft != want || d.Settled != want+1 || len(d.batch) != 0 {
				t.Errorf("files=%v: got %d lost and position %d, want %d", files, lost, d.Settled, want)
			}
			await.Sleep(time.Second)
		})
	}
}

// TestDestinationThatEndsItsGoroutine calls Goexit or panics with a value of
// its own while it delivers: delivery goes on in another goroutine.
func TestDestinationThatEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		s.grow(t, 10, oldSize)
		s.close()
		calls := 0
		p := scripted([]answer{{4, nil}}, func([]nib.Record) {
			if calls++; calls == 2 {
				runtime.Goexit()
			}
		})
		d := newChain(t, s, &p)
		begin := time.Now()
		run(t, d)
		if d.Delivered != 10 || d.Failures != 2 || calls != 3 || time.Since(begin) < d.Options.Tick/2 || !d.outage.since.IsZero() {
			t.Errorf("got %d records, %d failures and %d calls, want 10, 2 and 3", d.Delivered, d.Failures, calls)
		}
		if len(s.errors) != 1 || !strings.Contains(s.errors[0], ErrEnded.Error()) {
			t.Errorf("got errors %q", s.errors)
		}
	})
}
