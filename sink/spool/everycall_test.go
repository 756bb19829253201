// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package spool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/enumerate"
)

// TestEveryCallMayFail lets every call of a spool on its file system fail, in every way and for
// every span, see [enumerate]. The life: a process opens a spool with a backlog and a cursor, delivers,
// logs into several segments, syncs, copies, and closes with a destination that is down; a second one
// goes on; then the fault is gone, and a third one delivers the rest. After each case:
//
//   - every line whose call returned nil has arrived, in order, and no other;
//   - none has arrived twice, unless the cursor could not be written;
//   - every line that was refused is counted;
//   - the accounts hold in each process, and nothing counts as damaged or unfinished;
//   - nothing was quarantined, and no file is left over;
//   - the error was returned by Open, or counted and reported, unless the call is one whose error has no
//     consequence.
func TestEveryCallMayFail(t *testing.T) {
	t.Run("written", func(t *testing.T) {
		image := memSpool(t)
		enumerate.Life{
			New:   func(testing.TB) vfs.FS { return image.CrashClone(vfs.Everything) },
			Run:   func(t *testing.T, w *enumerate.World) { liveThrough(t, w, memDir) },
			Class: classOf,
		}.Enumerate(t)
	})
	t.Run("mapped", func(t *testing.T) {
		if !mapped {
			t.Skip("files are mapped on Linux only")
		}
		image, dir := memSpool(t), filepath.Join(t.TempDir(), "spool")
		enumerate.Life{
			New: func(t testing.TB) vfs.FS {
				must(t, os.RemoveAll(dir), os.MkdirAll(dir, 0o700))
				for name, data := range memFiles(t, image) {
					must(t, os.WriteFile(filepath.Join(dir, name), data, 0o600))
				}
				return unsynced{vfs.OS()}
			},
			Run:   func(t *testing.T, w *enumerate.World) { liveThrough(t, w, dir) },
			Class: classOf,
		}.Enumerate(t)
	})
}

// classOf counts the names of all segments as one, and those of all copies.
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

// memSpool returns a file system with a spool of which a part is delivered.
func memSpool(t testing.TB) *vfs.Mem {
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
	s, err := Open(memDir, f, Config{SegmentSize: minSegment, Size: 64 * minSegment, fs: m, tick: time.Microsecond, Drain: time.Nanosecond})
	must(t, err)
	<-enough
	_ = s.Close() // lines are left
	made, err := m.Open(filepath.Join(memDir, segmentName(99)+madeSuffix), os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err, made.Close())
	return m
}

// memFiles returns what is in memDir.
func memFiles(t testing.TB, m *vfs.Mem) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	names, err := m.ReadDir(memDir)
	must(t, err)
	for _, name := range names {
		f, err := m.Open(filepath.Join(memDir, name), os.O_RDONLY, 0)
		must(t, err)
		info, err := f.Stat()
		must(t, err)
		files[name] = make([]byte, info.Size)
		_, _ = f.ReadAt(files[name], 0) // it may be empty
		must(t, f.Close())
	}
	return files
}

// A life is what a case of TestEveryCallMayFail knows.
type life struct {
	w        *enumerate.World
	dir      string
	f        *far
	logged   int // lines, of all processes and the backlog
	acked    []int
	refused  int
	reported atomic.Int32
	void     uint64 // claims in segments that failed: the next process finds that their calls did not return
	counted  uint64 // errors in Stats, and starts that failed
}

func liveThrough(t *testing.T, w *enumerate.World, dir string) {
	synctest.Test(t, func(t *testing.T) {
		l := &life{w: w, dir: dir, f: &far{}, logged: lifeBacklog}
		for n := lifeSettled; n < lifeBacklog; n++ {
			l.acked = append(l.acked, n)
		}
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
		l.check(t)
	})
}

// log logs lines.
func (l *life) log(s *Sink, lines int) {
	for range lines {
		if s.WriteRecord(record(nib.LevelInfo, l.logged, lifeSize)) == nil {
			l.acked = append(l.acked, l.logged)
		} else {
			l.refused++
		}
		l.logged++
		time.Sleep(time.Millisecond) // for those who rest, so that the calls are the same in each life
		synctest.Wait()
	}
}

// wait calls Sync or Flush, which may not come to an end as long as the fault lasts.
func (l *life) wait(call func(context.Context) error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = call(ctx) // what arrives is looked at in the end
}

