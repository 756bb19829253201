// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/nibtest"
)

func TestALoggersLinesReachTheServer(t *testing.T) {
	srv := listen(t)
	l := nib.NewSink(srv.sink(Config{Identifier: "shop"}), nib.WithCaller())
	l.Error().Int("user", 7).Msg("payment\nfailed")
	e := srv.read()
	for name, want := range map[string]string{"MESSAGE": "payment\nfailed", "PRIORITY": "3", "SYSLOG_IDENTIFIER": "shop", "USER": "7", "LEVEL": "error"} {
		if got := e.get(t, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if file := e.get(t, "CODE_FILE"); !strings.HasSuffix(file, "sink_linux_test.go") {
		t.Errorf("CODE_FILE is %q", file)
	}
}

func TestOpenWithoutAServer(t *testing.T) {
	path := t.TempDir() + "/none"
	_, err := Open(Config{Socket: path})
	if !errors.Is(err, errGone) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want errGone and the path", err)
	}
	must.Succeed(t, os.WriteFile(path, nil, 0o600))
	if _, err = Open(Config{Socket: path}); err == nil {
		t.Error("got no error for a file that is no socket")
	}
	listener, err := net.Listen("unix", t.TempDir()+"/stream")
	must.Succeed(t, err)
	defer listener.Close()
	if _, err = Open(Config{Socket: listener.Addr().String()}); !errors.Is(err, syscall.EPROTOTYPE) || errors.Is(err, errGone) {
		t.Errorf("a socket of another type: got %v, want EPROTOTYPE", err)
	}
}

func TestAnEntryTooLargeForADatagramGoesInAFile(t *testing.T) {
	srv := listen(t)
	s := srv.sink(Config{})
	text := strings.Repeat("0123456789abcde\n", 18<<20/16)
	l := nib.NewSink(s)
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Info().Str("big", text).Msg("m")
		l.Info().Msg("after it")
	}()
	data, file, err := srv.receive()
	if err != nil || !file {
		t.Fatalf("in a file: %v, error %v", file, err)
	}
	e, err := readEntry(data)
	must.Succeed(t, err)
	if got := e.get(t, "BIG"); got != text {
		t.Errorf("%d bytes came, want %d", len(got), len(text))
	}
	if got := srv.read().get(t, "MESSAGE"); got != "after it" {
		t.Errorf("then %q came", got)
	}
	<-done
	if st := s.Stats(); st.Large != 1 || st.Lines != 2 || st.Lost() != 0 {
		t.Errorf("got %+v, want 2 lines, 1 of them large", st)
	}
}

// Not all systems support memory files.
func TestWithoutMemoryFilesItIsOneWithoutAName(t *testing.T) {
	if _, err := os.Stat("/dev/shm"); err != nil {
		t.Skipf("this system has no /dev/shm: %v", err)
	}
	want := bytes.Repeat([]byte("A=1\n"), 1000)
	f, err := unlinkedFile("/dev/shm", want)
	must.Succeed(t, err)
	flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, f.Fd(), syscall.F_GETFD, 0)
	got, err := readFile(f)
	if err != nil || !bytes.Equal(got, want) || flags&syscall.FD_CLOEXEC == 0 {
		t.Errorf("got %d bytes, error %v, flags %#x, want %d bytes, closed on exec", len(got), err, flags, len(want))
	}
}

func TestMemoryFilesExistHere(t *testing.T) {
	if _, err := memfdCreate(mfdCloexec); err != nil {
		t.Skipf("this system does not let us make memory files: %v", err)
	}
	f, err := newFile([]byte("A=1\n"))
	must.Succeed(t, err)
	if _, err := f.Write([]byte("B=2\n")); !errors.Is(err, syscall.EPERM) {
		t.Errorf("the file can be written to after it was sealed: %v", err)
	}
	if got, err := readFile(f); err != nil || string(got) != "A=1\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestAFullQueueLosesAndRecovers(t *testing.T) {
	srv := listen(t)
	s := srv.sink(Config{Stall: time.Millisecond})
	l := nib.NewSink(s, nib.WithErrorHandler(func(err error) {
		if !errors.Is(err, errStalled) {
			t.Errorf("got %v, want errStalled", err)
		}
	}))
	sent := 0
	for ; s.Stats().Lost() < 5; sent++ {
		l.Warn().Int("n", sent).Str("fill", strings.Repeat("x", 1000)).Msg("m")
	}
	st := s.Stats()
	if st.Lines+st.Lost() != uint64(sent) || !slices.Equal(st.Dropped, []delivery.Drop{{Reason: delivery.ReasonStalled, Level: nib.LevelWarn, Lines: 5}}) {
		t.Errorf("got %+v of %d lines", st, sent)
	}
	for n := range st.Lines {
		if got := srv.read().get(t, "N"); got != fmt.Sprint(n) {
			t.Errorf("line %d: got %s", n, got)
		}
	}
	l.Warn().Msg("again")
	if got := srv.read().get(t, "MESSAGE"); got != "again" || s.Stats().Lost() != 5 {
		t.Errorf("got %q, %+v", got, s.Stats())
	}
}

