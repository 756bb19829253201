// SPDX-License-Identifier: Apache-2.0

package file

import (
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/linebatch"
	"github.com/nib-log/nib/internal/loss"
)

// A writer writes lines to the live file. Before a line it checks the name, the
// schedule and the size, and reopens, rotates, or reports losses. Its methods
// run under the lock of the sink. A line takes one of two paths: the fast path
// in WriteRecord, or write, which first prepares the file for the line.
type writer struct {
	liveFile
	rotation  rotation
	retention *retention
	limit     int64       // MaxSize, or more than any file reaches
	mayRotate func() bool // of a delivery
	check     nameCheck
	closed    bool

	stats    Stats // the counts of files and notices
	written  level.Traffic
	dropped  loss.Tally
	reported loss.Tally // counts that a notice has reported
	head     head
	out      linebatch.Batch // lines being written; empty while the lock is free
}

// needsSlowPath reports whether the next line must take the slow path.
func (w *writer) needsSlowPath() bool {
	return w.closed || w.file == nil || w.failing.err != nil || w.torn || w.unseen ||
		w.dropped != w.reported || w.c.Sync == SyncAlways
}

// write writes the line of r, or drops it.
func (w *writer) write(r *nib.Record) error { return w.retryAndCount(r, w.tryWrite(r.Line)) }

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
	return w.retryAndCount(r, err)
}

// retryAndCount writes the line of r once more if err is not nil, and counts it
// as written, or as lost because of the error that it returns.
func (w *writer) retryAndCount(r *nib.Record, err error) error {
	if err != nil && w.mayRetry() {
		first := err
		if err = w.tryWrite(r.Line); err == nil {
			w.errors.announce("write", first) // no call returns it
		}
	}
	if err != nil {
		w.dropped[w.causeOf(err)][level.Row(int(r.Level))]++
		return err
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
		if !w.mayRetry() {
			b.Drop(&w.dropped[w.causeOf(err)])
			return err
		}
		w.errors.announce("write", err) // no call returns it if writing succeeds now
		b.Back()
	}
	b.Reset()
	return nil
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
	now := w.c.clock.mono()
	if w.failing.err != nil && w.check.at != noCheck { // a batch of a delivery stays in its file
		if now < w.failing.retry {
			return w.failing.err
		}
		// Unless the disk is full, the descriptor itself may no longer work. If
		// reopening fails, checkAll returns an error unless lines can be written to
		// the open file.
		if w.failing.cause != full || w.file == nil {
			_ = w.reopen()
		}
		w.check.at = now
	}
	if now >= w.check.at {
		if err := w.checkAll(now); err != nil {
			return err
		}
	}
	w.makeRoom(n, now)
	if w.file == nil {
		return w.fail("open", errNoFile)
	}
	if w.c.Sync == SyncAlways { // before a line that would be written again if this failed
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
	w.makeRoom(n, now) // again: the head has taken some
	return nil
}

// A head is the text to write before the next line: the end of a line that was
// cut off, and the notice of lost lines.
type head struct {
	text    []byte
	notices *loss.Notices
	line    []byte // the notice as JSON
}

// appendNotice appends the line that reports a loss.
func appendNotice(n *loss.Notices, dst []byte, now time.Time, lost loss.Tally) []byte {
	message := "lines lost: the log file could not be written"
	if lost.Only(int(full)) {
		message = "lines lost: no space was left for the log file"
	}
	return n.Append(dst, now, message, reasons[:], lost[:causes])
}

// putHead writes the text that precedes the next line: the end of a line that
// was cut off, and the notice of lost lines.
func (w *writer) putHead(now int64) error {
	h := &w.head
	h.text = h.text[:0]
	if w.torn {
		h.text = append(h.text, '\n')
	}
	lost := w.dropped.Minus(w.reported)
	if lost != (loss.Tally{}) {
		h.line = appendNotice(h.notices, h.line[:0], w.c.clock.wall(), lost)
		h.text = loss.AppendView(h.text, h.line, w.c.View)
		if w.makeRoom(int64(len(h.text)), now); !w.torn && h.text[0] == '\n' {
			h.text = append(h.text[:0], h.text[1:]...) // the head goes to a new file
		}
	}
	before := w.size
	_, err := w.put(h.text)
	if lost != (loss.Tally{}) && w.size == before+int64(len(h.text)) {
		// The losses are reported even if the notice was not synced.
		w.reported = w.dropped
		w.stats.Notices++
	}
	return err
}
