// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A far is a destination that keeps the records it gets, and first calls do.
type far struct {
	mu      sync.Mutex
	lines   [][]byte
	seqs    []uint64
	ids     []uint64                                                                     // of the spools that they came from
	notices [][]byte                                                                     // of the lines, those that the spool wrote itself
	do      func(ctx context.Context, batch []nib.Record) (delivery.Result, error, bool) // nil, or called first; the bool reports whether its result is final
}

func (f *far) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	f.mu.Lock()
	do := f.do
	f.mu.Unlock()
	res, err := delivery.Result{Accepted: len(batch)}, error(nil)
	if do != nil {
		var all bool
		if res, err, all = do(ctx, batch); all {
			return res, err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, r := range batch[:res.Accepted] {
		refused := false
		for _, x := range res.Rejected {
			refused = refused || x.Index == i
		}
		if bytes.Contains(r.Line, []byte("lines lost: the spool")) {
			f.notices = append(f.notices, bytes.Clone(r.Line))
		} else if !refused {
			f.lines = append(f.lines, bytes.Clone(r.Line))
			f.seqs, f.ids = append(f.seqs, r.Seq), append(f.ids, r.Spool)
		}
	}
	return res, err
}

func (f *far) set(do func(ctx context.Context, batch []nib.Record) (delivery.Result, error, bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.do = do
}

func (f *far) take() [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	lines := f.lines
	f.lines = nil
	return lines
}

var errDown = errors.New("down")

func down(context.Context, []nib.Record) (delivery.Result, error, bool) {
	return delivery.Result{}, errDown, true
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// dirs runs f for each kind of spool: in memory, and in a directory with files
// that are mapped, or written.
func dirs(t *testing.T, f func(t *testing.T, dir string)) {
	t.Run("memory", func(t *testing.T) { f(t, "") })
	bothWays(t, func(t *testing.T, written bool) {
		testWritten = written
		defer func() { testWritten = false }()
		f(t, spoolDir(t))
	})
}

// bothWays runs f for both ways in which lines reach files.
func bothWays(t *testing.T, f func(t *testing.T, written bool)) {
	t.Run("mapped", func(t *testing.T) {
		if !segment.CanMap {
			t.Skip("segments are mapped on Linux only, and written elsewhere")
		}
		f(t, false)
	})
	t.Run("written", func(t *testing.T) { f(t, true) })
}

// testWritten makes open set Config.Written.
var testWritten bool

func spoolDir(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "spool")
}

// eventTimeout is how long a test waits for an event that must occur. It is not
// a limit on latency.
const eventTimeout = 2 * time.Minute

// open opens a spool, and checks the identity when the test ends. It does not
// wait for the disk unless c has a file system: the tests are not about slow
// ones. Close waits until every goroutine has ended, and every error was
// reported, unless c.hang is set.
func open(t testing.TB, dir string, dest delivery.Destination, c Config) *Sink {
	t.Helper()
	if c.fs == nil {
		c.fs = unsynced{vfs.OS()}
	}
	if c.slow == 0 {
		c.slow = eventTimeout
	}
	if c.hang == 0 {
		c.hang = eventTimeout
	}
	if c.Drain == 0 {
		c.Drain = eventTimeout
	}
	c.Written = c.Written || testWritten
	s, err := Open(dir, dest, c)
	must(t, err)
	t.Cleanup(func() {
		_ = s.Close() // tests that check the error have closed it
		checkIdentity(t, s)
	})
	return s
}

func checkIdentity(t testing.TB, s *Sink) Stats {
	t.Helper()
	st := s.Stats()
	all := append([]DestinationStats{{
		Logged: st.Logged, Recovered: st.Recovered, Delivered: st.Delivered,
		Pending: st.Pending, Unfinished: st.Unfinished, Dropped: st.Dropped,
	}}, st.Destinations...)
	for _, d := range all {
		in, out := d.Logged+d.Recovered, d.Delivered+d.Pending+d.Unfinished+d.Lost()
		if in != out || d.Pending > in {
			t.Errorf("%s: %d lines came in and %d are accounted for: %+v", d.Name, in, out, d)
		}
	}
	return st
}

func record(l nib.Level, n, size int) *nib.Record {
	line := fmt.Appendf(nil, `{"n":%d,"pad":"`, n)
	for len(line) < size-3 {
		line = append(line, 'x')
	}
	return &nib.Record{Level: l, Time: int64(n), Line: append(line, "\"}\n"...)}
}

func checkLines(t testing.TB, got [][]byte, from, to, size int) {
	t.Helper()
	if len(got) != to-from {
		t.Errorf("got %d lines, want %d", len(got), to-from)
	}
	for i, line := range got {
		if want := record(0, from+i, size).Line; i < to-from && !bytes.Equal(line, want) {
			t.Fatalf("line %d: got %.60q, want %.60q", i, line, want)
		}
	}
}

func TestConformance(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		n := 0
		nibtest.TestSink(t, func(t testing.TB) (nib.Sink, func() [][]byte) {
			f := &far{}
			where := dir
			if n++; dir != "" {
				where = fmt.Sprint(dir, n)
			}
			return open(t, where, f, Config{SegmentSize: 5 << 20}), f.take
		})
	})
}

