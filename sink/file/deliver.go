// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"math"

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
	if s.closed {
		return delivery.Result{}, errClosed
	}
	s.failing.retry = 0 // an explicit request is always tried
	s.flushBuffer(nil)
	if err := s.syncName(); err != nil { // sync before writing lines that would be written again if this failed
		return delivery.Result{}, err
	}
	s.durable, s.undurable = true, nil
	defer func() { s.durable, s.delivering.held = false, false }()

	n, err := s.take(ctx, batch)
	if n == 0 {
		return delivery.Result{}, err
	}
	if syncErr := s.sync(); syncErr != nil {
		return delivery.Result{}, syncErr
	}
	if s.undurable != nil { // the error of a file that was ended in the meantime
		return delivery.Result{}, s.undurable
	}
	for i := range batch[:n] {
		s.written.Add(int(batch[i].Level), len(batch[i].Line))
	}
	s.claims.epoch++
	if !s.torn && s.delivering.place.id == s.id {
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
		d.ask, d.stored = false, true // a spool that does not call SyncMark does not store the place either
		s.checkNow()                  // the schedule may have asked
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
	if err != nil || !s.claimFrom(s.size-there) {
		return 0, err
	}
	if n, err = s.mend(batch[0].Line, there); err != nil || n == len(batch) {
		return n, err
	}
	if stop, err := s.barrier(int64(len(batch[n].Line))); stop {
		return n, err
	}
	s.checkAt = math.MaxInt64 // lines go to this file, even if it is renamed during the batch
	from := s.size
	m, err := s.append(ctx, batch[n:])
	s.checkNow()
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
	info, err := s.file.Stat()
	if err == nil && info.Size == s.size {
		return nil // no other process has written
	}
	n := 0
	if err == nil {
		n, _, err = stretch{s.file, s.id, from, openEnd}.find(ctx, []nib.Record{*r})
	}
	if err != nil {
		s.errors.report("read", err) // the line was written, and most likely is whole
	}
	if err != nil || n > 0 {
		return nil
	}
	_, err = s.put(r.Line)
	return err
}

// seeOthers determines whether another process has written to the file, which
// may have died in the middle of a line. It reports whether the size is known.
func (s *Sink) seeOthers() bool {
	if s.file == nil {
		return false
	}
	info, err := s.file.Stat()
	if err != nil {
		s.errors.report("read", err)
	}
	if err != nil || info.Size != s.size {
		s.unseen = true // seeEnd checks the end
	}
	if err == nil {
		s.size = info.Size
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
		if line := batch[n].Line; len(line) > deliverySize { // append a long line without copying it
			if err = s.ready(int64(len(line))); err == nil && !s.delivering.ask {
				if _, err = s.put(line); err == nil {
					n++
				}
			}
			continue
		}
		for i := n; i < len(batch) && s.out.Size()+len(batch[i].Line) <= deliverySize; i++ {
			s.out.Add(batch[i].Line, int(batch[i].Level))
		}
		for s.out.Lines() > 0 && err == nil && !s.delivering.ask {
			if err = s.ready(int64(s.out.Next())); err == nil && !s.delivering.ask {
				var m int
				m, err = s.put(s.out.UpTo(s.limit - s.size))
				s.out.Advance(m, &delivered)
			}
		}
		n += s.out.Done()
		s.out.Reset()
	}
	return n, err
}