// process opens the spool, lives, and closes it. If it cannot be opened, the fault ends.
func (l *life) process(t *testing.T, do func(s *Sink)) {
	refused := l.refused
	c := Config{SegmentSize: minSegment, Size: 16 * minSegment, fs: l.w.FS, slow: time.Second, Drain: time.Second,
		OnError: func(err error) { l.reported.Add(1) }}
	s, err := Open(l.dir, l.f, c)
	if err != nil {
		l.counted++
		if c, ok := l.w.Case(); !ok || !errors.Is(err, c.Err) && !errors.Is(err, ErrInUse) {
			t.Errorf("Open: %v", err)
		}
		l.w.Heal()
		s, err = Open(l.dir, l.f, c)
		must(t, err)
	}
	synctest.Wait()
	do(s)
	_ = s.Close() // lines may be left
	<-s.done
	st := checkIdentity(t, s)
	l.counted += st.Errors + uint64(st.Retired)
	lost := 0
	for _, d := range st.Dropped {
		if d.Reason != Full && d.Reason != Failed {
			t.Errorf("%d lines count as %s: %+v", d.Lines, d.Reason, st)
		}
		lost += int(d.Lines)
	}
	if lost != l.refused-refused {
		t.Errorf("%d calls returned an error, and %d lines count as dropped: %+v", l.refused-refused, lost, st)
	}
	if st.Unfinished > l.void || st.Bad > 0 {
		t.Errorf("lines count as unfinished, or files were quarantined: %+v", st)
	}
	l.void += uint64(st.Retired)
}

func (l *life) check(t *testing.T) {
	t.Helper()

	var got, twice []int
	seen := map[int]bool{}
	for _, line := range l.f.take() {
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
	if !slices.Equal(got, l.acked) {
		t.Errorf("%d lines arrived, want %d: %s", len(got), len(l.acked), firstDifference(got, l.acked))
	}
	if len(twice) > 0 && !l.cursorFailed() {
		t.Errorf("%d lines arrived twice, %d and others", len(twice), twice[0])
	}
	for i := 1; i < len(l.f.seqs) && len(twice) == 0; i++ {
		if l.f.seqs[i] <= l.f.seqs[i-1] && l.f.ids[i] == l.f.ids[i-1] {
			t.Errorf("number %d after %d", l.f.seqs[i], l.f.seqs[i-1])
		}
	}
	if c, ok := l.w.Case(); ok && l.w.Struck() > 0 && !l.silent(c) && (l.counted == 0 || l.reported.Load() == 0 && l.counted < 1) {
		t.Errorf("nobody was told of %d errors", l.w.Struck())
	}
	names, err := l.w.Sound.ReadDir(l.dir)
	must(t, err)
	left := map[string]int{}
	for _, name := range names {
		left[classOf(name)]++
	}
	if left["N.seg"] > 2 || left["N.copy"] > 1 || len(left) > 5 {
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

// cursorFailed reports whether the fault may have kept the cursor from being written.
func (l *life) cursorFailed() bool {
	c, ok := l.w.Case()
	return ok && (strings.HasSuffix(c.Base, ".cursor") || c.Span >= enumerate.AllHundred)
}

// silent reports whether the error of a call has no consequence that anybody could act on.
func (l *life) silent(c enumerate.Case) bool {
	if c.Op == vfs.OpWrite && c.Base == "lock" {
		return true // the process id in it is only for the error for a spool in use
	}
	switch c.Op {
	case vfs.OpClose: // what counts was synced, or each write was checked
		return true
	case vfs.OpFree: // the room is not known, and allocating decides
		return true
	case vfs.OpLock: // a lock that was taken for a moment only
		return c.Err == vfs.ErrLocked && c.Span != enumerate.Lasting
	case vfs.OpRemove: // it is gone nevertheless, or is an error when it is created
		return c.Done || strings.HasSuffix(c.Base, madeSuffix)
	case vfs.OpOpen, vfs.OpStat, vfs.OpLstat, vfs.OpRead: // it counts as a file, was read again at once, or deleted in one go
		return c.Span == enumerate.Once || c.Base == "N.seg" || c.Base == "N.copy"
	}
	return vfs.IsFull(c.Err) && c.Span == enumerate.Once // there was room when deleted files had been given back
}
