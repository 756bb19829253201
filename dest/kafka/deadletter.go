// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"fmt"
	"sync"

	"github.com/nib-log/nib"
)

// deadLetters are the records that the topic refuses, and the lane of
// Config.DeadLetter. The lanes of a topic share them.
type deadLetters struct {
	mu   sync.Mutex            // held by add: several lanes send at a time
	lane *lane                 // nil until the first record
	sent map[identity]struct{} // records that were not yet reported to the caller
}

// add sends a permanently refused record to the dead letter topic. refused is
// nil if the record is there, or the reason why that topic refuses it.
func (x *deadLetters) add(
	ctx context.Context, d *Destination, r *nib.Record, why error,
) (refused, err error) {
	if d.c.DeadLetter == "" {
		return why, nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	refused, err = x.produce(ctx, d, r, why)
	if err != nil {
		return nil, err
	}
	if refused != nil {
		return fmt.Errorf("%w; %w", why, refused), nil
	}
	d.counters.add(func(s *Stats) { s.DeadLettered++ })
	if r.Seq != 0 {
		if x.sent == nil {
			x.sent = map[identity]struct{}{}
		}
		x.sent[identity{r.Spool, r.Seq}] = struct{}{}
	}
	return nil, nil
}

// has reports whether a record is already in the dead letter topic. It is
// called while no lane sends.
func (x *deadLetters) has(r *nib.Record) bool {
	_, ok := x.sent[identity{r.Spool, r.Seq}]
	return ok
}

// produce sends a record, and waits until it is acknowledged. refused is the
// reason why the topic does not accept it either, and err the reason why it
// could not be sent now.
//
// A batch in flight there has a single record. If the context ends, the same
// record is delivered again: the topic refuses it again before anything else is
// written there.
func (x *deadLetters) produce(
	ctx context.Context, d *Destination, r *nib.Record, why error,
) (refused, err error) {
	topic := d.c.DeadLetter
	where, err := d.cluster.lookup(ctx, topic)
	if err != nil {
		return nil, err
	}
	if x.lane == nil {
		x.lane = newLane(d, topic, int32(homeOf(r.Spool, uint64(len(where.leaders)))))
	}
	l := x.lane
	if int(l.partition) >= len(where.leaders) {
		x.lane = nil
		return nil, fmt.Errorf("nib/kafka: topic %s has lost partitions", topic)
	}
	l.leader = where.leaders[l.partition]
	if p, _ := l.pending(r); p == nil && len(l.queue) > 0 {
		// The outcome remains unknown, so the sequence is not used again.
		l.queue, l.known = nil, false
	}
	if !l.known {
		if l.producer, err = d.cluster.newProducer(ctx, nil, noProducer); err != nil {
			return nil, err
		}
		l.known, l.next = true, 0
	}
	if len(l.queue) == 0 {
		l.enc.reset()
		l.enc.add(r, d.c.key(r), why.Error())
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
