// SPDX-License-Identifier: Apache-2.0

// Package stdio writes to standard output and standard error so that a reader
// that stops reading or goes away does not harm the program.
//
// An os.File on descriptor 1 or 2 ends the program with SIGPIPE when a pipe has
// no reader, and blocks while the reader of a full pipe does not read. A [Port]
// does neither. It never changes the flags of the inherited descriptor, since
// other processes share them. How it writes depends on the kind of descriptor:
//
//   - Pipes and pseudo-terminals on Linux are reopened through /proc and
//     written to without blocking.
//   - Sockets on Linux are written to with MSG_DONTWAIT and MSG_NOSIGNAL.
//   - Where opening fails on Linux, a Port polls before each write. If another
//     process fills the pipe in between, the write blocks.
//   - Files, and devices like /dev/null, are written to as usual, but through a
//     descriptor, which does not change if the program redirects its own.
//   - On other systems writes block; only SIGPIPE is avoided.
package stdio

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// Stall is the default maximum time that a write waits for a stalled reader.
const Stall = 100 * time.Millisecond

var (
	// ErrFull means that the write would block.
	ErrFull = errors.New("nib/stdio: no room")

	// ErrReceiverStalled is delivery.ErrStalled, which this package wraps.
	ErrReceiverStalled = errors.New("the receiver has stopped reading")

	// ErrStalled means that a write was not possible in time.
	ErrStalled error = stalledError{}

	// ErrGone means that there is no reader.
	ErrGone = errors.New("nib/stdio: standard output or standard error has no reader")
)

// A stalledError is not made by fmt.Errorf, whose first call takes 30 µs.
type stalledError struct{}

func (stalledError) Error() string {
	return "nib/stdio: standard output or standard error: " + ErrReceiverStalled.Error()
}

func (stalledError) Unwrap() error { return ErrReceiverStalled }

// IsStandard reports whether f is descriptor 1 or 2, for which package os
// raises SIGPIPE.
func IsStandard(f *os.File) (is bool) {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	// Fd would switch f to blocking mode.
	_ = conn.Control(func(fd uintptr) { is = fd == 1 || fd == 2 })
	return is
}

// WriteTo writes text to f, waiting for its reader for up to wait.
func WriteTo(f *os.File, text []byte, wait time.Duration) error {
	p := Open(f)
	defer p.Close()
	_, err := writeWithin(&p, text, time.Now().Add(wait))
	return err
}

// writeWithin writes text, and waits for the reader until a time. The last
// attempt follows that time: if the process was stopped until then, the reader
// may have made room.
func writeWithin(p port, text []byte, until time.Time) (n int, err error) {
	for last := false; ; {
		m, err := p.Write(text[n:])
		switch n += m; {
		case err != ErrFull:
			return n, err
		case last:
			return n, ErrStalled
		}
		left := time.Until(until)
		last = left <= 0 || !p.Wait(left)
	}
}

// port has the methods of a Port that writeWithin calls.
type port interface {
	Write(b []byte) (n int, err error)
	Wait(d time.Duration) bool
}

// recheck is the number of writes after which a Stream checks whether its file
// still refers to the same target.
const recheck = 64

// A Stream is an io.Writer for standard output or standard error. A Write waits
// at most Stall for the reader; after that, Writes return at once until there
// is room again. It opens its file at the first Write, and again when the
// program has redirected the file (with dup2(2), or by closing it), which it
// notices within 64 Writes, or at the next call of Release. Calls must not
// overlap.
type Stream struct {
	// Waited is the time for which the caller of the next Write has already
	// waited.
	Waited time.Duration

	file *os.File
	conn syscall.RawConn
	look func(fd uintptr) // identifies the file of fd; created once, because it is allocated

	port    Port
	opened  bool // port is open; only set if the system can identify the file
	known   identity
	found   identity
	valid   bool // found is valid
	checked int  // Writes since the last check
	used    bool // a Write was called since the last Release
	stalled bool // a Write has timed out, and there was no room since
}

// An identity identifies the file that a descriptor refers to.
type identity struct{ dev, ino, rdev uint64 }

// NewStream returns a Stream for f.
func NewStream(f *os.File) *Stream {
	s := &Stream{file: f, checked: recheck}
	s.conn, _ = f.SyscallConn() // nil if f is closed; each Write returns the error
	s.look = func(fd uintptr) { s.found, s.valid = identify(fd) }
	return s
}

// Name returns the name of the file.
func (s *Stream) Name() string { return s.file.Name() }

// Write writes b, or as much of it as the reader takes in time. 0 allocs.
func (s *Stream) Write(b []byte) (n int, err error) {
	s.used = true
	if s.checked++; s.checked > recheck {
		s.check()
	}
	if !s.opened {
		return s.file.Write(b)
	}
	n, err = s.port.Write(b)
	if err != nil {
		n, err = s.writeSlowly(b, n, err)
	}
	s.Waited = 0
	return n, err
}

// writeSlowly is the rest of Write, after n bytes were written.
func (s *Stream) writeSlowly(b []byte, n int, err error) (int, error) {
	s.checked = recheck // after any error, the file may have been replaced
	if n > 0 {
		s.stalled = false
	}
	if err != ErrFull {
		return n, err
	}
	if s.stalled {
		return n, ErrStalled
	}
	m, err := writeWithin(&s.port, b[n:], time.Now().Add(Stall-s.Waited))
	s.stalled = err == ErrStalled
	return n + m, err
}

// Release closes the Stream's own descriptor if the file was redirected, or if
// there was no Write since the last Release: while the Stream has a pipe open,
// its reader does not see the end of the stream, although the program has
// closed or redirected its own descriptor. It reports whether a descriptor is
// open.
func (s *Stream) Release() (open bool) {
	if s.used {
		s.check()
	} else if s.opened {
		s.port.Close()
		s.opened, s.known, s.checked = false, identity{}, recheck
	}
	s.used = false
	return s.opened
}

// check identifies the target of the file, and opens it if it has changed.
func (s *Stream) check() {
	s.checked, s.valid = 0, false
	if s.conn != nil {
		_ = s.conn.Control(s.look)
	}
	if s.valid && s.found == s.known {
		return
	}
	if s.opened {
		s.port.Close()
	}
	s.opened, s.known, s.stalled = false, identity{}, false
	if s.valid {
		// Also for a regular file: file may be a pipe by the next Write, which could
		// end the program or block.
		s.known = s.found
		s.port, s.opened = Open(s.file), true
	}
}
