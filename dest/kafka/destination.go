// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"sync"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// A Destination writes records to a topic. It is created by [New]. Deliver and
// Resume must not be called concurrently; Ping, Stats and Close may be called
// at any time.
//
// A Destination serves one spool at a time, which is all records of a process
// with the same Spool. When it gets records of another one, it discards its
// state of the one before, and begins as another producer.
type Destination struct {
	c       Config
	cluster cluster
	ctx     context.Context // ends with Close
	stop    context.CancelFunc

	work   sync.Mutex // held by Deliver and Resume, and by Close at the end
	id     [16]byte   // of the topic
	lanes  []*lane    // indexed by partition; nil before the topic is known
	stale  bool       // the leaders may have changed
	states []state    // states of the records of the batch
	choice choice
	dead   deadLetters
	tx     transaction

	overlaps bool // Deliver may return while requests are in flight

	spool    uint64   // the spool of the latest records
	reached  identity // identity of the last record that was reported as settled
	mark     mark
	storing  storing
	shared   producer // the producer of lanes without their own
	searches searches

	counters counters
}

// A choice has what chooses the lane of a record.
type choice struct {
	turn  uint64     // counter of RoundRobin, for records without a number
	keyed kgo.Record // has the key whose partition is chosen; here to allocate none
}

// An identity is the number of a record, in its spool.
type identity struct{ spool, seq uint64 }

var (
	_ delivery.Destination = (*Destination)(nil)
	_ delivery.Pinger      = (*Destination)(nil)
	_ delivery.Resumer     = (*Destination)(nil)
	_ delivery.MarkSyncer  = (*Destination)(nil)
	_ delivery.Batcher     = (*Destination)(nil)
	_ delivery.Overlapper  = (*Destination)(nil)
	_ delivery.Forker      = (*Destination)(nil)
)

// A state is the state of a record of the batch.
type state struct {
	settled bool
	sent    bool  // the record is in a pending batch
	reason  error // why it was rejected
	retried bool  // it was refused, and another record accepted since
}

// Stats counts the records and operations of a Destination.
type Stats struct {
	Records      uint64 // acknowledged by the brokers
	Batches      uint64 // acknowledged batches
	Bytes        uint64 // size of these batches, compressed
	Present      uint64 // records found in the topic, and not sent again
	Rejected     uint64 // rejected records
	DeadLettered uint64 // records written to Config.DeadLetter
	Failures     uint64 // failed attempts, which were repeated
	Searches     uint64 // searches of a partition for delivered records
}

// counters holds the counts for Stats.
type counters struct {
	mu    sync.Mutex
	stats Stats
}

func (c *counters) add(f func(*Stats)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(&c.stats)
}

func (c *counters) get() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.stats
}

// New returns a Destination for a topic. brokers are the addresses, host:port,
// of some of the cluster's brokers. New does not connect, and fails only if the
// configuration is invalid. Deliver waits for brokers that do not respond and
// for a topic that does not exist.
func New(brokers []string, topic string, c Config) (*Destination, error) {
	if len(brokers) == 0 || topic == "" {
		return nil, errors.New("nib/kafka: no brokers or no topic")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	d := &Destination{
		c: c.withDefaults(), shared: noProducer, tx: transaction{taken: noProducer, fence: true},
		mark: mark{
			mode: c.partitioning(), spread: c.partitioning() != perSpool, place: nowhere,
			senders: senders{current: noProducer, previous: -1},
		},
		searches: searches{since: math.MaxInt64},
	}
	var err error
	if d.cluster, err = newCluster(brokers, topic, &d.c); err != nil {
		return nil, fmt.Errorf("nib/kafka: %w", err)
	}
	d.ctx, d.stop = context.WithCancel(context.Background())
	return d, nil
}

// Ping looks up the topic, which connects to a broker if necessary, and returns
// nil if the topic exists and has partitions.
func (d *Destination) Ping(ctx context.Context) error {
	if d.ctx.Err() != nil {
		return errClosed
	}
	ctx, end := d.within(ctx)
	defer end()
	_, err := d.cluster.lookup(ctx, d.cluster.topic)
	if why := d.ended(ctx); err != nil && why != nil {
		err = fmt.Errorf("nib/kafka: ping: %w", why)
	}
	return err
}

// Stats returns the counts so far. It is safe for concurrent use.
func (d *Destination) Stats() Stats {
	return d.counters.get()
}

// Close interrupts a running call of Deliver, and closes the connections. There
// is nothing to flush: the brokers have all records that Deliver has accepted.
// Closing again does nothing.
func (d *Destination) Close() error {
	d.stop()
	d.work.Lock()
	defer d.work.Unlock()
	for _, l := range d.lanes {
		l.await(d.ctx)
	}
	d.cluster.client.Close()
	return nil
}

// Deliver sends batch, and returns when all of it is acknowledged by all
// in-sync replicas or permanently refused, after the first failure, or when ctx
// ends. It reports a failure to Config.OnError. If part of the batch is settled
// before a failure, it returns that part and no error.
//
// Records that are in flight when ctx ends are kept, as they were sent, until
// the brokers have responded. If they are delivered again, as identified by
// their Spool and Seq, they are not sent as new ones. Records without a Seq
// cannot be identified.
//
// Deliver does not retain batch. It allocates per request, not per record.
func (d *Destination) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	d.work.Lock()
	defer d.work.Unlock()
	ctx, end := d.within(ctx)
	defer end()
	if d.ctx.Err() != nil {
		return delivery.Result{}, errClosed
	}
	if len(batch) == 0 {
		return delivery.Result{}, nil
	}
	d.begin(batch)
	res, err := d.attempt(ctx, batch)
	d.counters.add(func(s *Stats) { s.Rejected += uint64(len(res.Rejected)) })
	d.reported(batch[:res.Accepted])
	if fault := d.c.certificates.takeFault(); fault != nil {
		err = errors.Join(err, fmt.Errorf("nib/kafka: %w", fault))
	}
	return res, err
}

