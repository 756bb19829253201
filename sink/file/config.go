// SPDX-License-Identifier: Apache-2.0

package file

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/lastresort"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/target"
)

const maxBuffer = 1 << 30

// A Config configures a Sink. The zero value appends to a single file, writes
// each line before the call returns, and neither rotates nor deletes anything.
type Config struct {
	// MaxSize is the maximum size of a file in bytes. A line that would exceed
	// it starts a new file; a line larger than MaxSize gets a separate file.
	// Writes of other processes are noticed within a tenth of a second.
	// Defaults to 0: no limit.
	MaxSize int64 `set:"max_size" is:"size" default:"any" doc:"size of a file that ends it"`

	// Every starts a new file at each multiple of it since midnight UTC of
	// Monday, January 1 of the year 1: time.Hour means each full hour. The
	// first line that is written after that time starts the file; without lines
	// nothing happens. Defaults to 0: never.
	Every time.Duration `set:"every" default:"never" doc:"begin a file at each multiple of this time: 1h"`

	// At starts a new file each day at these wall clock times, such as "15:04",
	// in Zone. A time that daylight saving skips is moved by the missing hour;
	// a time that occurs twice counts once.
	At []string `set:"at" is:"time" default:"never" doc:"begin a file at this time of day: 00:00; may be given several times"`

	// Zone is the time zone of At. Defaults to time.Local.
	Zone *time.Location

	// MaxBackups is the maximum number of old files, MaxAge the time for which
	// they are kept after they were closed, and MaxTotal their maximum total
	// size in bytes, not counting the live file. They default to 0: no limit.
	// They are applied when a file is opened and after each rotation, by a
	// goroutine that then ends.
	MaxBackups int           `set:"backups" default:"all" doc:"how many old files are kept"`
	MaxAge     time.Duration `set:"max_age" default:"any" doc:"how long old files are kept: 7d"`
	MaxTotal   int64         `set:"max_total" is:"size" default:"any" doc:"size of all old files"`

	// Compress compresses old files, on the same goroutine. Defaults to no
	// compression.
	Compress Compressor

	// LumberjackNames names old files as lumberjack does, by the millisecond:
	// app-2026-11-21T10-30-00.123.log. MaxBackups, MaxAge and MaxTotal then
	// apply to files of lumberjack, too, whose times are read as UTC.
	LumberjackNames bool `set:"lumberjack_names" default:"off" doc:"old files are named as by lumberjack"`

	// Mode is the mode of new files, before the umask. By default the first file
	// has 0600, and rotation keeps the mode and the group of the file. An existing
	// file keeps its mode.
	Mode fs.FileMode `set:"mode" default:"0600" doc:"permissions of new files"`

	// Buffer is the number of bytes of lines to collect before they are written,
	// at most 1 GiB. The sink uses twice as much memory. Defaults to 0: each line
	// is written by itself, before the call returns.
	Buffer int `set:"buffer" is:"size" default:"none" doc:"lines are collected up to this size and written together; errors at once"`

	// Delay is the maximum time that a line waits in the buffer. It requires
	// Buffer. Defaults to 10 ms.
	Delay time.Duration `set:"delay" default:"10ms" doc:"how long a line may wait in the buffer"`

	// Layout is the layout of the notices of dropped lines; it should be the
	// logger's layout. Defaults to nib's own.
	Layout nib.Layout

	// View appends a notice, which is a line of JSON, to dst in the form of the
	// lines around it. It is Render of package console or logfmt if they come
	// from there. It must not log. Defaults to JSON.
	View func(dst, line []byte) []byte

	// MinFree is the number of bytes of the file system to keep free: while less
	// is free, lines are dropped as [delivery.ReasonFull]. It is checked ten times
	// a second, on Linux, macOS and FreeBSD. Defaults to 0.
	MinFree int64 `set:"min_free" is:"size" default:"0B" doc:"size that is left free on the file system"`

	// Sync selects when the file is synced. Defaults to SyncNever. Deliver
	// always syncs.
	Sync SyncPolicy

	// OnError is called with errors that no call returns: a rotation,
	// compression or deletion failed, or buffered lines were lost after their
	// calls had returned. It is called by the goroutine that detected the
	// error, without a lock held, never concurrently, and at most once a minute
	// for the same error. It must not call Close, which waits for it. Its
	// panics are discarded. By default errors are written to standard error, at
	// most one line a second.
	OnError func(error)

	fs    vfs.FS // if nil, the file system of the operating system
	clock clock  // if zero, the system clock
	boot  uint64 // if 0, it is detected; see vfs.Boot
}

// A SyncPolicy selects when a file is synced, and so the lines that a power
// failure may lose. The death of the process loses no written line.
type SyncPolicy int

// The policies.
const (
	SyncNever SyncPolicy = iota // synced when the system sees fit, usually within 30 s
	SyncFlush                   // synced by Flush and Close, and at the end of a file
	// Synced with each write before the call returns; takes milliseconds.
	SyncAlways
)

// A clock is the time source of a sink.
type clock struct {
	mono   func() int64 // nanoseconds since an arbitrary moment, never backwards
	wall   func() time.Time
	timers bool // package time has the same clock
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
	fault(c.MaxTotal > 0 && c.MaxTotal < c.MaxSize, "MaxTotal of %d is less than MaxSize, %d",
		c.MaxTotal, c.MaxSize)
	if z := c.Compress; z.Compress != nil || z.Extension != "" {
		fault(z.Compress == nil, "Compress has no function, but the extension %q", z.Extension)
		fault(!validExtension(z.Extension),
			"Compress: the extension %q is not a dot and letters or digits", z.Extension)
		fault(z.level < 0 || z.level > gzip.BestCompression,
			"Compress: the level of Gzip is not from 1 to 9: %d", z.level)
	}
	fault(c.Mode&^fs.ModePerm != 0, "Mode has other bits than permissions: %v", c.Mode)
	fault(c.Mode != 0 && c.Mode&0o600 != 0o600, "Mode does not let the owner read and write: %v",
		c.Mode)
	fault(c.Buffer < 0, "Buffer is negative: %d", c.Buffer)
	fault(c.Buffer > maxBuffer, "Buffer is more than 1 GiB: %d", c.Buffer)
	fault(c.Delay < 0, "Delay is negative: %v", c.Delay)
	fault(c.Delay > 0 && c.Buffer == 0, "Delay of %v without Buffer", c.Delay)
	err := c.Layout.Validate()
	fault(err != nil, "%w", err)
	fault(c.MinFree < 0, "MinFree is negative: %d", c.MinFree)
	fault(c.Sync < SyncNever || c.Sync > SyncAlways, "Sync is not one of the policies: %d", c.Sync)
	return errors.Join(faults...)
}

// checkPath returns an error for a path that ends with the name of a directory,
// which filepath.Abs would turn into the name of a file.
func checkPath(path string) error {
	if path == "" || os.IsPathSeparator(path[len(path)-1]) {
		return fmt.Errorf("nib/file: %q is not the name of a file", path)
	}
	return nil
}

// withDefaults sets the fields that are zero to their defaults.
func (c Config) withDefaults() Config {
	if c.Zone == nil {
		c.Zone = time.Local
	}
	target.SetDefaults(&c)
	if c.OnError == nil {
		c.OnError = lastresort.Report
	}
	if c.fs == nil {
		c.fs = vfs.OS()
	}
	if c.clock.mono == nil {
		start := time.Now()
		c.clock = clock{mono: func() int64 { return int64(time.Since(start)) }, wall: time.Now,
			timers: true}
	}
	return c
}
