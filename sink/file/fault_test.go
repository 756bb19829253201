// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

func TestShortWritesAreGoneOnWith(t *testing.T) {
	for _, buffer := range []int{0, 4096} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Buffer: buffer})
		for n := range 20 {
			m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Short: n + 1, Times: 2})
			writeNumbers(t, s, n, n+1)
			must(t, s.Flush(context.Background()))
		}
		checkNumbers(t, memAll(t, m), 20)
		checkIdentity(t, s, 20)
	}
}

// TestDiskFull fills the disk in the middle of a line and makes room again. The
// program continues, the lost lines are counted by level and reason, and the
// next line reports them.
func TestDiskFull(t *testing.T) {
	for _, buffer := range []int{0, 300} {
		for room := range int64(60) {
			m, clock := newMem(t)
			s := openMem(t, m, clock, Config{Buffer: buffer, OnError: func(error) {}})
			logged, accepted := 0, 0
			log := func(l nib.Level) {
				clock.advance(time.Millisecond)
				err := s.WriteRecord(record(l, logged, 0))
				if logged++; err == nil {
					accepted++
				} else if !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, delivery.ErrFull) {
					t.Errorf("got %v, want ENOSPC and delivery.ErrFull", err)
				}
			}
			log(nib.LevelInfo)
			_ = s.Flush(context.Background())
			m.SetFree(room)
			for range 50 {
				log(nib.LevelDebug)
				log(nib.LevelError)
			}
			_ = s.Flush(context.Background())
			checkIdentity(t, s, logged)
			lost := s.Stats()
			if lost.Lost() == 0 || count(lost, delivery.ReasonFull, nib.LevelDebug)+count(lost, delivery.ReasonFull, nib.LevelError) != lost.Lost() {
				t.Fatalf("Buffer %d, room %d: got %+v, want losses as full", buffer, room, lost)
			}
			m.SetFree(-1)
			clock.advance(time.Duration(longestPause))
			log(nib.LevelInfo)
			must(t, s.Close())
			checkIdentity(t, s, logged)
			lines, notices, torn := parse(memAll(t, m))
			st := s.Stats()
			if len(notices) != 1 || notices[0].Dropped != st.Lost() || notices[0].Levels["error"] != count(st, delivery.ReasonFull, nib.LevelError) || notices[0].Reasons["full"] != st.Lost() {
				t.Fatalf("Buffer %d, room %d: got notices %+v, want one of %+v", buffer, room, notices, st)
			}
			if uint64(len(lines)) != st.Lines || *lines[len(lines)-1].N != logged-1 || len(torn) > 1 {
				t.Fatalf("Buffer %d, room %d: got %d lines, torn %q, want %d with the last one and one torn", buffer, room, len(lines), torn, st.Lines)
			}
		}
	}
}

// TestFullDiskCostsFewCalls logs for a second without room.
func TestFullDiskCostsFewCalls(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	m.SetFree(0)
	calls, opens := 0, 0
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Reached: func() { calls++ }})
	m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Reached: func() { opens++ }})
	for range 10_000 {
		clock.advance(100 * time.Microsecond)
		if err := s.WriteRecord(record(nib.LevelInfo, 1, 0)); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("got %v, want ENOSPC", err)
		}
	}
	if calls < 5 || calls > 20 || opens > 0 {
		t.Errorf("got %d attempts in a second, want between 5 and 20, and %d opens, want none", calls, opens)
	}
	m.SetFree(-1)
	for ms := 0; s.WriteRecord(record(nib.LevelInfo, 1, 0)) != nil; ms++ {
		clock.advance(time.Millisecond)
		if ms > 250 {
			t.Fatal("writing is not taken up within 250 ms")
		}
	}
}

