// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"path/filepath"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/file/internal/mark"
)

// A destination delivers records to the live file, and finds those that a
// process has delivered before it died. The lock of the sink protects it.
type destination struct {
	w      *writer
	claims mark.Claims

	marking  bool          // a spool stores the position
	position mark.Position // after the last settled line
	stored   bool          // the spool has position on disk
	mustSync bool          // the result of SyncMark: the spool must store position first

	// holdRotation keeps the writer from ending the file: during the first check
	// of a batch if position is not stored, and after it in any case. The writer
	// sets mustSync instead, and the next Deliver may end the file.
	holdRotation bool

	// Resume sets these if the process that wrote the file died: the bytes after
	// position may be a part of the next batch. repairEnd clears inDoubt when
	// the end of the file is as it should be.
	inDoubt   bool
	doubtFrom int64 // the lowest offset at which they begin
	doubtEnd  int64 // the size of the file if it ends with them; 0 if unknown

	// The settled records end at offset settledEnd of the file settledIn, or later
	// if others have written between: no byte before it is a part of the next one.
	settledIn  vfs.ID
	settledEnd int64
}

func newDestination(w *writer) destination {
	return destination{w: w, claims: mark.Claims{
		FS: w.fs, Path: w.pathOf(claimsName(filepath.Base(w.path))), Boot: w.c.boot,
		Now: w.c.clock.mono, Check: validateFile,
		Report: func(err error) { w.errors.report("claim a part of", err) },
	}}
}

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
	return s.dest.deliver(ctx, batch)
}

// Mark returns the position in the file after the delivered lines. It is for a
// spool, which stores it with the number of these lines and passes it to Resume
// after a crash. After the first call of Mark, a delivery rotates the file only
// when the spool has stored the position; see SyncMark.
func (s *Sink) Mark() []byte {
	s.mu.Lock()
	defer s.unlock()
	d := &s.dest
	if !d.marking {
		d.beginMarking()
		d.moveToEnd()
	}
	if d.mayClaim() {
		d.claims.Begin()
	}
	return d.claims.Mark(d.position).Bytes()
}

// SyncMark reports whether the result of Mark must be on disk before Deliver is
// called again: the file is full, or a new one was started.
func (s *Sink) SyncMark() bool {
	s.mu.Lock()
	defer s.unlock()
	return s.dest.mustSync
}

// BatchSize implements [delivery.Batcher]: a batch is synced, which costs as
// much as a thousand records.
func (s *Sink) BatchSize() (records, bytes int) { return 8 << 10, 2 << 20 }

// Resume returns how many of the first records of batch are in the file
// although the spool has not recorded them as settled, because the process that
// wrote them died before its cursor was written. It searches, line by line, the
// part of the file after mark that this process has claimed, and syncs it.
// Without a claim it searches everything after mark, and a line of another
// process with the same bytes as a record counts as that record. Without a
// mark, or if the file of the mark is not found, the result is 0.
func (s *Sink) Resume(ctx context.Context, mark []byte, batch []nib.Record) (taken int, err error) {
	s.mu.Lock()
	defer s.unlock()
	if s.w.closed {
		return 0, errClosed
	}
	return s.dest.resumeAfter(ctx, mark, batch)
}

// Fork opens the path again, with the same configuration, as the destination of
// another spool, since the position in Mark is for the records of a single
// spool. A spool shared by several processes (spool.Config.Shared) calls Fork,
// and closes the result.
func (s *Sink) Fork() (delivery.Destination, error) {
	other, err := Open(s.w.path, s.w.given)
	if err != nil {
		return nil, err
	}
	return other, nil
}

// beginMarking is called before a spool stores the position.
func (d *destination) beginMarking() {
	d.marking = true
	if d.claims.Boot == 0 {
		d.claims.Boot = vfs.Boot()
	}
}

// mayClaim reports whether there is a file, so that a part can be claimed.
func (d *destination) mayClaim() bool { return !d.w.closed && d.w.file != nil }

// moveTo sets the position to an offset of f.
func (d *destination) moveTo(f vfs.File, id vfs.ID, at int64) {
	var err error
	d.stored = false
	if d.position, err = mark.At(f, id, at); err != nil {
		d.w.errors.report("read", err)
	}
}

// moveToEnd sets the position to the end of the file, after the lines of all
// writers.
func (d *destination) moveToEnd() {
	if d.w.file == nil {
		d.position, d.stored = mark.Position{}, false
		return
	}
	at := d.w.size
	if info, err := d.w.file.Stat(); err == nil {
		at = info.Size
	} else {
		d.w.errors.report("read", err)
	}
	d.moveTo(d.w.file, d.w.id, at)
}

// prepare prepares the file for n bytes of deliveries, before anything of the
// batch is written. stop reports that the spool has to store the position
// first, because the file is full, or another one was started.
func (d *destination) prepare(n int64) (stop bool, err error) {
	d.holdRotation = !d.stored
	err = d.w.ready(n)
	d.holdRotation = true
	if err != nil || d.mustSync {
		return true, err
	}
	if d.w.id != d.position.ID { // the file was rotated, or another file has its name
		d.moveToEnd()
		d.claims.Settle() // the claimed lines are in the other file
		d.mustSync = true
		return true, nil
	}
	return false, nil
}

// mayRotate reports whether the file may be ended now, and otherwise makes
// SyncMark report true.
func (d *destination) mayRotate() bool {
	if d.holdRotation {
		d.mustSync = true
	}
	return !d.holdRotation
}
