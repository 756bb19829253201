// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/linebatch"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/vfs"
)

var (
	_ nib.Sink             = (*Sink)(nil)
	_ delivery.Destination = (*Sink)(nil)
	_ delivery.Flusher     = (*Sink)(nil)
	_ delivery.Resumer     = (*Sink)(nil)
	_ delivery.MarkSyncer  = (*Sink)(nil)
	_ delivery.Forker      = (*Sink)(nil)
)

// A Sink appends lines to a file. It is created by [Open] and safe for
// concurrent use. It is also a delivery.Destination.
type Sink struct {
	traits
	location
	c         Config
	given     Config // Config without defaults, for Fork
	clock     clock
	errors    reporter
	retention *retention
	rotation  rotation
	limit     int64 // MaxSize, or more than any file reaches

	// mu protects the file and the state of writing it, and is held during
	// writes. A sink with a buffer collects lines under a separate lock.
	mu      sync.Mutex
	trouble bool  // the next line must take the slow path; see assess
	size    int64 // size of file when this sink last checked it or wrote to it
	lull          // the time until the name is checked again
	file    vfs.File
	id      vfs.ID
	rights  vfs.Info // of the file when it was opened, or rotated
	closed  bool

	torn     bool // the last line has no end
	unseen   bool // the end of the file was not checked: another process may have written it
	unsynced bool // something was written since the last sync
	unnamed  bool // the name may not survive a power failure: its directory was not synced

	failing  failure
	stats    Stats // the counts of files and notices
	written  level.Traffic
	dropped  loss.Tally
	reported loss.Tally // counts that a notice has reported
	head     head
	late     error // first loss of lines whose calls had returned, until Flush or Close returns it

	buffer *buffer         // nil if lines are written at once
	out    linebatch.Batch // lines of a buffer or a delivery that are being written

	durable    bool  // every file is synced before it is closed
	undurable  error // the error of a file that could not be synced
	delivering delivering
	claims     claims
}

type traits = contract.TraitSet

var (
	_ nib.Sink             = (*Sink)(nil)
	_ delivery.Destination = (*Sink)(nil)
)

// checkEvery is the interval at which the name is compared with the file, and
// the clock with the schedule, when there are lines to write. It is far below
// the second during which lines may go to a removed file.
const checkEvery = int64(100 * time.Millisecond)

// Open opens the file at path for appending, creating it if necessary. Its
// directory must exist. Open refuses anything but a regular file with a single
// name ([ErrNotRegular], [ErrLinked]), and a file or directory that is owned
// neither by root nor by the user of this process ([ErrOwner]). It starts a
// goroutine only if c limits or compresses old files and there are any; that
// goroutine ends when it is done.
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
	dir, base := filepath.Split(path)
	s := &Sink{
		location: location{
			fs: c.fs, path: path, dir: filepath.Clean(dir),
			naming: newNaming(base, c.Compress, c.LumberjackNames),
		},
		c: c, given: given, clock: c.clock,
		errors: reporter{path: path, mono: c.clock.mono, onError: c.OnError},
		limit:  c.MaxSize,
		head:   head{text: make([]byte, 0, loss.NoticeSize), notices: loss.NewNotices(c.Layout)},
	}
	s.rotation = rotation{
		location: &s.location, schedule: newSchedule(&c), wall: c.clock.wall, mode: c.Mode,
	}
	s.retention = newRetention(&c, &s.location, &s.errors)
	// OnError may log; the recursion ends because it never runs concurrently.
	s.traits = contract.TraitsFor(s, contract.NeverLogs|contract.IgnoresTime)
	if c.clock.timers {
		s.lull.timer = time.AfterFunc(time.Hour, func() { s.lull.on.Store(false) })
		s.lull.timer.Stop()
	}
	if s.limit == 0 {
		s.limit = 1 << 62
	}
	s.out = linebatch.NewWithoutNewline(c.Buffer)
	if c.Buffer > 0 {
		s.buffer = newBuffer(s, c.Buffer)
	}
	if err := s.fitDir(); err != nil {
		return nil, s.errors.wrap("open", err)
	}
	s.mu.Lock()
	defer s.unlock()
	if err := s.reopen(); err != nil {
		return nil, s.errors.wrap("open", err)
	}
	return s, nil
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
	if s.trouble || s.size+size > s.limit || !s.lull.on.Load() && s.clock.mono() >= s.checkAt {
		defer s.unlock()
		return s.write(r)
	}
	n, err := s.file.Write(r.Line)
	if int64(n) != size || err != nil {
		defer s.unlock()
		return s.finish(r, n, err)
	}
	s.size += size
	s.lull.lines++
	s.unsynced = true
	s.written.Add(int(r.Level), int(size))
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
	if s.closed {
		return nil
	}
	s.failing.retry = 0 // an explicit request is always tried
	return s.flush()
}

// flush is Flush under mu.
func (s *Sink) flush() error {
	s.flushBuffer(nil)
	if s.dropped != s.reported {
		_ = s.ready(0) // writes a notice; other calls return its errors
	}
	if s.c.Sync != SyncNever {
		if err := s.sync(); s.late == nil {
			s.late = err
		}
	}
	err := s.late
	s.late = nil
	return err
}

// sync syncs the file and its name.
func (s *Sink) sync() error {
	if s.unsynced && s.file != nil {
		s.unsynced = false // regardless of the result: a second sync would not write the same bytes again
		if err := s.file.SyncData(); err != nil {
			s.torn = true // the end of the last line may be missing on disk
			s.delivering.tainted = true
			return s.fail("sync", err)
		}
		s.delivering.tainted = false
	}
	return s.syncName()
}

// syncName syncs the name of the file.
func (s *Sink) syncName() error {
	if s.unnamed {
		if err := s.fs.SyncDir(s.dir); err != nil {
			return s.fail("sync the directory of", err)
		}
		s.unnamed = false
	}
	return nil
}

// Close flushes, drops lines that cannot be written, and closes the file. It
// interrupts the compression of an old file, which the next Open repeats. Later
// lines are dropped. Closing again does nothing.
func (s *Sink) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closeBuffer()
	s.failing.retry = 0 // one more attempt
	err := s.flush()
	s.closed = true
	if s.file != nil {
		if e := s.file.Close(); e != nil && err == nil {
			err = s.errors.wrap("close", e)
		}
	}
	s.claims.drop()
	s.retention.quit.Store(true) // files are still deleted
	s.lull.end()
	s.unlock()
	if s.buffer != nil {
		s.buffer.firing.Wait()
	}
	s.retention.done.Wait()
	return err
}

// unlock releases mu and calls OnError with a pending error. The fast path of a
// write does not use it.
func (s *Sink) unlock() {
	s.assess()
	err := s.errors.take()
	s.mu.Unlock()
	s.errors.call(err)
}
