// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
)

// deliverySize is the number of bytes of a batch that are written at once,
// between two checks of the context.
const deliverySize = 64 << 10

// Deliver appends batch and syncs the file and its name before it returns:
// accepted records survive a power failure. It never rejects a record. If a
// write fails, Result reports the number of durable records. After a failed
// sync none of the batch is, since the contents of the disk are unknown;
// records that are delivered again are then in the file twice. Deliver waits
// only for the disk.
//
// If a spool stores the position in the file (Mark), a batch goes to a single
// file, and a call of Deliver may settle no record, without an error, before it
// ends a file.
func (s *Sink) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	if len(batch) == 0 {
		return delivery.Result{}, nil
	}
	s.mu.Lock()
	defer s.unlock()
	if s.w.closed {
		return delivery.Result{}, errClosed
	}
	s.w.failing.retry = 0 // an explicit request is always tried
	s.flushBuffer(nil)
	// If this failed after the lines were written, they would be written again.
	if err := s.w.syncName(); err != nil {
		return delivery.Result{}, err
	}
	s.w.durable, s.w.undurable = true, nil
	defer func() { s.w.durable, s.delivering.held = false, false }()

	n, err := s.take(ctx, batch)
	if n == 0 {
		return delivery.Result{}, err
	}
	if syncErr := s.w.sync(); syncErr != nil {
		return delivery.Result{}, syncErr
	}
	if s.w.undurable != nil { // the error of a file that was ended in the meantime
		return delivery.Result{}, s.w.undurable
	}
	for i := range batch[:n] {
		s.w.written.Add(int(batch[i].Level), len(batch[i].Line))
	}
	s.claims.epoch++
	if !s.w.torn && s.delivering.place.id == s.w.id {
		s.moveToEnd()
	}
	return delivery.Result{Accepted: n}, err
}

// take writes the lines of batch, and returns the number of them that are in a
// file. If a spool stores the place, take writes to only one file, and may
// return 0 without an error.
func (s *Sink) take(ctx context.Context, batch []nib.Record) (n int, err error) {
	d := &s.delivering
	if !d.marking {
		return s.append(ctx, batch)
	}
	if d.ask {
		// A spool that does not call SyncMark does not store the place either.
		d.ask, d.stored = false, true
		s.w.checkNow() // the schedule may have asked
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	s.lockClaims()
	defer s.unlockClaims()
	if !s.seeOthers() {
		s.unlockClaims() // otherwise claims would be ended at the wrong size
	}
	there, err := s.unfinished(batch)
	if err != nil || !s.claimFrom(s.w.size-there) {
		return 0, err
	}
	if n, err = s.mend(batch[0].Line, there); err != nil || n == len(batch) {
		return n, err
	}
	if stop, err := s.barrier(int64(len(batch[n].Line))); stop {
		return n, err
	}
	s.w.check.at = noCheck
	from := s.w.size
	m, err := s.append(ctx, batch[n:])
	s.w.checkNow()
	if m > 0 {
		if err := s.ensureFirst(ctx, &batch[n], from); err != nil {
			return n, err
		}
	}
	return n + m, err
}

// ensureFirst ensures that the first line of a batch, written at offset from,
// is whole: another process may have died during a write just before. In that
// case the line is written once more.
func (s *Sink) ensureFirst(ctx context.Context, r *nib.Record, from int64) error {
	info, err := s.w.file.Stat()
	if err == nil && info.Size == s.w.size {
		return nil // no other process has written
	}
	n := 0
	if err == nil {
		n, _, err = stretch{s.w.file, s.w.id, from, openEnd}.find(ctx, []nib.Record{*r})
	}
	if err != nil {
		s.w.errors.report("read", err) // the line was written, and most likely is whole
	}
	if err != nil || n > 0 {
		return nil
	}
	_, err = s.w.put(r.Line)
	return err
}

// seeOthers determines whether another process has written to the file, which
// may have died in the middle of a line. It reports whether the size is known.
func (s *Sink) seeOthers() bool {
	if s.w.file == nil {
		return false
	}
	info, err := s.w.file.Stat()
	if err != nil {
		s.w.errors.report("read", err)
	}
	if err != nil || info.Size != s.w.size {
		s.w.unseen = true // seeEnd checks the end
	}
	if err == nil {
		s.w.size = info.Size
	}
	return err == nil
}

// append writes the lines of batch, and returns the number of them that are in
// a file.
func (s *Sink) append(ctx context.Context, batch []nib.Record) (n int, err error) {
	var delivered level.Traffic // counted by Deliver, once they are settled
	for n < len(batch) && err == nil && !s.delivering.ask {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		if line := batch[n].Line; len(line) > deliverySize { // write it without a copy
			if err = s.w.ready(int64(len(line))); err == nil && !s.delivering.ask {
				if _, err = s.w.put(line); err == nil {
					n++
				}
			}
			continue
		}
		for i := n; i < len(batch) && s.w.out.Size()+len(batch[i].Line) <= deliverySize; i++ {
			s.w.out.Add(batch[i].Line, int(batch[i].Level))
		}
		for s.w.out.Lines() > 0 && err == nil && !s.delivering.ask {
			if err = s.w.ready(int64(s.w.out.Next())); err == nil && !s.delivering.ask {
				var m int
				m, err = s.w.put(s.w.out.UpTo(s.w.limit - s.w.size))
				s.w.out.Advance(m, &delivered)
			}
		}
		n += s.w.out.Done()
		s.w.out.Reset()
	}
	return n, err
}

// Fork opens the path again, with the same configuration, as the destination of
// another spool, since the position in Mark is for the records of a single
// spool. A spool shared by several processes (spool.Config.Shared) calls Fork,
// and closes the result.
func (s *Sink) Fork() (delivery.Destination, error) {
	other, err := Open(s.w.path, s.given)
	if err != nil {
		return nil, err
	}
	return other, nil
}
