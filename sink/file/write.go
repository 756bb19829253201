// SPDX-License-Identifier: Apache-2.0

package file

import (
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/linebatch"
	"github.com/nib-log/nib/internal/loss"
)

// A writer writes lines to the live file. Before a line it checks the name, the
// schedule and the size, and follows, rotates, or reports losses. Its methods
// run under the lock of the sink. A line takes one of two paths: the fast path
// in WriteRecord, or write, which first prepares the file for the line.
type writer struct {
	liveFile
	rotation  rotation
	retention *retention
	clock     clock
	limit     int64 // MaxSize, or more than any file reaches
	minFree   int64
	mayRotate func() bool // of a delivery
	check     nameCheck
	closed    bool

	stats    Stats // the counts of files and notices
	written  level.Traffic
	dropped  loss.Tally
	reported loss.Tally // counts that a notice has reported
	head     head
	out      linebatch.Batch // lines of a buffer or a delivery that are being written
}

// hasTrouble reports whether the next line must take the slow path.
func (w *writer) hasTrouble() bool {
	return w.closed || w.file == nil || w.failing.err != nil || w.torn || w.unseen ||
		w.dropped != w.reported || w.policy == SyncAlways
}

// write writes the line of r, or drops it.
func (w *writer) write(r *nib.Record) error {
	err := w.tryWrite(r.Line)
	if err != nil && w.again() {
		err = w.tryAgain(r.Line, err)
	}
	return w.account(r, err)
}

func (w *writer) tryWrite(line []byte) error {
	err := w.ready(int64(len(line)))
	if err == nil {
		var n int
		if n, err = w.put(line); isWhole(n, len(line)) {
			err = nil
		}
	}
	return err
}

// isWhole reports whether a line of size bytes is complete when n bytes are
// written: if only the newline is missing, the next write begins with it.
func isWhole(n, size int) bool { return n >= size-1 }

// finish continues a single write that has stopped after n bytes. After an
// error it ends the partial line, and writes the line once more.
func (w *writer) finish(r *nib.Record, n int, err error) error {
	w.wrote(r.Line[:n])
	if err == nil {
		var m int
		m, err = w.put(r.Line[n:])
		n += m
	} else {
		err = w.fail("write", err)
	}
	if isWhole(n, len(r.Line)) {
		err = nil
	}
	if err != nil && w.again() {
		err = w.tryAgain(r.Line, err)
	}
	return w.account(r, err)
}

// tryAgain writes line once more after err. If that succeeds, no call returns
// err.
func (w *writer) tryAgain(line []byte, err error) error {
	again := w.tryWrite(line)
	if again == nil {
		w.errors.announce("write", err)
	}
	return again
}

// account counts the line of r as written, or as lost because of err.
func (w *writer) account(r *nib.Record, err error) error {
	if err != nil {
		return w.drop(r, err)
	}
	w.written.Add(int(r.Level), len(r.Line))
	return nil
}

// writeBatch writes the lines of b, in as many files as they take, or drops
// them.
func (w *writer) writeBatch(b *linebatch.Batch) error {
	for b.Lines() > 0 {
		err := w.ready(int64(b.Next()))
		if err == nil {
			var n int
			n, err = w.put(b.UpTo(w.limit - w.size))
			b.Advance(n, &w.written)
		}
		if err == nil {
			continue
		}
		if !w.again() {
			b.Drop(&w.dropped[w.causeOf(err)])
			return err
		}
		w.errors.announce("write", err) // no call returns it if writing succeeds now
		b.Back()
	}
	b.Reset()
	return nil
}

// drop counts the line of r as lost because of err, which it returns.
func (w *writer) drop(r *nib.Record, err error) error {
	w.dropped[w.causeOf(err)][level.Row(int(r.Level))]++
	return err
}

// causeOf returns the cause under which a lost line is counted.
func (w *writer) causeOf(err error) cause {
	if err == errClosed {
		return closed
	}
	return w.failing.cause
}

// ready prepares the file for n more bytes: it has the name and enough room,
// ends with a newline, and reports the lines that were lost before. The error
// is the reason why that is not possible now.
func (w *writer) ready(n int64) error {
	if w.closed {
		return errClosed
	}
	now := w.clock.mono()
	if w.failing.err != nil && w.check.at != noCheck { // otherwise the file of a batch is checked
		if now < w.failing.retry {
			return w.failing.err
		}
		w.renew()
		w.check.at = now
	}
	if now >= w.check.at {
		if err := w.look(now); err != nil {
			return err
		}
	}
	w.makeRoom(n, now)
	if w.file == nil {
		return w.fail("open", errNoFile)
	}
	if w.policy == SyncAlways { // before a line that would be written again if this failed
		if err := w.syncName(); err != nil {
			return err
		}
	}
	if w.unseen {
		w.seeEnd()
	}
	if !w.torn && w.dropped == w.reported {
		return nil
	}
	if err := w.putHead(now); err != nil {
		return err
	}
	w.makeRoom(n, now)
	return nil
}

// renew reopens the file after a failure other than a full disk: the descriptor
// itself may no longer work. If that fails, look returns an error unless lines
// can be written to the open file.
func (w *writer) renew() {
	if w.failing.cause != full || w.file == nil {
		_ = w.reopen()
	}
}