// TestPassingFaults checks that a single fault loses nothing, because the line
// is retried, and that two in a row lose a line. OnError gets the error of a
// line for which no call returns it.
func TestPassingFaults(t *testing.T) {
	for _, buffer := range []int{0, 4096} {
		for faults, want := range map[int]string{1: "0 1 2", 2: "0 2"} {
			m, clock := newMem(t)
			reports := 0
			s := openMem(t, m, clock, Config{Buffer: buffer, OnError: func(error) { reports++ }})
			ctx := context.Background()
			writeNumbers(t, s, 0, 1)
			must(t, s.Flush(ctx))
			m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: faults, Err: syscall.EIO})
			err := errors.Join(s.WriteRecord(record(nib.LevelWarn, 1, 0)), s.Flush(ctx))
			if lost := faults > 1; lost != errors.Is(err, syscall.EIO) || lost && !strings.HasPrefix(err.Error(), "nib/file: write "+livePath) {
				t.Errorf("Buffer %d, %d faults: got %v, want EIO with the path: %v", buffer, faults, err, lost)
			}
			if reported := buffer > 0 || faults == 1; reported != (reports == 1) {
				t.Errorf("Buffer %d, %d faults: OnError was called %d times", buffer, faults, reports)
			}
			clock.advance(time.Second)
			writeNumbers(t, s, 2, 3)
			must(t, s.Close())
			wantText(t, "file", numbers(memAll(t, m)), want)
			st := s.Stats()
			if lost := uint64(faults - 1); count(st, delivery.ReasonFailed, nib.LevelWarn) != lost || st.Notices != lost || st.Errors != uint64(faults) {
				t.Errorf("Buffer %d, %d faults: got %+v, want %d warnings lost and reported", buffer, faults, st, lost)
			}
		}
	}
}

// TestBatchIsGoneOnWithAfterAFault has a fault in the middle of a line of a
// batch.
func TestBatchIsGoneOnWithAfterAFault(t *testing.T) {
	for short := 1; short < 200; short += 13 {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Buffer: 4096, Delay: never})
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: 1, Short: short})
		m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: 1, Err: syscall.EIO}) // fails the second write
		writeNumbers(t, s, 0, 10)
		must(t, s.Close())
		lines, _, torn := parse(memAll(t, m))
		for i, l := range lines {
			if *l.N != i {
				t.Fatalf("cut after %d bytes: line %d has number %d", short, i, *l.N)
			}
		}
		if len(lines) != 10 || len(torn) > 1 {
			t.Errorf("cut after %d bytes: got %d lines, torn %q", short, len(lines), torn)
		}
		checkIdentity(t, s, 10)
	}
}

// TestNoticeIsWrittenByCloseAndFlush checks that Close and Flush write a notice
// when there are no more lines.
func TestNoticeIsWrittenByCloseAndFlush(t *testing.T) {
	for name, end := range map[string]func(s *Sink) error{
		"Flush": func(s *Sink) error { return s.Flush(context.Background()) },
		"Close": (*Sink).Close,
	} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Layout: nib.Layout{TimeKey: "ts", MessageKey: "msg"}})
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.ENOSPC})
		for range 5 {
			_ = s.WriteRecord(record(nib.LevelInfo, 1, 0))
		}
		heal()
		must(t, end(s)) // without waiting for the end of a pause
		if _, notices, _ := parse(memAll(t, m)); len(notices) != 1 || notices[0].Dropped != 5 {
			t.Errorf("%s: got notices %+v, want one of 5", name, notices)
		}
		if text := memAll(t, m); !strings.HasPrefix(text, `{"ts":"`) || !strings.HasSuffix(text, `,"msg":"lines lost: no space was left for the log file"}`+"\n") {
			t.Errorf("%s: got %s, want a notice in the layout", name, text)
		}
	}
}

// A notice is in the form of the lines around it.
func TestNoticeHasTheView(t *testing.T) {
	m, clock := newMem(t)
	view := func(dst, line []byte) []byte { return fmt.Appendf(dst, "%d fields\n", bytes.Count(line, []byte(`":`))) }
	s := openMem(t, m, clock, Config{View: view})
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.ENOSPC})
	_ = s.WriteRecord(record(nib.LevelInfo, 1, 0))
	heal()
	clock.advance(time.Second)
	must(t, s.Flush(context.Background()))
	if got, want := memAll(t, m), "8 fields\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNoticeHasRoom checks that a notice counts towards MaxSize, and does not
