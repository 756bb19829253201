// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"os"
	"syscall"
)

// crashPipe makes the pipe between a process that dies and its monitor. The
// runtime writes a crash in many small pieces, and ends with the last. An
// ordinary pipe accepts them all at once, and process 1 of a container then
// exits, and its monitor is killed, before the monitor has read them: 39 times
// of 40 there was no line. In packet mode (pipe(2)) each write takes another
// buffer, and a pipe of one page has one buffer. So the dying process is never
// more than one piece ahead, and does not end before the monitor has written
// the line.
func crashPipe() (r, w *os.File, err error) {
	var fds [2]int
	if err := syscall.Pipe2(fds[:], syscall.O_CLOEXEC|syscall.O_DIRECT); err != nil {
		return os.Pipe() // a kernel, or an emulation of one, without packets
	}
	setPipeSize(uintptr(fds[0]), 1) // rounded up to a page
	return os.NewFile(uintptr(fds[0]), "crash"), os.NewFile(uintptr(fds[1]), "crash"), nil
}

// widen enlarges the pipe for the rest of the text.
func widen(r *os.File) { setPipeSize(r.Fd(), 1<<20) }

// setPipeSize calls F_SETPIPE_SZ of fcntl(2). If it fails, the pipe is only
// slower or, for process 1, less reliable.
func setPipeSize(fd uintptr, size uintptr) {
	const fSetPipeSize = 1031
	_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, fSetPipeSize, size)
}
