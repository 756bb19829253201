// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/stdio"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

func TestStalledBufferKeepsRoomForErrors(t *testing.T) {
	_, w := stdiotest.Pipe(t)
	full(t, New(Config{File: w, Stall: time.Millisecond}), nib.LevelInfo)
	s := buffered(t, Config{File: w, Stall: time.Millisecond})
	s.mu.Lock()
	s.reader.timedOut(0)
	s.mu.Unlock()
	logged := full(t, s, nib.LevelInfo)
	for _, c := range []struct {
		level nib.Level
		want  error
	}{{nib.LevelWarn, errStalled}, {nib.LevelError, nil}, {nib.LevelFatal, nil}, {nib.LevelWarn, errStalled}} {
		logged++
		if got := s.WriteRecord(record(c.level, 0, 40)); got != c.want {
			t.Errorf("%v: got %v, want %v", c.level, got, c.want)
		}
	}
	s.Close()
	checkIdentity(t, s, logged)
}

func TestStalledBufferKeepsWhatItHas(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	s := buffered(t, Config{File: w, Stall: time.Millisecond})
	logged := full(t, s, nib.LevelInfo)
	if err := s.Flush(context.Background()); err != errStalled {
		t.Errorf("Flush: got %v, want errStalled", err)
	}
	text := make([]byte, 1<<20)
	n, err := r.Read(text)
	must.Succeed(t, err)
	if err := s.Flush(context.Background()); err != nil {
		t.Errorf("Flush with a reader: %v", err)
	}
	s.Close()
	all := string(text[:n]) + readUntilClosed(t, r, w)
	checkIdentity(t, s, logged)
	checkStream(t, s, all)
	if st := s.Stats(); st.Lost() != 1 || st.Notices != 1 {
		t.Errorf("got %+v, want the one line lost that did not fit", st)
	}
}

func TestStalledReaderThatWentAway(t *testing.T) {
	for _, size := range []int{0, 2000} { // the buffer has 1000 bytes
		r, w := stdiotest.Pipe(t)
		full(t, New(Config{File: w, Stall: time.Millisecond}), nib.LevelInfo)
		s := buffered(t, Config{File: w, Stall: time.Millisecond})
		logged := full(t, s, nib.LevelInfo)
		s.mu.Lock()
		_ = s.dropHeld()
		s.mu.Unlock()
		line := record(nib.LevelInfo, 0, size)
		_ = s.WriteRecord(line)
		r.Close()
		_ = s.Flush(context.Background())
		for _, r := range []*nib.Record{line, record(nib.LevelInfo, 0, 0)} {
			if err := s.WriteRecord(r); err != stdio.ErrGone {
				t.Errorf("%d bytes, then %d: got %v, want ErrGone", size, len(r.Line), err)
			}
		}
		s.Close()
		checkIdentity(t, s, logged+3)
	}
}

func TestCloseDropsWhatAStalledReaderDoesNotTake(t *testing.T) {
	_, w := stdiotest.Pipe(t)
	s := buffered(t, Config{File: w, Stall: time.Millisecond})
	logged := full(t, s, nib.LevelInfo)
	if err := s.Close(); err != errStalled {
		t.Errorf("got %v, want errStalled", err)
	}
	if st := s.Stats(); st.Pending != 0 || count(st, delivery.ReasonStalled, nib.LevelInfo) < 2 {
		t.Errorf("got %+v", st)
	}
	checkIdentity(t, s, logged)
}

