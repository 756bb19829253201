// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// An eager is a far that is a delivery.Overlapper.
type eager struct{ *far }

func (eager) Overlap() {}

// maybeEager returns f, or at random f as a delivery.Overlapper.
func maybeEager(f *far, rng *rand.Rand) delivery.Destination {
	if rng.IntN(2) == 0 {
		return f
	}
	return eager{f}
}

// sized is a delivery.Batcher.
type sized struct {
	eager
	records, bytes int
}

func (s sized) BatchSize() (records, bytes int) { return s.records, s.bytes }

// follow checks that each batch begins with the unsettled records of the
// previous one, and is within the batch size.
type follow struct {
	t       *testing.T
	records int
	bytes   int
	next    uint64
	rest    []uint64
	most    int // bytes in a batch
	longest int // records after a rest
}

func (f *follow) look(batch []nib.Record) {
	size := 0
	for i, r := range batch {
		size += segment.RecordHead + len(r.Line)
		switch {
		case i < len(f.rest) && r.Seq != f.rest[i]:
			f.t.Errorf("record %d of a batch: got number %d, want %d of the batch before", i, r.Seq, f.rest[i])
		case i > 0 && r.Seq != batch[i-1].Seq+1, i == 0 && r.Seq != f.next+1:
			f.t.Errorf("record %d of a batch: number %d does not follow", i, r.Seq)
		}
	}
	if len(batch) < len(f.rest) || len(batch) > f.records || size > f.bytes && len(batch) > 1 {
		f.t.Errorf("got %d records of %d bytes behind %d, want at most %d of %d", len(batch), size, len(f.rest), f.records, f.bytes)
	}
	if len(f.rest) > 0 {
		f.longest = max(f.longest, len(batch)-len(f.rest))
	}
	f.most = max(f.most, size)
}

// settled notes the result of a batch, which may have been overwritten since.
func (f *follow) settled(seqs []uint64, n int, whole bool) {
	f.rest = nil
	if n > 0 {
		f.next = seqs[n-1]
	}
	if !whole {
		f.rest = seqs[n:]
	}
}

func seqsOf(batch []nib.Record) (seqs []uint64) {
	for _, r := range batch {
		seqs = append(seqs, r.Seq)
	}
	return seqs
}

// moody makes a destination that takes some of each batch, fails or panics,
// from start on.
func (f *follow) moody(mood *rand.Rand, start <-chan struct{}) func(context.Context, []nib.Record) (delivery.Result, error, bool) {
	return func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		<-start
		f.look(batch)
		seqs, n := seqsOf(batch), mood.IntN(len(batch)+1)
		switch mood.IntN(8) {
		case 0:
			f.settled(seqs, 0, false)
			clear(batch)
			return delivery.Result{}, errDown, true
		case 1:
			f.settled(seqs, 0, false)
			panic("no")
		case 2:
			f.settled(seqs, n, false)
			return delivery.Result{Accepted: n}, errDown, false
		}
		f.settled(seqs, n, n == len(batch))
		return delivery.Result{Accepted: n}, nil, false
	}
}

// TestOverlappingBatchesArriveOnceAndInOrder has a destination that accepts
// random parts of batches, fails and panics: each line arrives once and in
// order, wherever segments end.
func TestOverlappingBatchesArriveOnceAndInOrder(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		behind, spans := 0, 0
		for seed := range uint64(seed.Times(50, 12, 12)) {
			rng, mood := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(seed, 2))
			f := &far{}
			w := &follow{t: t, records: 1 + rng.IntN(2000), bytes: segment.MinSize << rng.IntN(3)}
			start := make(chan struct{})
			f.set(w.moody(mood, start))
			sub := dir
			if dir != "" {
				sub = fmt.Sprintf("%s%d", dir, seed)
			}
			s := open(t, sub, sized{eager{f}, w.records, w.bytes},
				Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize, tick: time.Microsecond, OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
			var want [][]byte
			for n := range 3000 {
				r := record(nib.LevelInfo, n, 20+rng.IntN(300))
				if rng.IntN(200) == 0 {
					r = record(nib.LevelInfo, n, rng.IntN(segment.MinSize-segment.HeaderSize-segment.RecordHead))
				}
				want = append(want, r.Line)
				must(t, s.WriteRecord(r))
				if n == 1500 {
					close(start)
				}
			}
			must(t, s.Flush(context.Background()), s.Close())
			got := f.take()
			if len(got) != len(want) {
				t.Fatalf("seed %d: got %d lines, want %d", seed, len(got), len(want))
			}
			for i := range want {
				if !bytes.Equal(got[i], want[i]) {
					t.Fatalf("seed %d, line %d: got %.40q, want %.40q", seed, i, got[i], want[i])
				}
			}
			if w.most > segment.MinSize {
				spans++
			}
			behind = max(behind, w.longest)
		}
		if testing.Short() {
			return // a few seeds may have neither
		}
		// If they are written, the later segments are read as files.
		if behind < 100 || spans == 0 && !testWritten {
			t.Errorf("at most %d records came behind a rest, and %d spools had batches of more than a segment", behind, spans)
		}
	})
}

