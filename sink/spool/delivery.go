// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A batch has at most so many records, and bytes unless it is one record.
const (
	batchRecords = 1024
	batchBytes   = 1 << 20
)

// linger is how long records collect after some have been delivered. A writer
// that has to wake a goroutine pays for that; so it happens a thousand times a
// second at most.
const linger = time.Millisecond

// A deliverer is a destination and the goroutine that reads the segments in
// order and hands copies to it. The goroutines share nothing but what s.mu
// protects, and the segments, which they only read.
//
// It reads one segment at a time: an old one, which it reads into memory, or
// one of this process. What is in a batch stays there until it is settled. A
// [delivery.Overlapper] gets more behind the rest of a batch: what is read may
// be some segments ahead of what is settled then.
type deliverer struct {
	s      *Sink
	name   string
	dest   delivery.Destination // nil: segments are unmapped, and kept
	cursor *store.Cursor        // nil in memory
	turn   chan struct{}        // for one of several spools that dest serves; nil: it serves one
	stale  bool                 // the last position is not in it, since that could not be written
	marker delivery.Resumer     // dest, if it is a Resumer and there is a cursor
	syncer delivery.MarkSyncer

	// s.mu protects these.
	cur        *link         // what is before it is settled
	reading    *link         // cur, or one behind it
	settled    uint64        // number of the first record that is not settled
	skips      uint64        // numbers between settled and the next record that no record has
	dropped    segment.Tally // on the way to this destination
	recovered  uint64
	delivered  uint64
	traffic    level.Traffic // that was delivered
	unfinished uint64
	attempts   uint64
	failures   uint64
	since      time.Time // when the call that is under way began
	outage     outage
	unsaved    uint64 // records that were rejected and are not in the file of these

	entered bool             // reading was begun
	scan    *segment.Scanner // of reading, if it is old or rescued
	torn    bool             // what is missing at the end of reading, if it is old, is damaged
	again   rereading        // of reading, if it is old or rescued
	at      int              // in reading, if it is of this process
	want    uint64           // number of the next record of that
	witness bool             // the word before at was not 0 when it was read
	rescued bool             // reading, which is of this process, is rescued

	batch []nib.Record
	out   []nib.Record // the batch as the destination has it
	buf   []byte       // what the batch refers to
	names map[string]string

	overlaps bool   // the destination is a delivery.Overlapper
	other    []byte // for it: what the first records of the batch refer to
	early    int    // how many these are

	bufSize int              // of buf, unless there is one long record in it
	resumer delivery.Resumer // nil: it is not called any more
	begun   bool             // Deliver was called, or is going to be

	wakeup chan struct{} // there may be something to do
	urged  chan struct{} // a call waits for it
	pause  time.Duration
}

func newDelivery(s *Sink, name string, dest delivery.Destination) *deliverer {
	records, bytes := batchRecords, batchBytes
	if b, ok := dest.(delivery.Batcher); ok {
		records, bytes = b.BatchSize()
	}
	bytes = max(bytes, segment.MinSize)
	o, overlaps := dest.(delivery.Overlapper)
	var other []byte
	if overlaps {
		o.Overlap()
		bytes /= 2
		other = make([]byte, 0, bytes)
	}
	return &deliverer{
		s: s, name: name, dest: dest, settled: 1, names: map[string]string{},
		batch:   make([]nib.Record, 0, max(records, 1)),
		buf:     make([]byte, 0, bytes),
		bufSize: bytes, overlaps: overlaps, other: other,
		wakeup: make(chan struct{}, 1),
		urged:  make(chan struct{}, 1),
	}
}

// label returns the name of the destination in metrics and errors.
func (d *deliverer) label() string {
	if d.name == d.s.c.Name {
		return d.s.c.Label
	}
	return d.name
}

// run is the goroutine. It ends when the sink is closed and everything is
// settled, or its context has ended.
func (d *deliverer) run() {
	defer d.finish()
	for d.s.ctx.Err() == nil {
		ended, busy := d.fill()
		switch {
		case len(d.batch) > 0:
			d.deliver()
		case ended:
			closed := d.s.isClosed() // before looking: then there comes no other segment
			if d.leave() {
				continue
			}
			if closed {
				return
			}
			select {
			case <-d.wakeup: // by install, or by Close
			case <-d.s.ctx.Done():
			}
		case busy:
			time.Sleep(50 * time.Microsecond) // a writer was suspended between reserve and commit
		default:
			d.sleep()
		}
	}
}

