// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// With Config.Shared several processes share a directory, the home. Each has a
// slot: a subdirectory that is a spool of its own, with its own lock, numbers,
// cursors and marks. The decision is described in
// docs/decisions/2026-11-22-shared-spool-directories.md.

const (
	slotPrefix = "slot-"
	maxSlots   = 9999

	// maxRaces is how often a slot that was not there may be locked by another
	// process before this one does: far more often than processes start at the
	// same moment.
	maxRaces = 200
)

var (
	errNotShared = errors.New("the directory is shared by several processes, whose lines would not be delivered: set Config.Shared")
	errNoLocks   = errors.New("Config.Shared needs locks, which are not reliable on this file system: use a local file system, or a directory for each process")
	errCrowded   = fmt.Errorf("all slots are in use: %w", ErrInUse)
)

// A home is the directory that several processes share, as one of them sees it.
type home struct {
	fs   vfs.FS
	path string
	own  string // the slot of this process
}

func slotName(n int) string { return fmt.Sprintf("%s%04d", slotPrefix, n) }

// isSlot reports whether name is that of a slot.
func isSlot(name string) bool {
	digits, ok := strings.CutPrefix(name, slotPrefix)
	n, err := strconv.Atoi(digits)
	return ok && err == nil && n > 0 && slotName(n) == name
}

// takeSlot recovers the first slot that no process has, and makes one if there
// is none. A slot that cannot be opened for another reason is left to a later
// attempt to deliver it, unless it is new: then that is the error.
func (s *Sink) takeSlot(h *home) (first segment.Start, err error) {
	switch err := checkHome(h.fs, h.path); {
	case err != nil:
		return segment.Start{}, err
	case s.c.volume.remote:
		return segment.Start{}, errNoLocks
	}
	var left []error
	defer func() {
		for _, err := range left {
			s.fault("take a slot", err)
		}
	}()
	for n, races := 1, 0; n <= maxSlots && races < maxRaces; n++ {
		h.own = slotName(n)
		path := filepath.Join(h.path, h.own)
		_, missing := h.fs.Lstat(path)
		if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
			return segment.Start{}, missing
		}
		if first, err = s.recover(path); err != nil {
			s.forget()
		}
		switch passed := errors.Is(err, ErrInUse) || errors.Is(err, errReplaced) || errors.Is(err, fs.ErrNotExist); {
		case err == nil:
			s.others, err = h.used(h.own)
			if err != nil {
				s.release()
			}
			return first, err
		case errors.Is(err, errors.ErrUnsupported):
			return segment.Start{}, errNoLocks
		case missing != nil && !passed:
			return segment.Start{}, err
		case !passed:
			left = append(left, fmt.Errorf("%s: %w", path, err))
		case missing != nil:
			races++
		}
	}
	return segment.Start{}, errCrowded
}

// forget undoes what a recover has left that did not succeed.
func (s *Sink) forget() {
	s.dir, s.copier, s.stats, s.inherited, s.carried = nil, nil, Stats{}, segment.Tally{}, segment.Tally{}
	for _, d := range s.deliveries {
		d.cursor, d.settled, d.recovered, d.skips = nil, 1, 0, 0
	}
}

// checkHome makes the home, and refuses one that others may write to.
func checkHome(fsys vfs.FS, path string) error {
	if err := fsys.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return checkDir(fsys, path)
}

// refuseHome is the error for a directory that is opened unshared and has
// slots, but no spool of its own.
func refuseHome(fsys vfs.FS, path string) error {
	names, err := fsys.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	slots := false
	for _, name := range names {
		if _, ok := segmentNumber(name); ok || name == "lock" {
			return nil
		}
		slots = slots || isSlot(name)
	}
	if slots {
		return errNotShared
	}
	return nil
}

// slots returns the directories in the home that have segments, without that of
// this process: slots, and the home itself, which was used unshared before.
// empty are those in which there is nothing. An error is about some of the
// slots.
func (h *home) slots() (paths, empty []string, err error) {
	names, err := h.fs.ReadDir(h.path)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case hasSegments(names):
		paths = append(paths, h.path)
	case slices.Contains(names, "lock"):
		empty = append(empty, h.path)
	}
	for _, name := range names {
		if !isSlot(name) || name == h.own {
			continue
		}
		path := filepath.Join(h.path, name)
		inside, e := h.fs.ReadDir(path)
		switch {
		case e != nil:
			err = errors.Join(err, ignore(e, fs.ErrNotExist, syscall.ENOTDIR))
		case hasSegments(inside):
			paths = append(paths, path)
		case !slices.ContainsFunc(inside, isKept):
			empty = append(empty, path)
		}
	}
	return paths, empty, err
}

