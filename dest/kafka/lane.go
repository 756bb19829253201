// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/nib-log/nib"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// depth is the maximum number of requests of a lane in flight. A broker
// remembers the sequences of that many batches, so that a repeated batch is not
// appended again.
const depth = 5

// remembered is the minimum time for which a leader remembers a producer. From
// an unknown producer it accepts a batch with any sequence. So the first batch
// must be acknowledged before others are sent, otherwise a second one might be
// accepted although the first was refused.
const remembered = time.Minute

// A lane is a partition and the producer that writes to it. The broker accepts
// a batch only if its sequence follows the last one it has. So a batch whose
// outcome is unknown may be sent again unchanged, and is appended once. Several
// batches are in flight at a time while all succeed; after a response that is
// not an acknowledgement the lane waits for the others, and sends the rest one
// by one.
type lane struct {
	d         *Destination
	topic     string
	partition int32
	leader    int32 // -1 if unknown

	producer producer
	known    bool      // the producer is known
	adopted  bool      // the producer is an earlier process's, and the broker has not confirmed it
	next     int32     // sequence of the next record that is encoded
	taken    time.Time // time at which the partition last accepted a batch of the producer
	offset   int64     // offset of the last record known to be in the partition, or -1

	delivered

	enc     encoder
	limit   int         // bytes of a batch before compression
	blame               // refused records
	todo    []int       // indexes of records to be sent
	queue   []*inFlight // batches in flight, or about to be sent
	careful bool        // send one by one until the queue is empty
}

// delivered are the records of a spool that are known to be settled, if they
// belong to the partition.
type delivered struct {
	spool, through uint64 // those up to this number
	// Of the numbers from exactFrom to exactTo, which a search has covered,
	// only the present ones are settled: those in between were refused, which
	// the caller may not know.
	exactFrom, exactTo uint64
	present            map[uint64]struct{}
}

// serve begins with another spool.
func (s *delivered) serve(spool uint64) {
	if s.spool != spool {
		*s = delivered{spool: spool}
	}
}

// has reports whether a search has found a record of the spool.
func (s *delivered) has(r *nib.Record) bool {
	if r.Spool != s.spool {
		return false
	}
	_, ok := s.present[r.Seq]
	return ok
}

// An inFlight is an encoded batch, in flight or about to be sent. It does not
// change until its response has arrived.
type inFlight struct {
	frame   []byte
	plain   int   // bytes before compression
	first   int32 // sequence of the first record
	spool   uint64
	numbers []uint64 // Seq of the records
	index   []int    // indexes of the records within the batch of this call, or -1
	ahead   bool     // sent before the response to the previous batch

	underway chan struct{} // closed when the request has ended; nil if it is not in flight
	cancel   context.CancelFunc
	answer   *kmsg.ProduceResponseTopicPartition
	err      error
}

func newLane(d *Destination, topic string, partition int32) *lane {
	l := &lane{
		d: d, topic: topic, partition: partition, leader: -1, offset: -1, limit: d.c.MaxBatch,
		producer: noProducer,
		enc:      encoder{compressor: d.cluster.compressor}, blame: blame{probes: firstProbes},
	}
	return l
}

// settled reports whether a record is known to have been settled before.
func (l *lane) settled(r *nib.Record) bool {
	if r.Seq == 0 || r.Spool != l.spool {
		return false
	}
	_, refused := l.refused[identity{r.Spool, r.Seq}]
	return l.has(r) || !refused && r.Seq <= l.through && (r.Seq < l.exactFrom || r.Seq > l.exactTo)
}

// match returns the index of a record in the pending batch, or -1.
func (p *inFlight) match(r *nib.Record) int {
	if r.Seq == 0 || p.spool != r.Spool {
		return -1
	}
	if r.Seq < p.numbers[0] || r.Seq > p.numbers[len(p.numbers)-1] {
		return -1
	}
	if at := r.Seq - p.numbers[0]; at < uint64(len(p.numbers)) && p.numbers[at] == r.Seq {
		return int(at)
	}
	n, ok := slices.BinarySearch(p.numbers, r.Seq)
	if !ok {
		return -1
	}
	return n
}

// pending returns the batch in the queue that has a record, and the index of
// the record.
func (l *lane) pending(r *nib.Record) (p *inFlight, at int) {
	for _, p := range l.queue {
		if at := p.match(r); at >= 0 {
			return p, at
		}
	}
	return nil, -1
}