// TestManySegments fills many segments from many goroutines: each line arrives
// once, in the order of its goroutine, and the numbers have no gaps.
func TestManySegments(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		f := &far{}
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Size: 4 << 20,
			OnFull: []FullRule{{nib.LevelTrace, ActionBlock, time.Minute}}})
		const writers, each = 8, 2000
		var wg sync.WaitGroup
		for w := range writers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for n := range each {
					if err := s.WriteRecord(record(nib.LevelInfo, w*each+n, 40+n%300)); err != nil {
						t.Error(err)
						return
					}
				}
			}()
		}
		wg.Wait()
		must(t, s.Flush(context.Background()))
		var last [writers]int
		for i, seq := range f.seqs {
			if seq != uint64(i+1) {
				t.Fatalf("line %d has number %d", i, seq)
			}
		}
		for _, line := range f.take() {
			var n int
			if _, err := fmt.Sscanf(string(line), `{"n":%d,`, &n); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if got := n % each; got != last[n/each] {
				t.Fatalf("goroutine %d: got line %d, want %d", n/each, got, last[n/each])
			}
			last[n/each]++
		}
		for w, n := range last {
			if n != each {
				t.Errorf("goroutine %d: got %d lines, want %d", w, n, each)
			}
		}
		if st := checkIdentity(t, s); st.Delivered != writers*each || st.Pending != 0 {
			t.Errorf("got %+v, want all delivered", st)
		}
	})
}

// TestReopenDelivers closes a spool whose destination is down, several times:
// all lines are delivered in order, each once, with consecutive numbers.
func TestReopenDelivers(t *testing.T) {
	dir := spoolDir(t)
	f := &far{}
	const rounds, each = 4, 700
	for round := range rounds {
		f.set(down)
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Drain: time.Millisecond})
		if st := s.Stats(); st.Recovered != uint64(round*each) || st.Pending != st.Recovered {
			t.Errorf("round %d: got %+v, want %d recovered", round, st, round*each)
		}
		for n := range each {
			must(t, s.WriteRecord(record(nib.LevelInfo, round*each+n, 200)))
		}
		if err := s.Close(); !errors.Is(err, ErrPending) {
			t.Errorf("Close with a destination that is down: got %v, want ErrPending", err)
		}
		checkIdentity(t, s)
	}
	f.set(nil)
	s := open(t, dir, f, Config{SegmentSize: segment.MinSize})
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, rounds*each, 200)
	for i, seq := range f.seqs {
		if seq != uint64(i+1) {
			t.Fatalf("line %d has number %d", i, seq)
		}
	}
	must(t, s.Close())
	s = open(t, dir, f, Config{})
	must(t, s.WriteRecord(record(nib.LevelInfo, 1, 200)), s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), 1, 2, 200)
}

