// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib/internal/vfs"
)

// lockTries is the number of times that a lock held by another process is
// retried, at intervals of a millisecond: a process that checks whether the
// lock is free holds it for microseconds, unless it is suspended.
const lockTries = 100

// take locks the directory, and writes the id of this process into the lock
// file. It tries a slot of a shared directory only once, since there are
// others.
func (d *Dir) take(o *Options) (err error) {
	tries := lockTries
	if o.Shared {
		tries = 1
	}
	for range tries {
		if d.Lock, err = lockFile(d.FS, d.Name("lock")); err == nil {
			if err = d.isNamed(); err == nil {
				sign(d.Lock)
				return nil
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = ErrReplaced
			}
			_ = d.Lock.Close() // nothing was written
		}
		// These two mean that a process has deleted an empty slot.
		if !errors.Is(err, vfs.ErrLocked) && !errors.Is(err, ErrReplaced) {
			return err
		}
		if tries > 1 {
			time.Sleep(time.Millisecond)
		}
	}
	if errors.Is(err, ErrReplaced) {
		return err
	}
	return d.inUse()
}

// sign writes into the lock file which process holds the lock. The text is only
// informative.
func sign(lock io.Closer) {
	f, ok := lock.(vfs.File)
	if !ok {
		return
	}
	name := ""
	if path, err := os.Executable(); err == nil {
		name = filepath.Base(path)
	}
	text := fmt.Appendf(nil, "%d %q\n", os.Getpid(), name)
	if info, _ := f.Stat(); info.Size > int64(len(text)) && f.Truncate(0) != nil {
		return
	}
	_, _ = f.WriteAt(text, 0)
}

// inUse returns ErrInUse with the process that has the spool open, if the lock
// file has it.
func (d *Dir) inUse() error {
	const advice = "give each process a directory of its own, or set Config.Shared"
	f, err := d.FS.Open(d.Name("lock"), os.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("%w: %s", ErrInUse, advice)
	}
	defer f.Close()
	b := make([]byte, 1024)
	n, _ := f.ReadAt(b, 0) // the file may be shorter
	pid, name, ok := parseOwner(string(b[:n]))
	switch {
	case !ok:
		return fmt.Errorf("%w: %s", ErrInUse, advice)
	case pid == os.Getpid():
		return fmt.Errorf("%w: this process has opened it before: %s", ErrInUse, advice)
	case name == "":
		return fmt.Errorf("%w: process %d has it: %s", ErrInUse, pid, advice)
	}
	return fmt.Errorf("%w: process %d (%q) has it: %s", ErrInUse, pid, name, advice)
}

// parseOwner parses a text written by sign. The file may contain anything.
func parseOwner(text string) (pid int, name string, ok bool) {
	line, _, whole := strings.Cut(text, "\n")
	digits, quoted, _ := strings.Cut(line, " ")
	pid, err := strconv.Atoi(digits)
	if !whole || err != nil || pid <= 0 {
		return 0, "", false
	}
	name, err = strconv.Unquote(quoted)
	return pid, name, err == nil
}

// Ownership reports whether a process has a spool open.
type Ownership int

const (
	// Locks are not reliable on the file system, or permission is denied.
	ownerUnknown Ownership = iota
	OwnedByNone
	ownedByOther // a process that is alive
)

// Owner determines whether the lock is free. A lock file that does not exist
// was never locked. The error is the system's reason why the owner is unknown,
// if any.
func (d *Dir) Owner() (Ownership, error) {
	f, err := d.FS.Open(d.Name("lock"), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return OwnedByNone, nil
	}
	// Its owner opens the file exclusively, instead of locking it.
	windows := runtime.GOOS == "windows"
	if err != nil {
		if windows && !errors.Is(err, fs.ErrPermission) {
			return ownedByOther, nil
		}
		return ownerUnknown, err
	}
	defer f.Close() // releases the lock
	err = f.Lock(vfs.Shared)
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return ownedByOther, nil
	case err != nil && !windows:
		return ownerUnknown, err
	case VolumeOf(d.Path).Remote:
		return ownerUnknown, nil // another machine may have locked the file
	}
	return OwnedByNone, nil
}
