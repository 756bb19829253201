// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"slices"
	"testing"

	"github.com/nib-log/nib"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A caller that stores marks has stored the mark of a new producer before that
// producer sends anything.
func TestMarkOfANewProducerIsStoredFirst(t *testing.T) {
	for _, conf := range []Config{{}, {RoundRobin: true}, {TransactionalID: "tx"}} {
		c := start(t, 3)
		sent := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Observe: true, Count: -1})
		d := dial(t, c, conf)
		empty := d.Mark()
		if m := readMark(t, empty); (m.mode == 2) != conf.RoundRobin || m.mode == 1 {
			t.Errorf("before the first Deliver: got %+v", m)
		}
		if d.SyncMark() {
			t.Error("SyncMark before the first Deliver")
		}
		if res, err := d.Deliver(t.Context(), records(7, 1, 10)); res.Accepted != 0 || err != nil || sent.Hits() > 0 {
			t.Errorf("the first Deliver: got %+v, %v, %d requests; want nothing", res, err, sent.Hits())
		}
		if !d.SyncMark() || d.SyncMark() {
			t.Error("SyncMark: want it once")
		}
		if m := readMark(t, d.Mark()); m.current.id < 0 || m.any {
			t.Errorf("mark: got %+v", m)
		}
		deliver(t, d, records(7, 1, 10))
		if d.SyncMark() {
			t.Error("SyncMark after the producer was stored")
		}
		wantSpool(t, c, 7, 10, false)
	}
}

// A process is killed while its very first request is in flight: the next
// process does not wait for it, and it does no harm.
func TestFirstRequestIsLate(t *testing.T) {
	for _, lateFirst := range []bool{true, false} {
		c := start(t, 1)
		before := dial(t, c, Config{})
		_ = before.Mark()
		if _, err := before.Deliver(t.Context(), records(7, 1, 10)); err != nil || !before.SyncMark() {
			t.Fatalf("the first Deliver: %v", err)
		}
		mark := before.Mark()
		release := dieDuring(t, c, before, records(7, 1, 10))
		after := dial(t, c, Config{TakeoverDelay: testTimeout}) // a wait would fail the test
		rest := resume(t, after, mark, records(7, 1, 20))
		if len(rest) != 20 {
			t.Fatalf("left: got %d records, want 20", len(rest))
		}
		if lateFirst {
			release()
			for end(t, c) < 10 {
			}
		}
		deliver(t, after, rest)
		release()
		deliver(t, after, records(7, 21, 30))
		wantExactly(t, c, 1, 30)
	}
}

// A refused record is missing among those that a search finds: it is refused
// and counted again, and the others are not sent again.
func TestResumeFindsAHole(t *testing.T) {
	for _, hole := range []uint64{11, 15, 20} {
		c := start(t, 1)
		refuse(c, true, hole)
		before := dial(t, c, Config{})
		deliver(t, before, records(7, 1, 10))
		mark := before.Mark()
		if got := deliver(t, before, records(7, 11, 20)); len(got) != 1 {
			t.Fatalf("rejected: %v", got)
		}
		after := dial(t, c, Config{})
		rest := resume(t, after, mark, records(7, 11, 30))
		if len(rest) == 0 || rest[0].Seq != hole {
			t.Fatalf("left: got %d records, want all from %d", len(rest), hole)
		}
		if got := deliver(t, after, rest); len(got) != 1 || got[0].Index != 0 {
			t.Errorf("rejected: got %v, want the first", got)
		}
		want := slices.DeleteFunc(records(7, 1, 30), func(r nib.Record) bool { return r.Seq == hole })
		got := numbers(t, read(t, c, logs))
		for i, n := range got {
			if i >= len(want) || n != want[i].Seq {
				t.Fatalf("got %v", got)
			}
		}
		if s := after.Stats(); len(got) != len(want) || s.Present != 9 || s.Records != 10 {
			t.Errorf("got %v, %+v", got, s)
		}
	}
}

// If the previous process used another partitioning, the next one searches all
// partitions until everything found is settled.
func TestSpreadEndsWhenAllIsSettled(t *testing.T) {
	c := start(t, 3)
	before := dial(t, c, Config{RoundRobin: true})
	deliver(t, before, records(7, 1, 30))
	after := dial(t, c, Config{})
	window := records(7, 11, 20)
	if n, err := after.Resume(t.Context(), before.Mark(), window); n != 10 || err != nil {
		t.Fatalf("Resume: got %d, %v", n, err)
	}
	if m := readMark(t, after.Mark()); !m.spread || m.mode != 0 {
		t.Errorf("10 of 20 settled: got %+v; want it spread", m)
	}
	if n, err := after.Resume(t.Context(), nil, records(7, 21, 30)); n != 10 || err != nil {
		t.Fatalf("Resume: got %d, %v", n, err)
	}
	m := readMark(t, after.Mark())
	deliver(t, after, records(7, 31, 31))
	for _, r := range read(t, c, logs) {
		if r.Headers["seq"] == "31" && (m.spread || m.partition != r.Partition) {
			t.Errorf("all settled: got %+v; want the place in partition %d", m, r.Partition)
		}
	}
}

