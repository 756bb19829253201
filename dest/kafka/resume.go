// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nib-log/nib"
)

// margin is the time before the oldest record at which a search by time begins:
// a goroutine that was suspended after it took the time of its line may have
// got a higher number than newer lines, and topics that set timestamps
// themselves use another clock.
const margin = time.Minute

// Resume returns how many leading records of batch an earlier process has
// delivered without storing that. It searches the topic for the spool and the
// numbers of batch, from the last recorded delivery to the end. It skips
// records of other producers if the mark has the producers of the spool.
//
// Without Key and RoundRobin it reads one partition and does not wait. Sending
// continues as the same producer, whose sequence numbers a broker accepts only
// once, so late requests of a killed process do no harm.
//
// With one of them, without a mark, or with a mark of another partitioning,
// records may be in any partition. Resume then waits for Config.TakeoverDelay
// and reads all partitions. It counts only the records that it has found as
// delivered, and fails while a partition cannot be read. With a TransactionalID
// it first fences the earlier process.
//
// Its duration depends on how much all producers have written since the mark,
// or, where it reads all partitions, since a minute before the oldest record of
// batch. ctx and Close interrupt it.
func (d *Destination) Resume(
	ctx context.Context, mark []byte, batch []nib.Record,
) (taken int, err error) {
	d.work.Lock()
	defer d.work.Unlock()
	if d.ctx.Err() != nil {
		return 0, errClosed
	}
	ctx, end := d.within(ctx)
	defer end()
	if len(batch) == 0 {
		return 0, nil
	}
	// A clock that was set back may have dated a later batch earlier.
	if earliest(batch)+margin.Milliseconds() < d.searches.since {
		if err := d.resume(ctx, mark, batch); err != nil {
			if d.stale = true; d.ended(ctx) == nil {
				d.failed(err)
			}
			return 0, err
		}
	}
	for taken < len(batch) && d.isSettled(&batch[taken]) {
		taken++
	}
	d.reported(batch[:taken])
	return taken, nil
}

// resume searches the topic.
func (d *Destination) resume(ctx context.Context, b []byte, batch []nib.Record) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	d.spool = batch[0].Spool
	m, _ := readMark(b, d.sum(d.spool)) // without a mark, records may be anywhere
	m.mode = d.c.partitioning()
	d.mark = m
	if d.c.TransactionalID != "" {
		if err := d.takeID(ctx); err != nil {
			return err
		}
	}
	if d.c.partitioning() != perSpool || m.place.partition < 0 ||
		int(m.place.partition) >= len(d.lanes) {
		d.mark.spread = true
	}
	if d.mark.spread {
		return d.searchAll(ctx, batch)
	}
	l := d.lanes[m.place.partition]
	l.offset = m.place.offset
	f, err := l.search(ctx, d.spool, batch[0].Seq, l.origin(batch))
	if err != nil {
		return err
	}
	d.searches.spool, d.searches.partition = d.spool, l.partition
	switch {
	case f.end <= m.place.offset: // it is a different partition
		l.offset = -1
	case m.senders.current != noProducer:
		l.adopt(m.senders.current, m.place.sequence)
	}
	l.pass(f)
	d.searches.since = 0
	return nil
}

// searchAll searches all partitions. Only the records found are settled: of the
// records in between, some partitions may have theirs and others not. Requests
// of a dead process in flight may concern any partition, so it waits for them.
func (d *Destination) searchAll(ctx context.Context, batch []nib.Record) error {
	if d.c.TransactionalID == "" {
		if err := d.c.awaitTakeover(ctx); err != nil {
			return err
		}
	}
	found, from := make([]finding, len(d.lanes)), earliest(batch)
	for i, l := range d.lanes {
		f, err := l.search(ctx, d.spool, batch[0].Seq, origin{-1, from})
		if err != nil {
			return err
		}
		found[i] = f
	}
	d.searches.since = from
	for i, l := range d.lanes {
		l.pass(found[i])
		if through := found[i].through; through > d.searches.highest {
			d.searches.highest = through
			if d.c.partitioning() == perSpool {
				d.searches.spool, d.searches.partition = d.spool, l.partition
			}
		}
	}
	return nil
}