func TestWithoutDestination(t *testing.T) {
	dir := spoolDir(t)
	s := open(t, dir, nil, Config{SegmentSize: segment.MinSize})
	for n := range 1000 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 200)))
	}
	must(t, s.Flush(context.Background()), s.Close())
	if st := checkIdentity(t, s); st.Pending != 1000 || st.Failures > 0 {
		t.Errorf("got %+v, want 1000 pending and no failures", st)
	}
	f := &far{}
	s = open(t, dir, f, Config{})
	must(t, s.Close())
	checkLines(t, f.take(), 0, 1000, 200)
}

func TestFullSpoolDropsAndBlocksByLevel(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		f := &far{do: down}
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize, Drain: time.Millisecond,
			OnFull: []FullRule{{nib.LevelError, ActionBlock, time.Millisecond}}, Layout: nib.Layout{MessageKey: "msg"}})
		taken := 0
		for n := 0; ; n++ {
			err := s.WriteRecord(record(nib.LevelInfo, taken, 1000))
			if err == errFull {
				break
			}
			must(t, err)
			taken++
		}
		if err := s.WriteRecord(record(nib.LevelError, taken, 1000)); !errors.Is(err, delivery.ErrFull) {
			t.Errorf("blocking: got %v, want delivery.ErrFull after the wait", err)
		}
		st := checkIdentity(t, s)
		if st.Lost() != 2 || len(st.Dropped) != 2 || st.Dropped[0] != (delivery.Drop{Reason: delivery.ReasonFull, Level: nib.LevelInfo, Lines: 1}) || st.Dropped[1] != (delivery.Drop{Reason: delivery.ReasonFull, Level: nib.LevelError, Lines: 1}) {
			t.Errorf("got %+v, want one line of each level dropped", st)
		}
		f.set(nil)
		must(t, s.Flush(context.Background()))
		must(t, s.WriteRecord(record(nib.LevelInfo, taken, 1000)), s.Flush(context.Background()))
		checkLines(t, f.take(), 0, taken+1, 1000)
		reported := `"level":"warn","dropped":2,"levels":{"info":1,"error":1},"reasons":{"full":2},"msg":"lines lost: the spool dropped them"}`
		if len(f.notices) != 1 || !json.Valid(f.notices[0]) || !bytes.Contains(f.notices[0], []byte(reported)) {
			t.Errorf("got notices %q, want one with %s", f.notices, reported)
		}
	})
}

// TestBlockedCallGoesOn has a call that waits until a destination makes room.
func TestBlockedCallGoesOn(t *testing.T) {
	f := &far{do: down}
	s := open(t, "", f, Config{SegmentSize: segment.MinSize, Size: 2 * segment.MinSize,
		OnFull: []FullRule{{nib.LevelError, ActionBlock, time.Hour}}})
	n := 0
	for ; s.WriteRecord(record(nib.LevelInfo, n, 1000)) == nil; n++ {
	}
	done := make(chan error)
	go func() { done <- s.WriteRecord(record(nib.LevelError, n, 1000)) }()
	f.set(nil)
	must(t, <-done, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, n+1, 1000)
}

func TestTooLargeAndClosed(t *testing.T) {
	f := &far{}
	s := open(t, "", f, Config{SegmentSize: segment.MinSize})
	largest := segment.MinSize - segment.HeaderSize - segment.RecordHead
	must(t, s.WriteRecord(record(0, 0, largest)))
	if err := s.WriteRecord(record(0, 1, largest+1)); !errors.Is(err, delivery.ErrTooLarge) {
		t.Errorf("got %v, want delivery.ErrTooLarge", err)
	}
	must(t, s.WriteRecord(record(0, 1, largest)), s.Close(), s.Close())
	if err := s.WriteRecord(record(0, 2, 10)); !errors.Is(err, delivery.ErrClosed) {
		t.Errorf("got %v, want delivery.ErrClosed", err)
	}
	checkLines(t, f.take(), 0, 2, largest)
	if st := checkIdentity(t, s); st.Lost() != 2 || st.Logged != 4+st.Notices {
		t.Errorf("got %+v, want 4 logged and 2 lost", st)
	}
}