// TestCloseEndsTheLineThatItCutsOff has a reader that resumes while Close drops
// the rest of a batch: the notice begins a line of its own, and a line that
// lacks only its newline is not lost.
func TestCloseEndsTheLineThatItCutsOff(t *testing.T) {
	for missing, lost := range map[int]uint64{1: 1, 2: 2} {
		r, w := stdiotest.Pipe(t)
		room := capacity(t, w)
		s := New(Config{File: w, Stall: time.Millisecond, Buffer: room + 1000, Delay: never})
		mustWrite(t, s, record(nib.LevelInfo, 1, room+missing), record(nib.LevelInfo, 2, 0))
		if err := s.Flush(context.Background()); err != errStalled {
			t.Fatalf("Flush: got %v, want errStalled", err)
		}
		s.mu.Lock()
		_ = s.dropHeld() // by Close, after its last attempt to write
		s.mu.Unlock()
		held := make([]byte, room)
		if _, err := io.ReadFull(r, held); err != nil {
			t.Fatal(err)
		}
		s.Close()
		checkIdentity(t, s, 2)
		checkTornStream(t, s, string(held)+readUntilClosed(t, r, w))
		if st := s.Stats(); st.Lost() != lost || st.Notices != 1 {
			t.Errorf("%d bytes missing: got %+v, want %d lines lost", missing, st, lost)
		}
	}
}

func TestFlushEndsWithItsContext(t *testing.T) {
	_, w := stdiotest.Pipe(t)
	s := buffered(t, Config{File: w, Stall: time.Millisecond})
	full(t, s, nib.LevelInfo)
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(never))
	cancel()
	if err := s.Flush(ctx); err != context.Canceled {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if s.Stats().Pending == 0 {
		t.Error("what could not be written is gone")
	}
}

func TestCloseCallsOffAFlush(t *testing.T) {
	_, w := stdiotest.Pipe(t)
	s := buffered(t, Config{File: w, Stall: time.Millisecond})
	full(t, s, nib.LevelInfo)
	flushed := make(chan error)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), never)
		defer cancel()
		flushed <- s.Flush(ctx)
	}()
	await.Until(t, "Flush waits", func() bool { return len(s.turn.taken) > 0 })
	s.Close()
	if err := <-flushed; err == nil {
		t.Error("got nil, want an error")
	}
}

// A program may end when any of its calls of Close returns.
func TestSecondCloseWaitsForTheFirst(t *testing.T) {
	s := buffered(t, Config{File: tempFile(t)})
	mustWrite(t, s, record(nib.LevelInfo, 1, 0))
	s.turn.acquire(limit{}) // like a call that waits for the reader
	go s.Close()
	await.Until(t, "the first Close waits", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.closed
	})
	go s.release()
	s.Close()
	if st := s.Stats(); st.Lines != 1 {
		t.Errorf("got %+v, want the line written", st)
	}
}

func TestFlushReportsALossOnce(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	s := buffered(t, Config{File: w})
	mustWrite(t, s, record(nib.LevelInfo, 1, 0))
	r.Close()
	_ = s.flushFor(limit{until: time.Now().Add(never)}) // like the goroutine
	if err := s.Flush(context.Background()); !errors.Is(err, stdio.ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
	if err := s.Flush(context.Background()); err != nil {
		t.Errorf("again: got %v", err)
	}
	// Writing fails, so the call returns the error.
	if err := s.WriteRecord(record(nib.LevelInfo, 2, 0)); err != stdio.ErrGone {
		t.Errorf("got %v, want ErrGone", err)
	}
	checkIdentity(t, s, 2)
}

// The goroutine that enforces the delay calls OnStall, which ends it.
func TestOnStallMayEndItsGoroutine(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	full(t, New(Config{File: w, Stall: time.Millisecond}), nib.LevelInfo)
	stalls := make(chan struct{}, 1000)
	s := New(Config{File: w, Stall: time.Millisecond, Buffer: 1000, Delay: time.Millisecond, OnStall: func(Stats) {
		stalls <- struct{}{}
		runtime.Goexit()
	}})
	defer s.Close()
	mustWrite(t, s, record(nib.LevelInfo, 123456, 0))
	<-stalls
	arrived := make(chan struct{})
	go func() {
		defer close(arrived)
		var text []byte
		for part := make([]byte, 1<<20); !bytes.Contains(text, []byte("123456")); {
			n, err := r.Read(part)
			if text = append(text, part[:n]...); err != nil {
				t.Errorf("got error %v before the line", err)
				return
			}
		}
	}()
	select {
	case <-arrived:
	case <-time.After(2 * time.Minute):
		t.Error("the line stays in the buffer")
	}
}
