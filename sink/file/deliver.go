// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
)

// deliverySize is the number of bytes of a batch that are written at once,
// between two checks of the context. The page cache takes a long write in large
// pages, each about as cheap as a small one.
const deliverySize = 512 << 10

// deliver is Deliver under the lock of the sink.
func (d *destination) deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	// If this failed after the lines were written, they would be written again.
	if err := d.w.syncName(); err != nil {
		return delivery.Result{}, err
	}
	d.w.durable, d.w.undurable = true, nil
	defer func() { d.w.durable, d.holdRotation = false, false }()

	n, err := d.take(ctx, batch)
	if n == 0 {
		return delivery.Result{}, err
	}
	if syncErr := d.w.sync(); syncErr != nil {
		return delivery.Result{}, syncErr
	}
	if d.w.undurable != nil { // the error of a file that was ended in the meantime
		return delivery.Result{}, d.w.undurable
	}
	for i := range batch[:n] {
		d.w.written.Add(int(batch[i].Level), len(batch[i].Line))
	}
	d.claims.Settle()
	if !d.w.torn && d.position.ID == d.w.id {
		d.moveToEnd()
	}
	return delivery.Result{Accepted: n}, err
}

// take writes the lines of batch, and returns the number of them that are in a
// file. If a spool stores the position, take writes to only one file, and may
// return 0 without an error. The order of its steps: other spools are kept out,
// the end that a dead process has left is repaired, the part to be written is
// claimed, and only then something is written.
func (d *destination) take(ctx context.Context, batch []nib.Record) (n int, err error) {
	if !d.marking {
		return d.append(ctx, batch)
	}
	if d.mustSync {
		// A spool that does not call SyncMark does not store the position either.
		d.mustSync, d.stored = false, true
		d.w.checkNow() // the schedule may have asked
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if d.mayClaim() {
		d.claims.Lock()
	}
	defer d.claims.Unlock()
	if !d.refreshSize() {
		d.claims.Unlock() // Claim ends the claims of others at the size, if it has the lock
	}
	there, err := d.repairEnd(batch)
	if err != nil {
		return 0, err
	}
	if d.mustSync = !d.claims.Claim(d.w.id, d.w.size-there, d.w.size); d.mustSync {
		return 0, nil
	}
	n, err = d.completeRecord(batch[0].Line, there)
	if n > 0 {
		d.settledIn, d.settledEnd = d.w.id, d.w.size
	}
	if err != nil || n == len(batch) {
		return n, err
	}
	if stop, err := d.prepare(int64(len(batch[n].Line))); stop {
		return n, err
	}
	d.w.check.at = noCheck
	from := d.w.size
	m, err := d.append(ctx, batch[n:])
	d.w.checkNow()
	d.settledIn, d.settledEnd = d.w.id, from // others may have written between
	for i := range m {
		d.settledEnd += int64(len(batch[n+i].Line))
	}
	if m > 0 {
		if err := d.ensureFirst(ctx, &batch[n], from); err != nil {
			return n, err
		}
	}
	return n + m, err
}

// ensureFirst ensures that the first line of a batch, written at offset from,
// is whole: another process may have died during a write just before. In that
// case the line is written once more.
func (d *destination) ensureFirst(ctx context.Context, r *nib.Record, from int64) error {
	info, err := d.w.file.Stat()
	if err == nil && info.Size == d.w.size {
		return nil // no other process has written
	}
	n := 0
	if err == nil {
		n, _, err = d.live(from).Find(ctx, []nib.Record{*r})
	}
	if err != nil {
		d.w.errors.report("read", err) // the line was written, and most likely is whole
	}
	if err != nil || n > 0 {
		return nil
	}
	_, err = d.w.put(r.Line)
	return err
}

// refreshSize determines whether another process has written to the file, which
// may have died in the middle of a line. It reports whether the size is known.
func (d *destination) refreshSize() bool {
	if d.w.file == nil {
		return false
	}
	info, err := d.w.file.Stat()
	if err != nil {
		d.w.errors.report("read", err)
	}
	if err != nil || info.Size != d.w.size {
		d.w.unseen = true // seeEnd checks the end
	}
	if err == nil {
		d.w.size = info.Size
	}
	return err == nil
}

// append writes the lines of batch, and returns the number of them that are in
// a file.
func (d *destination) append(ctx context.Context, batch []nib.Record) (n int, err error) {
	var delivered level.Traffic // counted by Deliver, once they are settled
	for n < len(batch) && err == nil && !d.mustSync {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		if line := batch[n].Line; len(line) > deliverySize { // write it without a copy
			if err = d.w.ready(int64(len(line))); err == nil && !d.mustSync {
				if _, err = d.w.put(line); err == nil {
					n++
				}
			}
			continue
		}
		for i := n; i < len(batch) && d.w.out.Size()+len(batch[i].Line) <= deliverySize; i++ {
			d.w.out.Add(batch[i].Line, int(batch[i].Level))
		}
		for d.w.out.Lines() > 0 && err == nil && !d.mustSync {
			if err = d.w.ready(int64(d.w.out.Next())); err == nil && !d.mustSync {
				var m int
				m, err = d.w.put(d.w.out.UpTo(d.w.limit - d.w.size))
				d.w.out.Advance(m, &delivered)
			}
		}
		n += d.w.out.Done()
		d.w.out.Reset()
	}
	return n, err
}
