// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package console

import (
	"os"
	"syscall"
	"unsafe"
)

// isTerminal reports whether f has terminal settings. That it is a character
// device would not do: the null device is one.
func isTerminal(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	ok := false
	err = conn.Control(func(fd uintptr) {
		var t syscall.Termios
		// In bounds: the kernel writes one termios of this platform, which is
		// what t is, and the call keeps t alive.
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, getTermios, uintptr(unsafe.Pointer(&t)))
		ok = errno == 0
	})
	return ok && err == nil
}
