// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/enumerate"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// TestEveryCallMayFail makes every call of a spool to its file system fail, in
// every way and for every span, see [enumerate]. In each case a process opens a
// spool with a backlog and a cursor, delivers, logs into several segments,
// syncs, copies, and closes with a destination that is down; a second one
// continues; then the fault is gone, and a third one delivers the rest. After
// each case:
//
//   - every line whose call returned nil has arrived, in order, and no other;
//   - none has arrived twice, unless the cursor could not be written;
//   - every rejected line is counted;
//   - the counters of each process balance, and nothing counts as damaged or
//     unfinished;
//   - nothing was quarantined, and no file is left over;
//   - the error was returned by Open, or counted and reported, unless the call
//     is one whose error has no consequence.
func TestEveryCallMayFail(t *testing.T) {
	t.Run("written", func(t *testing.T) {
		image := memSpool(t)
		enumerate.Life{
			New:   func(testing.TB) vfs.FS { return image.CrashClone(vfstest.Everything) },
			Run:   func(t *testing.T, w *enumerate.World) { liveThrough(t, w, memDir) },
			Class: classOf,
		}.Enumerate(t)
	})
	t.Run("mapped", func(t *testing.T) {
		if !segment.CanMap {
			t.Skip("segments are mapped on Linux only, and written elsewhere")
		}
		image, dir := memSpool(t), filepath.Join(t.TempDir(), "spool")
		enumerate.Life{
			New: func(t testing.TB) vfs.FS {
				must(t, os.RemoveAll(dir))
				writeTree(t, image, memDir, dir)
				return unsynced{vfs.OS()}
			},
			Run:   func(t *testing.T, w *enumerate.World) { liveThrough(t, w, dir) },
			Class: classOf,
		}.Enumerate(t)
	})
}

// classOf maps the names of all segments to one name, and the names of all
// copies to another.
func classOf(base string) string {
	if digits, ext, ok := strings.Cut(base, "."); ok && len(digits) == 16 {
		return "N." + ext
	}
	if strings.HasSuffix(base, "spool") {
		return "directory"
	}
	return base
}

const (
	lifeSize    = 3000 // bytes of a line; each is a call where files are not mapped
	lifeBacklog = 50   // lines, in three segments
	lifeSettled = 30   // of these
	lifeLines   = 30   // that each process logs at a time
)

// memSpool returns a file system with a partly delivered spool.
func memSpool(t testing.TB) *vfstest.Mem {
	t.Helper()
	m := memBacklog(t, lifeBacklog, lifeSize, SyncSoon)
	left, enough := lifeSettled, make(chan struct{})
	f := &far{}
	f.set(func(ctx context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		n := min(left, len(batch))
		if left -= n; n == 0 {
			close(enough)
			<-ctx.Done()
		}
		return delivery.Result{Accepted: n}, ctx.Err(), false
	})
	s, err := Open(memDir, f, Config{SegmentSize: segment.MinSize, Size: 64 * segment.MinSize, fs: m, tick: time.Microsecond, Drain: time.Nanosecond})
	must(t, err)
	<-enough
	_ = s.Close() // lines are left
	<-s.done
	made, err := m.Open(filepath.Join(memDir, store.SegmentName(99)+store.MadeSuffix), os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err, made.Close())
	return m
}

// A life is the state of a case.
type life struct {
	w        *enumerate.World
	dir      string
	c        Config // of its processes
	f        *far
	logged   int          // lines of all processes and of the backlog
	acked    map[int]bool // the lines that the destination must get
	refused  map[*Sink]int
	reported atomic.Int32
	void     uint64            // claims in segments that failed: the next process finds that their calls did not return
	counted  uint64            // errors in Stats, and starts that failed
	returned int               // errors that were returned
	quiet    map[string]string // as noConsequence, for this life
}

func newLife(w *enumerate.World, dir string) *life {
	l := &life{w: w, dir: dir, f: &far{}, acked: map[int]bool{}, refused: map[*Sink]int{}}
	l.c = Config{SegmentSize: segment.MinSize, Size: 16 * segment.MinSize, fs: w.FS, slow: time.Second, Drain: time.Second,
		OnError: func(error) { l.reported.Add(1) }}
	return l
}

// backlog notes the lines that the file system has from the start.
func (l *life) backlog(from, to int) {
	for n := from; n < to; n++ {
		l.acked[n] = true
	}
	l.logged = max(l.logged, to)
}

