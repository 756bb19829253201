// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/seed"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
)

// A cursor is stored by a spool: the settled position, and the mark.
type cursor struct {
	settled uint64
	mark    []byte
}

// A history is the spools of the processes with a directory, and the last
// record that each of them has accepted.
type history []struct{ spool, last uint64 }

// batch returns records from first to last, at most, of one spool.
func (h history) batch(first, last uint64) []nib.Record {
	for _, p := range h {
		if first <= p.last {
			return records(p.spool, first, min(last, p.last))
		}
	}
	return nil
}

func (h history) last() uint64 {
	if len(h) == 0 {
		return 0
	}
	return h[len(h)-1].last
}

// A backup is what was saved of a directory, and the records that were waiting
// in a backup when it was restored.
type backup struct {
	cursor
	history
	waiting map[string]bool
}

// saveOrRestore does one of these, or nothing.
func (b *backup) saveOrRestore(rng *rand.Rand, h history, stored *cursor) history {
	switch rng.IntN(3) {
	case 0:
		b.cursor, b.history = *stored, slices.Clone(h)
	case 1:
		if b.history == nil {
			return h
		}
		h, *stored = slices.Clone(b.history), b.cursor
		for n := stored.settled + 1; n <= h.last(); n++ {
			b.waiting[nameOf(&h.batch(n, n)[0])] = true
		}
	}
	return h
}

// A life is a process with the directory of a spool.
type life struct {
	history
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
		batch := p.batch(now.settled+1, min(now.settled+window, opened))
		n, err := p.d.Resume(p.t.Context(), p.stored.mark, batch)
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
		batch := p.batch(now.settled+1, min(now.settled+window, last))
		res, _ := p.d.Deliver(ctx, batch)
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

// nameOf returns the identity of a record as in its headers.
func nameOf(r *nib.Record) string { return fmt.Sprintf("%016x %d", r.Spool, r.Seq) }

// check requires that the topic has each record once, or more often if it was
// waiting in a backup.
func (h history) check(t *testing.T, c *kfake.Cluster, waiting map[string]bool) {
	t.Helper()
	got := map[string]int{}
	for _, m := range read(t, c, logs) {
		got[m.Headers["spool"]+" "+m.Headers["seq"]]++
	}
	for n, all := uint64(1), h.last(); n <= all; n++ {
		if name := nameOf(&h.batch(n, n)[0]); got[name] == 0 {
			t.Errorf("record %s is lost", name)
		}
	}
	for name, n := range got {
		if n > 1 && !waiting[name] {
			t.Errorf("record %s is there %d times", name, n)
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

// A counting listener counts the open connections of the broker, which closes
// one when all requests of a client that has closed it are read.
type counting struct {
	net.Listener
	open *atomic.Int64
}

func (l counting) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.open.Add(1)
	return &counted{Conn: conn, closed: sync.OnceFunc(func() { l.open.Add(-1) })}, nil
}

type counted struct {
	net.Conn
	closed func()
}

func (c *counted) Close() error {
	defer c.closed()
	return c.Conn.Close()
}

// Processes with any partitioning use a spool one after the other. Each dies at
// any point, and some of them find partitions that accept nothing, or accept
// records without a response. The last process delivers the rest: each record
// is there once. The same with directories that are restored from a backup
// between two processes: then the records that were waiting in the backup may
// be there more often, and no other.
func TestPartitioningChanges(t *testing.T) {
	seeds := uint64(seed.Times(300, 30, 3))
	modes := []Config{{}, {RoundRobin: true}, {Key: tens}}
	from := seed.Of(t)
	for n := range seeds {
		t.Run(fmt.Sprint(from+n), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(from+n, 45))
			var connections atomic.Int64
			c := start(t, 5, kfake.ListenFn(func(network, address string) (net.Listener, error) {
				l, err := net.Listen(network, address)
				return counting{l, &connections}, err
			}))
			same := rng.IntN(3) // mostly one partitioning for all
			stored, saved := cursor{}, backup{waiting: map[string]bool{}}
			restores := rng.IntN(2) == 0
			var h history
			var opened uint64
			for n := 2 + rng.IntN(6); n >= 0; n-- {
				conf := modes[same]
				if rng.IntN(3) == 0 {
					conf = modes[rng.IntN(3)]
				}
				conf.MaxBatch = 300 + rng.IntN(3000)
				heal := func() {}
				if rng.IntN(3) > 0 {
					heal = c.Fault(kfake.Fault{
						Keys: produce(), Topic: logs, Partitions: []int32{rng.Int32N(5), rng.Int32N(5)}, Count: -1,
						Err: []*kerr.Error{kerr.NotLeaderForPartition, kerr.NotEnoughReplicasAfterAppend, kerr.RequestTimedOut}[rng.IntN(3)],
					}).Remove
				}
				if restores {
					h = saved.saveOrRestore(rng, h, &stored)
				}
				opened = h.last()
				last := opened + uint64(rng.IntN(200))
				h = append(h, struct{ spool, last uint64 }{rng.Uint64() | 1, last})
				steps := 1 + rng.IntN(8)
				if n == 0 {
					heal()
					steps = 10000
				}
				p := life{h, t, dial(t, c, conf), rng, &stored}
				p.run(opened, last, steps)
				_ = p.d.Close()
				await.Until(t, "the broker has read all requests", func() bool {
					return connections.Load() == 0
				})
				heal()
			}
			h.check(t, c, saved.waiting)
			if stored.settled != h.last() {
				t.Errorf("settled: got %d records, want %d", stored.settled, h.last())
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
