// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"math"
	"slices"

	"github.com/nib-log/nib"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A lane is a partition and the producer that writes to it. It has one request under way at
// a time. The broker takes a batch only if its sequence follows on the last
// one it has; so a batch whose fate is unknown may be sent again and again, as it was,
// and is appended once.
type lane struct {
	d         *Destination
	topic     string
	partition int32
	leader    int32 // -1: unknown

	producer producer
	known    bool  // there is a producer
	adopted  bool  // it is that of a process before, and the broker has not confirmed that
	next     int32 // sequence of the next record
	offset   int64 // of the last record known to be in the partition; -1: none is

	spool, through uint64 // records of spool up to this number are settled

	enc     encoder
	limit   int   // bytes of a batch before compression
	todo    []int // indexes of records to be sent
	pending *sent // sent and not answered, or about to be
	spare   *sent
}

// A sent is a batch as it stands in requests. It does not change until it is answered.
type sent struct {
	frame     []byte
	spool     uint64
	numbers   []uint64 // Seq of the records
	index     []int    // of the records within the batch of this call, or -1
	abandoned bool     // the client may still be reading the frame
}

func newLane(d *Destination, topic string, partition int32) *lane {
	l := &lane{
		d: d, topic: topic, partition: partition, leader: -1, offset: -1, limit: d.c.MaxBatch,
		enc: encoder{compressor: d.compressor},
	}
	return l
}

// settled says whether a record is known to be settled from before.
func (l *lane) settled(r *nib.Record) bool {
	return r.Seq != 0 && r.Spool == l.spool && r.Seq <= l.through
}

// match finds the place of a record in the pending batch, or returns -1.
func (p *sent) match(r *nib.Record) int {
	if r.Seq == 0 || p.spool != r.Spool {
		return -1
	}
	n, ok := slices.BinarySearch(p.numbers, r.Seq)
	if !ok {
		return -1
	}
	return n
}

// drain sends all that there is, batch by batch, and returns why it does not go on.
func (l *lane) drain(ctx context.Context, batch []nib.Record) error {
	for l.pending != nil || len(l.todo) > 0 {
		if l.pending == nil && !l.known {
			p, err := l.d.newProducer(ctx, nil, nobody)
			if err != nil {
				return err
			}
			l.producer, l.known, l.next = p, true, 0
		}
		if l.pending == nil {
			if err := l.encode(ctx, batch); err != nil {
				return err
			}
			continue
		}
		if err := l.send(ctx, batch); err != nil {
			return err
		}
	}
	return nil
}

// encode makes the next batch of what is to be sent.
func (l *lane) encode(ctx context.Context, batch []nib.Record) error {
	l.enc.reset()
	n, spool := 0, batch[l.todo[0]].Spool
	for ; n < len(l.todo); n++ {
		r := &batch[l.todo[n]]
		key := l.d.key(r)
		size := l.enc.size() + len(r.Line) + len(key) + len(r.Logger) + recordOverhead
		if n > 0 && (size > l.limit || r.Spool != spool) {
			break
		}
		if n == 0 && size > maxFrame {
			i := l.todo[0]
			l.todo = l.todo[1:]
			return l.d.refuse(ctx, batch, i, ErrTooLarge)
		}
		l.enc.add(r, key, "")
	}
	l.take(batch, l.todo[:n])
	for _, i := range l.todo[:n] {
		l.d.states[i].sent = true
	}
	l.todo = l.todo[n:]
	return nil
}

// take makes what the encoder has the pending batch.
func (l *lane) take(batch []nib.Record, index []int) {
	p := l.spare
	l.spare = nil
	if p == nil {
		p = new(sent)
	}
	p.spool, p.abandoned = batch[index[0]].Spool, false
	p.numbers, p.index = p.numbers[:0], append(p.index[:0], index...)
	for _, i := range index {
		p.numbers = append(p.numbers, batch[i].Seq)
	}
	p.frame = l.enc.frame(p.frame[:0], l.producer, l.next)
	l.pending = p
}

