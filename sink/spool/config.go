// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/lastresort"
	"github.com/nib-log/nib/internal/vfs"
)

const (
	defaultName     = DefaultName
	defaultSegment  = 8 << 20
	defaultMemory   = 64 << 20
	defaultDisk     = 1 << 30
	defaultRejected = 16 << 20
	defaultDrain    = 5 * time.Second

	defaultSyncDelay = 10 * time.Millisecond
	defaultSyncWait  = 100 * time.Millisecond
)

// A Config says how much a spool keeps, and what happens when that is not
// enough. The zero value is usable.
type Config struct {
	// Name is that of the destination: its cursor is called so. It has letters,
	// digits, "-" and "_" only. Defaults to "destination".
	Name string

	// Also are more destinations of the same lines. Each has its own goroutine,
	// cursor and counts, and none waits for another: but a segment stays until all have
	// settled it, so the slowest decides when the spool is full. A destination that is not
	// in the configuration any more keeps nothing.
	Also []NamedDestination

	// Size is how many bytes all segments may take; their copies take as much again until
	// they are delivered. It is at least two segments. Defaults to 64 MiB in memory, and 1 GiB
	// in a directory, but with the copies not more than 10 % of the volume, or of the memory
	// limit if the volume is memory.
	Size int64

	// SegmentSize is how many bytes a segment has, a multiple of 4096. A longer record than
	// that, less the header of 4 KiB, is dropped as [delivery.ReasonTooLarge]. Defaults to 8 MiB, or less where
	// that were more than 1 % of the memory limit: that of the control group, GOMEMLIMIT,
	// or the machine's memory.
	SegmentSize int64

	// OnFull says what happens to a line for which there is no room: of the rules
	// that are for its level, the one with the highest From holds. Defaults to
	// dropping it.
	OnFull []FullRule

	// MinFree is how many bytes of the volume are left to others: while less is free,
	// there are no new segments and copies, as on a full disk. Defaults to 5 % of it, or 1 GiB if
	// that is less. The first segment of a process does not ask.
	MinFree int64

	// Adopt takes over what another process has left on a volume of which it is not known that
	// its locks hold: the caller makes sure that the process has ended. Without it
	// that is [ErrAdopt]. On the file systems of one machine it means nothing.
	Adopt bool

	// Access says how segments reach their files. Defaults to Auto.
	Access Access

	// Sync says when a loss of power does not take a line any more. Defaults to
	// SyncSoon. In memory it means nothing.
	Sync SyncPolicy

	// SyncDelay is how long a line is unsafe, as far as the disk is not slower. Defaults
	// to 10 ms.
	SyncDelay time.Duration

	// SyncWait is how long a call waits with SyncErrors. Defaults to 100 ms.
	SyncWait time.Duration

	// RejectedSize is how many bytes of lines that a destination will never accept are
	// kept, in the file NAME.rejected of the directory, with the reason of each. When there is no
	// room they are counted only, until somebody takes the file away. Defaults to 16 MiB;
	// less than 0 keeps none.
	RejectedSize int64

	// Shared makes the directory the home of several processes, as those of a rolling
	// restart. Each takes a free slot, a subdirectory, goes on with what a dead process
	// has left there, and delivers what dead processes have left in other slots. Size
	// is for all together. A destination with Mark, Resume or Overlap must be a [delivery.Forker].
	// Flush, Sync and Close are about the slot of this process; [Stats] has all that it
	// delivers. A directory that was used without Shared is taken over.
	Shared bool

	// DeliverOnly opens a spool to deliver what is in it, without a segment for new lines:
	// it takes no room on the disk, and WriteRecord drops each line as [delivery.ReasonFull]. A directory
	// without a spool stays empty.
	DeliverOnly bool

	// Drain is how long Close waits for the destination. Defaults to 5 s.
	Drain time.Duration

	// OnError is called with the reason when a file operation fails, for the same
	// reason at most once a minute, and when a destination accepts nothing: after its
	// first failed attempt, or after 4 s without an answer, and then once a minute,
	// with how much waits. It is called by a goroutine of its own: nothing waits for
	// it, whatever it does, but Close, for up to a second. It must not call Close. By
	// default errors are written to standard error, one line a second at most.
	OnError func(error)

	fs   vfs.FS // nil: that of the system
	boot uint64 // see vfs.Boot; 0: what it is
	host uint64 // label of the machine; 0: what it is

	volume  volume                   // zero: what it is
	mounted func(device uint64) bool // nil: isMounted

	poll time.Duration // between looks at the slots of others
	slow time.Duration // how long a call waits for a segment that is being made
	tick time.Duration // of pauses between attempts, at first
}

// An Access is how lines reach the file of a segment, which has the same bytes in
// either case. In memory it means nothing.
type Access int

// The kinds of access.
const (
	AccessAuto    Access = iota // AccessMapped on Linux and a local file system, else AccessWritten
	AccessMapped                // lines are copied into a mapping of the file, Linux only: tens of nanoseconds
	AccessWritten               // lines are copied into memory and written with pwrite(2), for which calls wait together
)

// A SyncPolicy says when lines are brought to the disk. It costs them nothing: a goroutine
// copies them to a second file, and syncs that.
type SyncPolicy int

// The policies.
const (
	SyncSoon   SyncPolicy = iota // after SyncDelay at most, many lines at once
	SyncErrors                   // also: a call with LevelError or above waits for it, SyncWait at most
	SyncNever                    // when the system sees fit, usually within 30 s; there are no copies
)

