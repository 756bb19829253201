// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/stdio"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

// full logs lines of level l, which no reader reads, until one is dropped. It
// returns how many were logged.
func full(t *testing.T, s *Sink, l nib.Level) (logged int) {
	t.Helper()
	for {
		logged++
		switch err := s.WriteRecord(record(l, logged, 0)); err {
		case nil:
		case errStalled:
			return logged
		default:
			t.Fatal(err)
		}
	}
}

func TestNoticeIsTheFirstLineAfterAStop(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	s := New(Config{File: w, Stall: time.Millisecond})
	logged := full(t, s, nib.LevelInfo)
	for range 3 {
		if err := s.WriteRecord(record(nib.LevelError, 0, 0)); !errors.Is(err, delivery.ErrStalled) {
			t.Fatalf("got %v, want errStalled", err)
		}
		logged++
	}
	before := s.Stats()
	held := make([]byte, 1<<20)
	n, err := r.Read(held)
	must.Succeed(t, err)
	mustWrite(t, s, record(nib.LevelInfo, 1_000_000, 0))
	checkIdentity(t, s, logged+1)
	s.Close()

	lines, notices, torn := parse(string(held[:n]))
	if uint64(len(lines)) != before.Lines || len(notices) != 0 || len(torn) != 0 {
		t.Errorf("before: got %d lines, %d notices, torn %q; want %d lines", len(lines), len(notices), torn, before.Lines)
	}
	after := readUntilClosed(t, r, w)
	lines, notices, torn = parse(after)
	if len(lines) != 1 || len(notices) != 1 || len(torn) != 0 || !strings.Contains(after[:strings.Index(after, "\n")], `"dropped":4`) {
		t.Fatalf("after: got %q, want the notice, then the line", after)
	}
	if n := notices[0]; n.Levels["info"] != 1 || n.Levels["error"] != 3 || n.Reasons["stalled"] != 4 {
		t.Errorf("got %+v", n)
	}
	if st := s.Stats(); count(st, delivery.ReasonStalled, nib.LevelInfo) != 1 || count(st, delivery.ReasonStalled, nib.LevelError) != 3 || st.Notices != 1 {
		t.Errorf("got %+v", st)
	}
}

func TestWhileStalledCallsDoNotWait(t *testing.T) {
	for _, buffer := range []int{0, 4096} {
		_, w := stdiotest.Pipe(t)
		s := New(Config{File: w, Stall: time.Millisecond, Buffer: buffer, Delay: delayFor(buffer)})
		logged := full(t, s, nib.LevelInfo)
		s.mu.Lock()
		s.stall = never
		s.mu.Unlock()
		for range 10 {
			if err := s.WriteRecord(record(nib.LevelInfo, 0, 0)); err != errStalled {
				t.Fatalf("buffer %d: got %v, want errStalled", buffer, err)
			}
		}
		s.stall = time.Millisecond
		s.Close()
		checkIdentity(t, s, logged+10)
	}
}

// delayFor returns a delay that outlasts a test, or 0 without a buffer.
func delayFor(buffer int) time.Duration {
	if buffer > 0 {
		return never
	}
	return 0
}

// TestLastAttemptFollowsTheDeadline waits for a full pipe until a time that has
// passed, as when the process was stopped: there is one more attempt.
func TestLastAttemptFollowsTheDeadline(t *testing.T) {
	_, w := stdiotest.Pipe(t)
	s := New(Config{File: w, Stall: time.Millisecond})
	full(t, s, nib.LevelInfo)
	l := limit{until: time.Now()}
	if !s.wait(&l) || s.wait(&l) {
		t.Error("want one more attempt")
	}
}

func TestCallsDoNotOvertakeOneThatHasWaitedLong(t *testing.T) {
	_, w := stdiotest.Pipe(t)
	s := New(Config{File: w, Stall: time.Millisecond})
	write := func() error { return s.WriteRecord(record(nib.LevelInfo, 0, 0)) }
	s.turn.acquire(limit{}) // like a call that waits for the reader
	if err := write(); err != nil {
		t.Errorf("others may write: got %v", err)
	}
	s.mu.Lock()
	s.setOverdue(true) // it has waited for long
	s.mu.Unlock()
	if err := write(); err != errStalled {
		t.Errorf("others may not overtake: got %v, want errStalled", err)
	}
	s.release()
	if err := write(); err != nil || s.turn.overdue || s.trouble {
		t.Errorf("afterwards: got %v, overdue %v, trouble %v", err, s.turn.overdue, s.trouble)
	}
}