func liveThrough(t *testing.T, w *enumerate.World, dir string) {
	synctest.Test(t, func(t *testing.T) {
		l := newLife(w, dir)
		l.backlog(lifeSettled, lifeBacklog)
		l.process(t, func(s *Sink) {
			l.log(s, lifeLines)
			l.wait(s.Sync)
			l.wait(s.Flush)
			l.f.set(down)
			l.log(s, lifeLines)
			l.wait(s.Sync)
		})
		l.f.set(nil)
		l.process(t, func(s *Sink) {
			l.log(s, 2)
			l.wait(s.Flush)
			l.log(s, 2)
		})
		w.Heal()
		l.process(t, func(s *Sink) {
			l.log(s, 1)
			must(t, s.Flush(context.Background()))
		})
		got := l.arrived(t, l.f)
		if want := l.wanted(); !slices.Equal(got, want) {
			t.Errorf("%d lines arrived, want %d: %s", len(got), len(want), firstDifference(got, want))
		}
		l.checkReports(t)
		l.checkFiles(t, dir)
	})
}

// log logs lines.
func (l *life) log(s *Sink, lines int) {
	for range lines {
		if s.WriteRecord(record(nib.LevelInfo, l.logged, lifeSize)) == nil {
			l.acked[l.logged] = true
		} else {
			l.refused[s]++
		}
		l.logged++
		time.Sleep(time.Millisecond) // for the goroutines that rest, so that the calls are the same in each case
		synctest.Wait()
	}
}

// wait calls Sync or Flush, which may not return while the fault lasts.
func (l *life) wait(call func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = call(ctx) // the delivered lines are checked in the end
}

// process opens the spool, calls do, and closes it.
func (l *life) process(t *testing.T, do func(s *Sink)) {
	s := l.open(t)
	do(s)
	l.close(t, s)
}

// open opens the spool. If it cannot be opened, the fault ends.
func (l *life) open(t *testing.T) *Sink {
	s, err := Open(l.dir, l.f, l.c)
	if err != nil {
		l.counted++
		l.mayFail(t, err)
		l.w.Heal()
		s, err = Open(l.dir, l.f, l.c)
		must(t, err)
	}
	synctest.Wait()
	return s
}

// mayFail checks that a returned error is the error of the case.
func (l *life) mayFail(t *testing.T, err error) {
	l.returned++
	if c, ok := l.w.Case(); !ok || !errors.Is(err, c.Err) && !errors.Is(err, ErrInUse) {
		t.Errorf("got %v", err)
	}
}

// close closes the spool, and checks its counters.
func (l *life) close(t *testing.T, s *Sink) {
	_ = s.Close() // lines may be left
	<-s.done
	st := checkIdentity(t, s)
	l.counted += st.Errors + uint64(st.Retired)
	lost := 0
	for _, d := range st.Dropped {
		switch {
		case d.Reason == delivery.ReasonDamaged && l.leavesHalves() && d.Lines <= l.void:
			continue
		case d.Reason != delivery.ReasonFull && d.Reason != delivery.ReasonFailed:
			t.Errorf("%d lines count as %s: %+v", d.Lines, d.Reason, st)
		}
		lost += int(d.Lines)
	}
	if lost != l.refused[s] {
		t.Errorf("%d calls returned an error, and %d lines count as dropped: %+v", l.refused[s], lost, st)
	}
	if st.Unfinished > l.void || st.Bad > 0 && !(l.leavesHalves() && uint64(st.Bad) <= l.void) {
		t.Errorf("lines count as unfinished, or files were quarantined: %+v", st)
	}
	l.void += uint64(st.Retired)
}

// arrived returns the lines that a destination has got, and checks that none
// has come twice.
func (l *life) arrived(t *testing.T, f *far) (got []int) {
	t.Helper()
	var twice []int
	seen := map[int]bool{}
	for _, line := range f.take() {
		var n int
		_, err := fmt.Sscanf(string(line), `{"n":%d,`, &n)
		must(t, err)
		if !bytes.Equal(line, record(nib.LevelInfo, n, lifeSize).Line) {
			t.Errorf("line %d is not what was logged: %.60q", n, line)
		}
		if seen[n] {
			twice = append(twice, n)
			continue
		}
		seen[n] = true
		got = append(got, n)
	}
	if len(twice) > 0 && !l.cursorFailed() {
		t.Errorf("%d lines arrived twice, %d and others", len(twice), twice[0])
	}
	last := map[uint64]uint64{} // by spool
	for i, seq := range f.seqs {
		if id := f.ids[i]; seq <= last[id] && len(twice) == 0 {
			t.Errorf("number %d after %d", seq, last[id])
		}
		last[f.ids[i]] = seq
	}
	return got
}

// wanted returns the lines that must arrive.
func (l *life) wanted() []int { return slices.Sorted(maps.Keys(l.acked)) }

// checkReports checks that the error was returned, or counted and reported.
func (l *life) checkReports(t *testing.T) {
	t.Helper()
	if c, ok := l.w.Case(); ok && l.w.Struck() > 0 && l.returned == 0 && !l.silent(c) && (l.counted == 0 || l.reported.Load() == 0) {
		t.Errorf("%d errors of %q were not reported: %d counted, %d reports", l.w.Struck(), l.w.Callers(), l.counted, l.reported.Load())
	}
}

