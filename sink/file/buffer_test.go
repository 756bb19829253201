// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// never is a delay that outlasts a test.
const never = time.Hour

func TestBufferedLinesAreWrittenWhenTheDelayIsOver(t *testing.T) {
	m, clock := newMem(t)
	written := make(chan struct{}, 100)
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Reached: func() { written <- struct{}{} }})
	s := openMem(t, m, clock, Config{Buffer: 4096, Delay: time.Millisecond})
	for n := range 3 { // the timer is set each time
		writeNumbers(t, s, n, n+1)
		<-written
	}
	must(t, s.Close())
	checkNumbers(t, memAll(t, m), 3)
}

// TestBufferedLinesAreHeldBack checks that lines stay in the buffer until they
// are flushed.
func TestBufferedLinesAreHeldBack(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(s *Sink) error
	}{
		{"Flush", func(s *Sink) error { return s.Flush(context.Background()) }},
		{"Close", (*Sink).Close},
		{"Rotate", (*Sink).Rotate},
		{"Reopen", (*Sink).Reopen},
		{"error line", func(s *Sink) error { return s.WriteRecord(record(nib.LevelError, 3, 0)) }},
		{"full buffer", func(s *Sink) error { return s.WriteRecord(record(nib.LevelInfo, 3, 1000)) }},
		{"line longer than the buffer", func(s *Sink) error { return s.WriteRecord(record(nib.LevelInfo, 3, 5000)) }},
		{"Deliver", func(s *Sink) error { _, err := s.Deliver(context.Background(), batchOf(3, 1)); return err }},
	} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Buffer: 1024, Delay: never})
		writeNumbers(t, s, 0, 3)
		if got := memAll(t, m); got != "" || s.Stats().Pending != 3 {
			t.Errorf("%s: got %q in the file, %d pending, want 3 pending", c.name, got, s.Stats().Pending)
		}
		checkIdentity(t, s, 3)
		must(t, c.end(s))
		checkHas(t, memAll(t, m), 3)
		must(t, s.Close())
		lines, _, _ := parse(memAll(t, m))
		checkNumbers(t, memAll(t, m), len(lines))
		checkIdentity(t, s, len(lines))
	}
}

// TestBufferedLinesAreWrittenTogether counts the writes of buffered lines.
func TestBufferedLinesAreWrittenTogether(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Buffer: 10_000, Delay: never})
	writes := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Reached: func() { writes++ }})
	for n := range 1000 {
		mustWrite(t, s, record(nib.LevelInfo, n, 100))
	}
	must(t, s.Close())
	checkNumbers(t, memAll(t, m), 1000)
	if writes != 10 {
		t.Errorf("got %d writes for 1000 lines of 100 bytes, want 10", writes)
	}
}

// TestOthersFillTheBufferWhileOneWrites blocks a write.
func TestOthersFillTheBufferWhileOneWrites(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Buffer: 1000, Delay: never})
	hold, reached := make(chan struct{}), make(chan struct{})
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: 1, Hold: hold, Reached: func() { close(reached) }})
	for n := range 10 {
		mustWrite(t, s, record(nib.LevelInfo, n, 100))
	}
	done := make(chan error)
	go func() { done <- s.WriteRecord(record(nib.LevelInfo, 10, 100)) }()
	<-reached
	for n := 11; n < 20; n++ { // these do not wait
		mustWrite(t, s, record(nib.LevelInfo, n, 100))
	}
	close(hold)
	must(t, <-done, s.Close())
	checkNumbers(t, memAll(t, m), 20)
}

// TestLossOfBufferedLinesIsReported checks that a loss of buffered lines, whose
// calls have returned nil, is reported.
func TestLossOfBufferedLinesIsReported(t *testing.T) {
	m, clock := newMem(t)
	var reported []error
	s := openMem(t, m, clock, Config{Buffer: 1000, Delay: never, OnError: func(err error) { reported = append(reported, err) }})
	writeNumbers(t, s, 0, 3)
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.EIO})
	if err := s.Flush(context.Background()); !errors.Is(err, syscall.EIO) {
		t.Errorf("Flush: got %v, want EIO", err)
	}
	must(t, s.Flush(context.Background())) // it was reported
	if len(reported) != 1 || !errors.Is(reported[0], syscall.EIO) {
		t.Errorf("OnError got %v, want EIO once", reported)
	}
	if err := s.WriteRecord(record(nib.LevelInfo, 3, 0)); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v for a line while writing fails, want EIO", err)
	}
	checkIdentity(t, s, 4)
	heal()
	clock.advance(time.Second)
	writeNumbers(t, s, 4, 6)
	must(t, s.Close())
	wantText(t, "file", numbers(memAll(t, m)), "4 5")
	if st := s.Stats(); count(st, delivery.ReasonFailed, nib.LevelInfo) != 4 || st.Notices != 1 {
		t.Errorf("got %+v, want 4 lost, 1 notice", st)
	}
}

