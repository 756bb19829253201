// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// The position (progress.Settled) moves past
//
//	settleBatch    records of a batch, counted as delivered or rejected
//	settleMissing  numbers without a record, as unfinished or damaged
//	giveUp         the same in a rescued segment, as damaged
//	neverGiven     numbers that Open assumed and no call used: not recovered after all
//	skipUnused     numbers before a segment that no record has
//	skipVoid       a claim whose line got another number
//	passForeign    a notice for another destination
//	passAbsent     void claims and such notices, where no record was found
//	abandon        records in memory that are left when the sink closes
//
// Numbers of skipUnused to passAbsent are in progress.Skipped until then,
// except notices of earlier processes. Each of these functions but the last one
// ends with moved.

var ErrNothing = errors.New("the destination settled nothing and returned no error")

// position returns the number of the first record that is not settled.
func (d *account) position() uint64 {
	d.chain.Lock()
	defer d.chain.Unlock()
	return d.Settled
}

// skipUnused moves the position past the numbers before a segment that were
// never used or were in segments dropped by ActionDropOld, unless it is past
// them already. The lines of a segment that is still being dropped get into the
// cursor as losses by the same write: a start that finds the position behind
// the segment takes the segment for settled.
func (d *Delivery) skipUnused(first uint64) {
	if d.Dest == nil {
		return
	}
	d.chain.Lock()
	gone := first - min(d.Settled, first)
	if x := &d.Lost.Drop; d.Settled < x.End && x.End <= first {
		d.owe(&x.Lines)
		*x = store.Drop{}
	}
	d.chain.Unlock()
	if gone > 0 {
		d.skip(gone)
	}
}

// skip moves the position past n numbers without a line for this destination.
func (d *account) skip(n uint64) {
	d.chain.Lock()
	d.Settled += n
	d.Skipped -= n
	d.absent = slices.DeleteFunc(d.absent, func(seq uint64) bool { return seq < d.Settled })
	d.moved()
}

// moved is called when the position has moved. It wakes the waiters of the
// chain, unlocks it, and writes the cursor.
func (d *account) moved() {
	d.chain.Broadcast()
	d.chain.Unlock()
	d.storePosition()
}

// settleMissing moves the position past numbers without a record, with
// damagedOnes damaged records among them.
func (d *Delivery) settleMissing(missing, damagedOnes uint64) {
	if d.Dest == nil {
		return
	}
	d.chain.Lock()
	d.lose(segment.CauseDamaged, segment.LevelUnknown, damagedOnes)
	d.Unfinished += missing - damagedOnes
	d.Settled += missing
	d.moved()
}

// settleBatch counts records as delivered or rejected, and moves the position
// past them. The rejections are in any order; one of a record that was already
// rejected or is not settled is ignored. Rejected records are stored before the
// cursor is moved past them.
func (d *Delivery) settleBatch(batch []nib.Record, rejections []delivery.Rejection) {
	byIndex := func(a, b delivery.Rejection) int { return cmp.Compare(a.Index, b.Index) }
	if !slices.IsSortedFunc(rejections, byIndex) {
		rejections = slices.Clone(rejections) // the destination may keep its slice
		slices.SortStableFunc(rejections, byIndex)
	}
	var refused []refusal
	last := -1
	for _, r := range rejections {
		if r.Index > last && r.Index < len(batch) {
			reason := "no reason was given"
			if r.Reason != nil {
				reason = TextOf(r.Reason)
				d.spool.Report("deliver", r.Reason)
			}
			refused = append(refused, refusal{&batch[r.Index], reason})
			last = r.Index
		}
	}
	if len(refused) > 0 {
		d.putRejected(refused)
	}
	for _, x := range refused {
		d.repeat(x.r.Seq)
	}
	d.chain.Lock()
	for _, x := range refused {
		d.lose(segment.CauseRejected, x.r.Level, 1)
	}
	d.Delivered += uint64(len(batch) - len(refused))
	d.count(batch, refused)
	d.Settled += uint64(len(batch))
	d.reported(batch, refused)
	if d.Settled == d.want { // everything read from a segment of this process is settled
		d.checkpoint = checkpoint{d.reading.Number, d.at, d.want}
	}
	d.moved()
}

// settledIn returns the offset and the number of a record in a segment of this
// process, before which every record is settled, or 0. It need not be the last
// such record. The lock of the chain is held.
func (d *account) settledIn(number uint64) (at int, seq uint64) {
	if d.checkpoint.segment != number {
		return 0, 0
	}
	return d.checkpoint.at, d.checkpoint.seq
}

// count counts the delivered records by level. refused is in the order of
// batch. The lock of the chain is held.
func (d *account) count(batch []nib.Record, refused []refusal) {
	for i := range batch {
		if len(refused) > 0 && refused[0].r == &batch[i] {
			refused = refused[1:]
			continue
		}
		d.Traffic.Add(int(batch[i].Level), len(batch[i].Line))
	}
}

// storePosition writes the position and the losses into the cursor.
func (d *account) storePosition() {
	if d.Cursor == nil {
		return
	}
	if err := d.writeCursor(); err != nil {
		d.spool.Fault("write the cursor", err)
	}
}

// writeCursor writes the position into the cursor. If it cannot, the cursor
// keeps an older position.
func (d *account) writeCursor() error {
	d.putting.Lock()
	defer d.putting.Unlock()
	d.chain.Lock()
	p, lost, written := store.Position{Spool: d.dir.Spool, Seq: d.Settled}, d.Lost, d.unwritten
	d.chain.Unlock()
	err := d.Cursor.Put(p, &lost)
	d.stale = err != nil
	if written != (segment.Tally{}) {
		d.chain.Lock()
		d.unwritten = d.unwritten.Minus(&written) // a disk that fails delays no notice
		d.chain.Broadcast()
		d.chain.Unlock()
	}
	return err
}

// syncCursor syncs the position to disk.
func (d *account) syncCursor() (err error) {
	if d.stale {
		err = d.writeCursor()
	}
	if err == nil {
		err = d.Cursor.File.SyncData()
	}
	return err
}

// Expect counts the records of the old segments to deliver. All other numbers
// before first have no record.
func (d *account) Expect(old []segment.Old, first uint64) {
	for _, g := range old {
		d.Recovered += g.End - min(max(g.First, d.Settled), g.End)
	}
	d.Skipped = first - d.Settled - d.Recovered
}

// TextOf returns the text of an error whose Error method may panic.
func TextOf(err error) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprintf("an error of type %T, whose Error method panics", err)
		}
	}()
	return err.Error()
}

// Void records that the claim with number seq is void, in a segment that this
// destination has not left: its line gets another number. If the number was
// counted as damaged, that is undone. The lock of the chain is held.
func (d *account) Void(seq uint64) {
	if d.Settled > seq {
		d.unlose()
	} else {
		d.absent = append(d.absent, seq)
		d.Skipped++
	}
}
