// SPDX-License-Identifier: Apache-2.0

//go:build linux

package stdout

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"unsafe"

	"github.com/nib-log/nib/internal/must"
)

// terminal opens a pseudo-terminal in raw mode: bytes written to w are read
// from r unchanged.
func terminal(t testing.TB) (r, w *os.File) {
	t.Helper()
	r, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { r.Close() })
	var number uint32
	var unlock int32
	var mode syscall.Termios
	// Each pointer is to a variable of this function of the size that the ioctl
	// requires.
	ioctl(t, r, syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	ioctl(t, r, syscall.TIOCGPTN, unsafe.Pointer(&number))
	w, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no pseudo-terminals here: ", err)
	}
	t.Cleanup(func() { w.Close() })
	w.Fd() // switches to blocking mode
	ioctl(t, w, syscall.TCGETS, unsafe.Pointer(&mode))
	mode.Oflag &^= syscall.OPOST
	ioctl(t, w, syscall.TCSETS, unsafe.Pointer(&mode))
	return r, w
}

func ioctl(t testing.TB, f *os.File, request uintptr, arg unsafe.Pointer) {
	t.Helper()
	conn, err := f.SyscallConn()
	must.Succeed(t, err)
	var errno syscall.Errno
	_ = conn.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg))
	})
	if errno != 0 {
		t.Skipf("no pseudo-terminals here: ioctl %#x: %v", request, errno)
	}
}