// end a line of another file.
func TestNoticeHasRoom(t *testing.T) {
	for short := range 30 {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{MaxSize: 300})
		for n := range 1 + short%5 {
			mustWrite(t, s, record(nib.LevelInfo, n, 40))
		}
		if short > 0 {
			m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: 1, Short: short})
		}
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.EIO})
		for range 3 {
			_ = s.WriteRecord(record(nib.LevelInfo, 5, 40))
		}
		heal()
		clock.advance(time.Second)
		mustWrite(t, s, record(nib.LevelInfo, 6, 40))
		for _, name := range memFiles(t, m) {
			text := memText(t, m, filepath.Join(logDir, name))
			if len(text) > 300 || strings.HasPrefix(text, "\n") || !strings.HasSuffix(text, "\n") {
				t.Errorf("cut after %d bytes: %s: got %q", short, name, text)
			}
		}
		if _, notices, _ := parse(memAll(t, m)); len(notices) != 1 {
			t.Errorf("cut after %d bytes: got %d notices", short, len(notices))
		}
	}
}

// TestTornLineOfADeadProcess checks that a partial line of another process is
// terminated.
func TestTornLineOfADeadProcess(t *testing.T) {
	for _, c := range []struct{ name, left, want string }{
		{"nothing", "", `{"level":"info","n":1}` + "\n"},
		{"whole line", "{}\n", "{}\n" + `{"level":"info","n":1}` + "\n"},
		{"half a line", `{"level`, `{"level` + "\n" + `{"level":"info","n":1}` + "\n"},
		{"zeros", "{}\n\x00\x00", "{}\n\x00\x00\n" + `{"level":"info","n":1}` + "\n"},
	} {
		for _, policy := range []SyncPolicy{SyncNever, SyncAlways} {
			m, clock := newMem(t)
			put(t, m, livePath, c.left)
			s := openMem(t, m, clock, Config{Sync: policy})
			wantText(t, c.name+", untouched before there is a line", memAll(t, m), c.left)
			reads := 0
			m.Fail(vfstest.Fault{Op: vfstest.OpRead, Reached: func() { reads++ }})
			if writeNumbers(t, s, 1, 2); reads > 1 {
				t.Errorf("%s: the end was read %d times, want once", c.name, reads)
			}
			wantText(t, c.name, memAll(t, m), c.want)
			if n := s.Stats().Notices; n != 0 {
				t.Errorf("%s: got %d notices, want none", c.name, n)
			}
		}
	}
}

// TestLineThatAnotherProcessIsWriting checks that a line being written is not
// taken for a partial line of a dead process.
func TestLineThatAnotherProcessIsWriting(t *testing.T) {
	for _, c := range []struct{ size, look int }{{6, 1}, {4096, 1}, {4096, 2}, {8192, 3}} {
		m, clock := newMem(t)
		f, err := m.Open(livePath, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		must(t, err)
		_, err = f.Write([]byte(strings.Repeat(" ", c.size-5) + `{"n":`))
		must(t, err)
		s := openMem(t, m, clock, Config{})
		look := 0
		m.Fail(vfstest.Fault{Op: vfstest.OpRead, Reached: func() {
			if look++; look == c.look {
				_, err := f.Write([]byte("0}\n"))
				must(t, err)
			}
		}})
		writeNumbers(t, s, 1, 2)
		checkNumbers(t, memAll(t, m), 2)
	}
}

func TestMinFreeIsLeftToOthers(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MinFree: 1000})
	m.SetFree(1200)
	logged := 0
	for range 100 {
		clock.advance(200 * time.Millisecond)
		err := s.WriteRecord(record(nib.LevelInfo, logged, 50))
		if logged++; err != nil && !errors.Is(err, delivery.ErrFull) {
			t.Fatalf("got %v, want delivery.ErrFull", err)
		}
	}
	st := s.Stats()
	if st.Lines != 5 || count(st, delivery.ReasonFull, nib.LevelInfo) != 95 {
		t.Errorf("got %+v, want 5 lines of 50 bytes, the others dropped as full", st)
	}
	m.SetFree(5000)
	clock.advance(time.Second)
	writeNumbers(t, s, logged, logged+1)
	checkIdentity(t, s, logged+1)
	if st := s.Stats(); st.Notices != 1 {
		t.Errorf("got %d notices, want 1", st.Notices)
	}
}