// send sends the pending batch once, and does what the answer asks for. An error means that
// it is to be sent again after a while.
func (l *lane) send(ctx context.Context, batch []nib.Record) error {
	p := l.pending
	answer, err := l.produce(ctx, p)
	if err != nil {
		p.abandoned = true
		return err
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
			l.limit = l.enc.size() / 2
			l.unsend()
			return nil
		}
		return l.refuseAll(ctx, batch, failure)
	case invalid:
		return l.refuseSome(ctx, batch, answer, failure)
	case unsure:
		l.unsend()
		if l.d.c.TransactionalID != "" || len(l.todo) == 0 {
			return failure
		}
		return l.recover(ctx, batch, failure)
	default:
		return failure
	}
}

// produce sends the frame to the leader.
func (l *lane) produce(ctx context.Context, p *sent) (*kmsg.ProduceResponseTopicPartition, error) {
	if l.leader < 0 {
		return nil, errNoLeader
	}
	req := kmsg.NewPtrProduceRequest()
	req.Acks, req.TimeoutMillis = -1, int32(min(l.d.c.Timeout.Milliseconds(), math.MaxInt32))
	if l.enc.transactional {
		req.TransactionID = &l.d.c.TransactionalID
	}
	req.Topics = []kmsg.ProduceRequestTopic{{
		Topic:      l.topic,
		Partitions: []kmsg.ProduceRequestTopicPartition{{Partition: l.partition, Records: p.frame}},
	}}
	resp, err := ask[*kmsg.ProduceResponse](ctx, l.d, l.leader, req)
	if err != nil {
		return nil, err
	}
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			if a := &resp.Topics[i].Partitions[j]; a.Partition == l.partition {
				return a, nil
			}
		}
	}
	return nil, brokerError("produce to", l.topic, kerr.UnknownServerError.Code, nil)
}

// acknowledge settles the pending batch.
func (l *lane) acknowledge(p *sent, base int64) {
	n := len(p.numbers)
	l.next = advance(l.next, n)
	if base >= 0 {
		l.offset = base + int64(n) - 1
	}
	l.spool, l.through = p.spool, p.numbers[n-1]
	for _, i := range p.index {
		if i >= 0 {
			l.d.states[i].settled = true
		}
	}
	l.d.count(func(s *Stats) {
		s.Records += uint64(n)
		s.Batches++
		s.Bytes += uint64(len(p.frame))
		l.d.current = l
	})
	l.adopted = false
	l.limit = min(l.limit+l.d.c.MaxBatch/64, l.d.c.MaxBatch) // records are not all alike
	l.release()
}

// release gives up the pending batch. Its memory is used again unless the client may be reading it.
func (l *lane) release() {
	p := l.pending
	l.pending = nil
	if !p.abandoned && cap(p.frame) <= 2*l.d.c.MaxBatch {
		l.spare = p
	}
}

// unsend takes the pending batch back: the broker has refused it, so its sequence numbers are free.
func (l *lane) unsend() {
	index := slices.DeleteFunc(slices.Clone(l.pending.index), func(i int) bool { return i < 0 })
	for _, i := range index {
		l.d.states[i].sent = false
	}
	l.todo = append(index, l.todo...)
	l.release()
}

// refuseAll settles the pending batch, of one record, as refused.
func (l *lane) refuseAll(ctx context.Context, batch []nib.Record, why error) error {
	i := l.pending.index[0]
	if i < 0 { // it will be delivered, and refused, again
		l.release()
		return nil
	}
	if err := l.d.refuse(ctx, batch, i, why); err != nil {
		return err
	}
	l.release()
	return nil
}

// refuseSome finds out which records of the pending batch are refused. The broker
// names them; if it does not, the batch is halved until there is one.
func (l *lane) refuseSome(ctx context.Context, batch []nib.Record, a *kmsg.ProduceResponseTopicPartition, why error) error {
	p := l.pending
	if len(p.index) == 1 {
		return l.refuseAll(ctx, batch, why)
	}
	named := false
	for _, r := range a.ErrorRecords {
		n := int(r.RelativeOffset)
		if n < 0 || n >= len(p.index) || p.index[n] < 0 {
			continue
		}
		reason := brokerError("produce to", l.topic, a.ErrorCode, r.ErrorMessage)
		if err := l.d.refuse(ctx, batch, p.index[n], reason); err != nil {
			return err
		}
		p.index[n], named = -1, true
	}
	if !named {
		l.limit = l.enc.size() / 2
	}
	l.unsend()
	return nil
}

// advance adds n to a sequence, which begins again at 0 behind 2³¹-1.
func advance(sequence int32, n int) int32 {
	return int32((int64(sequence) + int64(n)) & math.MaxInt32)
}
