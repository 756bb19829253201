// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

// buffered returns a sink with a buffer of 1000 bytes and a delay that never
// ends.
func buffered(t *testing.T, c Config) *Sink {
	t.Helper()
	c.Buffer, c.Delay = 1000, never
	s := New(c)
	t.Cleanup(func() { s.Close() })
	return s
}

func TestBufferedLinesWaitForFlush(t *testing.T) {
	f := tempFile(t)
	s := buffered(t, Config{File: f})
	mustWrite(t, s, record(nib.LevelInfo, 1, 0), record(nib.LevelWarn, 2, 0))
	if got := content(t, f); got != "" || s.Stats().Pending != 2 {
		t.Errorf("before: got %q, %d pending", got, s.Stats().Pending)
	}
	must.Succeed(t, s.Flush(context.Background()))
	lines, _, _ := parse(content(t, f))
	if numbers(lines) != "1 2" || s.Stats().Pending != 0 {
		t.Errorf("after: got lines %v, %+v", numbers(lines), s.Stats())
	}
}

func TestLineOfLevelErrorIsOutAtOnceWithThoseBeforeIt(t *testing.T) {
	for _, level := range []nib.Level{nib.LevelError, nib.LevelPanic, nib.LevelFatal} {
		f := tempFile(t)
		s := buffered(t, Config{File: f})
		mustWrite(t, s, record(nib.LevelInfo, 1, 0), record(level, 2, 0))
		if lines, _, _ := parse(content(t, f)); numbers(lines) != "1 2" {
			t.Errorf("%v: got lines %v, want 1 2", level, numbers(lines))
		}
	}
}

func TestFullBufferIsWrittenWhole(t *testing.T) {
	f := tempFile(t)
	s := buffered(t, Config{File: f})
	for i := range 9 {
		mustWrite(t, s, record(nib.LevelInfo, i, 200))
	}
	lines, _, torn := parse(content(t, f))
	if want := "0 1 2 3 4"; numbers(lines) != want || len(torn) > 0 { // 5 * 200 = 1000
		t.Errorf("got lines %v, want %v", numbers(lines), want)
	}
}

func TestLineLargerThanTheBufferKeepsItsPlace(t *testing.T) {
	f := tempFile(t)
	s := buffered(t, Config{File: f})
	mustWrite(t, s, record(nib.LevelInfo, 1, 0), record(nib.LevelInfo, 2, 5000), record(nib.LevelInfo, 3, 0))
	if lines, _, _ := parse(content(t, f)); numbers(lines) != "1 2" {
		t.Errorf("got lines %v, want 1 2", numbers(lines))
	}
	s.Close()
	if lines, _, _ := parse(content(t, f)); numbers(lines) != "1 2 3" {
		t.Errorf("after Close: got lines %v", numbers(lines))
	}
}

func TestDelayWritesByItself(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	s := New(Config{File: w, Buffer: 1000, Delay: time.Millisecond})
	defer s.Close()
	held := make([]byte, 1000)
	for i := range 3 { // the goroutine goes to sleep in between
		want := record(nib.LevelInfo, i, 0)
		mustWrite(t, s, want)
		n, err := r.Read(held) // waits for the goroutine
		if err != nil || string(held[:n]) != string(want.Line) {
			t.Fatalf("got %q, %v, want %q", held[:n], err, want.Line)
		}
	}
}

func TestOnlyABufferNeedsAGoroutineAndCloseEndsIt(t *testing.T) {
	for _, buffer := range []int{0, 1000} {
		awaitEnd(t) // of the goroutines of the previous test
		s := New(Config{File: tempFile(t), Buffer: buffer})
		mustWrite(t, s, record(nib.LevelInfo, 1, 0))
		if got, want := running(), buffer > 0; got != want {
			t.Errorf("buffer %d: got a goroutine %v, want %v", buffer, got, want)
		}
		s.Close()
		awaitEnd(t)
	}
}

// running reports whether a goroutine started by New is running.
func running() bool {
	stacks := make([]byte, 1<<20)
	text := string(stacks[:runtime.Stack(stacks, true)])
	return strings.Contains(text, "created by github.com/nib-log/nib/sink/stdout.New ")
}

// awaitEnd waits for the end of the goroutines of New: a goroutine that has
// closed its channel must be scheduled once more.
func awaitEnd(t *testing.T) {
	t.Helper()
	await.Until(t, "the goroutines of New have ended", func() bool { return !running() })
}
