// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"time"

	"github.com/nib-log/nib"
	"github.com/twmb/franz-go/pkg/kgo"
)

// BatchSize returns the preferred maximum number of records and bytes of a
// batch: enough for several concurrent requests, so that the brokers work while
// the next batch is built.
func (d *Destination) BatchSize() (records, bytes int) { return 64 << 10, 8 << 20 }

// Overlap lets Deliver return while part of its batch is in flight, with the
// records settled so far. The caller passes the rest again at the beginning of
// the next batch, so the brokers work while that batch is built. It is for the
// spool, which calls it before any other method.
func (d *Destination) Overlap() { d.overlaps = true }

// ready ensures that the partitions and their leaders are known.
func (d *Destination) ready(ctx context.Context) error {
	if d.lanes != nil && !d.stale {
		return nil
	}
	l, err := d.cluster.lookup(ctx, d.cluster.topic)
	if err != nil {
		return err
	}
	if len(l.leaders) < len(d.lanes) || l.id != d.id {
		d.forget(ctx) // a different topic with the same name
	}
	d.id = l.id
	if d.lanes == nil {
		d.lanes = make([]*lane, len(l.leaders))
		for i := range d.lanes {
			d.lanes[i] = newLane(d, d.cluster.topic, int32(i))
			d.lanes[i].enc.transactional = d.c.TransactionalID != ""
		}
	}
	for i, lane := range d.lanes {
		lane.leader = l.leaders[i]
	}
	d.stale = false
	return nil
}

// serve begins with records of another spool, in the partition of the one
// before. They are sent by a producer of their own, which the mark has before
// that: a mark of another spool means that none of them was sent.
func serve(ctx context.Context, d *Destination, spool uint64) {
	before := d.spool
	d.spool = spool
	if before == 0 {
		return
	}
	d.searches.spool, d.searches.partition = spool, d.homeLane(before).partition
	d.mark.spread, d.searches.highest = d.c.partitioning() != perSpool, 0
	d.tx.fence, d.storing.needed = true, true // a transaction begins with a mark, too
	if d.c.TransactionalID != "" {
		return
	}
	d.shared, d.mark.senders = noProducer, senders{current: noProducer, previous: -1}
	for _, l := range d.lanes {
		l.await(ctx) // only of records that the caller has given up
		l.queue = nil
		l.known, l.adopted, l.taken = false, false, time.Time{}
	}
}

// forget ends the lanes. Records in flight are sent again.
func (d *Destination) forget(ctx context.Context) {
	for _, l := range d.lanes {
		l.await(ctx)
	}
	for i := range d.states {
		d.states[i].sent = false
	}
	d.lanes, d.mark.place = nil, nowhere
}

// assign determines which records of the batch are settled, and distributes the
// rest to lanes.
func (d *Destination) assign(batch []nib.Record) {
	for _, l := range d.lanes {
		l.todo = l.todo[:0]
	}
	for i := range batch {
		if d.states[i].settled || d.states[i].sent {
			continue
		}
		r := &batch[i]
		l := d.laneOf(r)
		if d.isSettled(r) || d.dead.has(r) {
			d.states[i].settled = true
			continue
		}
		if p, at := l.pending(r); p != nil {
			p.index[at], d.states[i].sent = i, true
			continue
		}
		l.todo = append(l.todo, i)
	}
}

// laneOf chooses the partition of a record.
func (d *Destination) laneOf(r *nib.Record) *lane {
	n := uint64(len(d.lanes))
	switch d.c.partitioning() {
	case keyed:
		if key := d.c.key(r); key != nil {
			return d.lanes[d.partitionOf(key)]
		}
	case roundRobin:
		if r.Seq == 0 {
			d.choice.turn++
			return d.lanes[d.choice.turn%n]
		}
		return d.lanes[r.Seq%n]
	}
	return d.homeLane(r.Spool)
}

// clientPartitioner chooses partitions as Kafka's clients do.
var clientPartitioner = kgo.StickyKeyPartitioner(nil).ForTopic("")

// partitionOf returns the partition of a key, which is not nil.
func (d *Destination) partitionOf(key []byte) int {
	d.choice.keyed.Key = key
	defer func() { d.choice.keyed.Key = nil }()
	return clientPartitioner.Partition(&d.choice.keyed, len(d.lanes))
}

// homeLane returns the lane of the partition of a spool.
func (d *Destination) homeLane(spool uint64) *lane {
	if d.searches.spool == spool && int(d.searches.partition) < len(d.lanes) {
		return d.lanes[d.searches.partition]
	}
	return d.lanes[homeOf(spool, uint64(len(d.lanes)))]
}

// homeOf maps the ids of spools to n partitions.
func homeOf(spool, n uint64) uint64 { return spool * 0x9e3779b97f4a7c15 >> 32 % n }

// key returns the key of a record, nil if Config.Key panics: otherwise no
// record after this one would be delivered.
func (c *Config) key(r *nib.Record) (key []byte) {
	if c.Key == nil {
		return nil
	}
	defer func() { _ = recover() }() // after a panic, the record has no key
	return c.Key(r)
}

// isSettled reports whether a record is known to have been settled before.
func (d *Destination) isSettled(r *nib.Record) bool {
	if d.laneOf(r).settled(r) {
		return true
	}
	if r.Seq > d.searches.highest {
		return false
	}
	for _, l := range d.lanes { // partitions were chosen in another way
		if l.has(r) {
			return true
		}
	}
	return false
}
