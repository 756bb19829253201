// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io"
	"math"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/vfs"
)

// The functions of this file run under mu. A line takes one of two paths: the
// fast path in WriteRecord, or write, which first prepares the file for the
// line.

// assess decides whether the next line may take the fast path.
func (s *Sink) assess() {
	s.trouble = s.closed || s.file == nil || s.failing.err != nil || s.torn || s.unseen ||
		s.dropped != s.reported || s.c.Sync == SyncAlways
	if s.buffer != nil {
		s.buffer.setDirect(s.closed || s.failing.err != nil)
	}
}

// write writes the line of r, or drops it.
func (s *Sink) write(r *nib.Record) error {
	err := s.tryWrite(r.Line)
	if err != nil && s.again() {
		err = s.tryAgain(r.Line, err)
	}
	return s.account(r, err)
}

func (s *Sink) tryWrite(line []byte) error {
	err := s.ready(int64(len(line)))
	if err == nil {
		var n int
		if n, err = s.put(line); isWhole(n, len(line)) {
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
func (s *Sink) finish(r *nib.Record, n int, err error) error {
	s.wrote(r.Line[:n])
	if err == nil {
		var m int
		m, err = s.put(r.Line[n:])
		n += m
	} else {
		err = s.fail("write", err)
	}
	if isWhole(n, len(r.Line)) {
		err = nil
	}
	if err != nil && s.again() {
		err = s.tryAgain(r.Line, err)
	}
	return s.account(r, err)
}

// tryAgain writes line once more after err. If that succeeds, no call returns
// err.
func (s *Sink) tryAgain(line []byte, err error) error {
	again := s.tryWrite(line)
	if again == nil {
		s.errors.announce("write", err)
	}
	return again
}

// account counts the line of r as written, or as lost because of err.
func (s *Sink) account(r *nib.Record, err error) error {
	if err != nil {
		return s.drop(r, err)
	}
	s.written.Add(int(r.Level), len(r.Line))
	return nil
}

// put appends p, continuing after short writes. It returns the number of bytes
// of p that are in the file, synced as Config.Sync requires.
func (s *Sink) put(p []byte) (n int, err error) {
	if s.file == nil { // on systems that cannot rename an open file, rotation may leave none
		return 0, s.fail("open", errNoFile)
	}
	for n < len(p) {
		m, err := s.file.Write(p[n:])
		if m == 0 && err == nil {
			err = io.ErrShortWrite
		}
		s.wrote(p[n : n+m])
		n += m
		if err != nil {
			if s.c.Sync == SyncAlways {
				n = 0
			}
			return n, s.fail("write", err)
		}
	}
	if s.c.Sync == SyncAlways {
		if err := s.sync(); err != nil {
			return 0, err
		}
	}
	s.recovered()
	return n, nil
}

// wrote counts bytes that are in the file.
func (s *Sink) wrote(p []byte) {
	if len(p) == 0 {
		return
	}
	s.size += int64(len(p))
	s.torn = p[len(p)-1] != '\n'
	s.unsynced = true
}

// ready prepares the file for n more bytes: it has the name and enough room,
// ends with a newline, and reports the lines that were lost before. The error
// is the reason why that is not possible now.
func (s *Sink) ready(n int64) error {
	if s.closed {
		return errClosed
	}
	now := s.clock.mono()
	if s.failing.err != nil && s.checkAt != math.MaxInt64 { // otherwise take has checked the file of the batch
		if now < s.failing.retry {
			return s.failing.err
		}
		s.renew()
		s.checkAt = now
	}
	if now >= s.checkAt {
		if err := s.look(now); err != nil {
			return err
		}
	}
	s.makeRoom(n, now)
	if s.file == nil {
		return s.fail("open", errNoFile)
	}
	if s.c.Sync == SyncAlways { // before writing a line that would be written again if this failed
		if err := s.syncName(); err != nil {
			return err
		}
	}
	if s.unseen {
		s.seeEnd()
	}
	if !s.torn && s.dropped == s.reported {
		return nil
	}
	if err := s.putHead(now); err != nil {
		return err
	}
	s.makeRoom(n, now)
	return nil
}

var errNoFile = errors.New("no file is open")

// renew reopens the file after a failure other than a full disk: the descriptor
// itself may no longer work. If that fails, look returns an error unless lines
// can be written to the open file.
func (s *Sink) renew() {
	if s.failing.cause != full || s.file == nil {
		_ = s.reopen()
	}
}

// makeRoom begins a new file if n bytes do not fit.
func (s *Sink) makeRoom(n, now int64) {
	if s.size > 0 && s.size+n > s.limit && now >= s.rotation.retryAt && s.mayRotate() {
		s.tryRotate(now)
	}
}

// The page cache shows a write of another process page by page. While the file
// ends at such a boundary, seeEnd waits, up to 15 ms in total.
const (
	pageSize  = 4096
	firstLook = time.Millisecond
	lastLook  = 8 * time.Millisecond
)

// seeEnd determines whether the file ends in the middle of a line, because the
// process that wrote it has died, or the disk was full. A file to which another
// process is writing a line looks the same, but grows.
func (s *Sink) seeEnd() {
	s.unseen = false
	for pause := firstLook; pause <= lastLook; pause *= 2 {
		before, err := s.file.Stat()
		if err == nil && before.Size == 0 {
			return
		}
		var last [1]byte
		if err == nil {
			_, err = s.file.ReadAt(last[:], before.Size-1)
		}
		if err == nil && last[0] == '\n' {
			return
		}
		var after vfs.Info
		if err == nil {
			after, err = s.file.Stat()
		}
		if err != nil {
			s.errors.report("read", err)
			break
		}
		if after.Size == before.Size {
			if after.Size%pageSize != 0 {
				break
			}
			time.Sleep(pause)
		}
	}
	s.torn = true // the last byte may be unknown: an empty line is harmless
}

// putHead writes the text that precedes the next line: the end of a line that
// was cut off, and the notice of lost lines.
func (s *Sink) putHead(now int64) error {
	h := &s.head
	h.text = h.text[:0]
	if s.torn {
		h.text = append(h.text, '\n')
	}
	lost := s.dropped.Minus(s.reported)
	if lost != (loss.Tally{}) {
		h.line = appendNotice(h.notices, h.line[:0], s.clock.wall(), lost)
		h.text = loss.AppendView(h.text, h.line, s.c.View)
		if s.makeRoom(int64(len(h.text)), now); !s.torn && h.text[0] == '\n' {
			h.text = append(h.text[:0], h.text[1:]...) // the head goes to a new file
		}
	}
	before := s.size
	_, err := s.put(h.text)
	if lost != (loss.Tally{}) && s.size == before+int64(len(h.text)) { // count the losses as reported even if the notice was not synced
		s.reported = s.dropped
		s.stats.Notices++
	}
	return err
}
