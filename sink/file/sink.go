// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/linebatch"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/metrics"
)

var (
	_ nib.Sink             = (*Sink)(nil)
	_ delivery.Destination = (*Sink)(nil)
	_ delivery.Flusher     = (*Sink)(nil)
	_ delivery.Batcher     = (*Sink)(nil)
	_ delivery.Resumer     = (*Sink)(nil)
	_ delivery.MarkSyncer  = (*Sink)(nil)
	_ delivery.Forker      = (*Sink)(nil)
	_ metrics.Source       = (*Sink)(nil)
)

// A Sink appends lines to a file. It is created by [Open] and safe for
// concurrent use. It is also a delivery.Destination.
type Sink struct {
	traits

	// mu protects the rest, and is held during writes. A sink with a buffer
	// collects lines under a separate lock.
	mu       sync.Mutex
	slowPath bool // the next line must take the slow path; see writer.needsSlowPath
	w        writer
	buffer   *buffer // nil if lines are written at once
	lateErr  error   // first loss after a call has returned, for Flush or Close

	dest destination
}

type traits = contract.TraitSet

// Open opens the file at path for appending, creating it if necessary. Its
// directory must exist. Open refuses anything but a regular file with a single
// name, and a file or directory that is owned neither by root nor by the user
// of this process. It starts a goroutine only if c limits or compresses old
// files and there are any; that goroutine ends when it is done.
func Open(path string, c Config) (*Sink, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if err := checkPath(path); err != nil {
		return nil, err
	}
	given, c := c, c.withDefaults()
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("nib/file: %w", err)
	}
	s := newSink(newLocation(path, c, given))
	s.mu.Lock()
	defer s.unlock()
	err = s.w.validateDir()
	if err == nil {
		err = s.w.openFirst()
	}
	if err != nil {
		return nil, s.w.errors.wrap("open", err)
	}
	return s, nil
}

// newSink makes a Sink without a file.
func newSink(l *location) *Sink {
	c := &l.c
	s := &Sink{w: writer{
		liveFile:  liveFile{location: l},
		rotation:  rotation{location: l, schedule: newSchedule(c)},
		retention: &retention{location: l},
		limit:     c.MaxSize,
		head: head{
			text:    make([]byte, 0, loss.NoticeSize),
			notices: loss.NewNotices(c.Layout),
		},
		out: linebatch.NewWithoutNewline(c.Buffer),
	}}
	w := &s.w
	s.dest = newDestination(w)
	if w.limit == 0 {
		w.limit = 1 << 62
	}
	if w.mayRotate = s.dest.mayRotate; c.clock.timers {
		w.check.timer = time.AfterFunc(time.Hour, func() { w.check.notDue.Store(false) })
		w.check.timer.Stop()
	}
	if c.Buffer > 0 {
		s.buffer = newBuffer(s, c.Buffer, c.Delay)
	}
	// OnError may log; the recursion ends because it never runs concurrently.
	s.traits = contract.TraitsFor(s, contract.NeverLogs|contract.IgnoresTime)
	return s
}

// WriteRecord appends the line of r, or drops and counts it and returns the
// reason: [delivery.ErrClosed] or an error of the system. If it returns nil,
// the line is in the file, written by a single write(2), or with a buffer at
// least in the buffer. It does not retain r. It does not allocate, except for a
// line that starts a new file (about 25 allocations for file names) and, on
// systems other than linux/amd64 and linux/arm64, when it checks the name of
// the file, ten times a second.
func (s *Sink) WriteRecord(r *nib.Record) error {
	if s.buffer != nil {
		return s.collect(r)
	}
	s.mu.Lock()
	size := int64(len(r.Line))
	if s.slowPath || s.w.size+size > s.w.limit ||
		!s.w.check.notDue.Load() && s.w.c.clock.mono() >= s.w.check.at {
		defer s.unlock()
		return s.w.write(r)
	}
	n, err := s.w.file.Write(r.Line)
	if int64(n) != size || err != nil {
		defer s.unlock()
		return s.w.finish(r, n, err)
	}
	s.w.size += size
	s.w.check.lines++
	s.w.unsynced = true
	s.w.written.Add(int(r.Level), int(size))
	s.mu.Unlock()
	return nil
}

