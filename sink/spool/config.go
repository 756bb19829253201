// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/lastresort"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

const (
	defaultSegment  = 8 << 20
	defaultMemory   = 64 << 20
	defaultDisk     = 1 << 30
	defaultRejected = 16 << 20
	defaultDrain    = 5 * time.Second

	defaultSyncDelay = 10 * time.Millisecond
	defaultSyncWait  = 100 * time.Millisecond
)

// A Config configures a spool. The zero value is usable.
type Config struct {
	// Name is the name of the destination, and of its cursor file. It may
	// contain letters, digits, "-" and "_" only. Defaults to "destination".
	Name string

	// Label is the name of the destination in metrics and errors, if it differs
	// from that in the directory. Defaults to Name.
	Label string

	// Layout is the layout of the notices of dropped lines; it should be that
	// of the logger. Defaults to nib's own.
	Layout nib.Layout

	// Also lists further destinations of the same lines. Each has its own
	// goroutine, cursor and counters, and does not wait for the others. A
	// segment stays until all of them have settled it, so the slowest one
	// determines when the spool is full. A destination that is no longer
	// configured does not hold back segments.
	Also []NamedDestination

	// Size is the maximum size of all segments in bytes; their copies use as
	// much again until they are delivered. The minimum is two segments.
	// Defaults to 64 MiB in memory and 1 GiB in a directory, but together with
	// the copies to at most 10 % of the volume, or of the memory limit if the
	// volume is in memory.
	Size int64

	// SegmentSize is the size of a segment in bytes, a multiple of 4096. A
	// record larger than that, less the header of 4 KiB, is dropped as
	// [delivery.ReasonTooLarge]. Defaults to 8 MiB, or to 1 % of the memory
	// limit if this is less: of the cgroup, GOMEMLIMIT, or the memory of the
	// machine. A call waits up to 100 ms for a segment that is being made; a
	// larger one takes longer, and under heavy load on a slow disk more lines are
	// dropped as [delivery.ReasonFailed], from about 16 MiB on.
	SegmentSize int64

	// OnFull selects what happens to a line when the spool is full: among the
	// rules that apply to its level, the one with the highest From is used.
	// Defaults to dropping the line.
	OnFull []FullRule

	// MinFree is the number of bytes of the volume to keep free: while less is
	// free, no segments or copies are created, as on a full disk. Defaults to 5 %
	// of the volume, at most 1 GiB. The first segment of a process is created
	// regardless.
	MinFree int64

	// Adopt takes over a spool that another process has left on a volume whose
	// locks may not be reliable. The caller must ensure that the process has
	// ended. Without it Open fails. It has no effect on local file systems.
	Adopt bool

	// Written makes calls copy lines into memory and write them with pwrite(2),
	// which concurrent calls share. Otherwise, on Linux and a local file system,
	// lines are copied into a mapping of the file, in tens of nanoseconds. The
	// bytes are the same. It has no effect in memory.
	Written bool

	// Sync selects when lines survive a power failure. Defaults to SyncSoon. It
	// has no effect in memory.
	Sync SyncPolicy

	// SyncDelay is the maximum time that a line stays unsynced; a slow disk adds
	// its latency. Defaults to 10 ms.
	SyncDelay time.Duration

	// SyncWait is the maximum time that a call waits with SyncErrors. Defaults to
	// 100 ms.
	SyncWait time.Duration

	// RejectedSize is the maximum size in bytes of the file NAME.rejected in
	// the directory, which keeps the lines that a destination has permanently
	// rejected, each with the reason. Lines that do not fit are only counted
	// until the file is moved away. A file that nib relay --rejected delivers
	// again is part of the size. Defaults to 16 MiB; a negative value keeps
	// none.
	RejectedSize int64

	// Shared lets several processes use the directory, as in a rolling
	// restart. Each takes a free slot, which is a subdirectory,
	// continues with the lines that a dead process has left there, and delivers
	// the lines that dead processes have left in other slots. Size applies to
	// all of them together. A destination with Mark, Resume or Overlap must be
	// a [delivery.Forker]. Flush, Sync and Close apply to the slot of this
	// process; [Stats] covers everything that this process delivers. A
	// directory that was used without Shared is taken over.
	Shared bool

	// DeliverOnly opens a spool only to deliver its lines. No segment is
	// created for new lines, so it uses no disk space, and WriteRecord drops
	// each line as [delivery.ReasonFull]. A directory without a spool stays
	// empty.
	DeliverOnly bool

	// Drain is the maximum time that Close waits for the destination. Defaults to
	// 5 s.
	Drain time.Duration

	// OnError is called when a file operation fails, at most once a minute for
	// the same reason. It is also called when a destination accepts nothing:
	// after the first failed attempt, or after 4 s without a response, or by
	// Close with the error of an attempt that it has ended, and then once a
	// minute, with the number of pending lines. It runs on its own goroutine,
	// and only Close waits for it, for up to a second. It must not call Close.
	// By default errors are written to standard error, at most one line a
	// second.
	OnError func(error)

	fs   vfs.FS // if nil, the file system of the operating system
	boot uint64 // if 0, it is detected; see vfs.Boot

	volume store.Volume // if zero, it is detected

	poll time.Duration // between checks of the slots of others
	slow time.Duration // how long a call waits for a segment that is being made
	// How long Close waits for a call of Deliver whose context has ended, and
	// for OnError.
	hang time.Duration
	tick time.Duration // first pause between two attempts
}

