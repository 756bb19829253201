// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/stdio"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

// ends lists the kinds of standard output whose reader may stop.
var ends = []struct {
	name string
	open func(t testing.TB) (r, w *os.File)
	port func(s *Sink, w *os.File) // replaces the port, if set
	end  func(w *os.File)          // lets the reader see the end
}{
	{"pipe", stdiotest.Pipe, nil, closeFile},
	{"pipe of another process", stdiotest.Pipe, share, closeFile},
	{"socket", func(t testing.TB) (r, w *os.File) { return sockets(t, syscall.SOCK_STREAM) }, nil, closeFile},
	{"terminal", terminal, nil, func(w *os.File) { _, _ = w.Write([]byte{endMark}) }},
}

func closeFile(w *os.File) { w.Close() }

// endMark ends the output to a terminal: when the writing end is closed, Linux
// may lose the last bytes that were not read yet.
const endMark = 0x04

// An untilEnd reads until the end, or until endMark.
type untilEnd struct {
	r     io.Reader
	ended bool
}

func (u *untilEnd) Read(b []byte) (n int, err error) {
	if u.ended {
		return 0, io.EOF
	}
	n, err = u.r.Read(b)
	if n > 0 && b[n-1] == endMark {
		n, u.ended = n-1, true
	}
	return n, err
}

// share makes s write as if it could not reopen the pipe.
func share(s *Sink, w *os.File) {
	s.port.Close()
	s.port = stdio.OpenShared(w)
}

// sockets returns a pair of sockets in blocking mode.
func sockets(t testing.TB, kind int) (r, w *os.File) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, kind|syscall.SOCK_CLOEXEC, 0)
	must.Succeed(t, err)
	r, w = os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func flags(t *testing.T, f *os.File) (flags int) {
	t.Helper()
	conn, err := f.SyscallConn()
	must.Succeed(t, err)
	_ = conn.Control(func(fd uintptr) {
		n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		flags = int(n)
	})
	return flags
}

// capacity returns the size of a pipe: 16 pages, or one page for a user with
// many pipes.
func capacity(t *testing.T, w *os.File) (bytes int) {
	t.Helper()
	conn, err := w.SyscallConn()
	must.Succeed(t, err)
	_ = conn.Control(func(fd uintptr) {
		const getSize = 1032 // F_GETPIPE_SZ
		n, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, getSize, 0)
		if errno != 0 {
			t.Fatal(errno)
		}
		bytes = int(n)
	})
	return bytes
}

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no %s here: %v", name, err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestFlagsOfTheSharedDescriptionStay(t *testing.T) {
	for _, c := range ends {
		t.Run(c.name, func(t *testing.T) {
			_, w := c.open(t)
			before := flags(t, w)
			s := New(Config{File: w, Stall: time.Millisecond})
			if c.port != nil {
				c.port(s, w)
			}
			full(t, s, nib.LevelInfo)
			if got := flags(t, w); got != before || got&syscall.O_NONBLOCK != 0 {
				t.Errorf("in use: got flags %#o, want %#o", got, before)
			}
			s.Close()
			if got := flags(t, w); got != before {
				t.Errorf("after Close: got flags %#o, want %#o", got, before)
			}
		})
	}
}

func TestClosingTheFileDoesNotDisturbTheSink(t *testing.T) {
	f := tempFile(t)
	s := New(Config{File: f})
	defer s.Close()
	f.Close()
	mustWrite(t, s, record(nib.LevelInfo, 1, 0))
	if lines, _, _ := parse(content(t, f)); len(lines) != 1 {
		t.Errorf("got %v", lines)
	}
}

func TestFileKeepsItsPosition(t *testing.T) {
	f := tempFile(t)
	if _, err := f.WriteString("before\n"); err != nil {
		t.Fatal(err)
	}
	s := New(Config{File: f})
	defer s.Close()
	mustWrite(t, s, &nib.Record{Line: []byte("line\n")})
	if _, err := f.WriteString("after\n"); err != nil {
		t.Fatal(err)
	}
	if got, want := content(t, f), "before\nline\nafter\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOnlyWholeLinesAreWrittenTogether checks each write, using a socket that
// preserves message boundaries.
func TestOnlyWholeLinesAreWrittenTogether(t *testing.T) {
	r, w := sockets(t, syscall.SOCK_SEQPACKET)
	s := New(Config{File: w, Buffer: 500, Stall: never})
	go func() {
		writers(s, 4, 60)
		s.Close()
		w.Close()
	}()
	packet, got := make([]byte, 1<<20), 0
	for {
		n, err := r.Read(packet)
		if err != nil || n == 0 {
			break
		}
		lines, _, torn := parse(string(packet[:n]))
		if len(torn) > 0 || n > 500 && len(lines) > 1 {
			t.Errorf("one write of %d bytes: %d lines, torn %.80q", n, len(lines), torn)
		}
		got += len(lines)
	}
	if got != 240 {
		t.Errorf("got %d lines, want 240", got)
	}
}

// TestSignalsAreNotTakenForRoom interrupts the poll of a full pipe of another
// user, as the scheduler does: a write to it would block forever.
func TestSignalsAreNotTakenForRoom(t *testing.T) {
	_, w := stdiotest.Pipe(t)
	s := New(Config{File: w, Stall: time.Millisecond})
	share(s, w)
	full(t, s, nib.LevelInfo)

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	thread := syscall.Gettid()
	stop := make(chan struct{})
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		for {
			select {
			case <-stop:
				return
			default:
				_, _, _ = syscall.Syscall(syscall.SYS_TGKILL, uintptr(syscall.Getpid()), uintptr(thread), uintptr(syscall.SIGURG))
			}
		}
	}()
	defer done.Wait()
	defer close(stop)
	for i := range 20_000 {
		if err := s.port.State(); err != stdio.ErrFull {
			t.Fatalf("look %d: got %v, want %v", i, err, stdio.ErrFull)
		}
	}
}
