// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/internal/vfs"
)

// A retention deletes and compresses old files, in a goroutine that is started
// when the sink closes a file, and ends when there is nothing left to do. It
// leaves a file that another process still writes to, since that process will
// close the file, too.
type retention struct {
	*location
	mu             sync.Mutex // protects the next four; no other lock is taken while it is held
	running, again bool
	retryAt        int64
	pause          int64
	failed         atomic.Bool // something remains to be done
	quit           atomic.Bool // do not compress any more files
	done           sync.WaitGroup
}

// A failed run is repeated after a pause that doubles from firstRetention to
// longestRetention, if there are lines to write.
const (
	firstRetention   = int64(time.Second)
	longestRetention = int64(10 * time.Minute)
)

// retry starts the goroutine again if it has failed and the pause is over.
func (r *retention) retry(now int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed.Load() && !r.running && now >= r.retryAt {
		r.run()
	}
}

// start starts the goroutine, or makes it run once more.
func (r *retention) start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.c.Compress.Compress == nil && r.c.MaxBackups == 0 && r.c.MaxAge == 0 && r.c.MaxTotal == 0:
	case r.running:
		r.again = true
	default:
		r.run()
	}
}

// run starts the goroutine. mu is held.
func (r *retention) run() {
	r.running = true
	r.done.Add(1)
	go r.repeat()
}

// repeat is the goroutine.
func (r *retention) repeat() {
	defer r.done.Done()
	ended := false
	defer func() {
		if !ended { // a compressor has called runtime.Goexit
			r.mu.Lock()
			r.running = false
			r.delay()
			r.mu.Unlock()
		}
	}()
	for !ended {
		r.failed.Store(false)
		r.apply()
		ended = r.ends()
	}
}

// ends reports whether the goroutine ends.
func (r *retention) ends() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.again {
		r.again = false
		return false
	}
	r.running = false
	if r.failed.Load() {
		r.delay()
	} else {
		r.pause = 0
	}
	return true
}

// delay delays the next attempt. mu is held.
func (r *retention) delay() {
	r.failed.Store(true)
	r.pause = min(max(2*r.pause, firstRetention), longestRetention)
	r.retryAt = r.c.clock.mono() + r.pause
}

// apply deletes the files that exceed MaxAge or MaxBackups, compresses the
// rest, and then deletes those that exceed MaxTotal.
func (r *retention) apply() {
	if r.c.MaxBackups > 0 || r.c.MaxAge > 0 {
		now := r.c.clock.wall()
		r.deleteIf(func(i int, b backup) bool {
			return r.c.MaxBackups > 0 && i >= r.c.MaxBackups ||
				r.c.MaxAge > 0 && now.Sub(b.time) > r.c.MaxAge
		})
	}
	if r.c.Compress.Compress != nil {
		r.compressAll()
	}
	if r.c.MaxTotal > 0 {
		total := int64(0)
		r.deleteIf(func(_ int, b backup) bool {
			total += b.size
			return total > r.c.MaxTotal
		})
	}
}

// deleteIf deletes the old files for which outdated returns true. It calls
// outdated for each, from the newest to the oldest.
func (r *retention) deleteIf(outdated func(i int, b backup) bool) {
	for i, b := range r.backups() {
		if !outdated(i, b) {
			continue
		}
		if err := r.remove(b); err != nil {
			r.complain("delete an old file of", err)
		}
	}
}

// compressAll compresses old files, the oldest first, until Close interrupts
// it.
func (r *retention) compressAll() {
	for _, b := range slices.Backward(r.backups()) {
		if b.packed != "" {
			continue
		}
		if r.quit.Load() {
			return
		}
		if err := r.compress(b); err != nil && !errors.Is(err, errBroken) && err != vfs.ErrLocked {
			r.complain("compress an old file of", err)
		}
	}
}

// complain reports an error of the goroutine, which is then restarted after a
// pause.
func (r *retention) complain(op string, err error) {
	r.failed.Store(true)
	r.errors.reportNow(op, err)
}

// complainUnlessGone reports err, unless it is nil or means that the file does
// not exist: another process was first.
func (r *retention) complainUnlessGone(op string, err error) {
	if err = unlessGone(err); err != nil {
		r.complain(op, err)
	}
}