// TestOverlapEndsInBetween closes a spool while a part of a batch is settled
// and the rest is in flight: the rest, with the records read after it, is
// delivered after the next start.
func TestOverlapEndsInBetween(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		const lines = 2000
		f, full := &far{}, make(chan struct{})
		taken := 0
		f.set(func(ctx context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			<-full
			if taken < lines/2 {
				n := min(200, len(batch))
				taken += n
				return delivery.Result{Accepted: n}, nil, false
			}
			<-ctx.Done()
			return delivery.Result{}, ctx.Err(), true
		})
		s := open(t, dir, eager{f}, Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize, Drain: time.Millisecond})
		for n := range lines {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
		}
		close(full)
		for s.Stats().Delivered < lines/2 {
			s.chain.poke()
		}
		if err := s.Close(); !errors.Is(err, ErrPending) {
			t.Errorf("Close: got %v, want ErrPending", err)
		}
		delivered := int(checkIdentity(t, s).Delivered)
		checkLines(t, f.take(), 0, delivered, 100)
		if dir == "" {
			return
		}
		f.set(nil)
		s = open(t, dir, eager{f}, Config{SegmentSize: segment.MinSize})
		must(t, s.Flush(context.Background()))
		checkLines(t, f.take(), delivered, lines, 100)
	})
}

// TestOverlapKeepsWhatIsNotSettled drops the oldest lines while a destination
// that has read ahead hangs: the lines read ahead arrive, in order, and the
// dropped ones are counted.
func TestOverlapKeepsWhatIsNotSettled(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		f, full, moved := &far{}, make(chan struct{}), make(chan struct{}, 10)
		calls := 0
		f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			if calls++; calls == 2 {
				moved <- struct{}{}
				<-full
			}
			return delivery.Result{Accepted: (len(batch) + 1) / 2}, nil, false
		})
		s := open(t, dir, sized{eager{f}, 10_000, 4 * segment.MinSize}, Config{SegmentSize: segment.MinSize, Size: 16 * segment.MinSize,
			OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}})
		n := 0
		for ; n < 600; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		<-moved
		for ; n < 4700; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
		}
		close(full)
		must(t, s.Flush(context.Background()))
		st := checkIdentity(t, s)
		got := uint64(len(f.take()))
		i := slices.IndexFunc(st.Dropped, func(x delivery.Drop) bool { return x.Level == nib.LevelInfo })
		if i < 0 || st.Dropped[i] != (delivery.Drop{Reason: delivery.ReasonOldest, Level: nib.LevelInfo, Lines: 4700 - got}) {
			t.Errorf("%d lines arrived: %+v", got, st)
		}
		for i := 1; i < len(f.seqs); i++ {
			if f.seqs[i] <= f.seqs[i-1] {
				t.Fatalf("number %d after %d", f.seqs[i], f.seqs[i-1])
			}
		}
	})
}

// TestOverlapFailedIsGivenMore has a destination that accepts a line only when
// it has got the next one.
func TestOverlapFailedIsGivenMore(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		f, failed := &far{}, make(chan struct{}, 1)
		f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
			if len(batch) == 1 && batch[0].Seq == 1 {
				select {
				case failed <- struct{}{}:
				default:
				}
				return delivery.Result{}, errDown, true
			}
			return delivery.Result{Accepted: len(batch)}, nil, false
		})
		s := open(t, dir, eager{f}, Config{SegmentSize: segment.MinSize, tick: time.Microsecond})
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		<-failed
		must(t, s.WriteRecord(record(nib.LevelInfo, 1, 100)))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		must(t, s.Flush(ctx), s.Close())
		checkLines(t, f.take(), 0, 2, 100)
	})
}

// TestOverlapFillsBothHalves fills both buffers of a batch repeatedly.
func TestOverlapFillsBothHalves(t *testing.T) {
	f, full := &far{}, make(chan struct{})
	large := 0
	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		<-full
		if len(batch) > segment.MinSize/(segment.RecordHead+100) {
			large++
		}
		return delivery.Result{Accepted: (len(batch) + 1) / 2}, nil, false
	})
	s := open(t, "", sized{eager{f}, 10_000, 2 * segment.MinSize}, Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize})
	for n := range 10_000 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
	}
	close(full)
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, 10_000, 100)
	if large < 10 {
		t.Errorf("%d batches were larger than a half", large)
	}
}
