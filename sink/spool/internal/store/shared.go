// SPDX-License-Identifier: Apache-2.0

package store

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
// slot: a subdirectory that is a separate spool, with its own lock, numbers,
// cursors and marks. The decision is described in
// docs/decisions/2026-11-22-shared-spool-directories.md.

const (
	slotPrefix = "slot-"
	MaxSlots   = 9999
)

var errNotShared = errors.New(
	"the directory is shared by several processes, whose lines would not be delivered: set " +
		"Config.Shared")

// A Home is a directory that several processes share, as seen by one of them.
type Home struct {
	FS   vfs.FS
	Path string
	own  string // the slot of this process
}

func SlotName(n int) string { return fmt.Sprintf("%s%04d", slotPrefix, n) }

// IsSlot reports whether name is the name of a slot.
func IsSlot(name string) bool {
	n, _ := strconv.Atoi(strings.TrimPrefix(name, slotPrefix))
	return n > 0 && SlotName(n) == name
}

// Check makes the home, and rejects a home that other users may write to.
func (h *Home) Check() error {
	if err := h.FS.MkdirAll(h.Path, 0o700); err != nil {
		return err
	}
	_, err := checkDir(h.FS, h.Path)
	return err
}

// NewHome returns the home in a directory.
func NewHome(fsys vfs.FS, path string) *Home { return &Home{FS: fsys, Path: path} }

// Choose makes slot n the slot of this process, and returns its directory.
// missing is the error of looking for that directory, fs.ErrNotExist if it does
// not exist.
func (h *Home) Choose(n int) (path string, missing error) {
	h.own = SlotName(n)
	path = filepath.Join(h.Path, h.own)
	_, missing = h.FS.Lstat(path)
	return path, missing
}

// RefuseHome returns an error if a directory that is opened unshared has slots,
// but is not a spool itself.
func RefuseHome(fsys vfs.FS, path string) error {
	names, err := fsys.ReadDir(path)
	isSpool := hasSegments(names) || slices.Contains(names, "lock")
	if err == nil && !isSpool && slices.ContainsFunc(names, IsSlot) {
		return errNotShared
	}
	return Ignore(err, fs.ErrNotExist)
}

// Slots returns the directories in the home that have segments, except this
// process's: slots, and the home itself if it was used unshared before. empty
// lists the directories without segments. The error joins the errors of single
// slots.
func (h *Home) Slots() (paths, empty []string, err error) {
	names, err := h.FS.ReadDir(h.Path)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case hasSegments(names):
		paths = append(paths, h.Path)
	case slices.Contains(names, "lock"):
		empty = append(empty, h.Path)
	}
	for _, name := range names {
		if !IsSlot(name) || name == h.own {
			continue
		}
		path := filepath.Join(h.Path, name)
		inside, e := h.FS.ReadDir(path)
		switch {
		case e != nil:
			err = errors.Join(err, Ignore(e, fs.ErrNotExist, syscall.ENOTDIR))
		case hasSegments(inside):
			paths = append(paths, path)
		case !slices.ContainsFunc(inside, isKept):
			empty = append(empty, path)
		}
	}
	return paths, empty, err
}

// isKept reports whether to keep a file in a slot without segments.
func isKept(name string) bool {
	return name != "lock" && name != formerName &&
		!strings.HasSuffix(name, CursorExt) && !strings.HasSuffix(name, MadeSuffix)
}

// RemoveEmpty deletes an empty slot, unless a process has it locked.
func (h *Home) RemoveEmpty(path string) error {
	d := &Dir{FS: h.FS, Path: path}
	switch err := d.take(&Options{Shared: true}); {
	case errors.Is(err, ErrInUse) || errors.Is(err, ErrReplaced) || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer d.Lock.Close() // the contents of the lock file are only informative
	return d.Retire(path == h.Path)
}

func hasSegments(names []string) bool { return slices.ContainsFunc(names, IsSegmentName) }

// BytesOfOthers returns the size in bytes of the segments in the home, without
// those in the slot of this process and those with only a header. It includes
// segments that are being created, but not those deleted while it runs.
func (h *Home) BytesOfOthers() (bytes int64, err error) {
	names, err := h.FS.ReadDir(h.Path)
	if err != nil {
		return 0, err
	}
	add := func(path string, names []string) error {
		for _, name := range names {
			base := strings.TrimSuffix(name, MadeSuffix)
			if _, ok := SegmentNumber(base); !ok || !strings.HasSuffix(base, SegmentExt) {
				continue
			}
			info, err := h.FS.Lstat(filepath.Join(path, name))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if info.Size != segment.EmptySize {
				bytes += info.Size
			}
		}
		return nil
	}
	if err := add(h.Path, names); err != nil {
		return 0, err
	}
	for _, name := range names {
		if !IsSlot(name) || name == h.own {
			continue
		}
		path := filepath.Join(h.Path, name)
		inside, err := h.FS.ReadDir(path)
		if errors.Is(err, syscall.ENOTDIR) {
			continue // a file with the name of a slot
		}
		if err == nil {
			err = add(path, inside)
		}
		if errors.Is(err, fs.ErrPermission) {
			err = fmt.Errorf(
				"%w: if the slot belongs to another user, give each user a directory of its own; "+
					"run nib relay as that user to deliver the slot, and then delete it", err)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return bytes, nil
}

// Retire deletes the directory of a slot whose records are all delivered. The
// caller holds its lock: a process that opens it concurrently finds that its
// lock file has no name. The directory stays if it has files for the operator,
// such as rejected lines. While any other file is left, so is the lock file,
// and a later call removes both.
func (d *Dir) Retire(isHome bool) error {
	names, err := d.FS.ReadDir(d.Path)
	if err != nil || hasSegments(names) {
		// Without its cursor, a remaining segment would be delivered again.
		return Ignore(err, fs.ErrNotExist)
	}
	for _, name := range names {
		if name != "lock" && !isKept(name) {
			err = errors.Join(err, Ignore(d.FS.Remove(d.Name(name)), fs.ErrNotExist))
		}
	}
	if err != nil || !isHome && slices.ContainsFunc(names, isKept) {
		return err
	}
	d.lockMu.Lock()
	d.id = vfs.ID{} // nothing makes the lock file again
	d.lockMu.Unlock()
	err = Ignore(d.FS.Remove(d.Name("lock")), fs.ErrNotExist)
	if err == nil && !isHome {
		// The directory may contain the lock of another process.
		err = Ignore(d.FS.Remove(d.Path), fs.ErrNotExist, fs.ErrExist)
	}
	return err
}

// Ignore returns err unless it is one of the others.
func Ignore(err error, others ...error) error {
	if slices.ContainsFunc(others, func(other error) bool { return errors.Is(err, other) }) {
		return nil
	}
	return err
}
