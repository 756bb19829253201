// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"time"

	"github.com/nib-log/nib"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// concurrentPause is the time to wait for the end of the previous transaction,
// which brokers write to the partitions after their response.
const (
	concurrentPause = 2 * time.Millisecond
	concurrentTries = 100 // attempts before it is reported
)

// A transaction is the state of Config.TransactionalID.
type transaction struct {
	taken  producer // the producer of the id, noProducer at first
	fence  bool     // the id must be taken again
	doubt  bool     // the result of the last transaction is unknown
	fenced bool     // a later process has the id
}

// transact sends the records as one transaction. After any error, the next
// attempt initializes the transactional id again, which ends the transaction
// and fences its requests in flight. If the commit got no response, a search of
// the topic shows its outcome.
func (d *Destination) transact(ctx context.Context, batch []nib.Record) error {
	l := d.waiting()
	if l == nil {
		return nil
	}
	if d.tx.fence {
		if err := d.enter(ctx, l, batch); err != nil {
			return err
		}
	}
	d.tx.fence = true
	before, offset, index := l.through, l.offset, append([]int(nil), l.todo...)
	spool := l.spool
	err := l.join(ctx)
	if err == nil {
		err = l.drain(ctx, batch, depth, 0)
	}
	if err == nil {
		d.tx.doubt = true
		err = l.commit(ctx)
	}
	if err == nil {
		d.tx.fence, d.tx.doubt = false, false
		return nil
	}
	l.spool, l.through, l.offset = spool, before, offset
	for _, i := range index {
		d.states[i] = state{}
		delete(l.present, batch[i].Seq) // acknowledged, but aborted
	}
	l.queue = nil
	return err
}

// waiting returns the lane that has records to send. There is at most one,
// because a transaction has records of one spool.
func (d *Destination) waiting() *lane {
	for _, l := range d.lanes {
		if len(l.todo) > 0 {
			return l
		}
	}
	return nil
}

// enter takes the transactional id, and determines the outcome of a commit
// without a response.
func (d *Destination) enter(ctx context.Context, l *lane, batch []nib.Record) error {
	if err := d.takeID(ctx); err != nil {
		return err
	}
	l.begin(d.tx.taken)
	if d.tx.doubt {
		f, err := l.search(ctx, batch[l.todo[0]].Spool, batch[l.todo[0]].Seq, l.origin(batch))
		if err != nil {
			return err
		}
		l.pass(f)
		d.assign(batch)
	}
	d.tx.fence = false
	return d.storing.check()
}

// takeID fences the process that had the transactional id before, unless that
// was a later process than this one.
func (d *Destination) takeID(ctx context.Context) error {
	if d.tx.fenced {
		return ErrFenced
	}
	p, err := d.cluster.newProducer(ctx, &d.c.TransactionalID, d.tx.taken)
	late := errors.Is(err, kerr.ProducerFenced) || errors.Is(err, kerr.InvalidProducerEpoch)
	if d.tx.taken != noProducer && late {
		d.tx.fenced = true
		return ErrFenced
	}
	if err == nil {
		d.tx.taken = p
		d.sendAs(p)
	}
	return err
}

// join adds the partition to the transaction.
func (l *lane) join(ctx context.Context) error {
	for tries := 0; ; tries++ {
		req := kmsg.NewPtrAddPartitionsToTxnRequest()
		req.TransactionalID = l.d.c.TransactionalID
		req.ProducerID, req.ProducerEpoch = l.producer.id, l.producer.epoch
		t := kmsg.NewAddPartitionsToTxnRequestTopic()
		t.Topic, t.Partitions = l.topic, []int32{l.partition}
		req.Topics = append(req.Topics, t)
		resp, err := ask[*kmsg.AddPartitionsToTxnResponse](ctx, &l.d.c, l.d.cluster.client, req)
		if err != nil {
			return err
		}
		code := kerr.UnknownServerError.Code
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				code = p.ErrorCode
			}
		}
		if code != kerr.ConcurrentTransactions.Code || tries == concurrentTries {
			return brokerError("begin a transaction on", l.topic, code, nil)
		}
		select {
		case <-time.After(concurrentPause):
		case <-ctx.Done():
		}
	}
}

// commit ends the transaction.
func (l *lane) commit(ctx context.Context) error {
	req := kmsg.NewPtrEndTxnRequest()
	req.TransactionalID, req.Commit = l.d.c.TransactionalID, true
	req.ProducerID, req.ProducerEpoch = l.producer.id, l.producer.epoch
	resp, err := ask[*kmsg.EndTxnResponse](ctx, &l.d.c, l.d.cluster.client, req)
	if err != nil {
		return err
	}
	return brokerError("commit to", l.topic, resp.ErrorCode, nil)
}
