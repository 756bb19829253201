// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"context"
	"errors"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

var (
	errMark  = errors.New("the mark has more than 40 bytes")
	ErrTaken = errors.New("a count from Resume is not within the batch")
)

// resume settles the records of batch that the destination already has. Resume
// is not called again, unless the destination has all of them.
func (d *Delivery) resume(batch []nib.Record) (taken int, err error) {
	var n int
	err = d.try(batch, func(ctx context.Context) (err error) {
		n, err = d.resumer.Resume(ctx, d.Cursor.Mark, d.out)
		return err
	})
	if err == nil && (n < 0 || n > len(batch)) {
		err = ErrTaken
	}
	if err != nil {
		return 0, err
	}
	if n < len(batch) {
		d.resumer = nil
	}
	if n != 0 {
		d.accepted, d.rejections = batch[:n], nil
		d.mark(false)
		d.settleBatch(batch[:n], nil)
		d.accepted = nil
	}
	return n, nil
}

// storeFirstMark stores the mark of a destination before anything is delivered,
// and syncs it, so that there is a mark after a power failure.
func (d *Delivery) storeFirstMark() {
	d.resumer, d.begun = nil, true
	if d.marker == nil {
		return
	}
	d.mark(false)
	d.storePosition()
	if err := d.syncCursor(); err != nil {
		d.spool.Fault("sync the cursor", err) // without the sync, lines may be delivered twice
	}
}

// mark gets the mark from the destination. It keeps the previous one if the new
// one is empty, unless mayBeNil is true.
func (d *Delivery) mark(mayBeNil bool) {
	if d.marker == nil {
		return
	}
	var m []byte
	err := guard(func() error {
		m = d.marker.Mark()
		return nil
	})
	switch {
	case len(m) > store.MaxMark:
		err = errMark
	case err == nil && (len(m) > 0 || mayBeNil):
		d.Cursor.Mark = append(d.Cursor.Mark[:0], m...)
	}
	if err != nil {
		d.spool.Fault("mark", err) // the previous mark is valid, only older
	}
}

// syncMark syncs the cursor if the destination requires it.
func (d *Delivery) syncMark() (wanted bool) {
	err := guard(func() error {
		wanted = d.syncer.SyncMark()
		return nil
	})
	if err != nil {
		d.spool.Fault("mark", err)
	}
	if !wanted {
		return false
	}
	d.mark(false)
	for d.Options.Context.Err() == nil {
		err := d.writeCursor()
		if err == nil {
			err = d.syncCursor()
		}
		if err == nil {
			return true
		}
		d.spool.Fault("sync the cursor", err)
		d.wait()
	}
	return true
}

// try makes an attempt with a copy of batch, since the destination owns the
// records during the call. Their bytes are a copy already.
func (d *Delivery) try(batch []nib.Record, attempt func(context.Context) error) error {
	d.out = append(d.out[:0], batch...)
	d.chain.Lock()
	d.Attempts++
	d.Since = time.Now()
	d.beginAttempt(batch[0].Time)
	d.chain.Unlock()
	err := guard(func() error { return inTurn(d.Options.Context, d.Turn, attempt) })
	d.chain.Lock()
	d.Since = time.Time{}
	d.chain.Unlock()
	return err
}

// inTurn makes an attempt when the destination serves no other spool. turn is
// nil if it serves only one.
func inTurn(
	ctx context.Context, turn chan struct{}, attempt func(context.Context) error,
) error {
	if turn == nil {
		return attempt(ctx)
	}
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-turn }()
	return attempt(ctx)
}

// guard recovers panics of a destination.
func guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = interruption(p)
		}
	}()
	return call()
}
