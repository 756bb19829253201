// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/nib-log/nib/internal/vfs"
)

// A mark is a file that has the offset after the settled records of another
// file. It is locked while a run delivers that file. Where files cannot be
// locked, two runs at once deliver records twice.
type mark struct {
	name string
	f    vfs.File
}

// openIn opens a file in the directory of a spool. If there is none, it makes
// one; a run of root gives that to the owner of the directory, whose service
// opens it. It never gives away a file that exists: its name may be a link.
func openIn(name string, flag int) (vfs.File, error) {
	f, err := vfs.OS().Open(name, flag|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return vfs.OS().Open(name, flag, 0)
	}
	if err != nil || os.Geteuid() != 0 {
		return f, err
	}
	info, err := vfs.OS().Lstat(filepath.Dir(name))
	if c, ok := f.(interface{ Chown(uid, gid int) error }); ok && err == nil {
		err = c.Chown(info.Owner, -1)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// lockMark opens the mark called name, and creates it if there is none.
func lockMark(name string) (*mark, error) {
	for {
		f, err := openIn(name, os.O_RDWR)
		if errors.Is(err, fs.ErrNotExist) && isReadable(filepath.Dir(name)) {
			continue // another run has removed it in between
		} else if err != nil {
			return nil, err
		}
		if err = f.Lock(vfs.Exclusive); errors.Is(err, vfs.ErrLocked) {
			err = errInUse
		}
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			return nil, errors.Join(err, f.Close())
		}
		own, err := f.Stat()
		if err == nil {
			var named vfs.Info
			if named, err = vfs.OS().Lstat(name); err == nil && own.ID == named.ID {
				return &mark{name, f}, nil
			}
		}
		_ = f.Close() // another run has removed it in between
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// set stores an offset. The offset survives if the process is killed.
func (m *mark) set(offset int) error {
	_, err := m.f.WriteAt(fmt.Appendf(nil, "%020d\n", offset), 0)
	return err
}

// get returns the offset, 0 for a mark without one.
func (m *mark) get() int {
	var text [20]byte
	n, _ := m.f.ReadAt(text[:], 0)
	offset, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil || offset < 0 {
		return 0
	}
	return offset
}

// remove deletes the mark, which stays locked.
func (m *mark) remove() error {
	if !vfs.CanRenameOpen { // nor remove
		_ = m.f.Close() // all of it is written
	}
	return os.Remove(m.name)
}

// Close unlocks the mark.
func (m *mark) Close() error { return m.f.Close() }
