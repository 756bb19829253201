// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// sendBuffer is the number of bytes the socket may hold that journald has not
// read, if the system allows it. systemd's library requests the same size.
const sendBuffer = 8 << 20

// A socket is a port. It is connected, which saves looking up the path for each
// entry. The descriptor does not block.
type socket struct {
	path string
	fd   int
}

var _ port = (*socket)(nil)

func openPort(path string) (port, error) {
	s := &socket{path: path, fd: -1}
	err := s.connect()
	if err == errGone {
		return nil, fmt.Errorf("%w %s", err, path)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *socket) connect() error {
	fd, err := syscall.Socket(syscall.AF_UNIX,
		syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return fmt.Errorf("nib/journald: %w", os.NewSyscallError("socket", err))
	}
	// Less is acceptable.
	_ = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_SNDBUF, sendBuffer)
	if err := syscall.Connect(fd, &syscall.SockaddrUnix{Name: s.path}); err != nil {
		_ = syscall.Close(fd)
		return s.problem("connect", err)
	}
	s.close()
	s.fd = fd
	return nil
}

func (s *socket) close() {
	if s.fd >= 0 {
		_ = syscall.Close(s.fd)
		s.fd = -1
	}
}

func (s *socket) send(entry []byte) error {
	for {
		_, err := syscall.Write(s.fd, entry)
		switch err {
		case nil:
			return nil
		case syscall.EINTR:
			continue
		case syscall.EMSGSIZE:
			return errLarge
		case syscall.ENOBUFS, syscall.ENOMEM:
			if len(entry) > os.Getpagesize() { // a large datagram needs contiguous memory
				return errLarge
			}
			return errFull
		}
		return s.problem("write", err)
	}
}

func (s *socket) sendFile(entry []byte) error {
	f, err := newFile(entry)
	if err != nil {
		return fmt.Errorf("nib/journald: %d bytes: %w", len(entry), err)
	}
	defer f.Close()
	for {
		err := syscall.Sendmsg(s.fd, nil, syscall.UnixRights(int(f.Fd())), nil, 0)
		switch err {
		case nil:
			return nil
		case syscall.EINTR:
			continue
		case syscall.ENOBUFS, syscall.ENOMEM, syscall.ETOOMANYREFS: // too many files in flight
			return errFull
		}
		return s.problem("sendmsg", err)
	}
}

// problem converts an error of a call.
func (s *socket) problem(call string, err error) error {
	switch err {
	case syscall.EAGAIN:
		return errFull
	case syscall.ECONNREFUSED, syscall.ENOENT, syscall.ENOTCONN, syscall.ECONNRESET, syscall.EPIPE,
		syscall.ENOTDIR:
		return errGone
	}
	return fmt.Errorf("nib/journald: %w", &os.PathError{Op: call, Path: s.path, Err: err})
}

// The flags and seals of memory files, which package syscall does not have.
const (
	mfdCloexec      = 0x1
	mfdAllowSealing = 0x2

	fAddSeals = 1033
	allSeals  = 0x1 | 0x2 | 0x4 | 0x8 // no further seals, no shrinking, growing, writing
)

// newFile makes a file of data that journald accepts and that exists only as a
// descriptor: a sealed memory file, or a file in /dev/shm without a name.
func newFile(data []byte) (*os.File, error) {
	fd, err := memfdCreate(mfdCloexec | mfdAllowSealing)
	if err != nil {
		return unlinkedFile("/dev/shm", data)
	}
	f := os.NewFile(uintptr(fd), "memory file")
	_, err = f.Write(data)
	if err == nil {
		err = seal(fd)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// seal makes a memory file immutable.
func seal(fd int) error {
	_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), fAddSeals, allSeals)
	if errno != 0 {
		return os.NewSyscallError("fcntl", errno)
	}
	return nil
}

// unlinkedFile makes a file in dir and removes its name.
func unlinkedFile(dir string, data []byte) (*os.File, error) {
	f, err := os.CreateTemp(dir, "nib-journal-"+strconv.Itoa(os.Getpid())+"-")
	if err != nil {
		return nil, err
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.Write(data)
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}