// A NamedDestination is one of several destinations.
type NamedDestination struct {
	Name string // as Config.Name; each has another one
	To   delivery.Destination
}

// A FullRule selects an Action for lines of a level and above when the spool is
// full.
type FullRule struct {
	From nib.Level
	Do   Action
	Wait time.Duration // for ActionBlock: how long a call waits at most
}

// An Action is what a FullRule does.
type Action int

// The actions.
const (
	ActionDropNew Action = iota // the line is dropped
	ActionBlock                 // the call waits for room, and then the line is dropped
	ActionDropOld               // the oldest segment that is not being delivered is dropped, which takes the time to read it; the line, if there is none
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
	names := map[string]bool{cmp.Or(c.Name, defaultName): true}
	for _, also := range c.Also {
		fault(!isName(also.Name) || also.Name == "", "Also has a Name that is empty or has other characters than letters, digits, - and _: %q", also.Name)
		fault(names[also.Name], "two destinations have the Name %q", also.Name)
		fault(also.To == nil, "Also has no destination To for %q", also.Name)
		names[also.Name] = true
	}
	segment := cmp.Or(c.SegmentSize, minSegment)
	fault(c.MinFree < 0, "MinFree is negative: %d", c.MinFree)
	fault(segment < minSegment || segment > maxSegment || segment%headerSize != 0,
		"SegmentSize is not a multiple of 4096 from 64 KiB to 1 GiB: %d", segment)
	fault(c.Size != 0 && c.Size < 2*segment, "Size is less than two segments: %d", c.Size)
	fault(c.Access < AccessAuto || c.Access > AccessWritten, "Access is none of the kinds: %d", c.Access)
	fault(c.Access == AccessMapped && !mapped, "Access is Mapped, which needs Linux")
	fault(c.Sync < SyncSoon || c.Sync > SyncNever, "Sync is not one of the policies: %d", c.Sync)
	fault(c.SyncDelay < 0, "SyncDelay is negative: %v", c.SyncDelay)
	fault(c.SyncDelay > 0 && c.Sync == SyncNever, "SyncDelay of %v with SyncNever", c.SyncDelay)
	fault(c.SyncWait < 0, "SyncWait is negative: %v", c.SyncWait)
	fault(c.SyncWait > 0 && c.Sync != SyncErrors, "SyncWait of %v without SyncErrors", c.SyncWait)
	fault(c.Shared && c.Adopt, "Adopt with Shared, which needs locks that hold")
	fault(c.Shared && c.DeliverOnly, "DeliverOnly with Shared: open one of the directories that Find returns")
	fault(c.DeliverOnly && len(c.OnFull) > 0, "OnFull with DeliverOnly, which takes no lines")
	fault(c.Drain < 0, "Drain is negative: %v", c.Drain)
	for _, r := range c.OnFull {
		fault(r.Do < ActionDropNew || r.Do > ActionDropOld, "OnFull has an unknown action: %d", r.Do)
		fault(r.Wait < 0, "OnFull has a negative Wait: %v", r.Wait)
		fault((r.Wait > 0) != (r.Do == ActionBlock), "OnFull has Block without Wait, or Wait without Block: %+v", r)
	}
	return errors.Join(faults...)
}

// isName says whether name can be that of a destination, or is empty.
func isName(name string) bool {
	for _, r := range name {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_') {
			return false
		}
	}
	return true
}

// withDefaults fills in what was left out.
func (c Config) withDefaults(dir string) Config {
	if c.Name == "" {
		c.Name = defaultName
	}
	if c.fs == nil && dir != "" && c.volume == (volume{}) {
		c.volume = volumeOf(nearest(dir))
	}
	if c.volume.memory {
		c.Sync = SyncNever // a copy would be memory as well
	}
	if c.volume.remote && c.Access == AccessAuto {
		c.Access = AccessWritten
	}
	c = c.sizes(dir, c.volume, memoryLimit())
	if c.SyncDelay == 0 {
		c.SyncDelay = defaultSyncDelay
	}
	if c.SyncWait == 0 {
		c.SyncWait = defaultSyncWait
	}
	if c.RejectedSize == 0 {
		c.RejectedSize = defaultRejected
	}
	if c.Drain == 0 {
		c.Drain = defaultDrain
	}
	if c.slow == 0 {
		c.slow = slowDisk
	}
	if c.tick == 0 {
		c.tick = firstPause
	}
	if c.poll == 0 {
		c.poll = adoptPause
	}
	if c.boot == 0 {
		c.boot = vfs.Boot()
	}
	if c.host == 0 {
		c.host = hostLabel()
	}
	if c.mounted == nil {
		c.mounted = isMounted
	}
	if c.fs == nil {
		c.fs = vfs.OS()
	}
	if c.OnError == nil {
		c.OnError = lastresort.Report
	}
	c.Also = slices.Clone(c.Also)
	c.OnFull = slices.Clone(c.OnFull)
	slices.SortStableFunc(c.OnFull, func(a, b FullRule) int { return int(b.From) - int(a.From) })
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

// rule is what to do with a line of level l.
func (c *Config) rule(l nib.Level) FullRule {
	for _, r := range c.OnFull {
		if l >= r.From {
			return r
		}
	}
	return FullRule{Do: ActionDropNew}
}
