// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package stdio

import "syscall"

// identify returns the identity of the file that fd refers to; ok is false if
// there is none. 0 allocs.
func identify(fd uintptr) (id identity, ok bool) {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(fd), &st); err != nil {
		return id, false
	}
	return identity{dev: uint64(st.Dev), ino: uint64(st.Ino), rdev: uint64(st.Rdev)}, true
}
