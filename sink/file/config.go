// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/nib-log/nib/internal/lastresort"
	"github.com/nib-log/nib/internal/vfs"
)

const (
	defaultMode  = fs.FileMode(0o600)
	defaultDelay = 10 * time.Millisecond
)

// A Config says how to write, when to begin a new file and what to keep of the
// old ones. The zero value appends to one file for ever: each line written
// before the call returns, nothing rotated, nothing deleted.
type Config struct {
	// MaxSize is how many bytes a file may have. A line that would make it
	// larger begins a new file; one that is larger by itself gets a file of its
	// own. What other processes write to the file is known a tenth of a second
	// later. Defaults to 0: any size.
	MaxSize int64

	// Every begins a new file at each multiple of it since midnight UTC of
	// Monday, January 1 of the year 1: time.Hour means each full hour. Defaults to
	// 0: never. Nothing happens without a line: the first one after that time
	// begins the file, by the time at which it is written.
	Every time.Duration

	// At begins a new file each day at these times of the clock on the wall,
	// "15:04", in Zone. A time that a day skips, when summer begins, is moved by
	// the hour that is missing; one that comes twice counts once.
	At []string

	// Zone is where At is meant. Defaults to time.Local.
	Zone *time.Location

	// MaxBackups is how many old files are kept, MaxAge for how long after they
	// were closed, and MaxTotal how many bytes of them, the live file not counted.
	// They default to 0: no limit. They are looked at when a file is opened and when
	// one is rotated, in a goroutine that ends with that.
	MaxBackups int
	MaxAge     time.Duration
	MaxTotal   int64

	// Compress compresses old files, in that goroutine. Defaults to nil: they stay
	// as they are.
	Compress Compressor

	// Mode is the mode of new files, less the umask. Defaults to 0600. A file
	// that exists keeps its own.
	Mode fs.FileMode

	// Buffer is how many bytes of lines are collected before they are written.
	// Defaults to 0: each line is written by itself, before the call returns. The
	// sink takes twice as much memory.
	Buffer int

	// Delay is how long a line may wait in the buffer. Defaults to 10 ms. It is
	// not set without Buffer.
	Delay time.Duration

	// MinFree is how many bytes of the file system are left to others: while
	// less is free, lines are dropped as [delivery.ReasonFull]. It is looked at ten times a
	// second, on Linux, macOS and FreeBSD. Defaults to 0.
	MinFree int64

	// Sync says when what is written is also brought to the disk. Defaults to
	// SyncNever. Deliver always does.
	Sync SyncPolicy

	// OnError is called with errors that no call returns: rotation, compression or
	// deletion failed, or buffered lines were lost after their calls had returned.
	// It is called without a lock, by the goroutine that found out, and not while
	// it runs; for the same fault once a minute. It must not call Close, which
	// waits for it. What it panics with is discarded. By default errors are written
	// to standard error, one line a second at most.
	OnError func(error)

	fs    vfs.FS // nil: that of the system
	clock clock  // zero: that of the system
	boot  uint64 // see vfs.Boot; 0: what it is
}

// A SyncPolicy says when a file is synced. It decides what a loss of power may
// take: the death of the process takes nothing that was written.
type SyncPolicy int

// The policies.
const (
	SyncNever  SyncPolicy = iota // when the system sees fit, usually within 30 s
	SyncFlush                    // in Flush and Close, and at the end of a file
	SyncAlways                   // with each write, before the call returns: milliseconds
)

// A clock is where a sink reads the time.
type clock struct {
	mono func() int64 // nanoseconds since any moment, never backwards
	wall func() time.Time
}

// Validate returns every error in c, joined, or nil.
func (c Config) Validate() error {
	var faults []error
	fault := func(wrong bool, format string, values ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("nib/file: "+format, values...))
		}
	}
	fault(c.MaxSize < 0, "MaxSize is negative: %d", c.MaxSize)
	fault(c.Every < 0, "Every is negative: %v", c.Every)
	fault(c.Every > 0 && c.Every < time.Second, "Every is less than a second: %v", c.Every)
	for _, at := range c.At {
		_, err := parseTimeOfDay(at)
		fault(err != nil, "At: %v", err)
	}
	fault(c.Zone != nil && len(c.At) == 0, "Zone of %v without At", c.Zone)
	fault(c.MaxBackups < 0, "MaxBackups is negative: %d", c.MaxBackups)
	fault(c.MaxAge < 0, "MaxAge is negative: %v", c.MaxAge)
	fault(c.MaxTotal < 0, "MaxTotal is negative: %d", c.MaxTotal)
	fault(c.MaxTotal > 0 && c.MaxTotal < c.MaxSize, "MaxTotal of %d is less than MaxSize, %d", c.MaxTotal, c.MaxSize)
	if c.Compress != nil {
		ext := c.Compress.Extension()
		fault(!validExtension(ext), "Compress: the extension %q is not a dot and letters or digits", ext)
	}
	fault(c.Mode&^fs.ModePerm != 0, "Mode has other bits than permissions: %v", c.Mode)
	fault(c.Mode != 0 && c.Mode&0o600 != 0o600, "Mode does not let the owner read and write: %v", c.Mode)
	fault(c.Buffer < 0, "Buffer is negative: %d", c.Buffer)
	fault(c.Delay < 0, "Delay is negative: %v", c.Delay)
	fault(c.Delay > 0 && c.Buffer == 0, "Delay of %v without Buffer", c.Delay)
	fault(c.MinFree < 0, "MinFree is negative: %d", c.MinFree)
	fault(c.Sync < SyncNever || c.Sync > SyncAlways, "Sync is not one of the policies: %d", c.Sync)
	return errors.Join(faults...)
}

// withDefaults fills in what was left out.
func (c Config) withDefaults() Config {
	if c.Zone == nil {
		c.Zone = time.Local
	}
	if c.Mode == 0 {
		c.Mode = defaultMode
	}
	if c.Delay == 0 {
		c.Delay = defaultDelay
	}
	if c.OnError == nil {
		c.OnError = lastresort.Report
	}
	if c.fs == nil {
		c.fs = vfs.OS()
	}
	if c.clock.mono == nil {
		start := time.Now()
		c.clock = clock{mono: func() int64 { return int64(time.Since(start)) }, wall: time.Now}
	}
	return c
}
