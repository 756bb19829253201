// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

var errNothing = errors.New("the destination settled nothing and returned no error")

// position returns the number of the first record that is not settled.
func (d *deliverer) position() uint64 {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	return d.settled
}

// position returns the number of the first record that some destination has not
// settled.
func (s *Sink) position() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lowest()
}

// lowest is position under mu.
func (s *Sink) lowest() uint64 {
	lowest := s.deliveries[0].settled
	for _, d := range s.deliveries {
		lowest = min(lowest, d.settled)
	}
	return lowest
}

// fault counts and reports a file operation that went wrong.
func (s *Sink) fault(op string, err error) {
	s.mu.Lock()
	s.stats.Errors++
	s.mu.Unlock()
	s.report(op, err)
}

// faultLocked is fault under mu.
func (s *Sink) faultLocked(op string, err error) {
	s.stats.Errors++
	s.queueReport(opError{op, err, textOf(err)})
}

// isClosed reports whether Close was called.
func (s *Sink) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// skip moves the position over the numbers before a segment that were never
// given, or went with segments that ActionDropOld has taken away, unless it is
// behind them already.
func (d *deliverer) skip(first uint64) {
	s := d.s
	if d.dest == nil {
		return
	}
	s.mu.Lock()
	gone := first - min(d.settled, first)
	d.settled += gone
	d.skips -= gone
	s.broadcast()
	s.mu.Unlock()
	if gone != 0 {
		d.note()
	}
}

// settle moves the position over numbers that have no record, of which some are
// damaged.
func (d *deliverer) settle(missing, damagedOnes uint64) {
	if missing == 0 || d.dest == nil {
		return
	}
	s := d.s
	s.mu.Lock()
	d.dropped.Add(segment.CauseDamaged, segment.LevelUnknown, damagedOnes)
	s.publish()
	d.unfinished += missing - damagedOnes
	d.settled += missing
	s.broadcast()
	s.mu.Unlock()
	d.note()
}

// settleBatch counts records as delivered or rejected, and moves the position
// behind them. A rejection of a record that was already rejected or is not
// settled is ignored. Rejected records are stored before the cursor says that
// they are settled.
func (d *deliverer) settleBatch(batch []nib.Record, rejections []delivery.Rejection) {
	var refused []refusal
	last := -1
	for _, r := range rejections {
		if r.Index > last && r.Index < len(batch) {
			reason := "no reason was given"
			if r.Reason != nil {
				reason = textOf(r.Reason)
				d.s.report("deliver", r.Reason)
			}
			refused = append(refused, refusal{&batch[r.Index], reason})
			last = r.Index
		}
	}
	if len(refused) > 0 {
		d.putRejected(refused)
	}
	s := d.s
	s.mu.Lock()
	for _, x := range refused {
		d.dropped.Add(segment.CauseRejected, x.r.Level, 1)
	}
	s.publish()
	d.delivered += uint64(len(batch) - len(refused))
	d.count(batch, refused)
	d.settled += uint64(len(batch))
	s.broadcast()
	s.mu.Unlock()
	d.note()
}

// count counts what was delivered by level. refused is in the order of batch.
// mu is held.
func (d *deliverer) count(batch []nib.Record, refused []refusal) {
	for i := range batch {
		if len(refused) > 0 && refused[0].r == &batch[i] {
			refused = refused[1:]
			continue
		}
		d.traffic.Add(int(batch[i].Level), len(batch[i].Line))
	}
}

// note writes the position into the cursor.
func (d *deliverer) note() {
	if d.cursor == nil {
		return
	}
	if err := d.put(); err != nil {
		d.s.fault("write the cursor", err)
	}
}

// put writes the position into the cursor. If that fails, the position there is
// an older one.
func (d *deliverer) put() error {
	err := d.cursor.Put(store.Position{Spool: d.s.dir.Spool, Seq: d.position()})
	d.stale = err != nil
	return err
}

// sync syncs the position to disk.
func (d *deliverer) sync() (err error) {
	if d.stale {
		err = d.put()
	}
	if err == nil {
		err = d.cursor.File.SyncData()
	}
	return err
}
