// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"slices"
	"testing"

	"github.com/nib-log/nib"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A caller that stores marks has stored that of a new producer before this sends anything.
func TestMarkOfANewProducerIsStoredFirst(t *testing.T) {
	for _, conf := range []Config{{}, {Partitioning: PartitioningRoundRobin}, {TransactionalID: "tx"}} {
		c := start(t, 3)
		sent := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Observe: true, Count: -1})
		d := dial(t, c, conf)
		empty := d.Mark()
		if p, ok := PartitioningOf(empty); p != conf.Partitioning || !ok {
			t.Errorf("before the first Deliver: got %v, %v", p, ok)
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
		m, ok := readMark(d.Mark(), d.sum(7))
		if !ok || m.senders.current == nobody || m.senders.any || m.senders.current != d.senders.current {
			t.Errorf("mark: got %+v, %v", m, ok)
		}
		deliver(t, d, records(7, 1, 10))
		if d.SyncMark() {
			t.Error("SyncMark after the producer was stored")
		}
		wantSpool(t, c, 7, 10, false)
	}
}

// A process is killed while its first request ever is under way: it is not waited for, and does no harm.
func TestFirstRequestIsLate(t *testing.T) {
	for _, lateFirst := range []bool{true, false} {
		c := start(t, 1)
		before := dial(t, c, Config{})
		_ = before.Mark()
		if _, err := before.Deliver(t.Context(), records(7, 1, 10)); err != nil || !before.SyncMark() {
			t.Fatalf("the first Deliver: %v", err)
		}
		mark := before.Mark()
		arrived, release := hold(c)
		ctx, cancel := context.WithCancel(t.Context())
		died := make(chan struct{})
		go func() {
			defer close(died)
			_, _ = before.Deliver(ctx, records(7, 1, 10))
		}()
		<-arrived
		cancel()
		<-died
		after := dial(t, c, Config{Quiet: patience}) // which would be noticed
		rest := resume(t, after, mark, records(7, 1, 20))
		if len(rest) != 20 {
			t.Fatalf("left: got %d records, want 20", len(rest))
		}
		if lateFirst {
			release()
			for end := int64(0); end < 10; {
				var err error
				if end, err = after.lanes[0].offsetAt(t.Context(), latest, asDebugger); err != nil {
					t.Fatal(err)
				}
			}
		}
		deliver(t, after, rest)
		release()
		deliver(t, after, records(7, 21, 30))
		wantExactly(t, c, 1, 30)
	}
}

