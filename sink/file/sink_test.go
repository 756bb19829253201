// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/nibtest"
)

// lines splits the text of a file into lines.
func lines(text string) (list [][]byte) {
	for line := range bytes.Lines([]byte(text)) {
		list = append(list, line)
	}
	return list
}

// variants are configurations that must all fulfill the contract of a sink.
var variants = []struct {
	name string
	c    Config
}{
	{"unbuffered", Config{}},
	{"buffered", Config{Buffer: 4096}},
	{"small buffer", Config{Buffer: 100}},
	{"rotated", Config{MaxSize: 10_000}},
	{"rotated and buffered", Config{MaxSize: 5000, Buffer: 8000}},
	{"synced", Config{Sync: SyncFlush}},
}

func TestConformanceOfTheSink(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			nibtest.TestSink(t, func(t testing.TB) (nib.Sink, func() [][]byte) {
				dir := t.TempDir()
				return open(t, filepath.Join(dir, "app.log"), v.c), func() [][]byte { return lines(all(t, dir)) }
			})
		})
	}
}

func TestConformanceOfTheDestination(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			nibtest.TestDestination(t, func(t testing.TB) (delivery.Destination, func() [][]byte) {
				dir := t.TempDir()
				return open(t, filepath.Join(dir, "app.log"), v.c), func() [][]byte { return lines(all(t, dir)) }
			})
		})
	}
}

// TestSinkNeverLogs checks that loggers need not check for recursion.
func TestSinkNeverLogs(t *testing.T) {
	m, clock := newMem(t)
	got := contract.TraitsOf(openMem(t, m, clock, Config{}))
	if got&contract.NeverLogs == 0 {
		t.Errorf("got the traits %v, want NeverLogs", got)
	}
}

func TestLineIsInTheFileWhenTheCallReturns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	s := open(t, path, Config{})
	for n := range 3 {
		mustWrite(t, s, record(nib.LevelInfo, n, 0))
		checkNumbers(t, text(t, path), n+1)
	}
	checkIdentity(t, s, 3)
}

func TestCloseTwiceAndWriteAfterClose(t *testing.T) {
	for _, v := range variants {
		path := filepath.Join(t.TempDir(), "app.log")
		s := open(t, path, v.c)
		writeNumbers(t, s, 0, 2)
		must(t, s.Close(), s.Close())
		for _, l := range []nib.Level{nib.LevelInfo, nib.LevelInfo, nib.LevelError} {
			if err := s.WriteRecord(record(l, 9, 0)); err != errClosed {
				t.Errorf("%s: got %v, want errClosed", v.name, err)
			}
		}
		if err := errors.Join(s.Flush(context.Background())); err != nil {
			t.Errorf("%s: Flush: %v", v.name, err)
		}
		if s.Rotate() != errClosed || s.Reopen() != errClosed {
			t.Errorf("%s: Rotate or Reopen after Close: got another error than errClosed", v.name)
		}
		checkNumbers(t, text(t, path), 2)
		checkIdentity(t, s, 5)
		if st := s.Stats(); count(st, delivery.ReasonClosed, nib.LevelInfo) != 2 || count(st, delivery.ReasonClosed, nib.LevelError) != 1 {
			t.Errorf("%s: got %+v, want 2 infos and 1 error dropped as closed", v.name, st)
		}
	}
}

// TestOnErrorIsNotCalledConcurrently has an OnError in which another error
// occurs: it is passed to OnError afterwards.
func TestOnErrorIsNotCalledConcurrently(t *testing.T) {
	m, clock := newMem(t)
	var s *Sink
	running, calls := false, 0
	report := func(op string) {
		s.mu.Lock()
		s.w.errors.report(op, syscall.EIO)
		s.unlock()
	}
	s = openMem(t, m, clock, Config{OnError: func(error) {
		if running {
			t.Error("OnError was called while it was running")
			return
		}
		running = true
		if calls++; calls == 1 {
			report("second")
		}
		running = false
	}})
	report("first")
	must(t, s.Flush(context.Background()))
	if calls != 2 || s.Stats().Errors != 2 {
		t.Errorf("got %d calls and %d errors, want 2", calls, s.Stats().Errors)
	}
}

// TestErrorsOfClose closes a file whose close(2) fails, with and without a
// buffered line that cannot be written, whose error is the first.
func TestErrorsOfClose(t *testing.T) {
	for _, want := range []error{syscall.EIO, syscall.ENOSPC} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Buffer: 1000, Delay: never, OnError: func(error) {}})
		m.Fail(vfstest.Fault{Op: vfstest.OpClose, Path: "app.log", Err: syscall.EIO})
		if want == syscall.ENOSPC {
			writeNumbers(t, s, 0, 1)
			m.SetFree(0)
		}
		if err := s.Close(); !errors.Is(err, want) || !strings.Contains(err.Error(), livePath) {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}

// TestNameIsSyncedOnce counts how often the directory is synced.
func TestNameIsSyncedOnce(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Sync: SyncAlways})
	syncs := 0
	directory := vfstest.Fault{Op: vfstest.OpSyncDir, Path: filepath.Base(logDir)}
	directory.Reached = func() { syncs++ }
	m.Fail(directory)
	if writeNumbers(t, s, 0, 3); syncs != 1 {
		t.Errorf("the directory was synced %d times, want once", syncs)
	}
}

// TestReturnedErrorsAreCounted fails Rotate and Reopen.
func TestReturnedErrorsAreCounted(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{OnError: func(error) {}})
	writeNumbers(t, s, 0, 1)
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Err: syscall.EIO})
	if s.Rotate() == nil || s.Reopen() == nil {
		t.Error("Rotate or Reopen returned no error")
	}
	heal()
	if n := s.Stats().Errors; n != 2 {
		t.Errorf("got %d errors, want 2", n)
	}
}

func TestMetrics(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Buffer: 1000, Delay: never, OnError: func(error) {}})
	writeNumbers(t, s, 0, 2)
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.ENOSPC})
	_ = s.Flush(context.Background())
	heal()
	must(t, s.Flush(context.Background()), s.Rotate())
	writeNumbers(t, s, 2, 4)
	must(t, s.Flush(context.Background()))
	must(t, m.Rename(livePath, livePath+".1"))
	clock.advance(time.Second)
	writeNumbers(t, s, 4, 5)
	must(t, s.Flush(context.Background()))
	writeNumbers(t, s, 5, 6)
	got := map[string]float64{}
	for x := range s.Metrics() {
		got[x.Name] += x.Value
	}
	st := s.Stats()
	for name, want := range map[string]float64{
		"nib_file_buffered_lines": 1, "nib_file_size_bytes": float64(len(memText(t, m, livePath))),
		"nib_file_notices_total": 1, "nib_file_rotations_total": 1, "nib_file_followed_total": 1,
		"nib_file_truncations_total": 0, "nib_file_errors_total": float64(st.Errors),
		"nib_file_lines_total": 3, "nib_file_bytes_total": float64(st.Bytes), "nib_file_dropped_lines_total": 2,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s: got %v (%v), want %v; all: %v", name, v, ok, want, got)
		}
	}
}

func TestOpenErrorsNameThePathOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "app.log")
	_, err := Open(path, Config{})
	if !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), path) != 1 {
		t.Errorf("got %v, want an error that says once that the directory of %s does not exist",
			err, path)
	}
}
