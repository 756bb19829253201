// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"errors"
	"io"
	"math"
	"os"
	"strconv"
	"syscall"
	"time"
)

// errFull says that there is no room now.
var errFull = errors.New("nib/stdout: no room")

// pipeBuf is PIPE_BUF of pipe(7): up to so many bytes go into a pipe as a whole
// or, without blocking, not at all.
const pipeBuf = 4096

// A port is a descriptor of the sink's own. Its methods may be called
// concurrently except for close.
type port struct {
	fd   int
	kind kind

	// whole: a write of up to so many bytes is never cut short by errFull.
	whole int
}

type kind int

const (
	kindFile   kind = iota // never makes anyone wait for a reader
	kindOwn                // a description of our own, which does not block
	kindSocket             // told not to block with each write
	kindShared             // somebody else's description, which may block: look before
)

// openPort takes a descriptor for what f refers to. Without one every write
// fails with EBADF.
func openPort(f *os.File) port {
	p := port{fd: -1}
	conn, err := f.SyscallConn()
	if err != nil {
		return p
	}
	// Fd would switch the description of f to blocking mode; Control does not.
	_ = conn.Control(func(fd uintptr) { p = newPort(int(fd), reopen) })
	return p
}

func newPort(fd int, reopen func(int, *syscall.Stat_t) int) port {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return port{fd: -1}
	}
	p := port{fd: -1, kind: kindFile, whole: math.MaxInt}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFIFO:
		p.kind, p.whole = kindOwn, pipeBuf
	case syscall.S_IFSOCK:
		p.kind, p.whole = kindSocket, 0
	case syscall.S_IFCHR:
		switch major := uint64(st.Rdev) >> 8 & 0xfff; {
		case major == 1: // null, zero, full
		case major >= 136 && major <= 143: // pseudo-terminals
			p.kind, p.whole = kindOwn, 0
		default:
			p.kind, p.whole = kindShared, 0
		}
	}
	if p.kind == kindOwn {
		if p.fd = reopen(fd, &st); p.fd < 0 {
			p.kind = kindShared
		}
	}
	if p.fd < 0 {
		p.fd = duplicate(fd)
	}
	return p
}

// reopen makes a new open file description of the pipe or terminal behind fd,
// whose O_NONBLOCK is nobody else's. It returns -1 if that is not to be had. (A
// regular file must not be opened anew: its position is in the description.)
func reopen(fd int, st *syscall.Stat_t) int {
	const flags = syscall.O_WRONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC
	own, err := syscall.Open("/proc/self/fd/"+strconv.Itoa(fd), flags, 0)
	if err != nil {
		return -1
	}
	var got syscall.Stat_t
	if err := syscall.Fstat(own, &got); err != nil || got.Dev != st.Dev || got.Ino != st.Ino || got.Rdev != st.Rdev {
		syscall.Close(own)
		return -1
	}
	if own > 2 {
		return own
	}
	// A program that has closed one of the first three would be surprised to
	// find it in use.
	defer syscall.Close(own)
	return duplicate(own)
}

// duplicate returns another descriptor for the same description, above the
// standard three, or -1.
func duplicate(fd int) int {
	own, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, 3)
	if errno != 0 {
		return -1
	}
	return int(own)
}

// write writes all of p unless it returns an error: errFull when there is no
// room for the rest, ErrGone when there is no reader, or a writeError.
func (p *port) write(b []byte) (n int, err error) {
	for n < len(b) {
		m, err := p.writeOnce(b[n:])
		if m > 0 {
			n += m
			continue
		}
		switch err {
		case nil:
			return n, io.ErrShortWrite
		case syscall.EINTR:
		case syscall.EAGAIN:
			return n, errFull
		case syscall.EPIPE, syscall.ECONNRESET:
			return n, ErrGone
		default:
			return n, wrap(err)
		}
	}
	return n, nil
}

func (p *port) writeOnce(b []byte) (int, error) {
	switch p.kind {
	case kindSocket:
		return syscall.SendmsgN(p.fd, b, nil, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
	case kindShared:
		if p.state() == errFull {
			return 0, syscall.EAGAIN
		}
		b = b[:min(len(b), pipeBuf)]
	}
	return syscall.Write(p.fd, b)
}

// state is what a write would meet: nil, errFull or ErrGone.
func (p *port) state() error {
	if p.fd < 0 {
		return nil // poll would ignore it, and a write will tell
	}
	switch events := poll(p.fd, 0); {
	case events&(pollErr|pollHup) != 0:
		return ErrGone
	case events&(pollOut|pollNval) != 0:
		return nil
	}
	return errFull
}

// wait waits for room, or for another reason to try again. It returns false
// after d.
func (p *port) wait(d time.Duration) bool { return poll(p.fd, d) != 0 }

func (p *port) close() {
	if p.fd >= 0 {
		syscall.Close(p.fd)
	}
	p.fd = -1
}

// A writeError is a syscall.Errno that says where it comes from. Go puts small
// integers into an interface without allocating.
type writeError syscall.Errno

func (e writeError) Error() string { return "nib/stdout: write: " + syscall.Errno(e).Error() }
func (e writeError) Unwrap() error { return syscall.Errno(e) }

func wrap(err error) error {
	if errno, ok := err.(syscall.Errno); ok {
		return writeError(errno)
	}
	return err
}