func TestCloseInMemoryCountsWhatIsLeft(t *testing.T) {
	s := open(t, "", &far{do: down}, Config{SegmentSize: segment.MinSize, Drain: time.Millisecond})
	for n := range 1000 {
		must(t, s.WriteRecord(record(nib.LevelWarn, n, 200)))
	}
	for range 2 {
		if err := s.Close(); !errors.Is(err, ErrPending) {
			t.Errorf("got %v, want ErrPending", err)
		}
	}
	if st := checkIdentity(t, s); len(st.Dropped) != 1 || st.Dropped[0] != (delivery.Drop{Reason: delivery.ReasonClosed, Level: nib.LevelWarn, Lines: 1000}) || st.Pending != 0 {
		t.Errorf("got %+v, want 1000 dropped as closed", st)
	}
}

func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		must(t, open(t, "", &far{}, Config{SegmentSize: segment.MinSize}).Close())
	}
	// The goroutines have signaled that they end, and may not have been
	// scheduled yet.
	await.Until(t, "there are no more goroutines than before", func() bool { return runtime.NumGoroutine() <= before })
}

func TestOneProcess(t *testing.T) {
	dir := spoolDir(t)
	s := open(t, dir, &far{}, Config{SegmentSize: segment.MinSize})
	if _, err := Open(dir, &far{}, Config{}); !errors.Is(err, ErrInUse) {
		t.Errorf("got %v, want ErrInUse", err)
	}
	must(t, s.Close())
	must(t, open(t, dir, &far{}, Config{SegmentSize: segment.MinSize}).Close(), os.Chmod(dir, 0o770))
	if _, err := Open(dir, &far{}, Config{}); !errors.Is(err, store.ErrUnsafe) {
		t.Errorf("got %v, want ErrUnsafe", err)
	}
}

// TestDropOld drops the oldest lines while the destination hangs with a batch
// of the first segment: the batch is delivered, then a notice with the number
// of dropped lines, and then the last lines.
func TestDropOld(t *testing.T) {
	dirs(t, func(t *testing.T, dir string) {
		f := &far{}
		reached, hold := make(chan struct{}, 1), make(chan struct{})
		f.set(func(context.Context, []nib.Record) (delivery.Result, error, bool) {
			reached <- struct{}{}
			<-hold
			return delivery.Result{Accepted: 1}, nil, false
		})
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, Size: 4 * segment.MinSize,
			OnFull: []FullRule{{nib.LevelTrace, ActionDropOld, 0}}})
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 1000)))
		<-reached
		const lines = 2000
		for n := 1; n < lines; n++ {
			must(t, s.WriteRecord(record(nib.LevelInfo, n, 1000)))
		}
		if st := checkIdentity(t, s); st.Lost() < lines/2 || st.Dropped[0].Reason != delivery.ReasonOldest || st.Pending == 0 {
			t.Errorf("got %+v, want most of %d lines dropped as oldest", st, lines)
		}
		f.set(nil)
		close(hold)
		must(t, s.Flush(context.Background()))
		st := checkIdentity(t, s)
		got := f.take()
		if want := lines + st.Notices - st.Lost(); uint64(len(got)+len(f.notices)) != want {
			t.Errorf("got %d lines and %d notices, want %d of both", len(got), len(f.notices), want)
		}
		reported := uint64(0)
		for _, line := range f.notices {
			var notice struct{ Dropped uint64 }
			must(t, json.Unmarshal(line, &notice))
			reported += notice.Dropped
		}
		if reported != st.Lost() {
			t.Errorf("notices report %d lines, want %d", reported, st.Lost())
		}
		last := got[len(got)-1]
		if want := record(nib.LevelInfo, lines-1, 1000).Line; !bytes.Equal(last, want) {
			t.Errorf("the last line is %.60q, want %.60q", last, want)
		}
		for i := 1; i < len(f.seqs); i++ {
			if f.seqs[i] <= f.seqs[i-1] {
				t.Fatalf("number %d after %d", f.seqs[i], f.seqs[i-1])
			}
		}
	})
}