// Flush writes the buffered lines, and reports losses in the file if it can be
// written. If it returns nil, all lines whose calls had returned nil are in the
// file and survive the death of the process; with SyncFlush or SyncAlways they
// are on disk, too. Otherwise it returns that error, or the first loss since
// the last Flush of lines whose calls had returned nil. It waits only for the
// disk, for which a deadline of ctx cannot be enforced.
func (s *Sink) Flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.unlock()
	if s.w.closed {
		return nil
	}
	s.w.failing.retry = 0 // an explicit request is always tried
	return s.flush()
}

// flush is Flush under mu.
func (s *Sink) flush() error {
	s.flushBuffer(nil)
	if s.w.dropped != s.w.reported {
		_ = s.w.ready(0) // writes a notice; other calls return its errors
	}
	if s.w.c.Sync != SyncNever {
		if err := s.w.sync(); s.lateErr == nil {
			s.lateErr = err
		}
	}
	err := s.lateErr
	s.lateErr = nil
	return err
}

const (
	rotateTimeout = 10 * time.Second // how long Rotate waits while another process rotates
	rotateStep    = time.Millisecond // pause between two attempts to get a lock, here and elsewhere
)

// Rotate ends the file and starts a new one, unless the file is empty or
// another process has just rotated it. It writes buffered lines to the old file
// first. On an error the old file stays in use.
func (s *Sink) Rotate() error {
	// The last attempt follows the timeout: the process may have been stopped.
	last := false
	for start := time.Now(); ; time.Sleep(rotateStep) {
		err := s.rotateNow()
		if !errors.Is(err, vfs.ErrLocked) {
			return err
		}
		if last {
			s.mu.Lock()
			defer s.unlock()
			return s.w.errors.returned("rotate", err)
		}
		last = time.Since(start) > rotateTimeout
	}
}

func (s *Sink) rotateNow() error {
	s.mu.Lock()
	defer s.unlock()
	if s.w.closed {
		return errClosed
	}
	s.flushBuffer(nil)
	if s.w.file != nil {
		if info, err := s.w.file.Stat(); err != nil {
			s.w.errors.report("rotate", err)
		} else {
			s.w.size = info.Size // includes the lines of all writers
		}
	}
	if s.w.size == 0 {
		return nil
	}
	err := s.w.rotate()
	if err == nil || errors.Is(err, vfs.ErrLocked) {
		return err
	}
	return s.w.errors.returned("rotate", err)
}

// Reopen opens the file that has the name now, creating it if necessary, and
// closes the old one, as a program does on SIGHUP after logrotate has renamed
// the file. It writes buffered lines to the old file first. On an error the old
// file stays in use.
func (s *Sink) Reopen() error {
	s.mu.Lock()
	defer s.unlock()
	if s.w.closed {
		return errClosed
	}
	s.flushBuffer(nil)
	if err := s.w.reopen(); err != nil {
		return s.w.errors.returned("open", err)
	}
	return nil
}

// Close flushes, drops lines that cannot be written, and closes the file. It
// interrupts the compression of an old file, which the next Open repeats. Later
// lines are dropped. Closing again does nothing.
func (s *Sink) Close() error {
	s.mu.Lock()
	if s.w.closed {
		s.mu.Unlock()
		return nil
	}
	s.closeBuffer()
	s.w.failing.retry = 0 // one more attempt
	err := s.flush()
	s.w.closed = true
	if s.w.file != nil {
		if e := s.w.file.Close(); e != nil && err == nil {
			err = s.w.errors.wrap("close", e)
		}
	}
	s.dest.claims.Close()
	s.w.retention.quit.Store(true) // files are still deleted
	if t := s.w.check.timer; t != nil {
		t.Stop()
	}
	s.unlock()
	if s.buffer != nil {
		s.buffer.firing.Wait()
	}
	s.w.retention.done.Wait()
	return err
}

// unlock releases mu and calls OnError with a pending error. The fast path of a
// write does not use it.
func (s *Sink) unlock() {
	s.slowPath = s.w.needsSlowPath()
	if s.buffer != nil {
		s.buffer.setDirect(s.w.closed || s.w.failing.err != nil)
	}
	err := s.w.errors.take()
	s.mu.Unlock()
	s.w.errors.call(err)
}