func TestOnStallIsCalledOncePerStallWithoutALock(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	var s *Sink
	calls, logged := 0, 0
	s = New(Config{File: w, Stall: time.Millisecond, OnStall: func(st Stats) {
		calls++
		if st.Lost() == 0 {
			t.Error("OnStall before the line is counted")
		}
		_ = s.WriteRecord(record(nib.LevelWarn, 0, 0))
		logged++
		panic("discarded")
	}})
	for round := 1; round <= 3; round++ {
		logged += full(t, s, nib.LevelInfo)
		_ = s.WriteRecord(record(nib.LevelInfo, 0, 0))
		logged++
		if calls != round {
			t.Fatalf("round %d: got %d calls", round, calls)
		}
		if _, err := r.Read(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	checkIdentity(t, s, logged)
}

func TestALineCutOffIsEndedBeforeTheNextOne(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	s := New(Config{File: w, Stall: time.Millisecond})
	room := capacity(t, w)
	if err := s.WriteRecord(record(nib.LevelWarn, 1, 16*room)); err != errStalled {
		t.Fatalf("got %v, want errStalled", err)
	}
	held := make([]byte, 16*room)
	n, err := io.ReadAtLeast(r, held, room)
	must.Succeed(t, err)
	mustWrite(t, s, record(nib.LevelInfo, 2, 0))
	s.Close()
	lines, notices, torn := parse(string(held[:n]) + readUntilClosed(t, r, w))
	if len(torn) != 1 || numbers(lines) != "2" || len(notices) != 1 || notices[0].Levels["warn"] != 1 {
		t.Errorf("got lines %v, notices %+v and %d torn ones", numbers(lines), notices, len(torn))
	}
	checkIdentity(t, s, 2)
}

func TestALineLargerThanThePipeIsContinued(t *testing.T) {
	for _, buffer := range []int{0, 4096} {
		r, w := stdiotest.Pipe(t)
		s := New(Config{File: w, Stall: never, Buffer: buffer})
		go func() {
			_ = s.WriteRecord(record(nib.LevelInfo, 1, 0))
			_ = s.WriteRecord(record(nib.LevelInfo, 2, 8<<20))
			_ = s.WriteRecord(record(nib.LevelInfo, 3, 0))
			s.Close()
			w.Close()
		}()
		text, err := io.ReadAll(r)
		must.Succeed(t, err)
		lines, _, torn := parse(string(text))
		if numbers(lines) != "1 2 3" || len(torn) != 0 || len(text) < 8<<20 {
			t.Errorf("buffer %d: got lines %v of %d bytes, %d torn", buffer, numbers(lines), len(text), len(torn))
		}
	}
}

func TestAReaderThatWentAway(t *testing.T) {
	for _, buffer := range []int{0, 1} { // with 1 each line is longer than the buffer
		r, w := stdiotest.Pipe(t)
		s := New(Config{File: w, Stall: never, Buffer: buffer})
		mustWrite(t, s, record(nib.LevelInfo, 0, 0))
		r.Close()
		for i := range 3 {
			if err := s.WriteRecord(record(nib.LevelInfo, i, 0)); err != stdio.ErrGone {
				t.Errorf("buffer %d: got %v, want ErrGone", buffer, err)
			}
		}
		if st := s.Stats(); count(st, delivery.ReasonGone, nib.LevelInfo) != 3 || st.Lines != 1 {
			t.Errorf("buffer %d: got %+v", buffer, st)
		}
		s.Close()
		checkIdentity(t, s, 4)
	}
}

func TestErrorsNameTheCause(t *testing.T) {
	f, err := os.Open(tempFile(t).Name()) // for reading only
	must.Succeed(t, err)
	defer f.Close()
	s := New(Config{File: f})
	defer s.Close()
	err = s.WriteRecord(record(nib.LevelInfo, 0, 0))
	var errno syscall.Errno
	if !errors.As(err, &errno) || !strings.HasPrefix(err.Error(), "nib/stdio: write") {
		t.Errorf("got %v, want an error that says where and why", err)
	}
	if st := s.Stats(); count(st, delivery.ReasonFailed, nib.LevelInfo) != 1 {
		t.Errorf("got %+v", st)
	}
}

func TestANamedPipeGetsANewReader(t *testing.T) {
	name := filepath.Join(t.TempDir(), "fifo")
	must.Succeed(t, syscall.Mkfifo(name, 0o600))
	open := func(flag int) *os.File {
		f, err := os.OpenFile(name, flag, 0)
		must.Succeed(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	first := open(os.O_RDONLY | syscall.O_NONBLOCK)
	w := open(os.O_WRONLY)
	s := New(Config{File: w, Stall: never})
	first.Close()
	for range 2 {
		if err := s.WriteRecord(record(nib.LevelInfo, 0, 0)); err != stdio.ErrGone {
			t.Fatalf("got %v, want ErrGone", err)
		}
	}
	second := open(os.O_RDONLY | syscall.O_NONBLOCK)
	mustWrite(t, s, record(nib.LevelInfo, 3, 0))
	s.Close()
	text := readUntilClosed(t, second, w)
	lines, notices, _ := parse(text)
	if numbers(lines) != "3" || len(notices) != 1 || notices[0].Reasons["gone"] != 2 {
		t.Errorf("got %s", text)
	}
	checkStream(t, s, text)
}

func TestFullDiskIsCountedAsFailed(t *testing.T) {
	for _, buffer := range []int{0, 4096} {
		f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Skip("no /dev/full here: ", err)
		}
		defer f.Close()
		s := New(Config{File: f, Buffer: buffer, Delay: delayFor(buffer)})
		mayBuffer := s.WriteRecord(record(nib.LevelInfo, 0, 0))
		flushed := s.Flush(context.Background())
		if (mayBuffer == nil) == (flushed == nil) {
			t.Errorf("buffer %d: WriteRecord %v, Flush %v: want one of them to fail", buffer, mayBuffer, flushed)
		}
		// Writing fails: the next call returns the error, also with a buffer.
		if err := s.WriteRecord(record(nib.LevelInfo, 1, 0)); err == nil {
			t.Errorf("buffer %d: got nil, want an error", buffer)
		}
		s.Close()
		if st := s.Stats(); count(st, delivery.ReasonFailed, nib.LevelInfo) != 2 || st.Notices != 0 {
			t.Errorf("buffer %d: got %+v", buffer, st)
		}
	}
}

// TestTheReaderStopsAndGoesOn has many callers while the reader stops and
// resumes, for every kind of standard output.
func TestTheReaderStopsAndGoesOn(t *testing.T) {
	for _, c := range ends {
		for _, buffer := range []int{0, 1000, 32 << 10} {
			t.Run(c.name+sizeName(buffer), func(t *testing.T) {
				r, w := c.open(t)
				end := untilEnd{r: r}
				s := New(Config{File: w, Stall: time.Millisecond, Buffer: buffer, OnStall: func(Stats) {}})
				if c.port != nil {
					c.port(s, w)
				}
				var text strings.Builder
				stopped := make(chan struct{})
				read := make(chan struct{})
				go func() {
					defer close(read)
					chunk := make([]byte, 5000)
					for i := 0; ; i++ {
						n, err := end.Read(chunk)
						text.Write(chunk[:n])
						if err != nil {
							return
						}
						if i == 5 {
							<-stopped
						}
					}
				}()
				logged := writers(s, 8, 300)
				for s.Stats().Lost() == 0 { // until the stall is detected
					_ = s.WriteRecord(record(nib.LevelInfo, logged, 0))
					logged++
				}
				close(stopped)
				for s.WriteRecord(record(nib.LevelInfo, logged, 0)) != nil {
					logged++
				}
				logged++
				_ = s.Flush(context.Background())
				logged += writers(s, 4, 50)
				s.Close()
				c.end(w)
				<-read
				checkIdentity(t, s, logged)
				checkTornStream(t, s, text.String())
			})
		}
	}
}

func sizeName(buffer int) string {
	switch buffer {
	case 0:
		return " unbuffered"
	case 1000:
		return " short buffer"
	}
	return " buffered"
}

// checkTornStream is checkStream for streams in which lines may have been cut
// off. A line that lacks only its newline counts as written: the last one may.
func checkTornStream(t *testing.T, s *Sink, text string) {
	t.Helper()
	st := s.Stats()
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	lines, notices, torn := parse(text)
	if uint64(len(lines)) != st.Lines || uint64(len(notices)) != st.Notices || uint64(len(torn)) > st.Lost() {
		t.Errorf("the reader got %d lines, %d notices, torn %.300q; counted %+v", len(lines), len(notices), torn, st)
	}
}

// TestALineCutOffBeforeItsNewlineIsNotLost has a line that lacks only its
// newline: the newline that ends a partial line completes it.
func TestALineCutOffBeforeItsNewlineIsNotLost(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	s := New(Config{File: w, Stall: time.Millisecond})
	room := capacity(t, w) // in full pages
	mustWrite(t, s, record(nib.LevelInfo, 1, room+1))
	must.Succeed(t, s.Flush(context.Background()))
	if st := s.Stats(); st.Lines != 1 || st.Bytes != uint64(room)+1 || st.Lost() != 0 {
		t.Errorf("got %+v", st)
	}
	held := make([]byte, room)
	if _, err := io.ReadFull(r, held); err != nil {
		t.Fatal(err)
	}
	mustWrite(t, s, record(nib.LevelInfo, 2, 0))
	s.Close()
	checkStream(t, s, string(held)+readUntilClosed(t, r, w))
	checkIdentity(t, s, 2)
}

// TestLiveReaderGetsEveryLine has many callers and a reader that never
// stops.
func TestLiveReaderGetsEveryLine(t *testing.T) {
	for _, c := range ends {
		for _, buffer := range []int{0, 1000, 32 << 10} {
			t.Run(c.name+sizeName(buffer), func(t *testing.T) {
				r, w := c.open(t)
				s := New(Config{File: w, Stall: never, Buffer: buffer})
				if c.port != nil {
					c.port(s, w)
				}
				var text []byte
				var done sync.WaitGroup
				done.Add(1)
				go func() {
					defer done.Done()
					text, _ = io.ReadAll(&untilEnd{r: r})
				}()
				logged := writers(s, 8, 300)
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				c.end(w)
				done.Wait()
				if st := s.Stats(); st.Lines != uint64(logged) {
					t.Errorf("got %+v, want %d lines", st, logged)
				}
				lines, _, _ := parse(string(text))
				checkOrder(t, lines, 300)
				checkStream(t, s, string(text))
			})
		}
	}
}
