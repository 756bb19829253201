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
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/sinktraits"
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

// A Sink appends lines to a file. It is made by [Open] and safe for concurrent
// use. It is a delivery.Destination as well.
//
// mu protects the file and everything about writing it, and is held while one
// writes. A sink with a buffer collects lines under a lock of its own meanwhile.
type Sink struct {
	traits
	c        Config
	given    Config // without defaults, for Fork
	fs       vfs.FS
	clock    clock
	path     string // absolute
	dir      string
	naming   naming
	schedule schedule
	limit    int64 // MaxSize, or what no file reaches

	mu      sync.Mutex
	trouble bool  // the next line needs a closer look, see assess
	size    int64 // of file, as far as this sink knows
	checkAt int64 // monotonic time of the next look at the name
	file    vfs.File
	id      vfs.ID
	closed  bool

	torn     bool // the last line has no end
	unseen   bool // the end of file was not looked at: it is not ours
	unsynced bool // something was written since the last sync
	unnamed  bool // the name may not survive a loss of power: its directory was not synced

	due         time.Time // when the schedule ends the file
	rotateAt    int64     // monotonic time before which rotating is not tried again
	rotatePause int64
	lastName    time.Time // in the name of the last rotated file
	lastSeq     int

	failing failure
	stats   Stats // without Lines, Bytes, Pending and Dropped
	written level.Traffic
	dropped tally
	told    tally  // those of dropped that a notice has told of
	head    []byte // for notices
	late    error  // first loss of lines whose calls had returned, until Flush or Close tells

	news    error             // for OnError
	said    map[string]saying // by operation
	telling bool              // OnError is running

	buffer  *buffer // nil: lines are written at once
	out     batch   // of a buffer, or a delivery: what is being written
	tidying tidying

	durable    bool  // every file is synced before it is let go
	undurable  error // one could not be
	delivering delivering
	claims     claims
}

type traits = sinktraits.Set

var (
	_ nib.Sink             = (*Sink)(nil)
	_ delivery.Destination = (*Sink)(nil)
)

// checkEvery is how often the name is compared with the file, and the clock with
// the schedule, when there are lines to write. It is far less than the second
// for which lines may go to a file that someone has removed.
const checkEvery = int64(100 * time.Millisecond)

// Open opens the file at path for appending, or makes it. Its directory must
// exist. It refuses what is not a regular file with one name, [ErrNotRegular] and
// [ErrLinked], and a file or directory of another user than root and that of this
// process, [ErrOwner]. It starts no goroutine but one that tidies up old files, if
// c says that and there are any; it ends by itself.
func Open(path string, c Config) (*Sink, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	given, c := c, c.withDefaults()
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("nib/file: %w", err)
	}
	dir, base := filepath.Split(path)
	s := &Sink{
		c: c, given: given, fs: c.fs, clock: c.clock,
		path: path, dir: filepath.Clean(dir),
		naming:   newNaming(base, c.Compress),
		schedule: newSchedule(&c),
		limit:    c.MaxSize,
		head:     make([]byte, 0, noticeSize),
	}
	// OnError may log; such lines end when it is running already.
	s.traits = sinktraits.For(s, sinktraits.NeverLogs)
	if s.limit == 0 {
		s.limit = 1 << 62
	}
	if c.Buffer > 0 {
		s.buffer = newBuffer(s, c.Buffer)
		s.out = newBatch(c.Buffer)
	}
	if err := s.fitDir(); err != nil {
		return nil, s.wrap("open", err)
	}
	s.mu.Lock()
	defer s.unlock()
	if err := s.reopen(); err != nil {
		return nil, s.wrap("open", err)
	}
	return s, nil
}

// WriteRecord appends the line of r, or drops and counts it and returns why:
// [delivery.ErrClosed] or what the system says. Without a buffer the line is in the file
// when it returns nil, written by one write(2); with one it is at least in the
// buffer. r is not kept. 0 allocs, but for a line that begins a new file, which
// pays for the names of files, about 25, and on other systems than linux/amd64 and
// linux/arm64 for the look at the name, ten times a second.
func (s *Sink) WriteRecord(r *nib.Record) error {
	if s.buffer != nil {
		return s.collect(r)
	}
	s.mu.Lock()
	size := int64(len(r.Line))
	if s.trouble || s.size+size > s.limit || s.clock.mono() >= s.checkAt {
		defer s.unlock()
		return s.write(r)
	}
	n, err := s.file.Write(r.Line)
	if int64(n) != size || err != nil {
		defer s.unlock()
		return s.finish(r, n, err)
	}
	s.size += size
	s.unsynced = true
	s.written.Add(int(r.Level), int(size))
	s.mu.Unlock()
	return nil
}

// Flush writes what is in the buffer, and tells of losses if the file takes it.
// When it returns nil, all lines whose calls had returned nil are in the file:
// the death of the process does not take them away. With SyncFlush or SyncAlways
// they are on the disk, too. The error is that, or the first one that cost lines
// since the last Flush although their calls had returned nil. It waits for nothing
// but the disk, for which no deadline of ctx can be kept.
func (s *Sink) Flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.unlock()
	if s.closed {
		return nil
	}
	s.failing.retry = 0 // what is asked for is tried
	return s.flush()
}

// flush is Flush under mu.
func (s *Sink) flush() error {
	s.flushBuffer(nil)
	if s.dropped != s.told {
		_ = s.ready(0) // writes a notice; what hinders it is told by other calls
	}
	if s.c.Sync != SyncNever {
		if err := s.sync(); err != nil && s.late == nil {
			s.late = err
		}
	}
	err := s.late
	s.late = nil
	return err
}

// sync brings what was written to the disk, and the name of the file.
func (s *Sink) sync() error {
	if s.unsynced && s.file != nil {
		s.unsynced = false // whatever comes: a second attempt would not try the same bytes again
		if err := s.file.SyncData(); err != nil {
			s.torn = true // the end of the last line may be missing on the disk
			s.delivering.tainted = true
			return s.fail("sync", err)
		}
		s.delivering.tainted = false
	}
	return s.syncName()
}

// syncName brings the name of the file to the disk.
func (s *Sink) syncName() error {
	if s.unnamed {
		if err := s.fs.SyncDir(s.dir); err != nil {
			return s.fail("sync the directory of", err)
		}
		s.unnamed = false
	}
	return nil
}

// Close flushes, drops what cannot be written, and closes the file. Compression
// of an old file is broken off; the next Open does it. Later lines are dropped.
// Closing again does nothing.
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
			err = s.wrap("close", e)
		}
	}
	s.claims.drop()
	s.stopTidying()
	s.unlock()
	s.awaitGoroutines()
	return err
}
