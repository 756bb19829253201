// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"os"
	"syscall"
)

// crashPipe makes the pipe between a process that dies and its monitor. The
// runtime writes a crash in many small pieces, and ends with the last. An
// ordinary pipe takes them all at once, and as process 1 of a container the
// process is then gone, and its monitor killed, before that has read them: 39
// times of 40 there was no line. In packet mode (pipe(2)) each write takes a
// buffer of its own, and a pipe of one page has one buffer. So the process that
// dies is never more than one piece ahead, and does not end before the monitor
// has written the line.
func crashPipe() (r, w *os.File, err error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC|syscall.O_DIRECT); err != nil {
		return os.Pipe() // a kernel, or what stands for one, without packets
	}
	setPipeSize(uintptr(fds[0]), 1) // rounded up to a page
	return os.NewFile(uintptr(fds[0]), "crash"), os.NewFile(uintptr(fds[1]), "crash"), nil
}

// widen lets the rest of the text through quickly.
func widen(r *os.File) { setPipeSize(r.Fd(), 1<<20) }

// setPipeSize is F_SETPIPE_SZ of fcntl(2), with which it is only slower or, as
// process 1, less reliable where it fails.
func setPipeSize(fd uintptr, size uintptr) {
	const fSetPipeSize = 1031
	_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, fSetPipeSize, size)
}