// reported records that settled records were reported to the caller.
func (d *Destination) reported(settled []nib.Record) {
	if n := len(settled); n > 0 {
		d.reached = identity{settled[n-1].Spool, settled[n-1].Seq}
		passed := func(b identity, _ struct{}) bool {
			return b.spool != d.reached.spool || b.seq <= d.reached.seq
		}
		maps.DeleteFunc(d.dead.sent, passed)
		for _, l := range d.lanes {
			maps.DeleteFunc(l.refused, passed)
		}
	}
}

// within returns a context that ends with ctx and with Close.
func (d *Destination) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	release := context.AfterFunc(d.ctx, func() { cancel(errClosed) })
	return ctx, func() {
		release()
		cancel(nil)
	}
}

// ended returns why a context of within has ended, or nil. It ends a moment
// after Close has ended the requests, which have a context of their own.
func (d *Destination) ended(ctx context.Context) error {
	if d.ctx.Err() != nil {
		return errClosed
	}
	return context.Cause(ctx)
}

// attempt tries once, and reports the error unless it is the caller's.
func (d *Destination) attempt(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	err := d.try(ctx, batch)
	res := d.result()
	if res.Accepted == len(batch) || err == nil || errors.Is(err, errUnstored) {
		return res, nil
	}
	if why := d.ended(ctx); why == nil || errors.As(err, new(*kerr.Error)) {
		d.failed(err)
	} else {
		err = fmt.Errorf("nib/kafka: deliver: %w", why)
	}
	if res.Accepted > 0 {
		err = nil
	}
	return res, err
}

func (d *Destination) failed(err error) {
	d.counters.add(func(s *Stats) { s.Failures++ })
	if d.c.OnError != nil {
		d.c.OnError(err)
	}
}

// begin discards the state of the previous batch.
func (d *Destination) begin(batch []nib.Record) {
	if cap(d.states) < len(batch) {
		d.states = make([]state, len(batch))
	}
	d.states = d.states[:len(batch)]
	clear(d.states)
	for _, l := range d.lanes {
		for _, p := range l.queue {
			for i := range p.index {
				p.index[i] = -1
			}
		}
	}
}

// result returns the settled part of the batch, in order.
func (d *Destination) result() (res delivery.Result) {
	for i := range d.states {
		if !d.states[i].settled {
			break
		}
		res.Accepted++
		if why := d.states[i].reason; why != nil {
			res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: why})
		}
	}
	return res
}

// try attempts to deliver the unsettled records of the batch.
func (d *Destination) try(ctx context.Context, batch []nib.Record) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	if spool := batch[0].Spool; spool != 0 && spool != d.spool {
		serve(ctx, d, spool)
	}
	d.assign(batch)
	err := d.send(ctx, batch)
	if err != nil && !errors.Is(err, errUnstored) {
		d.stale = true
	}
	return err
}

func (d *Destination) send(ctx context.Context, batch []nib.Record) error {
	if d.c.TransactionalID != "" {
		return d.transact(ctx, batch)
	}
	if err := d.introduce(ctx); err != nil {
		return err
	}
	return d.drain(ctx, batch)
}

// drain sends the records of the lanes, concurrently if there are several.
func (d *Destination) drain(ctx context.Context, batch []nib.Record) error {
	var busy []*lane
	for _, l := range d.lanes {
		if len(l.queue) > 0 || len(l.todo) > 0 {
			busy = append(busy, l)
		}
	}
	if len(busy) == 1 {
		left := 0
		if d.overlaps {
			left = depth - 1
		}
		return busy[0].drain(ctx, batch, depth, left)
	}
	faults := make([]error, len(busy))
	var wg sync.WaitGroup
	for i, l := range busy {
		wg.Go(func() { faults[i] = l.drain(ctx, batch, 1, 0) })
	}
	wg.Wait()
	return errors.Join(faults...)
}
