// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"syscall"
)

// CanRenameOpen reports whether a file may be renamed while it is open.
const CanRenameOpen = true

// openFlags keep Open from following links and from waiting for the other end
// of a FIFO. Package os adds O_CLOEXEC.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// An osFile is an os.File and its descriptor.
type osFile struct {
	*os.File
	fd int // -1 when it is closed
}

func newFile(f *os.File) File { return &osFile{f, int(f.Fd())} }

func (f *osFile) Close() error {
	f.fd = -1 // the number may belong to another file from now on
	return f.File.Close()
}

// Write calls write(2) directly: an os.File takes another lock first.
func (f *osFile) Write(p []byte) (n int, err error) {
	for {
		n, err = syscall.Write(f.fd, p)
		if err != syscall.EINTR {
			break
		}
	}
	runtime.KeepAlive(f.File)
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (f *osFile) Stat() (Info, error) {
	var st syscall.Stat_t
	err := retry(func() error { return syscall.Fstat(f.fd, &st) })
	if err != nil {
		return Info{}, &fs.PathError{Op: "fstat", Path: f.Name(), Err: err}
	}
	return infoOf(&st), nil
}

func (f *osFile) SetRights(perm fs.FileMode, group int) error {
	if group != NoOwner {
		if err := f.Chown(-1, group); err != nil {
			return err
		}
	}
	return f.Chmod(perm)
}

func (f *osFile) Lock(m LockMode) error {
	how := syscall.LOCK_SH
	if m == Exclusive {
		how = syscall.LOCK_EX
	}
	return f.flock(how)
}

func (f *osFile) Unlock() error { return f.flock(syscall.LOCK_UN) }

func (f *osFile) flock(how int) error { return flock(f.File, how) }

// flock takes a lock that belongs to the open file, not to the process. The
// system drops it with the last descriptor.
func flock(f *os.File, how int) error {
	err := retry(func() error { return syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB) })
	if err == nil {
		return nil
	}
	if err == syscall.EWOULDBLOCK {
		return ErrLocked
	}
	// EBADF comes from a network file system that turns flock into another kind
	// of lock, which needs a file that is open for writing.
	for _, none := range []error{errors.ErrUnsupported, syscall.ENOLCK, syscall.EINVAL,
		syscall.EBADF} {
		if errors.Is(err, none) {
			return fmt.Errorf("nib/vfs: lock %s: %v: %w", f.Name(), err, errors.ErrUnsupported)
		}
	}
	return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
}

// Lstat describes a name; see [FS].
func (osFS) Lstat(name string) (Info, error) {
	var st syscall.Stat_t
	err := retry(func() error { return lstat(name, &st) })
	if err != nil {
		return Info{}, &fs.PathError{Op: "lstat", Path: name, Err: err}
	}
	return infoOf(&st), nil
}

// SyncDir syncs a directory. Some file systems cannot, and do not need it.
func (osFS) SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	_ = f.Close() // nothing was written
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// IsFull reports whether err means that there is no room left on the file
// system, or in the quota of the user.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// retry calls f again when a signal has interrupted it.
func retry(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}

func infoOf(st *syscall.Stat_t) Info {
	return Info{
		ID:      ID{uint64(st.Dev), uint64(st.Ino)},
		Owner:   int(st.Uid),
		Group:   int(st.Gid),
		Links:   uint64(st.Nlink),
		Size:    st.Size,
		Mode:    modeOf(uint32(st.Mode)),
		ModTime: modTime(st),
	}
}

// modeOf translates the type and permissions of a file.
func modeOf(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & syscall.S_IFMT {
	case syscall.S_IFREG:
	case syscall.S_IFDIR:
		mode |= fs.ModeDir
	case syscall.S_IFLNK:
		mode |= fs.ModeSymlink
	case syscall.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case syscall.S_IFSOCK:
		mode |= fs.ModeSocket
	case syscall.S_IFBLK:
		mode |= fs.ModeDevice
	case syscall.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	default:
		mode |= fs.ModeIrregular
	}
	return mode
}