// checkFiles checks that no file is left over in the directory of a spool of
// which all is delivered.
func (l *life) checkFiles(t *testing.T, dir string) {
	t.Helper()
	names, err := l.w.Sound.ReadDir(dir)
	must(t, err)
	left := map[string]int{}
	for _, name := range names {
		left[classOf(name)]++
	}
	if left["N.seg"] > 2 || left["N.copy"] > 1 || len(left) > 5+len(l.c.Also) {
		t.Errorf("files are left: %q", names)
	}
}

func firstDifference(got, want []int) string {
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			return fmt.Sprintf("want %d at %d, got %v", want[i], i, got[min(i, len(got)):min(i+3, len(got))])
		}
	}
	return fmt.Sprintf("got %v behind the last", got[len(want):min(len(want)+3, len(got))])
}

// leavesHalves reports whether a process leaves half of its last write, of a
// void claim or of the header of an unused segment, because the write that
// would have undone it failed as well.
func (l *life) leavesHalves() bool {
	c, ok := l.w.Case()
	return ok && c.Half && c.Span != enumerate.Once
}

// cursorFailed reports whether the fault may have kept the cursor from being
// written.
func (l *life) cursorFailed() bool {
	c, ok := l.w.Case()
	return ok && (strings.HasSuffix(c.Base, ".cursor") || c.Span >= enumerate.AllHundred)
}

// noConsequence has the calls whose errors need not be reported, by the
// function that makes them. Some systems report failed writes only in Close;
// the calls of Close listed here are for files that were only read, whose
// contents are no longer needed, or whose failure is already reported.
var noConsequence = map[string]string{
	"lstat store.(*Dir).IsFile":       "the file is opened, which follows no link and waits for no pipe, and that decides",
	"stat store.sign":                 "the lock has the process id for people only: who has the lock is known without it",
	"truncate store.sign":             "as above",
	"write store.sign":                "as above",
	"open store.(*Dir).inUse":         "Open returns ErrInUse without the process id",
	"read store.(*Dir).inUse":         "as above",
	"open store.(*Dir).QuickEnd":      "the whole segment is read instead, and an error of that is reported",
	"read store.(*Dir).QuickEnd":      "as above",
	"read segment.(*Old).RunToEnd":    "as above",
	"read segment.isEmpty":            "as above",
	"free store.leaveRoom":            "allocating the file decides",
	"open store.(*Dir).unlink":        "the file is removed in one go instead of in parts",
	"stat store.(*Spent).part":        "as above",
	"truncate store.(*Spent).part":    "as above",
	"remove store.(*Dir).Make":        "a file that is left in the way makes creating the next one fail, which is reported",
	"remove store.(*Copies).Make":     "as above",
	"remove store.(*Copies).open":     "as above",
	"remove store.(*Dir).unmake":      "as above, and the failure to make it is reported",
	"close store.(*Spent).close":      "the file is deleted",
	"close store.(*Dir).Unlock":       "the lock: what is in the file is for people only",
	"close store.lockFile":            "as above, and the failure to lock is reported",
	"close store.OpenDir":             "as above",
	"close store.(*Home).RemoveEmpty": "as above",
	"close store.(*Dir).Owner":        "nothing was written",
	"close store.(*Dir).inUse":        "as above",
	"close store.(*Dir).Bytes":        "as above",
	"close store.(*Dir).Look":         "as above",
	"close store.(*Dir).QuickEnd":     "as above",
	"close store.(*Dir).WhichID":      "as above",
	"close store.(*Dir).Held":         "as above",
	"close spool.(*View).readCursor":  "as above",
	"close segment.(*Segment).Done":   "as above",
	"close store.OpenCursor":          "as above, and the failure to read is reported",
	"close store.(*Dir).Reopen":       "as above",
	"close store.(*Dir).Make":         "the failure to make the file is reported",
	"close store.(*Copies).Make":      "as above",
	"close store.(*Dir).KeepHeader":   "as above",
	"remove store.(*Dir).KeepHeader":  "as above",

	"preallocate store.(*Cursor).allocate": "a write that finds no room is reported",
}

// silent reports whether the error of a case need not be reported.
func (l *life) silent(c enumerate.Case) bool {
	switch {
	case c.Err == vfs.ErrLocked: // another process has the slot; Open returns the error if there is only one spool
		return true
	case c.Op == vfstest.OpSyncDir && c.Err == syscall.EACCES:
		return true // a directory above the spool that may not be read
	case c.Span == enumerate.Once && vfs.IsFull(c.Err): // there was room once deleted files had been freed
		return true
	case c.Span == enumerate.Once && c.Op == vfstest.OpRead && store.IsPageError(c.Err): // and the page was read again at once
		return true
	}
	return !slices.ContainsFunc(l.w.Callers(), func(caller string) bool {
		return noConsequence[caller] == "" && l.quiet[caller] == ""
	})
}
