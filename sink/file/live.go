// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io"
	"time"

	"github.com/nib-log/nib/internal/vfs"
)

// A liveFile is the file that lines are appended to: its contents, as far as
// they are known, and whether they are on disk. The lock of the sink protects
// it.
type liveFile struct {
	*location
	file    vfs.File // nil if none is open
	id      vfs.ID
	size    int64    // when it was last checked or written
	rights  vfs.Info // of the file when it was opened, or rotated
	failing failure

	torn     bool // the last line has no end
	unseen   bool // the end was not checked: another process may have written it
	unsynced bool // something was written since the last sync
	unnamed  bool // the name may not survive a power failure: its directory was not synced
	tainted  bool // a sync has failed: data written since the last one may be lost

	durable   bool  // for a delivery: every file is synced before it is closed
	undurable error // the error of a file that could not be synced
}

// reopen opens the file that has the name now, which it describes, and closes
// the old one. On an error nothing changes.
func (l *liveFile) reopen() (vfs.Info, error) {
	f, info, err := l.open()
	if err != nil {
		return info, err
	}
	old := l.file
	l.syncOld()
	if info.ID != l.id {
		l.torn = false
	}
	l.file, l.id, l.size, l.rights = f, info.ID, info.Size, info
	l.unseen, l.unnamed, l.unsynced = info.Size > 0, true, false
	if old != nil {
		if err := old.Close(); err != nil {
			l.errors.report("close", err)
		}
	}
	return info, nil
}

// syncOld syncs a file before it is closed, if the policy requires it.
func (l *liveFile) syncOld() {
	if l.unsynced && (l.durable || l.c.Sync != SyncNever) {
		if err := l.sync(); err != nil {
			l.undurable = err
			l.errors.announce("sync", err)
		}
	}
}

// sync syncs the file and its name.
func (l *liveFile) sync() error {
	if l.unsynced && l.file != nil {
		l.unsynced = false // even if this fails: a second sync would not write the same bytes
		if err := l.file.SyncData(); err != nil {
			l.torn = true // the end of the last line may be missing on disk
			l.tainted = true
			return l.fail("sync", err)
		}
		l.tainted = false
	}
	return l.syncName()
}

// syncName makes the path of the file survive a power failure.
func (l *liveFile) syncName() error {
	if l.unnamed {
		if err := vfs.SyncPath(l.fs, l.dir); err != nil {
			return l.fail("sync the directory of", err)
		}
		l.unnamed = false
	}
	return nil
}

// orphaned reports whether lines written now would be lost because the file no
// longer has a name.
func (l *liveFile) orphaned() bool {
	if l.file == nil {
		return true
	}
	info, err := l.file.Stat()
	return err != nil || info.Links == 0
}

var errNoFile = errors.New("no file is open")

// put appends p, continuing after short writes. It returns the number of bytes
// of p that are in the file, synced as Config.Sync requires.
func (l *liveFile) put(p []byte) (n int, err error) {
	if l.file == nil { // see closeForRename
		return 0, l.fail("open", errNoFile)
	}
	for n < len(p) {
		m, err := l.file.Write(p[n:])
		if m == 0 && err == nil {
			err = io.ErrShortWrite
		}
		l.wrote(p[n : n+m])
		n += m
		if err != nil {
			if l.c.Sync == SyncAlways {
				n = 0
			}
			return n, l.fail("write", err)
		}
	}
	if l.c.Sync == SyncAlways {
		if err := l.sync(); err != nil {
			return 0, err
		}
	}
	if l.failing.err != nil {
		l.failing = failure{}
	}
	return n, nil
}

// wrote counts bytes that are in the file.
func (l *liveFile) wrote(p []byte) {
	if len(p) == 0 {
		return
	}
	l.size += int64(len(p))
	l.torn = p[len(p)-1] != '\n'
	l.unsynced = true
}

// The page cache shows a write of another process page by page. While the file
// ends at such a boundary, seeEnd waits, up to 15 ms in total.
const (
	pageSize  = 4096
	firstLook = time.Millisecond
	lastLook  = 8 * time.Millisecond
)

// seeEnd determines whether the file ends in the middle of a line, because the
// process that wrote it has died, or the disk was full. A file to which another
// process is writing a line looks the same, but grows.
func (l *liveFile) seeEnd() {
	l.unseen = false
	for pause := firstLook; pause <= lastLook; pause *= 2 {
		before, err := l.file.Stat()
		if err == nil && before.Size == 0 {
			return
		}
		var last [1]byte
		if err == nil {
			_, err = l.file.ReadAt(last[:], before.Size-1)
		}
		if err == nil && last[0] == '\n' {
			return
		}
		var after vfs.Info
		if err == nil {
			after, err = l.file.Stat()
		}
		if err != nil {
			l.errors.report("read", err)
			break
		}
		if after.Size == before.Size {
			if after.Size%pageSize != 0 {
				break
			}
			time.Sleep(pause)
		}
	}
	l.torn = true // the last byte may be unknown: an empty line is harmless
}

// endLine ends a partial last line of the file, so that the old files can be
// concatenated. It may fail on a full disk.
func (l *liveFile) endLine() {
	if l.unseen {
		l.seeEnd()
	}
	if l.torn {
		n, _ := l.file.Write(newline)
		l.wrote(newline[:n])
	}
}

var newline = []byte{'\n'}

// closeForRename closes the file on systems that cannot rename an open file. If
// rotation then fails, there may be none.
func (l *liveFile) closeForRename() {
	if err := l.file.Close(); err != nil {
		l.errors.report("close", err)
	}
	l.file = nil
}