// TestSyncPolicies counts the syncs of each policy.
func TestSyncPolicies(t *testing.T) {
	for _, c := range []struct {
		policy                     SyncPolicy
		write, flush, rotate, done int // syncs after that
	}{
		{SyncNever, 0, 0, 0, 0},
		{SyncFlush, 0, 1, 2, 3},
		{SyncAlways, 3, 3, 6, 6},
	} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Sync: c.policy})
		syncs := 0
		m.Fail(vfstest.Fault{Op: vfstest.OpSync, Reached: func() { syncs++ }})
		want := func(what string, n int) {
			t.Helper()
			if syncs != n {
				t.Errorf("%d: got %d syncs after %s, want %d", c.policy, syncs, what, n)
			}
		}
		writeNumbers(t, s, 0, 3)
		want("three lines", c.write)
		must(t, s.Flush(context.Background()))
		want("Flush", c.flush)
		writeNumbers(t, s, 3, 6)
		must(t, s.Rotate())
		want("Rotate", c.rotate)
		if c.policy != SyncAlways {
			writeNumbers(t, s, 6, 7)
		}
		must(t, s.Close())
		want("Close", c.done)
		if c.policy != SyncNever { // synced lines survive
			checkHas(t, memAll(t, m.CrashClone(vfstest.Nothing)), 6)
		}
	}
}

func TestFailedSync(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Sync: SyncAlways})
	writeNumbers(t, s, 0, 1)
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Times: 2, Err: syscall.EIO})
	if err := s.WriteRecord(record(nib.LevelInfo, 1, 0)); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v, want EIO", err)
	}
	clock.advance(time.Second)
	writeNumbers(t, s, 2, 3)
	checkIdentity(t, s, 3)
	checkHas(t, memAll(t, m.CrashClone(vfstest.Nothing)), 1)
	if got := numbers(memAll(t, m.CrashClone(vfstest.Nothing))); !strings.HasSuffix(got, "2") {
		t.Errorf("got lines %s after a loss of power, want the last one among them", got)
	}

	flushed := openMem(t, m, clock, Config{Sync: SyncFlush})
	writeNumbers(t, flushed, 3, 4)
	m.Fail(vfstest.Fault{Op: vfstest.OpSync, Times: 1, Err: syscall.EIO})
	if err := flushed.Flush(context.Background()); !errors.Is(err, syscall.EIO) {
		t.Errorf("Flush: got %v, want EIO", err)
	}
	must(t, flushed.Flush(context.Background()))
}

// TestWhatCountsAsWrittenIsSynced checks that lines that count as written are
// synced, also when a batch is written in part.
func TestWhatCountsAsWrittenIsSynced(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Sync: SyncAlways, Buffer: 4096, Delay: never})
	writeNumbers(t, s, 0, 10)
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: 1, Short: 100})
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.ENOSPC})
	_ = s.WriteRecord(record(nib.LevelError, 10, 0))
	lines, _, _ := parse(memAll(t, m.CrashClone(vfstest.Nothing)))
	if st := s.Stats(); st.Lines > uint64(len(lines)) || st.Lines+st.Lost() != 11 {
		t.Errorf("got %d lines after a loss of power, counted %+v", len(lines), st)
	}
}

// TestOnErrorMayDoAnything has an OnError that logs, panics and calls Stats.
func TestOnErrorMayDoAnything(t *testing.T) {
	m, clock := newMem(t)
	var s *Sink
	calls := 0
	s = openMem(t, m, clock, Config{MaxSize: 100, OnError: func(err error) {
		calls++
		_ = s.WriteRecord(record(nib.LevelError, 99, 0))
		_ = s.Stats()
		_ = s.Rotate()
		panic(err)
	}})
	m.Fail(vfstest.Fault{Op: vfstest.OpNoReplace, Err: syscall.EACCES})
	for n := range 20 {
		clock.advance(2 * time.Minute)
		writeNumbers(t, s, n, n+1)
	}
	if calls < 5 {
		t.Errorf("OnError was called %d times, want some", calls)
	}
	checkIdentity(t, s, 20+calls)
}