// drain sends all records, with at most atOnce batches in flight, and returns
// the error that stops it. Then no request is in flight, but if there is no
// error and a part of the batch is settled, up to left requests may be.
func (l *lane) drain(ctx context.Context, batch []nib.Record, atOnce, left int) error {
	l.held = l.held[:0]
	for {
		l.launch(ctx, batch, atOnce)
		switch {
		case len(l.queue) == 0 && len(l.held) > 0:
			return l.hold()
		case len(l.queue) == 0: // nothing is left
			return nil
		case len(l.queue) <= left && l.d.states[0].settled && !l.careful:
			return nil
		}
		p := l.queue[0]
		p.await(ctx)
		if p.err != nil || p.answer.ErrorCode != 0 {
			l.await(ctx)
			l.careful = true
		}
		if err := l.receive(ctx, p, batch); err != nil {
			return err
		}
	}
}

// await waits until no request is in flight. If ctx ends, it gives them up.
func (l *lane) await(ctx context.Context) {
	for _, p := range l.queue {
		p.await(ctx)
	}
}

// await waits until the batch is not in flight.
func (p *inFlight) await(ctx context.Context) {
	if p.underway == nil {
		return
	}
	select {
	case <-p.underway:
	case <-ctx.Done():
		p.cancel()
		<-p.underway
	}
	p.underway = nil
}

// launch sends one batch, or several where it is known to be safe. Each is
// written before the next one.
func (l *lane) launch(ctx context.Context, batch []nib.Record, atOnce int) {
	if len(l.queue) == 0 {
		l.careful = false
	}
	if l.careful || time.Since(l.taken) > remembered {
		atOnce = 1
	}
	for n := 0; n < atOnce; n++ {
		for n == len(l.queue) {
			if len(l.todo) == 0 {
				return
			}
			l.encode(batch)
		}
		if p := l.queue[n]; p.underway == nil {
			p.ahead = n > 0
			l.start(ctx, p, atOnce > 1)
		}
		if ctx.Err() != nil {
			return
		}
	}
}

// start sends a batch, and returns when it is written, if others are to follow.
// The request may outlive the call of Deliver; if ctx ends first, await gives
// it up.
func (l *lane) start(ctx context.Context, p *inFlight, others bool) {
	done := make(chan struct{})
	request, cancel := context.WithCancel(l.d.ctx)
	p.underway, p.cancel = done, cancel
	select {
	case <-l.d.cluster.wrote: // the result of an earlier request
	default:
	}
	go func() {
		defer close(done)
		defer cancel()
		p.answer, p.err = l.produce(request, p)
	}()
	if others {
		select {
		case <-l.d.cluster.wrote:
		case <-done:
		case <-ctx.Done():
		}
	}
}

// encode encodes the next batch of the records to be sent. It rejects a record
// that is too large for any request, and therefore for the dead letter topic as
// well.
func (l *lane) encode(batch []nib.Record) {
	l.enc.reset()
	n, spool := 0, batch[l.todo[0]].Spool
	for ; n < len(l.todo); n++ {
		r := &batch[l.todo[n]]
		key := l.d.c.key(r)
		size := l.enc.size() + len(r.Line) + len(key) + len(r.Logger) + recordOverhead
		if n > 0 && (size > l.limit || r.Spool != spool) {
			break
		}
		if size > maxFrame {
			l.refuse(r.Spool, r.Seq)
			l.d.reject(l.todo[0], errTooLarge)
			l.todo = l.todo[1:]
			return
		}
		l.enc.add(r, key, "")
	}
	l.take(batch, l.todo[:n])
	for _, i := range l.todo[:n] {
		l.d.states[i].sent = true
	}
	l.todo = l.todo[n:]
}

// take appends the batch in the encoder to the queue.
func (l *lane) take(batch []nib.Record, index []int) {
	p := &inFlight{
		frame: l.enc.frame(l.producer, l.next), plain: l.enc.size(), first: l.next,
		spool: batch[index[0]].Spool, numbers: make([]uint64, len(index)),
		index: slices.Clone(index),
	}
	for n, i := range index {
		p.numbers[n] = batch[i].Seq
	}
	l.next = advance(l.next, len(index))
	l.queue = append(l.queue, p)
}

// broker returns the leader.
func (l *lane) broker() *kgo.Broker { return l.d.cluster.client.Broker(int(l.leader)) }

// produce sends the frame to the leader.
func (l *lane) produce(
	ctx context.Context, p *inFlight,
) (*kmsg.ProduceResponseTopicPartition, error) {
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
	resp, err := ask[*kmsg.ProduceResponse](ctx, &l.d.c, l.broker(), req)
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

// advance adds n to a sequence, which wraps around to 0 after 2³¹-1.
func advance(sequence int32, n int) int32 {
	return int32((int64(sequence) + int64(n)) & math.MaxInt32)
}
