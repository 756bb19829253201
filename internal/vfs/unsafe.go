// SPDX-License-Identifier: Apache-2.0

//go:build linux && (amd64 || arm64)

package vfs

import (
	"strings"
	"syscall"
	"unsafe"
)

const (
	atCwd          = -100  // AT_FDCWD: a relative name starts at the working directory
	atNoFollow     = 0x100 // AT_SYMLINK_NOFOLLOW
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
