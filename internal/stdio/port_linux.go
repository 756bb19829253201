// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"io"
	"math"
	"os"
	"strconv"
	"syscall"
	"time"
)

// pipeBuf is PIPE_BUF of pipe(7): up to that many bytes are written to a pipe
// as a whole or, without blocking, not at all.
const pipeBuf = 4096

// A Port writes lines to the target of a file, usually through its own
// descriptor. Its methods may be called concurrently, except for Close.
type Port struct {
	fd       int
	kind     kind
	borrowed bool // fd belongs to the file

	// Whole is the size in bytes up to which ErrFull never causes a partial
	// write.
	Whole int
}

type kind int

const (
	kindFile   kind = iota // writes do not wait for a reader
	kindOwn                // a separate description, which does not block
	kindSocket             // each write is non-blocking
	kindShared             // another owner's description, which may block: poll first
)

// Open opens the target of f. If it fails, all writes of the Port fail with
// EBADF. Close does not close f.
func Open(f *os.File) Port { return open(f, reopen) }

// OpenShared is Open where the system allows no separate description, for
// example without /proc.
func OpenShared(f *os.File) Port {
	return open(f, func(int, *syscall.Stat_t) int { return -1 })
}

func open(f *os.File, reopen func(int, *syscall.Stat_t) int) Port {
	p := Port{fd: -1}
	conn, err := f.SyscallConn()
	if err != nil {
		return p
	}
	// Fd would switch the description of f to blocking mode; Control does not.
	_ = conn.Control(func(fd uintptr) { p = newPort(int(fd), reopen) })
	return p
}

func newPort(fd int, reopen func(int, *syscall.Stat_t) int) Port {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return Port{fd: -1}
	}
	p := Port{fd: -1, kind: kindFile, Whole: math.MaxInt}
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFIFO:
		p.kind, p.Whole = kindOwn, pipeBuf
	case syscall.S_IFSOCK:
		p.kind, p.Whole = kindSocket, 0
	case syscall.S_IFCHR:
		switch major := uint64(st.Rdev) >> 8 & 0xfff; {
		case major == 1: // null, zero, full
		case major >= 136 && major <= 143: // pseudo-terminals
			p.kind, p.Whole = kindOwn, 0
		default:
			p.kind, p.Whole = kindShared, 0
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
	if p.fd < 0 && (fd == 1 || fd == 2) {
		// No descriptor is left, and lines must still be written. Descriptors 1 and 2
		// are not closed and reused for another file while f is open.
		p.fd, p.borrowed = fd, true
	}
	return p
}

// reopen makes a new open file description of the pipe or terminal of fd, whose
// O_NONBLOCK no other process shares. It returns -1 if it fails. (A regular
// file must not be opened anew: its position is in the description.)
func reopen(fd int, st *syscall.Stat_t) int {
	const flags = syscall.O_WRONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY | syscall.O_CLOEXEC
	own, err := syscall.Open("/proc/self/fd/"+strconv.Itoa(fd), flags, 0)
	if err != nil {
		return -1
	}
	var got syscall.Stat_t
	if err := syscall.Fstat(own, &got); err != nil || got.Dev != st.Dev || got.Ino != st.Ino ||
		got.Rdev != st.Rdev {
		syscall.Close(own)
		return -1
	}
	if own > 2 {
		return own
	}
	// A program that has closed one of the first three does not expect it to be
	// in use.
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

// Write writes all of b, without waiting, unless it returns an error: ErrFull
// when there is no room for the rest, ErrGone when there is no reader, or a
// WriteError. 0 allocs.
func (p *Port) Write(b []byte) (n int, err error) {
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
			return n, ErrFull
		case syscall.EPIPE, syscall.ECONNRESET:
			return n, ErrGone
		default:
			return n, wrap(err)
		}
	}
	return n, nil
}

func (p *Port) writeOnce(b []byte) (int, error) {
	switch p.kind {
	case kindSocket:
		return syscall.SendmsgN(p.fd, b, nil, nil, syscall.MSG_DONTWAIT|syscall.MSG_NOSIGNAL)
	case kindShared:
		if p.State() == ErrFull {
			return 0, syscall.EAGAIN
		}
		b = b[:min(len(b), pipeBuf)]
	}
	return syscall.Write(p.fd, b)
}

// State returns the error that a write would return: nil, ErrFull or ErrGone.
func (p *Port) State() error {
	if p.fd < 0 {
		return nil // poll would ignore a closed descriptor, and a write fails
	}
	switch events := poll(p.fd, 0); {
	case events&(pollErr|pollHup) != 0:
		return ErrGone
	case events&(pollOut|pollNval) != 0:
		return nil
	}
	return ErrFull
}

// Wait waits for room, or for another reason to try again. It returns false
// after d.
func (p *Port) Wait(d time.Duration) bool { return poll(p.fd, d) != 0 }

// Close closes the Port's own descriptor. Later writes fail.
func (p *Port) Close() {
	if p.fd >= 0 && !p.borrowed {
		syscall.Close(p.fd)
	}
	p.fd = -1
}

// A WriteError is a syscall.Errno with the operation in its text. Go puts small
// integers into an interface without allocating.
type WriteError syscall.Errno

func (e WriteError) Error() string { return "nib/stdio: write: " + syscall.Errno(e).Error() }
func (e WriteError) Unwrap() error { return syscall.Errno(e) }

func wrap(err error) error {
	if errno, ok := err.(syscall.Errno); ok {
		return WriteError(errno)
	}
	return err
}
