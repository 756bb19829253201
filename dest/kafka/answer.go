// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"slices"
	"time"

	"github.com/nib-log/nib"
)

// receive handles the response to the first batch in the queue. If it is not an
// acknowledgement, no other request is in flight. An error means that the batch
// is sent again after a pause.
func (l *lane) receive(ctx context.Context, p *inFlight, batch []nib.Record) error {
	answer := p.answer
	if p.err != nil {
		l.others = false
		return p.err
	}
	failure := brokerError("produce to", l.topic, answer.ErrorCode, answer.ErrorMessage)
	switch classify(answer.ErrorCode) {
	case accepted:
		if l.adopted {
			if err := l.confirm(ctx, p, batch); err != nil {
				return err
			}
		}
		l.acknowledge(p, answer.BaseOffset)
		return nil
	case tooLarge:
		if len(p.index) > 1 {
			l.split()
			return nil
		}
		return l.refuseAll(ctx, batch, failure)
	case invalid:
		return l.refuseSome(ctx, batch, answer, failure)
	case unsure:
		if p.ahead {
			return nil // the batch before it was not accepted
		}
		l.unsend()
		if l.d.c.TransactionalID != "" {
			return failure
		}
		return l.recover(ctx, batch, failure)
	case unclear:
		if !l.lasts(len(p.index)) {
			return failure
		}
		return l.refuseSome(ctx, batch, answer, failure)
	default:
		l.others = false
		return failure
	}
}

// acknowledge settles the first batch of the queue.
func (l *lane) acknowledge(p *inFlight, base int64) {
	n := len(p.numbers)
	if base >= 0 {
		l.offset = base + int64(n) - 1
	}
	l.serve(p.spool)
	l.through = max(l.through, p.numbers[n-1])
	if l.exactTo > 0 && p.numbers[0] <= l.exactTo {
		for _, seq := range p.numbers {
			l.present[seq] = struct{}{}
		}
	}
	for _, seq := range p.numbers {
		delete(l.refused, identity{p.spool, seq})
	}
	for _, i := range p.index {
		if i >= 0 {
			l.d.states[i].settled = true
		}
	}
	l.d.counters.add(func(s *Stats) {
		s.Records += uint64(n)
		s.Batches++
		s.Bytes += uint64(len(p.frame))
	})
	l.adopted, l.taken = false, time.Now()
	l.accepted(p)
	l.queue = slices.Delete(l.queue, 0, 1)
}

// unsend marks all batches as not sent: the broker has refused the first one,
// and therefore the others as well, so their sequence numbers are free.
func (l *lane) unsend() {
	var index []int
	l.next = l.queue[0].first
	for _, p := range l.queue {
		for _, i := range p.index {
			if i >= 0 {
				l.d.states[i].sent = false
				index = append(index, i)
			}
		}
	}
	l.todo = append(index, l.todo...)
	l.queue = nil
}