// backups lists the old files, newest first, and deletes leftovers of
// unfinished rotations and compressions. A file that cannot be examined is
// omitted, and so never deleted.
func (r *retention) backups() []backup {
	names, err := r.fs.ReadDir(r.dir)
	if err != nil {
		r.complain("read the directory of", err)
		return nil
	}
	var list []backup
	var empty []string
	for _, name := range names {
		b, ok := r.naming.parse(name)
		if !ok {
			continue
		}
		info, err := r.fs.Lstat(r.pathOf(name))
		switch {
		case err != nil:
			r.complainUnlessGone("look at an old file of", err)
		case !info.Mode.IsRegular():
		case b.temp:
			// While a file is being compressed, its source exists.
			if _, found := slices.BinarySearch(names, b.plain()); !found {
				r.complainUnlessGone("delete an old file of", r.fs.Remove(r.pathOf(name)))
			}
		case info.Size == 0:
			empty = append(empty, name)
		default:
			b.size = info.Size
			list = append(list, b)
		}
	}
	r.removeEmpty(empty)
	now := r.c.clock.wall()
	slices.SortFunc(list, func(a, b backup) int { return a.compareAt(b, now) })
	return list
}

// removeEmpty deletes the empty files with which an unfinished rotation has
// reserved a name. During a rotation they must not be deleted: a moment later
// a file with lines has the name.
func (r *retention) removeEmpty(names []string) {
	if len(names) == 0 {
		return
	}
	lock, err := r.takeTurn()
	if err != nil {
		if !errors.Is(err, vfs.ErrLocked) { // a process that rotates applies its limits as well
			r.complain("delete an old file of", err)
		}
		return
	}
	defer lock.Close()
	for _, name := range names {
		path := r.pathOf(name)
		info, err := r.fs.Lstat(path)
		if err == nil && info.Mode.IsRegular() && info.Size == 0 {
			err = r.fs.Remove(path)
		}
		r.complainUnlessGone("delete an old file of", err)
	}
}

// remove deletes an old file, unless a process writes to it, or it is not a
// regular file. A file that stays locked is an error: another process closes a
// file a tenth of a second after its rotation, if it has lines to write.
func (r *retention) remove(b backup) error {
	f, info, err := r.seize(b.name)
	if err == vfs.ErrLocked && r.c.clock.wall().Sub(b.time) < longLocked {
		return nil
	}
	if f == nil {
		return err
	}
	defer f.Close()
	return r.unlink(b.name, f, info)
}

const longLocked = time.Minute

// seize opens an old file and locks it exclusively. It returns nil without an
// error if no regular file has the name, and vfs.ErrLocked if a process still
// writes to it, or reads it under a lock. A file without lines is not seized;
// see removeEmpty.
func (r *retention) seize(name string) (vfs.File, vfs.Info, error) {
	path := r.pathOf(name)
	info, err := r.fs.Lstat(path)
	if err != nil || !info.Mode.IsRegular() {
		return nil, info, unlessGone(err)
	}
	// A network file system locks exclusively only files that are open for
	// writing.
	f, err := r.fs.Open(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrPermission) {
		f, err = r.fs.Open(path, os.O_RDONLY, 0)
	}
	if err != nil {
		return nil, info, unlessGone(err)
	}
	err = f.Lock(vfs.Exclusive)
	if errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	if err == nil {
		info, err = f.Stat()
	}
	named := false
	if err == nil && info.Mode.IsRegular() && info.Size > 0 {
		named, err = r.isNamed(path, info.ID)
	}
	if named {
		return f, info, nil
	}
	_ = f.Close() // nothing was written
	return nil, info, err
}

// unlink deletes the name of a seized file, if it still refers to that file.
func (r *retention) unlink(name string, f vfs.File, info vfs.Info) error {
	path := r.pathOf(name)
	named, err := r.isNamed(path, info.ID)
	if !named {
		return err
	}
	if !vfs.CanRenameOpen {
		_ = f.Close() // nothing was written
	}
	return unlessGone(r.fs.Remove(path))
}
