// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package vfs

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

const (
	atCwd          = -100  // AT_FDCWD: a relative name starts at the working directory
	atNoFollow     = 0x100 // AT_SYMLINK_NOFOLLOW
	noReplace      = 1     // RENAME_NOREPLACE
	longestOnStack = 256   // size of names, with the NUL byte
)

// lstat is syscall.Lstat without copying the name to the heap: a log file
// checks its name ten times a second.
func lstat(name string, st *syscall.Stat_t) error {
	var text [longestOnStack]byte
	if len(name) >= len(text) || strings.IndexByte(name, 0) >= 0 {
		return syscall.Lstat(name, st)
	}
	copy(text[:], name) // a NUL byte follows, since name is shorter than text
	cwd := atCwd
	// text ends with a NUL byte and st is as large as the kernel's struct stat
	// of this architecture. Both stay valid until the call returns: conversions
	// in its argument list are kept alive by the compiler.
	_, _, errno := syscall.Syscall6(sysFstatat, uintptr(cwd), uintptr(unsafe.Pointer(&text[0])),
		uintptr(unsafe.Pointer(st)), atNoFollow, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// RenameNoReplace gives a file a name that is free; see [FS]. A kernel or file
// system that cannot do that answers ENOSYS or EINVAL, and a filter of system
// calls EPERM.
func (osFS) RenameNoReplace(oldname, newname string) error {
	err := renameat2(oldname, newname)
	if err == nil {
		return nil
	}
	if err == syscall.ENOSYS || err == syscall.EINVAL || err == syscall.EPERM {
		err = errors.ErrUnsupported
	}
	return &os.LinkError{Op: "rename", Old: oldname, New: newname, Err: err}
}

func renameat2(oldname, newname string) error {
	from, err := syscall.BytePtrFromString(oldname)
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(newname)
	if err != nil {
		return err
	}
	cwd := atCwd
	return retry(func() error {
		// Both names end with a NUL byte and stay valid until the call returns.
		_, _, errno := syscall.Syscall6(sysRenameat2, uintptr(cwd), uintptr(unsafe.Pointer(from)),
			uintptr(cwd), uintptr(unsafe.Pointer(to)), noReplace, 0)
		if errno != 0 {
			return errno
		}
		return nil
	})
}