// TestOnErrorIsCalledForANewReason checks that a new reason is reported at
// once, and the same one a minute later.
func TestOnErrorIsCalledForANewReason(t *testing.T) {
	m, clock := newMem(t)
	var reported []string
	s := openMem(t, m, clock, Config{OnError: func(err error) { reported = append(reported, root(err).Error()) }})
	for _, step := range []struct {
		err  error
		wait time.Duration
	}{{syscall.EIO, 0}, {syscall.EIO, time.Second}, {syscall.EACCES, 0}, {syscall.EACCES, 2 * time.Minute}} {
		clock.advance(step.wait)
		s.mu.Lock()
		s.w.errors.report("rotate", step.err)
		s.unlock()
	}
	want := []string{syscall.EIO.Error(), syscall.EACCES.Error(), syscall.EACCES.Error()}
	if !slices.Equal(reported, want) {
		t.Errorf("got %q, want %q", reported, want)
	}
}

// TestOnErrorOfReasonsThatAlternate checks that each of several reasons of an
// operation is reported once a minute, in whatever order they come, and that
// reasons without end take bounded memory.
func TestOnErrorOfReasonsThatAlternate(t *testing.T) {
	m, clock := newMem(t)
	var reported []string
	s := openMem(t, m, clock, Config{OnError: func(err error) { reported = append(reported, root(err).Error()) }})
	report := func(err error) {
		clock.advance(time.Millisecond)
		s.mu.Lock()
		s.w.errors.report("rotate", err)
		s.unlock()
	}
	eio, eacces := syscall.EIO.Error(), syscall.EACCES.Error()
	for range 10 {
		report(syscall.EIO)
		report(syscall.EACCES)
	}
	if want := []string{eio, eacces}; !slices.Equal(reported, want) {
		t.Errorf("got %q, want %q", reported, want)
	}
	clock.advance(time.Minute)
	report(syscall.EACCES)
	report(syscall.EIO)
	if want := []string{eio, eacces, eacces, eio}; !slices.Equal(reported, want) {
		t.Errorf("a minute later: got %q, want %q", reported, want)
	}
	reported = nil
	most := 0
	for n := range 10 * maxReports {
		report(errors.New(strconv.Itoa(n)))
		most = max(most, len(s.w.errors.notBefore))
	}
	if len(reported) != 10*maxReports || most > maxReports {
		t.Errorf("got %d reports of %d new reasons, and %d in memory, want all and at most %d",
			len(reported), 10*maxReports, most, maxReports)
	}
}

