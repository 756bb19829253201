// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"fmt"

	"github.com/nib-log/nib"
)

// produceDeadLetter sends a record to the dead letter topic, and waits until it
// is acknowledged. refused is the reason why the topic does not accept it
// either, and err the reason why it could not be sent now.
//
// A batch in flight there has a single record. If the context ends, the same
// record is delivered again: the topic refuses it again before anything else is
// written there.
func (d *Destination) produceDeadLetter(ctx context.Context, r *nib.Record, why error) (refused, err error) {
	d.deadLetterMu.Lock()
	defer d.deadLetterMu.Unlock()
	topic := d.c.DeadLetter
	where, err := d.lookup(ctx, topic)
	if err != nil {
		return nil, err
	}
	if d.dead == nil {
		d.dead = newLane(d, topic, int32(homeOf(r.Spool, uint64(len(where.leaders)))))
	}
	l := d.dead
	if int(l.partition) >= len(where.leaders) {
		d.dead = nil
		return nil, fmt.Errorf("nib/kafka: topic %s has lost partitions", topic)
	}
	l.leader = where.leaders[l.partition]
	if p, _ := l.pending(r); p == nil && len(l.queue) > 0 {
		l.queue, l.known = nil, false // the outcome remains unknown, so the sequence is not used again
	}
	if !l.known {
		if l.producer, err = d.newProducer(ctx, nil, noProducer); err != nil {
			return nil, err
		}
		l.known, l.next = true, 0
	}
	if len(l.queue) == 0 {
		l.enc.reset()
		l.enc.add(r, d.key(r), why.Error())
		l.take([]nib.Record{*r}, []int{0})
	}
	p := l.queue[0]
	answer, err := l.produce(ctx, p)
	if err != nil {
		return nil, err
	}
	failure := brokerError("produce to", topic, answer.ErrorCode, answer.ErrorMessage)
	switch classify(answer.ErrorCode) {
	case accepted:
		l.queue, l.unclear = nil, 0
		return nil, nil
	case tooLarge, invalid:
		l.queue = nil
		l.next = p.first
		return failure, nil
	case unsure:
		l.queue = nil
		l.known = false // begin again, as for a new producer
		return nil, failure
	case unclear:
		if !l.lasts(1) {
			return nil, failure
		}
		l.queue, l.known, l.unclear = nil, false, 0
		return failure, nil
	default:
		return nil, failure
	}
}
