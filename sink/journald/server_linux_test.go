// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// eventTimeout is how long a test waits for an event that must occur. It is not
// a limit on latency.
const eventTimeout = 2 * time.Minute

// A server is a socket like journald's.
type server struct {
	t    *testing.T
	path string
	conn *net.UnixConn
	buf  []byte
}

func listen(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, path: filepath.Join(t.TempDir(), "socket")}
	s.start()
	t.Cleanup(s.stop)
	return s
}

func (s *server) start() {
	s.t.Helper()
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: s.path, Net: "unixgram"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.conn = conn
}

// stop ends the server, as a crash would, and removes its socket.
func (s *server) stop() {
	_ = s.conn.Close()
	_ = os.Remove(s.path)
}

// sink opens a Sink on the server. Calls wait for the server without limit,
// unless c sets Stall.
func (s *server) sink(c Config) *Sink {
	s.t.Helper()
	c.Socket = s.path
	if c.Stall == 0 {
		c.Stall = eventTimeout
	}
	if c.Identifier == "" {
		c.Identifier = "test"
	}
	sink, err := Open(c)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = sink.Close() })
	return sink
}

// read waits for the next entry.
func (s *server) read() entry {
	s.t.Helper()
	data, _, err := s.receive()
	if err != nil {
		s.t.Fatal(err)
	}
	e, err := readEntry(data)
	if err != nil {
		s.t.Fatalf("%v in %.200q", err, data)
	}
	return e
}

// receive waits for the next datagram. If it has a file, receive returns the
// contents of the file, after the checks that journald makes.
func (s *server) receive() (data []byte, file bool, err error) {
	if s.buf == nil {
		s.buf = make([]byte, 2*sendBuffer)
	}
	if err := s.conn.SetReadDeadline(time.Now().Add(eventTimeout)); err != nil {
		return nil, false, err
	}
	var oob [256]byte
	n, oobn, flags, _, err := s.conn.ReadMsgUnix(s.buf, oob[:])
	if err != nil {
		return nil, false, err
	}
	if flags&syscall.MSG_TRUNC != 0 {
		return nil, false, errors.New("the datagram was cut off")
	}
	if oobn == 0 {
		return bytes.Clone(s.buf[:n]), false, nil
	}
	messages, err := syscall.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(messages) != 1 || n != 0 {
		return nil, true, fmt.Errorf("%d control messages and %d bytes (%v)", len(messages), n, err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, true, fmt.Errorf("%d files (%v)", len(fds), err)
	}
	data, err = readFile(os.NewFile(uintptr(fds[0]), "entry"))
	return data, true, err
}

// readFile reads a file that journald would accept: sealed, or without a name.
func readFile(f *os.File) ([]byte, error) {
	defer f.Close()
	fd := f.Fd()
	const getSeals = 1034
	seals, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, getSeals, 0)
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return nil, err
	}
	sealed := errno == 0 && seals&allSeals == allSeals
	if deleted := strings.HasPrefix(link, "/dev/shm/") && strings.HasSuffix(link, " (deleted)"); !sealed && !deleted {
		return nil, fmt.Errorf("%s has seals %#x (%v)", link, seals, errno)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data := make([]byte, info.Size())
	_, err = f.ReadAt(data, 0) // journald ignores the offset
	return data, err
}