// TestErrorHasThePathOnce wraps errors of the system, which have the path
// already if they concern the file itself.
func TestErrorHasThePathOnce(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	for path, want := range map[string]string{
		livePath: "nib/file: open " + livePath + ": " + syscall.EIO.Error(),
		"other":  "nib/file: open " + livePath + ": read other: " + syscall.EIO.Error(),
	} {
		err := s.w.errors.wrap("open", &fs.PathError{Op: "read", Path: path, Err: syscall.EIO})
		if err.Error() != want || !errors.Is(err, syscall.EIO) {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

// TestWriteIsRetriedAtOnce counts the attempts to write a line, the first one
// of a file and another: two, or one if the disk is full.
func TestWriteIsRetriedAtOnce(t *testing.T) {
	for err, want := range map[error]int{syscall.EIO: 2, syscall.ENOSPC: 1} {
		for before := range 2 {
			m, clock := newMem(t)
			s := openMem(t, m, clock, Config{OnError: func(error) {}})
			writeNumbers(t, s, 0, before)
			attempts := 0
			heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: "app.log", Err: err, Reached: func() { attempts++ }})
			if got := s.WriteRecord(record(nib.LevelInfo, 0, 0)); !errors.Is(got, err) || attempts != want {
				t.Errorf("%v: got %v after %d attempts, want %d", err, got, attempts, want)
			}
			heal()
			clock.advance(time.Second)
			writeNumbers(t, s, 1, 2)
			checkIdentity(t, s, before+2)
		}
	}
}

func TestNotice(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 123e6, time.FixedZone("", 3600))
	one := func(c cause, l nib.Level, n uint64) (t loss.Tally) {
		t[c][level.Row(int(l))] = n
		return t
	}
	both := one(full, nib.LevelInfo, 120)
	both[full][level.Row(int(nib.LevelError))] = 3
	mixed := both
	mixed[failed][level.Row(int(nib.LevelInfo))] = 2
	for _, c := range []struct {
		name string
		give loss.Tally
		want string
	}{
		{"one level", one(full, nib.LevelTrace, 1), `{"time":"2026-11-21T09:30:00.123Z","level":"warn","dropped":1,"levels":{"trace":1},"reasons":{"full":1},"message":"lines lost: no space was left for the log file"}`},
		{"two levels", both, `{"time":"2026-11-21T09:30:00.123Z","level":"warn","dropped":123,"levels":{"info":120,"error":3},"reasons":{"full":123},"message":"lines lost: no space was left for the log file"}`},
		{"two reasons", mixed, `{"time":"2026-11-21T09:30:00.123Z","level":"warn","dropped":125,"levels":{"info":122,"error":3},"reasons":{"full":123,"failed":2},"message":"lines lost: the log file could not be written"}`},
	} {
		wantText(t, c.name, string(appendNotice(loss.NewNotices(nib.Layout{}), nil, now, c.give)), c.want+"\n")
	}
	var most loss.Tally
	for c := range most {
		for l := range most[c] {
			most[c][l] = 1<<64 - 1
		}
	}
	if n := len(appendNotice(loss.NewNotices(nib.Layout{}), nil, now, most)); n > loss.NoticeSize {
		t.Errorf("the longest notice has %d bytes, want at most %d", n, loss.NoticeSize)
	}
}

// A strangeFS wraps the files of another file system with faulty ones.
type strangeFS struct {
	vfs.FS
	write func(p []byte) (int, error)
}

type strangeFile struct {
	vfs.File
	write func(p []byte) (int, error)
}

func (s strangeFS) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := s.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return strangeFile{f, s.write}, nil
}

func (f strangeFile) Write(p []byte) (int, error) { return f.write(p) }

func TestWriteThatDoesNothing(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, strangeFS{m, func([]byte) (int, error) { return 0, nil }}, clock, Config{})
	if err := s.WriteRecord(record(nib.LevelInfo, 1, 0)); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v, want ErrShortWrite", err)
	}
	checkIdentity(t, s, 1)
}

// TestErrorWithBytesWritten has a write that fails after a part of the line.
func TestErrorWithBytesWritten(t *testing.T) {
	m, clock := newMem(t)
	var got bytes.Buffer
	s := openMem(t, strangeFS{m, func(p []byte) (int, error) {
		if bytes.Contains(p, []byte(`"n":1`)) {
			got.Write(p[:5])
			return 5, syscall.EIO
		}
		return got.Write(p)
	}}, clock, Config{})
	for n := range 3 {
		_ = s.WriteRecord(record(nib.LevelInfo, n, 0))
	}
	lines, notices, torn := parse(got.String())
	if fmt.Sprint(len(lines), len(notices), torn) != `2 1 [{"lev`+"\n"+` {"lev`+"\n]" {
		t.Errorf("got %q", got.String())
	}
	checkIdentity(t, s, 3)
}

// TestErrorWithAWholeLineWritten has a write that returns an error although it
// has written the line: that counts as written, and the error as an error.
func TestErrorWithAWholeLineWritten(t *testing.T) {
	m, clock := newMem(t)
	var got bytes.Buffer
	s := openMem(t, strangeFS{m, func(p []byte) (int, error) {
		got.Write(p)
		if bytes.Contains(p, []byte(`"n":1`)) {
			return len(p), syscall.EIO
		}
		return len(p), nil
	}}, clock, Config{})
	writeNumbers(t, s, 0, 3)
	checkNumbers(t, got.String(), 3)
	if st := s.Stats(); st.Lines != 3 || st.Errors != 1 {
		t.Errorf("got %+v, want 3 lines and 1 error", st)
	}
}
