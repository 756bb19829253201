// SPDX-License-Identifier: Apache-2.0

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package console

import (
	"io"
	"os"
	"syscall"
	"unsafe"
)

// terminalOf gives access to w if it has terminal settings. That it is a
// character device would not do: the null device is one.
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

// windowWidth is the number of columns of a terminal, 0 if it is not known.
func windowWidth(fd uintptr) int {
	var size struct{ rows, columns, _, _ uint16 } // struct winsize
	if !ioctl(fd, syscall.TIOCGWINSZ, &size) {
		return 0
	}
	return int(size.columns)
}

// ioctl lets the kernel read or write *v, which must be of the type that
// belongs to request; the call keeps it alive.
func ioctl[T any](fd, request uintptr, v *T) bool {
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(v)))
	return errno == 0
}