// isKept reports whether a file in a slot without segments is to be kept.
func isKept(name string) bool {
	return name != "lock" && name != originName && !strings.HasSuffix(name, cursorExt) && !strings.HasSuffix(name, madeSuffix)
}

// sweep deletes a slot in which there is nothing, unless a process has it.
func (h *home) sweep(path string) error {
	d := &dir{fs: h.fs, path: path}
	switch err := d.take(&Config{Shared: true}); {
	case errors.Is(err, ErrInUse) || errors.Is(err, errReplaced) || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer d.lock.Close() // its contents are for people only
	return d.retire(path == h.path)
}

func hasSegments(names []string) bool {
	for _, name := range names {
		if _, ok := segmentNumber(name); ok {
			return true
		}
	}
	return false
}

// used returns how many bytes the segments in the home have, without those of
// one slot. Segments that are being created count. Those deleted while it looks
// do not.
func (h *home) used(without string) (bytes int64, err error) {
	names, err := h.fs.ReadDir(h.path)
	if err != nil {
		return 0, err
	}
	add := func(path string, names []string) error {
		for _, name := range names {
			base := strings.TrimSuffix(name, madeSuffix)
			if _, ok := segmentNumber(base); !ok || !strings.HasSuffix(base, segmentExt) {
				continue
			}
			info, err := h.fs.Lstat(filepath.Join(path, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			bytes += info.Size
		}
		return nil
	}
	if err := add(h.path, names); err != nil {
		return 0, err
	}
	for _, name := range names {
		if !isSlot(name) || name == without {
			continue
		}
		path := filepath.Join(h.path, name)
		inside, err := h.fs.ReadDir(path)
		if errors.Is(err, syscall.ENOTDIR) {
			continue // a file that only has the name of a slot
		}
		if err == nil {
			err = add(path, inside)
		}
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf("%w: if the slot belongs to another user, give each user a directory of its own; run nib relay as that user to deliver the slot, and then delete it", err)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return bytes, nil
}

// countOthers returns how many bytes the segments of other processes have.
func (s *Sink) countOthers() (int64, error) {
	if s.home == nil {
		return 0, nil
	}
	return s.home.used(s.home.own)
}

// fitsWith reports whether all segments fit into the size of the spool, those
// of others included.
func (s *Sink) fitsWith(others int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes+others <= s.c.Size
}

// isCrowded reports whether only the segments of others are in the way of
// another one.
func (s *Sink) isCrowded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.home != nil && s.next == nil && !s.hasRoom() && s.bytes+s.c.SegmentSize <= s.c.Size
}

// retire deletes the directory of a slot from which everything is delivered. It
// is locked: a process that opens it concurrently finds that its lock has no
// name. The directory stays if it has files for people, such as rejected lines.
// As long as any other file is left, so is the lock: the next look removes
// them.
func (d *dir) retire(isHome bool) error {
	names, err := d.fs.ReadDir(d.path)
	if err != nil || hasSegments(names) {
		return ignore(err, fs.ErrNotExist) // without its cursor, a segment that is left would be delivered again
	}
	for _, name := range names {
		if name != "lock" && !isKept(name) {
			err = errors.Join(err, ignore(d.fs.Remove(d.name(name)), fs.ErrNotExist))
		}
	}
	if err != nil || !isHome && slices.ContainsFunc(names, isKept) {
		return err
	}
	err = ignore(d.fs.Remove(d.name("lock")), fs.ErrNotExist)
	if err == nil && !isHome {
		err = ignore(d.fs.Remove(d.path), fs.ErrNotExist, fs.ErrExist) // with the lock of another process
	}
	return err
}

// ignore returns err unless it is one of the others.
func ignore(err error, others ...error) error {
	if slices.ContainsFunc(others, func(other error) bool { return errors.Is(err, other) }) {
		return nil
	}
	return err
}
