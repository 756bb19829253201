// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nib-log/nib"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/seed"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
)

// A cursor is stored by a spool: the settled position, and the mark.
type cursor struct {
	settled uint64
	mark    []byte
}

// A life is a process with a spool that has the records up to last.
type life struct {
	t      testing.TB
	d      *Destination
	rng    *rand.Rand
	stored *cursor // the cursor on the disk
}

// run delivers from the position of the cursor, as a spool does, and stops at
// any point.
func (p *life) run(opened, last uint64, steps int) {
	now := *p.stored
	window := uint64(5 + p.rng.IntN(60))
	for now.settled < opened {
		n, err := p.d.Resume(p.t.Context(), p.stored.mark, records(7, now.settled+1, min(now.settled+window, opened)))
		if err != nil {
			if steps--; steps < 0 {
				return
			}
			continue
		}
		now.settled += uint64(n)
		now.mark = p.d.Mark()
		*p.stored = now
		if n == 0 {
			break
		}
	}
	now.mark = p.d.Mark()
	*p.stored = now
	for ; steps > 0 && now.settled < last; steps-- {
		ctx, cancel := context.WithCancel(p.t.Context())
		dies := steps == 1 && p.rng.IntN(2) == 0
		if dies {
			time.AfterFunc(time.Duration(p.rng.IntN(2000))*time.Microsecond, cancel)
		}
		res, _ := p.d.Deliver(ctx, records(7, now.settled+1, min(now.settled+window, last)))
		cancel()
		if len(res.Rejected) > 0 {
			p.t.Fatalf("rejected: %v", res.Rejected)
		}
		now.settled += uint64(res.Accepted)
		if dies {
			return // the position is not stored
		}
		if p.d.SyncMark() || res.Accepted > 0 {
			now.mark = p.d.Mark()
			*p.stored = now
		}
	}
}

// tens is a key that ten records share.
func tens(r *nib.Record) []byte {
	if r.Seq%50 < 10 {
		return nil
	}
	return fmt.Append(nil, r.Seq/10)
}

// Processes with any partitioning use a spool one after the other. Each dies at
// any point, and some of them find partitions that accept nothing, or accept
// records without a response. The last process delivers the rest: each record
// is there once.
func TestPartitioningChanges(t *testing.T) {
	seeds := uint64(100)
	if testing.Short() {
		seeds = 6
	}
	modes := []Config{{}, {Partitioning: PartitioningRoundRobin}, {Partitioning: PartitioningKeyed, Key: tens}}
	from := seed.Of(t)
	for n := range seeds {
		t.Run(fmt.Sprint(from+n), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(from+n, 45))
			c := start(t, 5)
			same := rng.IntN(3) // mostly one partitioning for all
			stored := cursor{}
			var opened, last uint64
			for n := 2 + rng.IntN(6); n >= 0; n-- {
				conf := modes[same]
				if rng.IntN(3) == 0 {
					conf = modes[rng.IntN(3)]
				}
				conf.MaxBatch, conf.DeliverTimeout, conf.TakeoverDelay = 300+rng.IntN(3000), 5*time.Millisecond, 10*time.Millisecond
				heal := func() {}
				if rng.IntN(3) > 0 {
					heal = c.Fault(kfake.Fault{
						Keys: produce(), Topic: logs, Partitions: []int32{rng.Int32N(5), rng.Int32N(5)}, Count: -1,
						Err: []*kerr.Error{kerr.NotLeaderForPartition, kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut}[rng.IntN(3)],
					}).Remove
				}
				opened, last = last, last+uint64(rng.IntN(200))
				steps := 1 + rng.IntN(8)
				if n == 0 {
					heal()
					steps, conf.DeliverTimeout = 10000, time.Minute
				}
				p := life{t, dial(t, c, conf), rng, &stored}
				p.run(opened, last, steps)
				_ = p.d.Close()
				heal()
			}
			wantSpool(t, c, 7, last, false)
			if stored.settled != last {
				t.Errorf("settled: got %d records, want %d", stored.settled, last)
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", from+n)
		}
	}
}

// A copy of a spool's directory, which has a different id, is not the producer
// of the original, and does not count records of the original as its own.
func TestCopyOfASpoolIsAnotherProducer(t *testing.T) {
	c := start(t, 1)
	original := dial(t, c, Config{})
	deliver(t, original, records(7, 1, 10))
	mark := original.Mark()
	deliver(t, original, records(7, 11, 20))
	clone := dial(t, c, Config{})
	if rest := resume(t, clone, mark, records(8, 11, 20)); len(rest) != 10 {
		t.Errorf("left: got %d records, want 10", len(rest))
	}
	for n := uint64(11); n < 31; n += 10 { // both continue
		deliver(t, clone, records(8, n, n+9))
		deliver(t, original, records(7, n+10, n+19))
	}
	if got := len(read(t, c, logs)); got != 60 {
		t.Errorf("got %d records, want 60", got)
	}
	if readMark(t, clone.Mark()).current == readMark(t, original.Mark()).current {
		t.Error("both are one producer")
	}
	if s := clone.Stats(); s.Failures > 0 {
		t.Errorf("Stats of the copy: %+v", s)
	}
}