// A SyncPolicy selects when lines are synced to disk. Calls do not pay for it:
// a goroutine copies the lines to a second file and syncs that.
type SyncPolicy int

// The policies.
const (
	SyncSoon SyncPolicy = iota // within SyncDelay, many lines at once
	// As SyncSoon; a call at LevelError or above also waits for the sync, up to
	// SyncWait.
	SyncErrors
	// Synced when the system sees fit, usually within 30 s; there are no
	// copies.
	SyncNever
)

// A NamedDestination is a destination in [Config.Also].
type NamedDestination struct {
	Name string // name as in Config.Name; must be unique, also without regard to case
	To   delivery.Destination
}

// A FullRule selects an Action for lines of a level and above when the spool is
// full.
type FullRule struct {
	From nib.Level
	Do   Action
	Wait time.Duration // with ActionBlock: the maximum time that a call waits
}

// An Action is the treatment of a line when the spool is full.
type Action int

// The actions.
const (
	ActionDropNew Action = iota // the line is dropped
	ActionBlock                 // the call waits up to Wait for room, then drops the line

	// ActionDropOld reads, counts and drops the oldest segment that is neither
	// being delivered nor being written to, and can be read. The new line is
	// dropped if there is no such segment, or if this takes longer than 100 ms.
	ActionDropOld
)

