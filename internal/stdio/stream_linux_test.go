// SPDX-License-Identifier: Apache-2.0

package stdio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

var line = []byte("{\"level\":\"info\",\"message\":\"a line of an ordinary length\"}\n")

// TestStoppedReaderIsWaitedForOnce waits for Stall, then no more until the
// reader continues.
func TestStoppedReaderIsWaitedForOnce(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	fill(t, w)
	s := NewStream(w)
	from := time.Now()
	if n, err := s.Write(line); n != 0 || err != ErrStalled {
		t.Fatalf("got %d, %v, want 0, %v", n, err, ErrStalled)
	}
	if took := time.Since(from); took < Stall {
		t.Errorf("waited for %v, want %v", took, Stall)
	}
	const calls = 1000
	from = time.Now()
	for range calls {
		if _, err := s.Write(line); err != ErrStalled {
			t.Fatalf("got %v, want %v", err, ErrStalled)
		}
	}
	if took := time.Since(from); took > calls/2*Stall {
		t.Errorf("%d more took %v: they wait", calls, took)
	}
	if _, err := io.ReadFull(r, make([]byte, 3*pipeBuf)); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Write(line); n != len(line) || err != nil {
		t.Errorf("the reader goes on: got %d, %v", n, err)
	}
}

// TestWaitedIsPartOfTheDeadline is for a caller that has waited in a queue.
func TestWaitedIsPartOfTheDeadline(t *testing.T) {
	_, w := stdiotest.Pipe(t)
	fill(t, w)
	s := NewStream(w)
	s.Waited = time.Hour
	if _, err := s.Write(line); err != ErrStalled || s.Waited != 0 {
		t.Errorf("got %v and %v left, want %v and 0", err, s.Waited, ErrStalled)
	}
}

func TestReaderThatWentAwayIsAnError(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	s := NewStream(w)
	if _, err := s.Write(line); err != nil {
		t.Fatal(err)
	}
	r.Close()
	for range 3 {
		if n, err := s.Write(line); n != 0 || err != ErrGone {
			t.Errorf("got %d, %v, want 0, %v", n, err, ErrGone)
		}
	}
}

// TestRedirectionIsNoticed replaces the target of the descriptor, like a
// program that redirects its standard error to a file while it runs.
func TestRedirectionIsNoticed(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	to := temp(t)
	s := NewStream(w)
	if _, err := s.Write(line); err != nil {
		t.Fatal(err)
	}
	must.Succeed(t, syscall.Dup3(int(to.Fd()), int(w.Fd()), 0))
	const lines = 3 * recheck
	for range lines {
		if _, err := s.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	more := 0
	for more <= recheck {
		if _, err := s.Write(line); err != nil {
			if !errors.Is(err, os.ErrClosed) {
				t.Errorf("after the file was closed: got %v", err)
			}
			break
		}
		more++
	}
	if more > recheck {
		t.Errorf("%d Writes succeeded after the file was closed", more)
	}
	before, err := io.ReadAll(r) // ends: nothing has the pipe open for writing
	must.Succeed(t, err)
	after, err := os.ReadFile(to.Name())
	must.Succeed(t, err)
	in, out := bytes.Count(before, line), bytes.Count(after, line)
	if in > 1+recheck || in+out != 1+lines+more {
		t.Errorf("got %d lines in the pipe and %d in the file, want %d, at most %d in the pipe",
			in, out, 1+lines+more, 1+recheck)
	}
}

func TestStreamWritesWithoutAllocation(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	go func() { _, _ = io.Copy(io.Discard, r) }()
	s := NewStream(w)
	alloctest.Zero(t, func() {
		for range 2 * recheck {
			_, _ = s.Write(line)
		}
	})
}
