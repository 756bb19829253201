// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"time"

	"github.com/nib-log/nib"
)

// margin is how much earlier than the oldest record a search by time begins: a goroutine that was
// suspended after it took the time of its line may have got a higher number than younger lines, and
// topics that stamp records themselves go by another clock.
const margin = time.Minute

// A mark is what is stored with the cursor: which record was the last that was
// acknowledged, where it is, and who sent it.
type mark struct {
	partition int32
	offset    int64
	producer  producer
	sequence  int32
}

// markSize is version, topic, and the fields of a mark.
const (
	markVersion = 1
	markSize    = 1 + 4 + 4 + 8 + 8 + 2 + 4
)

// Mark tells where delivery stands: the partition and offset of the last record that was
// acknowledged, and the id and the sequence of the producer. With Keyed and
// RoundRobin it is nil, for there are many of these. A later process gives it to
// Resume.
func (d *Destination) Mark() []byte {
	d.work.Lock()
	defer d.work.Unlock()
	if d.c.Partitioning != PerSpool {
		return nil
	}
	var l *lane
	for _, other := range d.lanes {
		if other.offset >= 0 && other.known && other.spool != 0 && (l == nil || other == d.current) {
			l = other
		}
	}
	if l == nil {
		return nil
	}
	if l.spool == d.reached.spool && l.through > d.reached.seq {
		// A search has found more than the caller knows of yet. It must be found again from
		// the mark that is stored until then.
		return d.noted
	}
	next := l.next
	if len(l.queue) > 0 {
		next = l.queue[0].first
	}
	be := binary.BigEndian
	b := append(make([]byte, 0, markSize), markVersion)
	b = be.AppendUint32(b, topicSum(d.topic))
	b = be.AppendUint32(b, uint32(l.partition))
	b = be.AppendUint64(b, uint64(l.offset))
	b = be.AppendUint64(b, uint64(l.producer.id))
	b = be.AppendUint16(b, uint16(l.producer.epoch))
	d.noted = be.AppendUint32(b, uint32(next))
	return d.noted
}

// readMark reads what Mark has made, for this topic.
func readMark(b []byte, topic string) (m mark, ok bool) {
	be := binary.BigEndian
	if len(b) != markSize || b[0] != markVersion || be.Uint32(b[1:]) != topicSum(topic) {
		return m, false
	}
	m.partition, m.offset = int32(be.Uint32(b[5:])), int64(be.Uint64(b[9:]))
	m.producer = producer{int64(be.Uint64(b[17:])), int16(be.Uint16(b[25:]))}
	m.sequence = int32(be.Uint32(b[27:]))
	return m, m.partition >= 0 && m.offset >= 0 && m.sequence >= 0
}

func topicSum(topic string) uint32 { return crc32.Checksum([]byte(topic), castagnoli) }

// Resume tells how many leading records of batch a process before has delivered without
// noting it. It reads the partition from the last record that was noted to its end
// and looks for the spool and numbers of batch.
//
// The requests of a process that was killed may reach a broker later than this. With PerSpool
// they do no harm: sending goes on as the same producer, whose sequence numbers the
// broker accepts once. If it is not known who that was, because nothing was ever noted,
// and with Keyed and RoundRobin, Resume waits for Config.Quiet before it reads. With a
// TransactionalID the earlier process is shut out first.
//
// It takes as long as it takes to read what all producers have written to the partition since the
// mark. ctx and Close end it.
func (d *Destination) Resume(ctx context.Context, mark []byte, batch []nib.Record) (taken int, err error) {
	d.work.Lock()
	defer d.work.Unlock()
	if d.ctx.Err() != nil {
		return 0, ErrClosed
	}
	ctx, end := d.within(ctx, 0)
	defer end()
	if len(batch) == 0 {
		return 0, nil
	}
	if !d.resumed {
		d.noted = slices.Clone(mark)
		if err := d.resume(ctx, mark, batch); err != nil {
			d.stale = true
			d.failed(err)
			return 0, err
		}
		d.resumed = true
	}
	for ; taken < len(batch); taken++ {
		r := &batch[taken]
		if !d.laneOf(r).settled(r) && !d.isPresent(r) {
			break
		}
	}
	d.count(func(s *Stats) { s.Present += uint64(taken) })
	d.tell(batch[:taken])
	return taken, nil
}

