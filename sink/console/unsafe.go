// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package console

import (
	"io"
	"os"
	"syscall"
	"unsafe"
)

// terminalOf returns access to w if w has terminal settings. Checking for a
// character device is not enough: the null device is one.
func terminalOf(w io.Writer) syscall.RawConn {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	conn, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	err = conn.Control(func(fd uintptr) {
		var t syscall.Termios
		ok = ioctl(fd, getTermios, &t)
	})
	if !ok || err != nil {
		return nil
	}
	return conn
}

// windowWidth returns the number of columns of a terminal, 0 if it is not
// known.
func windowWidth(fd uintptr) int {
	var size struct{ rows, columns, _, _ uint16 } // struct winsize
	if !ioctl(fd, syscall.TIOCGWINSZ, &size) {
		return 0
	}
	return int(size.columns)
}

// ioctl lets the kernel read or write *v, which must have the type that request
// needs; the call keeps it alive.
func ioctl[T any](fd, request uintptr, v *T) bool {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(v)))
	return errno == 0
}
