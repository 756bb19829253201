// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/nib-log/nib/internal/vfs"
)

// Rotation renames the file and makes a new one. If several processes did so at
// once, the second would rename the new file of the first. So they take turns
// (see takeTurn), and the name must still refer to the file to rotate. The name
// of the old file is first reserved by an empty file, which only one process
// can create, and which the rename then replaces.

const (
	busyPause     = int64(100 * time.Microsecond) // pause while another process rotates
	firstRotate   = int64(100 * time.Millisecond) // pause after a failure
	longestRotate = int64(10 * time.Second)       // to which both double
	longBusy      = int64(time.Second)            // longer than any rotation of another process
	maxSeq        = 1_000_000                     // names in one microsecond
)

// A rotation determines when the live file ends, and what it is called then.
// The lock of the sink protects it.
type rotation struct {
	*location
	schedule

	due      time.Time // time at which the schedule ends the file
	retryAt  int64     // monotonic time before which rotating is not retried
	pause    int64
	lastName time.Time // time in the name of the last rotated file
	lastSeq  int
}

// coarse is the maximum time by which the times of files lag behind the clock.
// A file that was started at midnight may seem to have been written to just
// before.
const coarse = 20 * time.Millisecond

// begin determines when the schedule ends a file that was last modified at t.
func (r *rotation) begin(t time.Time) {
	from := r.c.clock.wall()
	if written := t.Add(coarse); written.Before(from) {
		from = written
	}
	r.due = r.next(from)
}

// untilDue returns the time until the schedule ends the file.
func (r *rotation) untilDue(now time.Time, empty bool) int64 {
	next := r.next(now)
	if empty || next.Before(r.due) { // nothing to rotate, or the clock was set back
		r.due = next
	}
	return int64(r.due.Sub(now))
}

// postpone delays the next attempt after err, and reports whether err is more
// than another process that rotates.
func (r *rotation) postpone(now int64, err error) bool {
	first := firstRotate
	busy := errors.Is(err, vfs.ErrLocked)
	if busy {
		first = busyPause
	}
	r.pause = min(max(2*r.pause, first), longestRotate)
	r.retryAt = now + r.pause
	return !busy || r.pause > longBusy
}

// moveAway renames the live file, whose identity is id, to a name that is free,
// and returns this name, or "" if the file could not be renamed. It may have
// been renamed although there is an error: a network file system may lose the
// response of its server.
func (r *rotation) moveAway(id vfs.ID) (name string, err error) {
	t, seq := r.naming.next(r.c.clock.wall(), r.lastName, r.lastSeq)
	path, free := r.path, "" // path is the name that the file has now
	for ; seq < maxSeq; seq++ {
		free = r.pathOf(r.naming.name(t, seq))
		packed, err := r.wasPacked(free)
		if err != nil {
			return name, err
		}
		if packed {
			continue
		}
		if err = r.rename(path, free); err != nil {
			switch moved, lookErr := r.isNamed(free, id); {
			case moved:
			case errors.Is(err, fs.ErrExist):
				continue
			default:
				return name, errors.Join(err, lookErr)
			}
		}
		r.lastName, r.lastSeq = t, seq
		name, path = free, free
		// A compression may just have freed the name: wasPacked came before it.
		packed, lookErr := r.wasPacked(name)
		if err = errors.Join(err, lookErr); !packed {
			return name, err
		}
	}
	return name, fmt.Errorf("no name is left like %s", free)
}

// rename renames the file called path to name, if this is free.
//
// A rename that replaces a file makes ext4 find blocks for all of the renamed
// file and begin to write it to the disk before the call returns: 8 to 100 ms
// for 50 MiB, during which no line is written, and 0.3 ms without a file to
// replace.
func (r *rotation) rename(path, name string) error {
	err := r.fs.RenameNoReplace(path, name)
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	f, err := r.fs.Open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, r.c.Mode)
	if err != nil {
		return err
	}
	_ = f.Close() // nothing was written
	if err = r.fs.Rename(path, name); err != nil {
		if info, lookErr := r.fs.Lstat(name); lookErr == nil && info.Size == 0 {
			err = errors.Join(err, unlessGone(r.fs.Remove(name)))
		}
	}
	return err
}