// Calls wait while journald is restarted, and lose nothing if the restart is
// fast.
func TestARestartOfTheServer(t *testing.T) {
	srv := listen(t)
	s := srv.sink(Config{Stall: time.Millisecond})
	l := nib.NewSink(s, nib.WithErrorHandler(func(error) {}))
	srv.stop()
	l.Info().Msg("lost")
	if got := s.Stats().Dropped; !slices.Equal(got, []delivery.Drop{{Reason: delivery.ReasonGone, Level: nib.LevelInfo, Lines: 1}}) {
		t.Errorf("without a server: got %v, want one line gone", got)
	}
	srv.start()
	l.Info().Msg("found")
	if got := srv.read().get(t, "MESSAGE"); got != "found" || s.Stats().Reconnects != 1 {
		t.Errorf("got %q after %d reconnects", got, s.Stats().Reconnects)
	}

	s.config.Stall = eventTimeout
	srv.stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.Info().Msg("waited")
	}()
	srv.start()
	if got := srv.read().get(t, "MESSAGE"); got != "waited" {
		t.Errorf("got %q, want the line that waited", got)
	}
	<-done
}

func TestTheSystemCallsAllocateNothing(t *testing.T) {
	srv := listen(t)
	s := srv.sink(Config{})
	buf := make([]byte, 64<<10)
	r := &nib.Record{Line: sample}
	alloctest.Zero(t, func() {
		_ = s.WriteRecord(r)
		if _, err := srv.conn.Read(buf); err != nil {
			t.Error(err)
		}
	})
}

func TestCloseDuringWrites(t *testing.T) {
	srv := listen(t)
	go func() {
		buf := make([]byte, 64<<10)
		for {
			if _, err := srv.conn.Read(buf); err != nil {
				return
			}
		}
	}()
	s := srv.sink(Config{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for s.WriteRecord(record(nib.LevelInfo)) != errClosed {
			}
		}()
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// A collector reads a server's entries continuously, and keeps their lines.
type collector struct {
	srv   *server
	mu    sync.Mutex
	lines [][]byte // protected by mu
	marks chan struct{}
}

const mark = "MESSAGE=mark\n"

func collect(t *testing.T) *collector {
	c := &collector{srv: listen(t), marks: make(chan struct{})}
	go func() {
		for {
			data, _, err := c.srv.receive()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if string(data) == mark {
				c.marks <- struct{}{}
				continue
			}
			e, entryErr := readEntry(data)
			if err != nil || entryErr != nil {
				t.Errorf("%v, %v in %.100q", err, entryErr, data)
				return
			}
			c.mu.Lock()
			c.lines = append(c.lines, []byte(e.get(t, "LINE")+"\n"))
			c.mu.Unlock()
		}
	}()
	return c
}

// read returns the lines that have arrived since the last call. All lines that
// were sent before the mark are read before it.
func (c *collector) read() [][]byte {
	conn, err := net.Dial("unixgram", c.srv.path)
	if err != nil {
		c.srv.t.Error(err)
		return nil
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(mark)); err != nil {
		c.srv.t.Error(err)
		return nil
	}
	<-c.marks
	c.mu.Lock()
	defer c.mu.Unlock()
	lines := c.lines
	c.lines = nil
	return lines
}

func TestConformance(t *testing.T) {
	nibtest.TestSink(t, func(testing.TB) (nib.Sink, func() [][]byte) {
		c := collect(t)
		return c.srv.sink(Config{Line: "LINE"}), c.read
	})
}

func BenchmarkWriteRecord(b *testing.B) {
	path := b.TempDir() + "/socket"
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	must.Succeed(b, err)
	defer conn.Close()
	s, err := Open(Config{Socket: path})
	must.Succeed(b, err)
	defer s.Close()
	buf := make([]byte, 64<<10)
	r := &nib.Record{Line: sample}
	b.ReportAllocs()
	for b.Loop() {
		must.Succeed(b, s.WriteRecord(r))
		_, _ = conn.Read(buf)
	}
}
