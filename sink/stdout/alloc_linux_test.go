// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"os"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/stdio"
	"github.com/nib-log/nib/internal/stdio/stdiotest"
)

// drain reads until the other end is closed.
func drain(r *os.File) {
	chunk := make([]byte, 64<<10)
	for {
		if _, err := r.Read(chunk); err != nil {
			return
		}
	}
}

func TestAllocWriteRecord(t *testing.T) {
	reader := func(r, w *os.File) *os.File { go drain(r); return w }
	for _, c := range []struct {
		name string
		open func(t *testing.T) *Sink
		size int
		want error
	}{
		{"pipe", func(t *testing.T) *Sink { return New(Config{File: reader(stdiotest.Pipe(t)), Stall: never}) }, 300, nil},
		{"pipe of another process", func(t *testing.T) *Sink {
			w := reader(stdiotest.Pipe(t))
			s := New(Config{File: w, Stall: never})
			share(s, w)
			return s
		}, 300, nil},
		{"socket", func(t *testing.T) *Sink { return New(Config{File: reader(sockets(t, 1)), Stall: never}) }, 300, nil},
		{"file", func(t *testing.T) *Sink { return New(Config{File: tempFile(t)}) }, 300, nil},
		{"long line", func(t *testing.T) *Sink { return New(Config{File: reader(stdiotest.Pipe(t)), Stall: never}) }, 100_000, nil},
		{"buffered", func(t *testing.T) *Sink {
			return New(Config{File: reader(stdiotest.Pipe(t)), Stall: never, Buffer: 4096})
		}, 300, nil},
		{"longer than the buffer", func(t *testing.T) *Sink {
			return New(Config{File: reader(stdiotest.Pipe(t)), Stall: never, Buffer: 200})
		}, 300, nil},
		{"stalled", func(t *testing.T) *Sink {
			_, w := stdiotest.Pipe(t)
			return New(Config{File: w, Stall: time.Microsecond})
		}, 300, errStalled},
		{"stalled buffer", func(t *testing.T) *Sink {
			_, w := stdiotest.Pipe(t)
			return New(Config{File: w, Stall: time.Microsecond, Buffer: 4096})
		}, 300, errStalled},
		{"gone", func(t *testing.T) *Sink {
			r, w := stdiotest.Pipe(t)
			r.Close()
			return New(Config{File: w})
		}, 300, stdio.ErrGone},
		{"failed", func(t *testing.T) *Sink { return New(Config{File: open(t, "/dev/full")}) }, 300, stdio.WriteError(28)},
		{"closed", func(t *testing.T) *Sink {
			s := New(Config{File: tempFile(t)})
			s.Close()
			return s
		}, 300, errClosed},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := c.open(t)
			defer s.Close()
			writeWithoutAllocs(t, s, record(nib.LevelInfo, 1, c.size), c.want)
		})
	}
}

// writeWithoutAllocs writes r repeatedly. Most calls must return want.
func writeWithoutAllocs(t *testing.T, s *Sink, r *nib.Record, want error) {
	t.Helper()
	if want == errStalled {
		full(t, s, nib.LevelInfo)
		for !isFull(s, r) { // the line was dropped because the goroutine was writing
			if err := s.WriteRecord(r); err != nil && err != errStalled {
				t.Fatal(err)
			}
		}
	}
	calls, wanted := 0, 0
	alloctest.Zero(t, func() {
		calls++
		switch err := s.WriteRecord(r); {
		case err == want:
			wanted++
		case err != nil || want != errStalled:
			t.Fatalf("got %v, want %v", err, want)
		}
	})
	if wanted*2 < calls {
		t.Errorf("%d of %d calls returned %v, want most", wanted, calls, want)
	}
}

// isFull reports whether neither the pipe nor a buffer has room for r, after a
// call has returned errStalled.
func isFull(s *Sink, r *nib.Record) bool {
	s.turn.taken <- struct{}{}
	defer s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.buffer.size == 0 {
		return true
	}
	_, err := s.flush(limit{until: time.Now()}, nil)
	return err == errStalled && !s.fits(r)
}
