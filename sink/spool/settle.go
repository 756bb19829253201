// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"

	"github.com/nib-log/nib"
)

var errNothing = errors.New("the destination settled nothing and gave no reason")

// position returns the number of the first record that is not settled.
func (s *Sink) position() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settled
}

// fault counts and reports a file operation that went wrong.
func (s *Sink) fault(op string, err error) {
	s.mu.Lock()
	s.stats.Errors++
	s.mu.Unlock()
	s.report(op, err)
}

// isClosed says whether Close was called.
func (s *Sink) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// skip moves the position over the numbers before a segment that were never given, or
// went with segments that DropOld has taken away, unless it is behind them already.
func (d *delivery) skip(first uint64) {
	s := d.s
	if d.dest == nil {
		return
	}
	s.mu.Lock()
	gone := first - min(s.settled, first)
	s.settled += gone
	s.skips -= gone
	if gone > 0 {
		s.broadcast()
	}
	s.mu.Unlock()
	if gone > 0 {
		d.note()
	}
}

// settle moves the position over numbers that have no record, of which some are
// damaged.
func (d *delivery) settle(missing, damagedOnes uint64) {
	if missing == 0 || d.dest == nil {
		return
	}
	s := d.s
	s.mu.Lock()
	s.dropped.add(damaged, nib.LevelInfo, damagedOnes)
	s.stats.Unfinished += missing - damagedOnes
	s.settled += missing
	s.broadcast()
	s.mu.Unlock()
	d.note()
}

// settleBatch counts records as delivered or rejected, and moves the position
// behind them. A record that is rejected twice, or was not settled, is not believed.
func (d *delivery) settleBatch(batch []nib.Record, refused []nib.Rejection) {
	if len(batch) == 0 {
		return
	}
	s := d.s
	s.mu.Lock()
	delivered, last := uint64(len(batch)), -1
	for _, r := range refused {
		if r.Index > last && r.Index < len(batch) {
			s.dropped.add(rejected, batch[r.Index].Level, 1)
			delivered--
			last = r.Index
		}
	}
	s.stats.Delivered += delivered
	s.settled += uint64(len(batch))
	s.broadcast()
	s.mu.Unlock()
	for _, r := range refused {
		if r.Reason != nil {
			s.report("deliver", r.Reason)
		}
	}
	d.note()
}

// note writes the position into the cursor.
func (d *delivery) note() {
	if d.cursor == nil {
		return
	}
	if err := d.cursor.put(position{d.s.id, d.s.position()}); err != nil {
		d.s.fault("write the cursor", err)
	}
}

// leave goes on to the next segment, and reports false if there is none and will be
// none. What is settled is deleted, after the cursor says so on the disk: else
// a start would take the missing records for lost ones.
func (d *delivery) leave() bool {
	s := d.s
	if len(d.old) > 0 {
		g := &d.old[0]
		if d.dest != nil {
			d.remove(g.number, g.size)
		}
		d.old, d.scan = d.old[1:], nil
		return true
	}
	s.mu.Lock()
	last := len(s.queue) == 0
	s.mu.Unlock()
	if last {
		return false // sealed without a successor: by Close
	}
	g := d.live
	d.live = nil
	if g.drop != nil {
		g.drop()
	}
	if d.dest != nil {
		d.remove(g.number, g.size)
	}
	return true
}

// remove deletes a segment, and makes room for another.
func (d *delivery) remove(number uint64, size int64) {
	s := d.s
	if s.dir != nil {
		err := d.cursor.file.SyncData()
		if err == nil {
			err = s.dir.remove(number)
		}
		if err != nil {
			s.fault("delete a segment", err) // the next start deletes it
		}
	}
	s.mu.Lock()
	s.segments, s.bytes = s.segments-1, s.bytes-size
	s.wantMore()
	s.broadcast()
	s.mu.Unlock()
}
