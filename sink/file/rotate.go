// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io/fs"

	"github.com/nib-log/nib/internal/vfs"
)

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
	if w.file == nil { // the last rotation has let go of it; see letGo
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
		w.letGo()
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
	w.rotation.succeeded()
	return w.reopen()
}

// lookAtClock rotates if the schedule requires it, and ensures that the next
// check is not later than the schedule.
func (w *writer) lookAtClock(now int64) {
	r := &w.rotation
	if r.never() {
		return
	}
	wall := w.clock.wall()
	if w.size > 0 && !wall.Before(r.due) && now >= r.retryAt && w.mayRotate() {
		w.tryRotate(now)
		w.check.at = now + checkEvery
	}
	if left := r.left(wall, w.size == 0); left > 0 {
		w.check.at = min(w.check.at, now+left)
	}
}

// makeRoom begins a new file if n bytes do not fit.
func (w *writer) makeRoom(n, now int64) {
	if w.size > 0 && w.size+n > w.limit && now >= w.rotation.retryAt && w.mayRotate() {
		w.tryRotate(now)
	}
}