// Validate returns every error in c, joined, or nil.
func (c Config) Validate() error {
	var faults []error
	fault := func(wrong bool, format string, values ...any) {
		if wrong {
			faults = append(faults, fmt.Errorf("nib/spool: "+format, values...))
		}
	}
	fault(!isName(c.Name), "Name has other characters than letters, digits, - and _: %q", c.Name)
	// Names are compared as by some file systems.
	names := map[string]bool{strings.ToLower(cmp.Or(c.Name, defaultName)): true}
	for _, also := range c.Also {
		fault(!isName(also.Name) || also.Name == "",
			"Also has a Name that is empty or has other characters than letters, digits, - and "+
				"_: %q", also.Name)
		fault(names[strings.ToLower(also.Name)],
			"two destinations have the Name %q; upper and lower case count as the same", also.Name)
		fault(also.To == nil, "Also has no destination To for %q", also.Name)
		names[strings.ToLower(also.Name)] = true
	}
	size := cmp.Or(c.SegmentSize, segment.MinSize)
	err := c.Layout.Validate()
	fault(err != nil, "%w", err)
	fault(c.MinFree < 0, "MinFree is negative: %d", c.MinFree)
	fault(size < segment.MinSize || size > segment.MaxSize || size%segment.HeaderSize != 0,
		"SegmentSize is not a multiple of 4096 from 64 KiB to 1 GiB: %d", size)
	fault(c.Size != 0 && c.Size < 2*size, "Size is less than two segments: %d", c.Size)
	fault(c.Sync < SyncSoon || c.Sync > SyncNever, "Sync is not one of the policies: %d", c.Sync)
	fault(c.SyncDelay < 0, "SyncDelay is negative: %v", c.SyncDelay)
	fault(c.SyncDelay > 0 && c.Sync == SyncNever, "SyncDelay of %v with SyncNever", c.SyncDelay)
	fault(c.SyncWait < 0, "SyncWait is negative: %v", c.SyncWait)
	fault(c.SyncWait > 0 && c.Sync != SyncErrors, "SyncWait of %v without SyncErrors", c.SyncWait)
	fault(c.Shared && c.Adopt, "Adopt with Shared, which needs locks that hold")
	fault(c.Shared && c.DeliverOnly,
		"DeliverOnly with Shared: open one of the directories that Find returns")
	fault(c.DeliverOnly && len(c.OnFull) > 0, "OnFull with DeliverOnly, which takes no lines")
	fault(c.Drain < 0, "Drain is negative: %v", c.Drain)
	for i, r := range c.OnFull {
		for _, before := range c.OnFull[:i] {
			fault(before.From == r.From && before != r,
				"OnFull has two rules from level %v that exclude each other", r.From)
		}
		fault(r.Do < ActionDropNew || r.Do > ActionDropOld, "OnFull has an unknown action: %d",
			r.Do)
		fault(r.Wait < 0, "OnFull has a negative Wait: %v", r.Wait)
		fault((r.Wait > 0) != (r.Do == ActionBlock),
			"OnFull has Block without Wait, or Wait without Block: %+v", r)
	}
	return errors.Join(faults...)
}

// isName reports whether name is empty or valid for a destination.
func isName(name string) bool {
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' ||
			r == '_') {
			return false
		}
	}
	return true
}

// withDefaults sets the fields that are zero to their defaults.
func (c Config) withDefaults(dir string) Config {
	c.Name = cmp.Or(c.Name, defaultName)
	c.Label = cmp.Or(c.Label, c.Name)
	if c.fs == nil && dir != "" && c.volume == (store.Volume{}) {
		c.volume = store.VolumeOf(nearest(dir))
	}
	if c.volume.Memory {
		c.Sync = SyncNever // a copy would be memory as well
	}
	c.Written = c.Written || c.volume.Remote
	c = c.sizes(dir, c.volume, memoryLimit())
	c.SyncDelay = cmp.Or(c.SyncDelay, defaultSyncDelay)
	c.SyncWait = cmp.Or(c.SyncWait, defaultSyncWait)
	c.RejectedSize = cmp.Or(c.RejectedSize, defaultRejected)
	c.Drain = cmp.Or(c.Drain, defaultDrain)
	c.slow = cmp.Or(c.slow, slowDisk)
	c.hang = cmp.Or(c.hang, hangs)
	c.tick = cmp.Or(c.tick, firstPause)
	c.poll = cmp.Or(c.poll, adoptPause)
	if c.boot == 0 {
		c.boot = vfs.Boot()
	}
	if c.fs == nil {
		c.fs = vfs.OS()
	}
	if c.OnError == nil {
		c.OnError = lastresort.Report
	}
	c.Also = slices.Clone(c.Also)
	c.OnFull = slices.Clone(c.OnFull)
	slices.SortStableFunc(c.OnFull, func(a, b FullRule) int { return cmp.Compare(b.From, a.From) })
	return c
}

// nearest returns the first directory on the way up from dir that exists.
func nearest(dir string) string {
	for {
		if _, err := os.Lstat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// rule returns the rule for a line of level l.
func (c *Config) rule(l nib.Level) FullRule {
	for _, r := range c.OnFull {
		if l >= r.From {
			return r
		}
	}
	return FullRule{Do: ActionDropNew}
}

// options returns the options of the directory.
func (c *Config) options() *store.Options {
	return &store.Options{
		FS: c.fs, Shared: c.Shared, Adopt: c.Adopt, Written: c.Written, MinFree: c.MinFree,
		Volume: c.volume, Boot: c.boot,
	}
}