// wasPacked reports whether there is a compressed file that was called name
// before, and that compressing the new one would replace.
func (r *rotation) wasPacked(name string) (bool, error) {
	for _, ext := range r.naming.packed {
		if _, err := r.fs.Lstat(name + ext); !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

// tryRotate rotates, and ensures that a failure does not cost every line
// another attempt. Until it succeeds, lines go to the old file.
func (w *writer) tryRotate(now int64) {
	if err := w.rotate(); err != nil && w.rotation.postpone(now, err) {
		w.errors.report("rotate", err)
	}
}

// rotate rotates. On an error the old file stays in use, under its old or its
// new name.
func (w *writer) rotate() error {
	if w.file == nil { // the last rotation has let go of it; see closeForRename
		return w.reopen()
	}
	lock, err := w.takeTurn()
	if err != nil {
		return err
	}
	defer lock.Close()
	info, err := w.fs.Lstat(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || info.ID != w.id { // another process was first
		w.stats.Followed++
		return w.reopen()
	}
	w.rights = info
	if w.resize(info.Size); w.size == 0 { // it was truncated
		return nil
	}
	w.endLine()
	w.syncOld()
	if !vfs.CanRenameOpen {
		w.closeForRename()
	}
	name, err := w.rotation.moveAway(w.id)
	if name == "" {
		if !vfs.CanRenameOpen {
			err = errors.Join(err, w.reopen())
		}
		return err
	}
	if err != nil {
		w.errors.report("rotate", err)
	}
	w.stats.Rotations++
	w.rotation.retryAt, w.rotation.pause = 0, 0
	return w.reopen()
}

// checkSchedule rotates if the schedule requires it, and ensures that the next
// check is not later than the schedule.
func (w *writer) checkSchedule(now int64) {
	r := &w.rotation
	if r.never() {
		return
	}
	wall := w.c.clock.wall()
	if w.size > 0 && !wall.Before(r.due) && now >= r.retryAt && w.mayRotate() {
		w.tryRotate(now)
		w.check.at = now + checkEvery
	}
	if left := r.untilDue(wall, w.size == 0); left > 0 {
		w.check.at = min(w.check.at, now+left)
	}
}

// makeRoom begins a new file if n bytes do not fit.
func (w *writer) makeRoom(n, now int64) {
	if w.size > 0 && w.size+n > w.limit && now >= w.rotation.retryAt && w.mayRotate() {
		w.tryRotate(now)
	}
}

// A schedule determines when new files begin.
type schedule struct {
	every time.Duration
	at    []timeOfDay
	zone  *time.Location
}

// A timeOfDay is a wall clock time.
type timeOfDay struct{ hour, minute int }

// parseTimeOfDay reads "15:04".
func parseTimeOfDay(s string) (timeOfDay, error) {
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return timeOfDay{}, fmt.Errorf("%q is not a time of day like 09:30", s)
	}
	return timeOfDay{t.Hour(), t.Minute()}, nil
}

// newSchedule makes the schedule of a valid Config.
func newSchedule(c *Config) schedule {
	s := schedule{every: c.Every, zone: c.Zone}
	for _, text := range c.At {
		at, _ := parseTimeOfDay(text) // Validate has checked it
		s.at = append(s.at, at)
	}
	return s
}

// never reports whether no files begin at set times.
func (s *schedule) never() bool { return s.every == 0 && len(s.at) == 0 }

// next returns the first moment after t at which a file begins. 0 allocs.
func (s *schedule) next(t time.Time) time.Time {
	var first time.Time
	consider := func(c time.Time) {
		if c.After(t) && (first.IsZero() || c.Before(first)) {
			first = c
		}
	}
	consider(t.UTC().Truncate(s.every).Add(s.every)) // t itself if every is 0
	year, month, day := t.In(s.zone).Date()
	for _, at := range s.at {
		// The day after tomorrow is needed if tomorrow's hour is skipped:
		// time.Date may then choose the hour before, which is today if the time
		// is midnight.
		for d := range 3 {
			consider(time.Date(year, month, day+d, at.hour, at.minute, 0, 0, s.zone))
		}
	}
	return first
}