// searches are the results of the searches for records of earlier processes.
type searches struct {
	// Records since that time, in Unix milliseconds, were searched for. It is
	// math.MaxInt64 at first.
	since int64

	spool     uint64 // a spool, and its partition if it is not the one of homeOf
	partition int32
	highest   uint64 // highest number found when all partitions were searched
}

// awaitTakeover waits until requests of a dead process should have been
// executed.
func (c *Config) awaitTakeover(ctx context.Context) error {
	select {
	case <-time.After(c.TakeoverDelay):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nib/kafka: wait for requests of an earlier process: %w",
			context.Cause(ctx))
	}
}

// earliest returns the time at which a search for batch begins.
func earliest(batch []nib.Record) int64 {
	t := int64(math.MaxInt64)
	for i := range batch {
		t = min(t, batch[i].Time)
	}
	return max(floorMilli(t)-margin.Milliseconds(), 0)
}

// adopt continues as an earlier producer.
func (l *lane) adopt(p producer, next int32) {
	if l.d.c.TransactionalID != "" {
		return
	}
	l.producer, l.known, l.adopted, l.next, l.taken = p, true, true, next, time.Time{}
}

// pass applies the result of a search.
func (l *lane) pass(f finding) {
	if f.offset < 0 {
		return
	}
	l.offset = f.offset
	l.adopt(f.producer, f.next)
	if len(f.numbers) == 0 {
		return
	}
	if l.serve(f.spool); l.present == nil {
		l.present = make(map[uint64]struct{}, len(f.numbers))
	}
	found := uint64(0)
	for _, n := range f.numbers {
		if !l.settled(&nib.Record{Spool: f.spool, Seq: n}) {
			found++
		}
		l.present[n] = struct{}{}
	}
	l.d.counters.add(func(s *Stats) { s.Present += found })
	if l.d.c.partitioning() == perSpool && !l.d.mark.spread { // the records are in order
		l.through = max(l.through, f.through)
		l.exactFrom, l.exactTo = f.from, f.through
		if f.deleted { // those before the first one found were sent
			l.exactFrom = slices.Min(f.numbers)
		}
	}
}

// origin returns where to search for records that may have been sent: after the
// last known one.
func (l *lane) origin(batch []nib.Record) origin {
	if l.offset >= 0 {
		return origin{l.offset + 1, earliest(batch)}
	}
	return origin{-1, earliest(batch)}
}

// recover determines which records the partition has, after the broker has
// refused a batch because of its sequence: records of a dead process may have
// arrived after the search, or the broker has forgotten the producer.
func (l *lane) recover(ctx context.Context, batch []nib.Record, why error) error {
	if len(l.todo) == 0 {
		return why
	}
	spool := batch[l.todo[0]].Spool
	for _, pause := range []func(context.Context) error{nil, l.d.c.awaitTakeover} {
		if pause != nil {
			if err := pause(ctx); err != nil {
				return why
			}
		}
		f, err := l.search(ctx, spool, batch[l.todo[0]].Seq, l.origin(batch))
		if err != nil {
			return err
		}
		if len(f.numbers) > 0 {
			l.pass(f)
			return why
		}
	}
	l.known, l.adopted = false, false // begin as a new producer
	return why
}

// confirm ensures that the first acknowledged batch of an adopted producer is
// in the partition: the broker also acknowledges a batch whose sequence it
// already has, and the earlier batch may have had other records.
func (l *lane) confirm(ctx context.Context, p *inFlight, batch []nib.Record) error {
	f, err := l.search(ctx, p.spool, p.numbers[0], l.origin(batch))
	if err != nil {
		return err
	}
	if slices.Equal(f.numbers, p.numbers) {
		return nil
	}
	l.unsend()
	return l.recover(ctx, batch, errUnsure)
}