// resume searches the topic.
func (d *Destination) resume(ctx context.Context, b []byte, batch []nib.Record) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	if d.c.TransactionalID != "" {
		if err := d.takeID(ctx); err != nil {
			return err
		}
	}
	spool, from := batch[0].Spool, batch[0].Seq
	start := origin{-1, earliest(batch)}
	if m, ok := readMark(b, d.topic); ok && d.c.Partitioning == PerSpool && int(m.partition) < len(d.lanes) {
		l := d.lanes[m.partition]
		f, err := l.search(ctx, spool, from, origin{m.offset + 1, start.time})
		if err != nil {
			return err
		}
		d.homeSpool, d.home = spool, m.partition
		if f.end > m.offset { // else it is not the partition that it was
			l.offset = m.offset
			l.adopt(m.producer, m.sequence)
		}
		l.pass(f)
		return nil
	}
	if d.c.TransactionalID == "" {
		if err := d.quiet(ctx); err != nil {
			return err
		}
	}
	d.spool, d.present = spool, map[uint64]struct{}{}
	for _, l := range d.lanes {
		f, err := l.search(ctx, spool, from, start)
		if err != nil {
			return err
		}
		if f.records == 0 {
			continue
		}
		if d.c.Partitioning == PerSpool {
			d.homeSpool, d.home = spool, l.partition
			l.pass(f)
			continue
		}
		for _, n := range f.numbers {
			d.present[n] = struct{}{}
		}
	}
	return nil
}

// quiet waits until requests of a dead process should have been executed.
func (d *Destination) quiet(ctx context.Context) error {
	timer := time.NewTimer(d.c.Quiet)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nib/kafka: wait for requests of an earlier process: %w", context.Cause(ctx))
	}
}

// earliest is the time at which a search for batch begins.
func earliest(batch []nib.Record) int64 {
	t := int64(math.MaxInt64)
	for i := range batch {
		t = min(t, batch[i].Time)
	}
	return floorMilli(t - min(t-math.MinInt64, int64(margin)))
}

// adopt goes on as a producer of before.
func (l *lane) adopt(p producer, next int32) {
	if l.d.c.TransactionalID != "" {
		return
	}
	l.producer, l.known, l.adopted, l.next = p, true, true, next
}

// pass takes over what a search has found.
func (l *lane) pass(f finding) {
	if f.offset < 0 {
		return
	}
	l.offset = f.offset
	l.adopt(f.producer, f.next)
	if f.records > 0 {
		l.spool, l.through = f.spool, f.through
	}
}

// origin is where to look for records that may have been sent: behind the last one that is known.
func (l *lane) origin(batch []nib.Record) origin {
	if l.offset >= 0 {
		return origin{l.offset + 1, earliest(batch)}
	}
	return origin{-1, earliest(batch)}
}

// recover finds out what the partition has, after the broker has refused a batch because its
// sequence is not the expected one: records of a dead process may have arrived after the search,
// or the broker has forgotten the producer.
func (l *lane) recover(ctx context.Context, batch []nib.Record, why error) error {
	spool := batch[l.todo[0]].Spool
	for _, pause := range []func(context.Context) error{nil, l.d.quiet} {
		if pause != nil {
			if err := pause(ctx); err != nil {
				return why
			}
		}
		f, err := l.search(ctx, spool, batch[l.todo[0]].Seq, l.origin(batch))
		if err != nil {
			return err
		}
		if f.records > 0 {
			l.pass(f)
			return why
		}
	}
	l.known, l.adopted = false, false // begin as a new producer
	return why
}

// confirm makes sure that the first batch that was acknowledged to an adopted producer is in the
// partition: the broker also acknowledges a batch of which it has the sequence
// already, and that one may have had other records.
func (l *lane) confirm(ctx context.Context, p *sent, batch []nib.Record) error {
	f, err := l.search(ctx, p.spool, p.numbers[0], l.origin(batch))
	if err != nil {
		return err
	}
	if f.records == len(p.numbers) && f.through == p.numbers[len(p.numbers)-1] {
		return nil
	}
	l.unsend()
	l.pass(f)
	return errUnsure
}
