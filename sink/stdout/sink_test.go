// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
	"github.com/nib-log/nib/nibtest"
)

func TestLineIsOutWhenTheCallReturns(t *testing.T) {
	f := tempFile(t)
	s := New(Config{File: f})
	defer s.Close()
	r := record(nib.LevelInfo, 1, 0)
	mustWrite(t, s, r)
	if got := content(t, f); got != string(r.Line) {
		t.Errorf("got %q, want %q", got, r.Line)
	}
	st := s.Stats()
	if st.Lines != 1 || st.Bytes != uint64(len(r.Line)) || st.Lost() != 0 {
		t.Errorf("got %+v", st)
	}
}

func TestLinesOfALoggerArriveInOrder(t *testing.T) {
	r, w := stdiotest.Pipe(t)
	s := New(Config{File: w, Stall: never})
	l := nib.NewSink(s)
	go func() {
		for i := range 1000 {
			l.Info().Int("n", i).Msg("line")
		}
		s.Close()
		w.Close()
	}()
	in := bufio.NewScanner(r)
	for i := range 1000 {
		if !in.Scan() {
			t.Fatalf("got %d lines, want 1000", i)
		}
		if lines, _, _ := parse(in.Text() + "\n"); len(lines) != 1 || *lines[0].N != i {
			t.Fatalf("line %d: got %s", i, in.Text())
		}
	}
	checkIdentity(t, s, 1000)
}

func TestWriteAfterCloseIsCounted(t *testing.T) {
	for _, buffer := range []int{0, 4096} {
		s := New(Config{File: tempFile(t), Buffer: buffer})
		mustWrite(t, s, record(nib.LevelInfo, 1, 0))
		if err := s.Close(); err != nil {
			t.Fatalf("buffer %d: Close: %v", buffer, err)
		}
		for _, l := range []nib.Level{nib.LevelDebug, nib.LevelError} {
			if err := s.WriteRecord(record(l, 2, 0)); err != errClosed {
				t.Errorf("buffer %d: got %v, want errClosed", buffer, err)
			}
		}
		if err := s.Flush(context.Background()); err != nil {
			t.Errorf("buffer %d: Flush after Close: %v", buffer, err)
		}
		st := s.Stats()
		if count(st, delivery.ReasonClosed, nib.LevelDebug) != 1 || count(st, delivery.ReasonClosed, nib.LevelError) != 1 || st.Lines != 1 {
			t.Errorf("buffer %d: got %+v", buffer, st)
		}
		checkIdentity(t, s, 3)
	}
}

func TestCloseTwiceLeavesTheFileOpen(t *testing.T) {
	f := tempFile(t)
	s := New(Config{File: f})
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("got %v", err)
		}
	}
	if _, err := f.WriteString("still open\n"); err != nil {
		t.Error(err)
	}
}

// A program may have set os.Stdout to nil.
func TestWithoutStandardOutputLinesAreCounted(t *testing.T) {
	defer func(f *os.File) { os.Stdout = f }(os.Stdout)
	os.Stdout = nil
	s := New(Config{Stall: never})
	if err := s.WriteRecord(record(nib.LevelWarn, 0, 0)); err == nil {
		t.Error("got nil, want an error")
	}
	for range s.Metrics() {
	}
	if st := s.Stats(); count(st, delivery.ReasonFailed, nib.LevelWarn) != 1 {
		t.Errorf("got %+v", st)
	}
	s.Close()
	checkIdentity(t, s, 1)
}

func TestFileThatIsClosedAlreadyFails(t *testing.T) {
	f := tempFile(t)
	f.Close()
	s := New(Config{File: f, Stall: never})
	for i := range 2 {
		if err := s.WriteRecord(record(nib.LevelWarn, i, 0)); err == nil {
			t.Error("got nil, want an error")
		}
	}
	if st := s.Stats(); count(st, delivery.ReasonFailed, nib.LevelWarn) != 2 {
		t.Errorf("got %+v", st)
	}
	s.Close()
	checkIdentity(t, s, 2)
}

// writers logs lines from several goroutines at once and returns how many.
func writers(s *Sink, goroutines, lines int) (logged int) {
	await.Goroutines(goroutines, func(g int) {
		for i := range lines {
			level, size := nib.LevelInfo, 0
			if i%64 == 63 {
				level = nib.LevelError
			}
			if i%128 == 127 {
				size = 9000 // slightly more than two pipe buffers
			}
			_ = s.WriteRecord(record(level, g*lines+i, size))
		}
	})
	return goroutines * lines
}

// checkOrder checks that the lines of each goroutine of writers are in order.
func checkOrder(t *testing.T, lines []recordtest.Seen, perGoroutine int) {
	t.Helper()
	last := map[int]int{}
	for _, l := range lines {
		g := *l.N / perGoroutine
		if n, ok := last[g]; ok && *l.N <= n {
			t.Errorf("goroutine %d: %d after %d", g, *l.N, n)
		}
		last[g] = *l.N
	}
}

func TestConformance(t *testing.T) {
	for _, buffer := range []int{0, 100, 64 << 10} {
		nibtest.TestSink(t, func(tb testing.TB) (nib.Sink, func() [][]byte) {
			f, err := os.Create(filepath.Join(tb.TempDir(), "out"))
			must.Succeed(tb, err)
			tb.Cleanup(func() { f.Close() })
			read := 0
			return New(Config{File: f, Buffer: buffer, Stall: never}), func() [][]byte {
				text, err := os.ReadFile(f.Name())
				must.Succeed(tb, err)
				text = text[read:]
				read += len(text)
				return slices.Collect(bytes.Lines(text))
			}
		})
	}
}
