// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// overlapping makes a destination whose Deliver need not wait, with one record
// per request.
func overlapping(t testing.TB, c *kfake.Cluster, conf Config) *Destination {
	t.Helper()
	if conf.MaxBatch == 0 {
		conf.MaxBatch = 300
	}
	d := dial(t, c, conf)
	d.Overlap()
	return d
}

// stream delivers all as a spool does: each batch is the rest of the previous
// one followed by more records. step is called before each Deliver.
func stream(t testing.TB, d *Destination, all []nib.Record, window int, step func()) (partial int) {
	t.Helper()
	for done := 0; done < len(all); {
		step()
		batch := all[done:min(done+window, len(all))]
		res := deliverUntil(t, d, batch, nil)
		switch {
		case res.Accepted == 0 || len(res.Rejected) > 0:
			t.Fatalf("Deliver: got %+v", res)
		case res.Accepted < len(batch):
			partial++
		}
		done += res.Accepted
	}
	return partial
}

// holdFrom holds the n-th produce request, counted from 1, and those after it
// until release is called.
func holdFrom(c *kfake.Cluster, n int32) (release func()) {
	gate, count := make(chan struct{}), new(atomic.Int32)
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if count.Add(1) >= n {
			c.SleepControl(func() { <-gate })
		}
		return nil, nil, false
	})
	return sync.OnceFunc(func() { close(gate) })
}

// Deliver returns when a part is settled, while the rest is in flight, and the
// rest is not sent again.
func TestOverlap(t *testing.T) {
	c := start(t, 1)
	d := overlapping(t, c, Config{})
	release := holdFrom(c, 5)
	defer release()
	res, err := d.Deliver(t.Context(), records(7, 1, 8))
	if err != nil || res.Accepted == 0 || res.Accepted == 8 {
		t.Fatalf("got %+v, %v; want a part of 8 records", res, err)
	}
	release()
	deliver(t, d, records(7, uint64(res.Accepted)+1, 20))
	wantExactly(t, c, 1, 20)
	if got := d.Stats(); got.Records != 20 || got.Failures != 0 {
		t.Errorf("Stats: got %+v", got)
	}
}

// With several partitions, or in a transaction, Deliver waits for the whole
// batch.
func TestOverlapAwaitsAll(t *testing.T) {
	for _, conf := range seed.Some(t, 1, []Config{
		{RoundRobin: true}, {TransactionalID: "tx"},
	}) {
		c := start(t, 3)
		d := overlapping(t, c, conf)
		if n := stream(t, d, records(7, 1, 200), 50, func() {}); n > 0 {
			t.Errorf("%+v: Deliver returned %d times in between", conf, n)
		}
	}
}

// For all responses of brokers while requests are in flight, each record is
// there once and in order.
func TestOverlapErrors(t *testing.T) {
	partial, seeds, from := 0, uint64(seed.Times(100, 20, 2)), seed.Of(t)
	for n := range seeds {
		rng := rand.New(rand.NewPCG(from+n, 1))
		c := start(t, 1)
		d := overlapping(t, c, Config{MaxBatch: 300 + rng.IntN(2000)})
		partial += stream(t, d, records(7, 1, 1000), 20+rng.IntN(300), func() {
			if rng.IntN(2) > 0 {
				return
			}
			e := []*kerr.Error{
				kerr.UnknownServerError, kerr.NotLeaderForPartition, kerr.RequestTimedOut,
				kerr.NotEnoughReplicas, kerr.NotEnoughReplicasAfterAppend, kerr.OutOfOrderSequenceNumber,
				kerr.DuplicateSequenceNumber, kerr.UnknownProducerID, kerr.KafkaStorageError, kerr.ThrottlingQuotaExceeded,
			}[rng.IntN(10)]
			c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: e, Count: 1 + rng.IntN(3)})
		})
		wantExactly(t, c, 1, 1000)
		if t.Failed() {
			t.Fatalf("seed %d", from+n)
		}
	}
	if partial < 5*int(seeds) && !testing.Short() {
		t.Errorf("Deliver returned %d times in between", partial)
	}
}

// A leader accepts a batch with any sequence from a producer that it does not
// know, if the partition is not new. If the first batch of a producer is
// refused, those after it must not arrive instead.
func TestFirstBatchIsRefused(t *testing.T) {
	for _, e := range seed.Some(t, 1, []*kerr.Error{
		kerr.NotEnoughReplicas, kerr.UnknownProducerID, kerr.OutOfOrderSequenceNumber,
	}) {
		c := start(t, 1)
		deliver(t, dial(t, c, Config{}), records(7, 1, 10))
		d := overlapping(t, c, Config{})
		c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: e, Count: 1})
		stream(t, d, records(7, 11, 100), 20, func() {})
		wantExactly(t, c, 1, 100)
	}
}

// A Deliver whose context ends gives up the requests that another one has left
// in flight.
func TestOverlapContextEnds(t *testing.T) {
	c := start(t, 1)
	d := overlapping(t, c, Config{})
	release := holdFrom(c, 5)
	defer release()
	res, err := d.Deliver(t.Context(), records(7, 1, 8))
	must.Succeed(t, err)
	first := uint64(res.Accepted) + 1
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := d.Deliver(ctx, records(7, first, 12))
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context ended", err)
	}
	release()
	deliver(t, d, records(7, first, 6)) // fewer than were sent
	deliver(t, d, records(7, 7, 20))
	wantExactly(t, c, 1, 20)
}

// Close does not wait for requests in flight.
func TestOverlapClose(t *testing.T) {
	c := start(t, 1)
	d := overlapping(t, c, Config{})
	release := holdFrom(c, 5)
	defer release()
	if _, err := d.Deliver(t.Context(), records(7, 1, 8)); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if _, err := d.Deliver(t.Context(), records(7, 3, 8)); !errors.Is(err, delivery.ErrClosed) {
		t.Errorf("after Close: got %v", err)
	}
}

// A process dies while requests are in flight and no Deliver waits for them.
// They are executed before or after the search of the next process.
func TestOverlapKilled(t *testing.T) {
	for _, lateFirst := range []bool{true, false} {
		t.Run(fmt.Sprint(lateFirst), func(t *testing.T) {
			c := start(t, 1)
			before := overlapping(t, c, Config{})
			release := holdFrom(c, 7)
			defer release()
			res, err := before.Deliver(t.Context(), records(7, 1, 10))
			must.Succeed(t, err)
			mark, first := before.Mark(), uint64(res.Accepted)+1
			if m := readMark(t, mark); int(m.sequence) != res.Accepted {
				t.Errorf("mark: got sequence %d, want %d of the first record in flight", m.sequence, res.Accepted)
			}
			_ = before.Close()
			if lateFirst {
				release()
			}
			after := overlapping(t, c, Config{})
			rest := resume(t, after, mark, records(7, first, 14))
			release()
			deliver(t, after, rest)
			deliver(t, after, records(7, 15, 30))
			wantExactly(t, c, 1, 30)
		})
	}
}