// A process gets another producer after a delivery, and is killed while its
// first request is in flight. The next process continues as that producer, from
// its first sequence on.
func TestProducerIsReplaced(t *testing.T) {
	for _, lateFirst := range []bool{true, false} {
		c := start(t, 1)
		before := dial(t, c, Config{})
		_ = before.Mark()
		deliver(t, before, records(7, 1, 10))
		old := readMark(t, before.Mark()).current
		c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Topic: logs, Err: kerr.UnknownProducerID, Count: 1})
		res := deliverUntil(t, before, records(7, 11, 20), nil)
		if res.Accepted != 0 || !before.SyncMark() {
			t.Fatalf("got %+v, want that the mark is stored first", res)
		}
		mark := before.Mark()
		if m := readMark(t, mark); !m.has(old.id) || m.current == old || m.any || m.sequence != 0 {
			t.Errorf("got %+v, want both producers, and the sequence of the new one", m)
		}
		release := dieDuring(t, c, before, records(7, 11, 20))
		after := dial(t, c, Config{TakeoverDelay: testTimeout})
		rest := resume(t, after, mark, records(7, 11, 20))
		if len(rest) != 10 {
			t.Fatalf("left: got %d records, want 10", len(rest))
		}
		if lateFirst {
			release()
			awaitEnd(t, c, Config{})
		}
		deliver(t, after, rest)
		release()
		deliver(t, after, records(7, 21, 30))
		wantExactly(t, c, 1, 30)
	}
}

// All producers that may have requests in flight stay in the mark until this
// process has delivered something.
func TestMarkKeepsProducersUntilADelivery(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	m := readMark(t, before.Mark())
	old, other := m.current, producer{1 << 40, 0}
	m.current, m.previous = other, old.id
	deliver(t, before, records(7, 11, 15))
	after := dial(t, c, Config{})
	rest := resume(t, after, m.encode(), records(7, 11, 20))
	if got := readMark(t, after.Mark()); !got.has(old.id) || !got.has(other.id) || got.any || len(rest) != 5 {
		t.Errorf("before a delivery: got %+v, %d records left", got, len(rest))
	}
	deliver(t, after, rest)
	if got := readMark(t, after.Mark()); !got.has(old.id) || got.has(other.id) {
		t.Errorf("after it: got %+v", got)
	}
	wantExactly(t, c, 1, 20)
}

// The mark has the sequence of an older batch, so the broker takes the new
// batch for the older one. The new batch is searched for, not found, and sent
// by another producer.
func TestSequenceOfAnOlderBatch(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	deliver(t, before, records(7, 11, 20))
	m := readMark(t, before.Mark())
	m.sequence = 10
	after := dial(t, c, Config{})
	rest := resume(t, after, m.encode(), records(7, 21, 30))
	_ = after.Mark()
	if res := deliverUntil(t, after, rest, nil); res.Accepted != 0 || !after.SyncMark() {
		t.Errorf("got %+v, want that the mark is stored first", res)
	}
	if got := readMark(t, after.Mark()); got.sequence != 0 || got.offset != m.offset || got.current.id < 0 || got.current == m.current || !got.has(m.current.id) {
		t.Errorf("mark: got %+v, want both producers, and the first sequence of the new one", got)
	}
	searches := after.Stats().Searches
	deliver(t, after, rest)
	deliver(t, after, records(7, 31, 40))
	if got := after.Stats().Searches; got != searches {
		t.Errorf("%d searches for the batches of a new producer", got-searches)
	}
	if got := readMark(t, after.Mark()); got.current.id < 0 || got.has(m.current.id) {
		t.Errorf("mark: got %+v, want the new producer only", got)
	}
	wantExactly(t, c, 1, 40)
}

// A request of a dead process with several partitions is executed after the
// next process has searched and delivered: in a partition that both write to it
// is out of sequence.
func TestLateRequestRoundRobin(t *testing.T) {
	c := start(t, 2)
	conf := Config{RoundRobin: true}
	before := dial(t, c, conf)
	deliver(t, before, records(7, 1, 30))
	mark := before.Mark()
	release := dieDuring(t, c, before, records(7, 31, 31)) // to partition 1 only
	after := dial(t, c, conf)
	rest := resume(t, after, mark, records(7, 31, 40))
	if len(rest) != 10 {
		t.Fatalf("left: got %d records, want 10", len(rest))
	}
	deliver(t, after, rest)
	release()
	deliver(t, after, records(7, 41, 60))
	wantSpool(t, c, 7, 60, false)
}

// Records of another program with the headers of a spool do not count as
// records of the spool, if the producer of the spool is known.
func TestRecordsOfAnotherProducer(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	deliver(t, dial(t, c, Config{}), records(7, 11, 15)) // a copy with the same headers
	after := dial(t, c, Config{})
	if rest := resume(t, after, mark, records(7, 11, 20)); len(rest) != 10 {
		t.Errorf("left: got %d records, want 10", len(rest))
	}
}

// A search within Deliver finds records of a dead process, and the context ends
// before Deliver reports them: the mark stays before them, so that the next
// process finds them, too.
func TestMarkStaysBeforeUnreportedRecords(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	release := dieDuring(t, c, before, records(7, 11, 20))
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	second := dial(t, c, Config{OnError: func(error) { cancel() }})
	rest := resume(t, second, mark, records(7, 11, 25))
	release()
	awaitEnd(t, c, Config{})
	if res, err := second.Deliver(ctx, rest); res.Accepted != 0 || err == nil {
		t.Fatalf("got %+v, %v; want nothing", res, err)
	}
	third := dial(t, c, Config{})
	deliver(t, third, resume(t, third, second.Mark(), records(7, 11, 25)))
	wantExactly(t, c, 1, 25)
}