// TestLinesThatFindTheBufferFull has lines that fit the buffer only when it is
// empty, lines that never do, and errors.
func TestLinesThatFindTheBufferFull(t *testing.T) {
	for _, c := range []struct {
		level   nib.Level
		size    int
		pending uint64
	}{
		{nib.LevelWarn, 1000, 1},
		{nib.LevelWarn, 1024, 1},
		{nib.LevelWarn, 1025, 0},
		{nib.LevelError, 1000, 0},
		{nib.LevelFatal, 1000, 0},
	} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Buffer: 1024, Delay: never})
		writeNumbers(t, s, 0, 3)
		mustWrite(t, s, record(c.level, 3, c.size))
		if st := s.Stats(); st.Pending != c.pending {
			t.Errorf("%v, %d bytes: got %d lines in the buffer, want %d", c.level, c.size, st.Pending, c.pending)
		}
		checkNumbers(t, memAll(t, m), 4-int(c.pending))
	}
}

// TestFaultsOfBufferedLinesAreReported has a write that fails once, which loses
// nothing, and a full disk.
func TestFaultsOfBufferedLinesAreReported(t *testing.T) {
	for want, times := range map[error]int{syscall.EIO: 1, syscall.ENOSPC: 0} {
		m, clock := newMem(t)
		var reported error
		s := openMem(t, m, clock, Config{Buffer: 1024, Delay: never, OnError: func(err error) { reported = err }})
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: times, Err: want})
		writeNumbers(t, s, 0, 1)
		err := s.Flush(context.Background())
		if lost := times == 0; lost != (err != nil) || !errors.Is(reported, want) {
			t.Errorf("%v: Flush returned %v, and OnError got %v", want, err, reported)
		}
	}
}

func TestCloseOfABufferThatCannotBeWritten(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Buffer: 1000, Delay: never})
	writeNumbers(t, s, 0, 3)
	m.SetFree(0)
	if err := s.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v, want ENOSPC", err)
	}
	must(t, s.Close())
	checkIdentity(t, s, 3)
	if st := s.Stats(); st.Pending != 0 || count(st, delivery.ReasonFull, nib.LevelInfo) != 3 {
		t.Errorf("got %+v, want 3 lost as full", st)
	}
}

// TestEverythingAtOnce rotates, reopens, flushes and counts while many write.
func TestEverythingAtOnce(t *testing.T) {
	const writers, each = 8, 500
	for _, buffer := range []int{0, 2000} {
		dir := t.TempDir()
		s := open(t, filepath.Join(dir, "app.log"), Config{
			MaxSize: 20_000, Buffer: buffer, Compress: Gzip(1),
			OnError: func(err error) { t.Errorf("OnError: %v", err) },
		})
		stop := make(chan struct{})
		var others, all sync.WaitGroup
		for _, f := range []func() error{s.Rotate, s.Reopen, func() error { return s.Flush(context.Background()) }, func() error { s.Stats(); return nil }} {
			others.Add(1)
			go func() {
				defer others.Done()
				for {
					select {
					case <-stop:
						return
					default:
						if err := f(); err != nil {
							t.Error(err)
						}
					}
				}
			}()
		}
		for w := range writers {
			all.Add(1)
			go func() {
				defer all.Done()
				for n := range each {
					if err := s.WriteRecord(record(nib.LevelInfo, w*each+n, n%300)); err != nil {
						t.Error(err)
					}
				}
			}()
		}
		all.Wait()
		close(stop)
		others.Wait()
		must(t, s.Close())
		checkIdentity(t, s, writers*each)
		checkEachOnce(t, dir, writers, each)
	}
}

// checkEachOnce checks that the files of a directory, compressed or not, have
// each line of each writer once, and each writer's lines in order.
func checkEachOnce(t testing.TB, dir string, writers, each int) {
	t.Helper()
	lines, notices, torn := parse(allOf(t, dir))
	if len(notices)+len(torn) > 0 {
		t.Errorf("got %d notices, torn %.200q", len(notices), torn)
	}
	next := make([]int, writers)
	for _, l := range lines {
		w, n := *l.N/each, *l.N%each
		if n != next[w] {
			t.Fatalf("writer %d: got its line %d, want %d (lost, twice, or out of order)", w, n, next[w])
		}
		next[w]++
	}
	for w, n := range next {
		if n != each {
			t.Errorf("writer %d: got %d lines, want %d", w, n, each)
		}
	}
}

// allOf is like all, but has the files in the order of their rotation,
// regardless of the extension of compressed ones, and omits temporary files of
// compressions.
func allOf(t testing.TB, dir string) string {
	t.Helper()
	var b bytes.Buffer
	n := newNaming("app.log", "", false)
	var live []string
	var old []backup
	for _, name := range files(t, dir) {
		f, ok := n.parse(name)
		switch {
		case f.temp:
		case ok:
			old = append(old, f)
		default:
			live = append(live, name)
		}
	}
	sortOldestFirst(old)
	for _, f := range old {
		b.WriteString(text(t, filepath.Join(dir, f.name)))
	}
	for _, name := range live {
		b.WriteString(text(t, filepath.Join(dir, name)))
	}
	return b.String()
}
