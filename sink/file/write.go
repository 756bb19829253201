// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/vfs"
)

// All of this runs under mu. A line takes one of two paths: the fast path in
// WriteRecord, or write, which first brings the file into a state where the
// line may follow.

// assess decides whether the next line may take the fast path.
func (s *Sink) assess() {
	s.trouble = s.closed || s.file == nil || s.failing.err != nil || s.torn || s.unseen ||
		s.dropped != s.told || s.c.Sync == SyncAlways
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

// isWhole reports whether a line of which n bytes are written is complete: the
// next write begins with the newline, if that is missing.
func isWhole(n, size int) bool { return n >= size-1 }

// finish goes on where a single write has stopped after n bytes. After an error
// the line is written once more, behind the end of what there is of it.
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

// tryAgain writes line once more after err, which no call returns if that
// succeeds.
func (s *Sink) tryAgain(line []byte, err error) error {
	again := s.tryWrite(line)
	if again == nil {
		s.announce("write", err)
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

// put appends p, going on after short writes. It returns how much of p is in
// the file, in the way that Sync promises.
func (s *Sink) put(p []byte) (n int, err error) {
	for n < len(p) {
		m, err := s.file.Write(p[n:])
		if m <= 0 && err == nil {
			err = io.ErrShortWrite
		}
		if m > 0 {
			s.wrote(p[n : n+m])
			n += m
		}
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

// wrote takes note of bytes that are in the file.
func (s *Sink) wrote(p []byte) {
	if len(p) == 0 {
		return
	}
	s.size += int64(len(p))
	s.torn = p[len(p)-1] != '\n'
	s.unsynced = true
}

// ready brings the file into a state where n bytes may be appended: it has the
// name and enough room, ends with a newline, and reports the lines that were
// lost before. The error is why that is not possible now.
func (s *Sink) ready(n int64) error {
	if s.closed {
		return errClosed
	}
	now := s.clock.mono()
	if s.failing.err != nil {
		if now < s.failing.retry {
			return s.failing.err
		}
		if err := s.renew(); err != nil {
			return err
		}
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
	if s.c.Sync == SyncAlways { // before a line is written that would be written again
		if err := s.syncName(); err != nil {
			return err
		}
	}
	if s.unseen {
		s.seeEnd()
	}
	if !s.torn && s.dropped == s.told {
		return nil
	}
	if err := s.putHead(now); err != nil {
		return err
	}
	s.makeRoom(n, now)
	return nil
}

var errNoFile = errors.New("no file is open")

// renew opens the file again after a failure that has other reasons than a
// full disk: the descriptor itself may be what does not work any more.
func (s *Sink) renew() error {
	if s.failing.cause == full && s.file != nil {
		return nil
	}
	if err := s.reopen(); err != nil && s.orphaned() {
		return s.fail("open", err)
	}
	return nil
}

// makeRoom begins a new file if n bytes do not fit.
func (s *Sink) makeRoom(n, now int64) {
	if s.size > 0 && s.size+n > s.limit && now >= s.rotateAt && s.mayRotate() {
		s.tryRotate(now)
	}
}

// seeEnd finds out whether the file ends in the middle of a line, because the
// process that wrote it has died, or the disk was full. While another process
// writes a long line it seems so as well, but then the file grows.
func (s *Sink) seeEnd() {
	s.unseen = false
	for range 3 {
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
			s.report("read", err)
			break
		}
		if after.Size == before.Size {
			break
		}
	}
	s.torn = true // or unknown: an empty line does no harm
}

// putHead writes what the sink itself has to write before the next line: the
// end of a line that was cut off, and the notice of what was lost.
func (s *Sink) putHead(now int64) error {
	s.head = s.head[:0]
	if s.torn {
		s.head = append(s.head, '\n')
	}
	lost := s.dropped.Minus(s.told)
	if lost != (loss.Tally{}) {
		s.head = appendNotice(s.head, s.clock.wall(), lost)
		if s.makeRoom(int64(len(s.head)), now); !s.torn && s.head[0] == '\n' {
			s.head = append(s.head[:0], s.head[1:]...) // it goes to a new file
		}
	}
	before := s.size
	_, err := s.put(s.head)
	if lost != (loss.Tally{}) && s.size == before+int64(len(s.head)) { // even if it was not synced
		s.told = s.dropped
		s.stats.Notices++
	}
	return err
}
