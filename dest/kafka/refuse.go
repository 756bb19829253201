// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nib-log/nib"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Brokers refuse a batch as a whole. The lane finds the records that cause it
// by splitting the batch, and rejects them only if others of the batch, or
// after it, are accepted. If none is accepted, the cause is the topic or the
// clock, which can be fixed, and all are sent again later. It may be fixed
// between two requests, so records that were refused before another one was
// accepted are sent again first, and rejected if they are refused again.

// limitKept is the time for which batches keep the size that a broker has
// accepted. Then a larger one is tried.
const limitKept = time.Minute

// An attempt ends when this many records in a row were refused, initially and
// at most. So a longer run, such as a whole batch, is never rejected.
const firstProbes, mostProbes = 16, 1024

// blame is the state of a lane for refusals.
type blame struct {
	held    []heldRecord // refused records; nothing was accepted since
	probes  int          // maximum number of held records
	suspect int          // bytes of the batch being split whose outcome is unknown
	before  int          // the limit before the split
	others  bool         // a part of the batch was accepted, and the broker has not failed since
	limited time.Time    // time at which a batch was last too large
	unclear int          // codes in a row that may be about the broker or a record

	// Records that the broker refused last, until that was reported: those
	// after them may be accepted in another call.
	refused map[identity]struct{}
}

// A heldRecord is a record that the broker refused, and the reason.
type heldRecord struct {
	index int
	why   error
}

// refuse records that a record was refused.
func (l *lane) refuse(spool, seq uint64) {
	if l.refused == nil {
		l.refused = map[identity]struct{}{}
	}
	l.refused[identity{spool, seq}] = struct{}{}
}

// tolerance is the number of unclear codes in a row after which a batch is
// halved. A single record is refused after as many more.
const tolerance = 5

// lasts counts an unclear code for the first batch, which has n records, and
// reports whether it has lasted long enough to be about a record. What was
// accepted before the first of the codes shows nothing about their cause.
func (l *lane) lasts(n int) bool {
	l.others = l.others && l.unclear > 0
	l.unclear++
	if n > 1 && l.unclear >= tolerance {
		l.unclear = tolerance
		return true
	}
	return l.unclear >= 2*tolerance
}

// split halves the first batch of the queue.
func (l *lane) split() {
	p := l.queue[0]
	if l.suspect <= 0 {
		l.suspect, l.before, l.others = p.plain, l.limit, false
	}
	l.limit, l.limited = p.plain/2, time.Now()
	l.unsend()
}

// accepted records that a batch was acknowledged: the records refused before it
// are sent again, and were refused because of their contents if they are
// refused again.
func (l *lane) accepted(p *inFlight) {
	for i, h := range l.held {
		l.d.states[h.index].retried = true
		l.todo = slices.Insert(l.todo, i, h.index)
	}
	if l.held, l.probes = l.held[:0], firstProbes; l.suspect <= 0 {
		l.unclear = 0
	}
	switch {
	case l.suspect > 0:
		l.suspect -= p.plain
		l.others = l.suspect > 0
		l.unclear = min(l.unclear, tolerance)
	case time.Since(l.limited) > limitKept:
		l.limit = min(2*l.limit, l.d.c.MaxBatch)
	}
}

// blamed ends the splitting of a batch: the cause was one record, not the size
// of the batch.
func (l *lane) blamed() {
	if l.suspect > 0 {
		l.limit, l.suspect, l.others = l.before, 0, false
	}
}

// refuseAll settles the first batch of the queue, which has one record, as
// refused, or holds the record.
func (l *lane) refuseAll(ctx context.Context, batch []nib.Record, why error) error {
	p := l.queue[0]
	i := p.index[0]
	p.index[0] = -1
	l.refuse(p.spool, p.numbers[0])
	l.unsend()
	others := l.others
	l.blamed()
	l.unclear = 0
	if i < 0 {
		return nil // the record will be delivered and refused again
	}
	l.d.states[i].sent = false
	if _, err := l.settleRefused(ctx, batch, i, why, others); err != nil {
		return err
	}
	return l.holdMany()
}

// settleRefused settles a refused record of the batch, or holds it if no others
// were accepted.
func (l *lane) settleRefused(
	ctx context.Context, batch []nib.Record, i int, why error, others bool,
) (settled bool, err error) {
	why, err = l.d.dead.add(ctx, l.d, &batch[i], why)
	switch {
	case err != nil:
		return false, err
	case why == nil:
		l.d.states[i].settled = true
	case others || l.d.states[i].retried:
		l.d.reject(i, why)
	default:
		l.held = append(l.held, heldRecord{i, why})
		return false, nil
	}
	return true, nil
}

// refuseSome determines which records of the first batch are refused. If the
// broker does not identify them, or names records that are not in the batch, it
// splits the batch until it has one record. If all are, the attempt ends.
func (l *lane) refuseSome(
	ctx context.Context, batch []nib.Record, a *kmsg.ProduceResponseTopicPartition, why error,
) error {
	p := l.queue[0]
	if len(p.index) == 1 {
		return l.refuseAll(ctx, batch, why)
	}
	isBeyond := func(r kmsg.ProduceResponseTopicPartitionErrorRecord) bool {
		return r.RelativeOffset < 0 || int(r.RelativeOffset) >= len(p.index)
	}
	if len(a.ErrorRecords) == 0 || slices.ContainsFunc(a.ErrorRecords, isBeyond) {
		l.split()
		return nil
	}
	all := len(a.ErrorRecords) >= len(p.index)
	for _, r := range a.ErrorRecords {
		n := int(r.RelativeOffset)
		if p.index[n] < 0 {
			continue
		}
		i := p.index[n]
		l.refuse(p.spool, p.numbers[n])
		why := brokerError("produce to", l.topic, a.ErrorCode, r.ErrorMessage)
		settled, err := l.settleRefused(ctx, batch, i, why, !all)
		if err != nil {
			return err // the same batch is refused again
		}
		if settled {
			p.index[n] = -1
		}
	}
	l.unsend()
	if all && len(l.held) > 0 {
		return l.hold() // they would be sent again
	}
	return nil
}

// holdMany calls hold if too many records are held to continue.
func (l *lane) holdMany() error {
	if len(l.held) < l.probes {
		return nil
	}
	l.probes = min(2*l.probes, mostProbes)
	return l.hold()
}

// hold ends an attempt in which nothing was accepted after the held records.
func (l *lane) hold() error {
	err := fmt.Errorf(
		"%w; no other record is accepted either, so the records wait until the topic or the "+
			"clock is fixed", l.held[0].why)
	l.held = l.held[:0]
	l.blamed()
	return err
}

// reject settles a record of the batch as refused permanently.
func (d *Destination) reject(i int, why error) {
	d.states[i] = state{settled: true, reason: why}
}