// deliver hands the batch to the destination until all of it is settled, or the
// sink stops. To a [delivery.Overlapper] more may be given behind what is not
// settled. Records whose frame was whole and whose content makes no sense are
// damaged.
func (d *deliverer) deliver() {
	rest, more := d.batch, false
	for len(rest) > 0 && !more && d.s.ctx.Err() == nil {
		if rest[0].Line == nil {
			d.settle(1, 1)
			rest = rest[1:]
			continue
		}
		whole := 1
		for whole < len(rest) && rest[whole].Line != nil {
			whole++
		}
		n, again, err := d.hand(rest[:whole])
		rest = rest[n:]
		if n > 0 || err == nil && again {
			d.endOutage()
		}
		switch {
		case err == nil && n == whole:
			d.pause = 0
		case err == nil && again: // nothing was tried that could have failed
		case err == nil && n > 0 && d.overlaps:
			d.pause, more = 0, true
		default:
			d.failed(n, err)
			more = d.overlaps // what comes behind may show why
		}
	}
	d.retain(rest)
	d.leaveSettled()
}

// hand makes one attempt, and settles n records. again reports that the next
// one follows whatever n is.
func (d *deliverer) hand(batch []nib.Record) (n int, again bool, err error) {
	if d.resumer != nil && batch[0].Seq < d.s.opened {
		n, err = d.resume(batch)
		return n, true, err
	}
	if !d.begun {
		d.begin()
	}
	var res delivery.Result
	err = d.try(batch, func(ctx context.Context) (err error) {
		res, err = d.dest.Deliver(ctx, d.out)
		return err
	})
	if n = min(max(res.Accepted, 0), len(batch)); n > 0 {
		d.mark(true)
		d.settleBatch(batch[:n], res.Rejected)
	}
	if d.syncer != nil && d.syncMark() {
		again = true
	}
	return n, again, err
}

// failed counts an attempt that has not settled everything, and waits, unless
// the destination just takes part of a batch at a time.
func (d *deliverer) failed(settled int, err error) {
	s := d.s
	s.mu.Lock()
	d.failures++
	s.mu.Unlock()
	if err == nil && settled > 0 {
		return
	}
	if err == nil {
		err = errNothing
	}
	if s.ctx.Err() != nil {
		return
	}
	d.attemptFailed(err)
	if settled > 0 {
		d.pause = 0
	}
	d.wait()
}

// wait waits before another attempt: twice as long as the last time, and by
// chance up to half less, so that many processes do not come back at once.
// Flush and Close cut it short, but for the first pause.
func (d *deliverer) wait() {
	d.pause = min(max(2*d.pause, d.s.c.tick), longerPause)
	least := d.s.c.tick / 2
	timer := time.NewTimer(least)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-d.s.ctx.Done():
		return
	}
	timer.Reset(d.pause/2 + time.Duration(rand.Int64N(int64(d.pause/2)+1)) - least)
	select {
	case <-timer.C:
	case <-d.urged:
	case <-d.s.ctx.Done():
	}
}

// sleep waits for records, or for Close.
func (d *deliverer) sleep() {
	s := d.s
	timer := time.NewTimer(linger)
	select {
	case <-timer.C:
	case <-d.wakeup:
		timer.Stop()
		return
	case <-s.ctx.Done():
		timer.Stop()
		return
	}
	s.idle.Store(true)
	end, _, final := d.reading.live.Claimed() // after saying so: a record comes before this, or its writer sees idle
	if d.at != end || final {
		return // others may sleep: idle stays
	}
	select {
	case <-d.wakeup:
	case <-s.ctx.Done():
	}
}

// finish counts what is left in memory. The last goroutine to end gives
// everything back.
func (d *deliverer) finish() {
	s := d.s
	d.endOutage()
	if s.dir == nil {
		d.abandon()
	}
	s.mu.Lock()
	s.running--
	last := s.running == 0
	s.mu.Unlock()
	if !last {
		return
	}
	<-s.made // no segment is being made any more
	s.mu.Lock()
	s.unmapped = true
	s.mu.Unlock()
	for _, l := range s.chain {
		if g := l.live; g != nil && g.HasNoWriters() {
			g.Done(nil)
		}
	}
	s.release()
	close(s.done)
}

// abandon counts what is left in memory when it ends.
func (d *deliverer) abandon() {
	for {
		for _, r := range d.batch {
			d.s.mu.Lock()
			d.s.left = true
			d.dropped.Add(segment.CauseClosed, r.Level, 1)
			d.settled++
			d.s.mu.Unlock()
		}
		d.retain(nil)
		ended, busy := d.fill()
		if len(d.batch) == 0 && ended && !d.leave() {
			return
		}
		if busy {
			time.Sleep(50 * time.Microsecond)
		}
	}
}
