// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/nib-log/nib"
)

// A process may die after its destination has taken a batch and before the cursor
// says so. A destination that can find out what it has need not be given that again: it is a
// [Marker] and a [Resumer]. All of this is about spools in directories.

// A Marker is a destination that wants something remembered: where it is in its file,
// say. Mark is called before the first Deliver and after each one that has
// settled records. What it returns, at most 40 bytes, is written to the cursor with the number
// of the records that are settled; nil before the first Deliver leaves what is there.
type Marker interface {
	Mark() []byte
}

// A Resumer is a destination that knows which records it has. Resume is called before
// anything else if another process has left records: with the mark that was stored last, nil if
// there is none, and the first records that are not settled. It returns how many of
// them, from the first on, the destination has taken nevertheless. If those are all, it is
// called again with the next ones. After an error it is called again later.
type Resumer interface {
	Resume(ctx context.Context, mark []byte, batch []nib.Record) (taken int, err error)
}

// A MarkSyncer is a Marker that sometimes has to know its mark on the disk before
// it goes on. SyncMark is asked after each Deliver; when it says true the next one comes when the cursor is
// synced. Such a Deliver may settle nothing without being a failure.
type MarkSyncer interface {
	SyncMark() bool
}

// A Batcher is a destination that says how much it wants at a time: so many records,
// and bytes of them, as suits it best. Others get up to 1,024 records and 1 MiB. The bytes are a
// buffer that is kept for each destination.
type Batcher interface {
	BatchSize() (records, bytes int)
}

// An Overlapper is a destination that works at several requests at a time. Overlap is called
// once, before anything else: from then on Deliver need not wait until all of a batch is
// settled. It may return when a part is, with no error, while the rest is under way; the next
// batch begins with that rest and has more behind it; after a failure, too. The buffer of a [Batcher] is
// made of two halves for it.
type Overlapper interface {
	Overlap()
}

var (
	errMark  = errors.New("the mark has more than 40 bytes")
	errTaken = errors.New("more, or less, was taken than there is")
)

// resume finds out what the destination has of batch, and settles that. Then it is
// not asked again, unless that is all.
func (d *delivery) resume(batch []nib.Record) (taken int, err error) {
	var n int
	err = d.try(batch, func(ctx context.Context) (err error) {
		n, err = d.resumer.Resume(ctx, d.cursor.mark, d.out)
		return err
	})
	if err == nil && (n < 0 || n > len(batch)) {
		err = errTaken
	}
	if err != nil {
		return 0, err
	}
	if n < len(batch) {
		d.resumer = nil
	}
	if n > 0 {
		d.mark(false)
		d.settleBatch(batch[:n], nil)
	}
	return n, nil
}

// begin stores the mark that a destination has before anything is delivered, on the
// disk: after a loss of power there is one.
func (d *delivery) begin() {
	d.resumer, d.begun = nil, true
	if d.marker == nil {
		return
	}
	d.mark(false)
	d.note()
	if err := d.sync(); err != nil {
		d.s.fault("sync the cursor", err) // without it, lines may come twice
	}
}

// mark asks for the mark. nil is one, if it may be.
func (d *delivery) mark(mayBeNil bool) {
	if d.marker == nil {
		return
	}
	var m []byte
	err := d.guard(func() error {
		m = d.marker.Mark()
		return nil
	})
	switch {
	case err == nil && len(m) > maxMark:
		err = errMark
	case err == nil && (len(m) > 0 || mayBeNil):
		d.cursor.mark = append(d.cursor.mark[:0], m...)
	}
	if err != nil {
		d.s.fault("mark", err) // the one before is as good: it is older
	}
}

// syncMark brings the cursor to the disk if the destination wants that.
func (d *delivery) syncMark() (wanted bool) {
	err := d.guard(func() error {
		wanted = d.syncer.SyncMark()
		return nil
	})
	if err != nil {
		d.s.fault("mark", err)
	}
	if !wanted {
		return false
	}
	d.mark(false)
	for d.s.ctx.Err() == nil {
		err := d.put()
		if err == nil {
			err = d.sync()
		}
		if err == nil {
			return true
		}
		d.s.fault("sync the cursor", err)
		d.wait()
	}
	return true
}

// try makes an attempt with a copy of batch, for the destination has the records to itself
// meanwhile. Of their bytes it is one already.
func (d *delivery) try(batch []nib.Record, attempt func(context.Context) error) error {
	d.out = append(d.out[:0], batch...)
	d.s.mu.Lock()
	d.attempts++
	d.since = time.Now()
	d.beginAttempt(batch[0].Time)
	d.s.mu.Unlock()
	err := d.guard(func() error { return d.inTurn(attempt) })
	d.s.mu.Lock()
	d.since = time.Time{}
	d.s.mu.Unlock()
	return err
}

// inTurn makes an attempt when the destination serves no other spool.
func (d *delivery) inTurn(attempt func(context.Context) error) error {
	if d.turn == nil {
		return attempt(d.s.ctx)
	}
	select {
	case d.turn <- struct{}{}:
	case <-d.s.ctx.Done():
		return context.Cause(d.s.ctx)
	}
	defer func() { <-d.turn }()
	return attempt(d.s.ctx)
}

// guard survives what a destination does.
func (d *delivery) guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return call()
}