// A record that was refused is missing between those that a search finds: it is refused, and counted, again, and the
// others are not sent again.
func TestResumeFindsAHole(t *testing.T) {
	c := start(t, 1)
	refuse(c, true, 15)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	if got := deliver(t, before, records(7, 11, 20)); len(got) != 1 {
		t.Fatalf("rejected: %v", got)
	}
	after := dial(t, c, Config{})
	rest := resume(t, after, mark, records(7, 11, 30))
	if len(rest) != 16 || rest[0].Seq != 15 {
		t.Fatalf("left: got %d records from %d, want 16 from 15", len(rest), rest[0].Seq)
	}
	if got := deliver(t, after, rest); len(got) != 1 || got[0].Index != 0 {
		t.Errorf("rejected: got %v, want the first", got)
	}
	want := slices.DeleteFunc(records(7, 1, 30), func(r nib.Record) bool { return r.Seq == 15 })
	got := numbers(t, read(t, c, logs))
	for i, n := range got {
		if i >= len(want) || n != want[i].Seq {
			t.Fatalf("got %v", got)
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v", got)
	}
}

// A service that was partitioned in another way stays so for its successor until all that was found is settled.
func TestSpreadEndsWhenAllIsSettled(t *testing.T) {
	c := start(t, 3)
	before := dial(t, c, Config{Partitioning: PartitioningRoundRobin})
	deliver(t, before, records(7, 1, 30))
	after := dial(t, c, Config{})
	window := records(7, 11, 20)
	if n, err := after.Resume(t.Context(), before.Mark(), window); n != 10 || err != nil {
		t.Fatalf("Resume: got %d, %v", n, err)
	}
	if m, ok := readMark(after.Mark(), after.sum(7)); !m.spread || m.mode != PartitioningPerSpool || !ok {
		t.Errorf("10 of 20 settled: got %+v, %v; want it spread", m, ok)
	}
	if n, err := after.Resume(t.Context(), nil, records(7, 21, 30)); n != 10 || err != nil {
		t.Fatalf("Resume: got %d, %v", n, err)
	}
	home := after.homeLane(7).partition
	if m, ok := readMark(after.Mark(), after.sum(7)); m.spread || m.place.partition != home || !ok {
		t.Errorf("all settled: got %+v, %v; want the place in partition %d", m, ok, home)
	}
}

// A process gets another producer after a delivery, and is killed while the first request of that is under way. Its
// successor goes on as that one, from its first sequence on.
func TestProducerIsReplaced(t *testing.T) {
	for _, lateFirst := range []bool{true, false} {
		c := start(t, 1)
		before := dial(t, c, Config{})
		_ = before.Mark()
		deliver(t, before, records(7, 1, 10))
		old := before.lanes[0].producer
		before.lanes[0].known = false // as when the broker has forgotten it
		if res, err := before.Deliver(t.Context(), records(7, 11, 20)); res.Accepted != 0 || err != nil || !before.SyncMark() {
			t.Fatalf("got %+v, %v; want that the mark is stored first", res, err)
		}
		mark := before.Mark()
		if m, _ := readMark(mark, before.sum(7)); !m.senders.has(old.id) || m.senders.current == old || m.senders.any || m.place.sequence != 0 {
			t.Errorf("got %+v, want both producers, and the sequence of the new one", m)
		}
		arrived, release := hold(c)
		ctx, cancel := context.WithCancel(t.Context())
		died := make(chan struct{})
		go func() {
			defer close(died)
			_, _ = before.Deliver(ctx, records(7, 11, 20))
		}()
		<-arrived
		cancel()
		<-died
		after := dial(t, c, Config{Quiet: patience})
		rest := resume(t, after, mark, records(7, 11, 20))
		if len(rest) != 10 {
			t.Fatalf("left: got %d records, want 10", len(rest))
		}
		if lateFirst {
			release()
			awaitEnd(t, after, c, Config{})
		}
		deliver(t, after, rest)
		release()
		deliver(t, after, records(7, 21, 30))
		wantExactly(t, c, 1, 30)
	}
}

// All producers that may have requests under way stay in the mark until this process has delivered something.
func TestMarkKeepsProducersUntilADelivery(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	m, _ := readMark(before.Mark(), before.sum(7))
	old, other := m.senders.current, producer{1 << 40, 0}
	m.senders.add(other)
	deliver(t, before, records(7, 11, 15))
	after := dial(t, c, Config{})
	rest := resume(t, after, m.append(nil, before.sum(7)), records(7, 11, 20))
	if got, _ := readMark(after.Mark(), after.sum(7)); !got.senders.has(old.id) || !got.senders.has(other.id) || got.senders.any || len(rest) != 5 {
		t.Errorf("before a delivery: got %+v, %d records left", got, len(rest))
	}
	deliver(t, after, rest)
	if got, _ := readMark(after.Mark(), after.sum(7)); !got.senders.has(old.id) || got.senders.has(other.id) {
		t.Errorf("after it: got %+v", got)
	}
	wantExactly(t, c, 1, 20)
}

// The sequence in a mark is that of an older batch, which the broker takes the new one for. It is read back, not found,
// and sent by another producer.
func TestSequenceOfAnOlderBatch(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	m, _ := readMark(before.Mark(), before.sum(7))
	m.place.sequence = 0
	after := dial(t, c, Config{})
	deliver(t, after, resume(t, after, m.append(nil, before.sum(7)), records(7, 11, 20)))
	deliver(t, after, records(7, 21, 30))
	wantExactly(t, c, 1, 30)
}

// A request of a dead process with several partitions is executed after its successor has searched, and delivered: in
// the partition that both write to it is out of sequence.
func TestLateRequestRoundRobin(t *testing.T) {
	c := start(t, 2)
	conf := Config{Partitioning: PartitioningRoundRobin}
	before := dial(t, c, conf)
	deliver(t, before, records(7, 1, 30))
	mark := before.Mark()
	arrived, release := hold(c)
	ctx, cancel := context.WithCancel(t.Context())
	died := make(chan struct{})
	go func() {
		defer close(died)
		_, _ = before.Deliver(ctx, records(7, 31, 31)) // to partition 1 only
	}()
	<-arrived
	cancel()
	<-died
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
