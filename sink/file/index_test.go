// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/lineindex"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

var liveIndex = lineindex.NameOf(livePath)

// A timed makes lines, three of them a second.
type timed struct {
	r  *rand.Rand
	at time.Time
	n  int
}

func newTimed() *timed {
	return &timed{r: rand.New(rand.NewPCG(1, 2)), at: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)}
}

func (l *timed) record() *nib.Record {
	l.at = l.at.Add(time.Duration(l.r.IntN(660)) * time.Millisecond)
	l.n++
	at := l.at
	if l.r.IntN(50) == 0 {
		at = at.Add(-5 * time.Second)
	}
	level := []nib.Level{nib.LevelDebug, nib.LevelInfo, nib.LevelInfo, nib.LevelWarn}[l.r.IntN(4)]
	line := fmt.Sprintf(`{"time":%q,"level":%q,"n":%d,"pad":"%0*d"}`+"\n", at.Format(time.RFC3339Nano), level, l.n, l.r.IntN(400), 0)
	if l.r.IntN(20) == 0 {
		line = "a line that has no time\nand another one\n"
	}
	return &nib.Record{Level: level, Line: []byte(line)}
}

func (l *timed) log(t testing.TB, s *Sink, size int) {
	t.Helper()
	for size > 0 {
		r := l.record()
		mustWrite(t, s, r)
		size -= len(r.Line)
	}
}

// between returns the lines of a text in a window.
func between(text string, w lineindex.Window) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		_, rest, _ := strings.Cut(line, `{"time":"`)
		value, _, _ := strings.Cut(rest, `"`)
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil && !at.Before(w.Since) && at.Before(w.Until) {
			b.WriteString(line)
		}
	}
	return b.String()
}

// covered returns how much of a log a reader takes from its index, -1 if the
// index is not that of the log. With the index it must find the same lines as
// without.
func covered(t testing.TB, m vfs.FS, path string) int64 {
	t.Helper()
	log, stored := memText(t, m, path), memText(t, m, lineindex.NameOf(path))
	info, err := m.Lstat(path)
	must(t, err)
	x := lineindex.Decode([]byte(stored))
	if x == nil || !x.Fits(strings.NewReader(log), info.Size, info.ModTime) {
		return -1
	}
	begin := newTimed().at
	for i := range 7 {
		w := lineindex.Window{Since: begin.Add(time.Duration(i) * 190 * time.Second)}
		w.Until = w.Since.Add(time.Duration(1+i%7) * time.Second)
		ranges, _ := x.Ranges(w)
		var read strings.Builder
		for _, r := range ranges {
			read.WriteString(log[r.From:min(r.To, int64(len(log)))])
		}
		wantText(t, fmt.Sprintf("%s from %v", path, w.Since), between(read.String(), w), between(log, w))
	}
	return x.Covered()
}

// wantCovered checks that an index covers a log up to its last block.
func wantCovered(t testing.TB, m vfs.FS, path string, rest int64) {
	t.Helper()
	info, err := m.Lstat(path)
	must(t, err)
	if got := covered(t, m, path); got < info.Size-rest || got > info.Size {
		t.Errorf("the index of %s covers %d bytes of %d", path, got, info.Size)
	}
}

const aBlock = lineindex.BlockSize + 1000

// put writes a text to the front of a file.
func put(t testing.TB, m vfs.FS, path, text string) {
	t.Helper()
	f, err := m.Open(path, os.O_WRONLY|os.O_CREATE, 0o600)
	must(t, err)
	_, err = f.WriteAt([]byte(text), 0)
	must(t, err, f.Close())
}

// failIndex makes an operation on the index fail.
func failIndex(m *vfstest.Mem, op vfstest.Op, half bool) (heal func()) {
	return m.Fail(vfstest.Fault{Err: syscall.EIO, Half: half, Fits: func(o vfstest.Op, base string) bool {
		return o == op && base == filepath.Base(liveIndex)
	}})
}

// However lines are written, the index has them.
func TestIndexCoversWhatIsWritten(t *testing.T) {
	for _, buffer := range []int{0, 10_000} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{Index: true, Buffer: buffer, MaxSize: 900_000})
		l := newTimed()
		for range 4 {
			l.log(t, s, 200_000)
			wantCovered(t, m, livePath, aBlock+int64(buffer))
			var batch []nib.Record
			for range 300 {
				batch = append(batch, *l.record())
			}
			_, err := s.Deliver(context.Background(), batch)
			must(t, err)
			wantCovered(t, m, livePath, aBlock+deliverySize)
		}
		must(t, s.Close())
		logs := 0
		for _, name := range memFiles(t, m) {
			if name[0] != '.' {
				wantCovered(t, m, filepath.Join(logDir, name), 0)
				logs++
			}
		}
		if logs < 2 {
			t.Errorf("got %d files, want a rotated one, too", logs)
		}
	}
}

// At any moment, and after this process has died, another one finds the index
// of a beginning of the log, and the next process continues it.
func TestIndexIsValidAtEachMoment(t *testing.T) {
	for _, half := range []bool{false, true} {
		m, clock := newMem(t)
		l := newTimed()
		for life := range 6 {
			s := openMem(t, m, clock, Config{Index: true, OnError: func(error) {}})
			l.log(t, s, 100_000)
			wantCovered(t, m, livePath, 3*aBlock)
			if half { // the process dies while it writes an entry, or a line
				heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.EIO, Half: true})
				_ = s.WriteRecord(l.record()) // it fails
				heal()
				heal = failIndex(m, vfstest.OpWrite, true)
				l.log(t, s, aBlock)
				heal()
			}
			dead := m.CrashClone(vfstest.Everything) // the data of the process, without its locks
			if life%3 == 0 {
				must(t, s.Close())
				dead = m
			}
			m = dead
			if got := covered(t, m, livePath); got < 0 {
				t.Errorf("life %d: the index is that of another log", life)
			}
		}
		s := openMem(t, m, clock, Config{Index: true})
		l.log(t, s, aBlock)
		wantCovered(t, m, livePath, aBlock)
	}
}

// An index of another state of the log, or of another log, is not used, and
// made again.
func TestIndexOfAnotherLogIsMadeAgain(t *testing.T) {
	cut := func(m vfs.FS, path string, size int64) {
		f, err := m.Open(path, os.O_RDWR, 0)
		must(t, err, f.Truncate(size), f.Close())
	}
	for name, change := range map[string]func(m vfs.FS){
		"log truncated": func(m vfs.FS) { cut(m, livePath, 300_000) },
		"log emptied":   func(m vfs.FS) { cut(m, livePath, 0) },
		"log deleted":   func(m vfs.FS) { must(t, m.Remove(livePath)) },
		"log renamed":   func(m vfs.FS) { must(t, m.Rename(livePath, livePath+".1")) },
		"log edited":    func(m vfs.FS) { put(t, m, livePath, `{"time":"2027`) },
		"log edited within": func(m vfs.FS) {
			text := memText(t, m, livePath)
			put(t, m, livePath, text[:150_000]+"x"+text[150_001:])
		},
		"index of nothing":    func(m vfs.FS) { cut(m, liveIndex, 0) },
		"index cut off":       func(m vfs.FS) { cut(m, liveIndex, 70) },
		"index is not one":    func(m vfs.FS) { put(t, m, liveIndex, "no index") },
		"index entry damaged": func(m vfs.FS) { put(t, m, liveIndex, "nibidx2\n\x01\x02") },
		"index deleted":       func(m vfs.FS) { must(t, m.Remove(liveIndex)) },
		"log of another index": func(m vfs.FS) {
			must(t, m.Rename(livePath, livePath+".1"))
			put(t, m, livePath, strings.Repeat("another\n", 200_000))
		},
	} {
		t.Run(name, func(t *testing.T) {
			m, clock := newMem(t)
			s := openMem(t, m, clock, Config{Index: true})
			l := newTimed()
			l.log(t, s, 1_000_000)
			must(t, s.Close())
			clock.advance(time.Minute)
			change(m)
			if _, err := m.Lstat(livePath); err == nil && !strings.HasPrefix(name, "index") {
				if got := covered(t, m, livePath); got >= 0 {
					t.Errorf("the index covers %d bytes of another log", got)
				}
			}
			clock.advance(time.Minute)
			s = openMem(t, m, clock, Config{Index: true})
			l.log(t, s, 2*aBlock)
			must(t, s.Close())
			wantCovered(t, m, livePath, 0)
		})
	}
}

// The index ends where another process has written.
func TestIndexWithOtherWriters(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Index: true})
	l := newTimed()
	l.log(t, s, 2*aBlock)
	before := covered(t, m, livePath)
	other := openMem(t, m, clock, Config{Index: true})
	stats := 0
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpStat, Path: "app.log", Reached: func() { stats++ }})
	for range 200 {
		l.log(t, s, 2000)
		l.log(t, other, 3000)
	}
	if heal(); stats > 2 {
		t.Errorf("the log was described %d times, want once, when a block was full", stats)
	}
	if got := covered(t, m, livePath); got != before {
		t.Errorf("the index covers %d bytes, want the %d of a single process", got, before)
	}
	must(t, s.Rotate())
	clock.advance(time.Second)
	for range 100 {
		l.log(t, other, 1000) // it closes the old file
	}
	must(t, other.Close(), s.Reopen())
	l.log(t, s, aBlock)
	must(t, s.Close())
	wantCovered(t, m, livePath, 0)
	for _, s := range []*Sink{s, other} {
		if st := s.Stats(); st.Errors > 0 {
			t.Errorf("got %+v", st)
		}
	}
}

// A log that is truncated while it is open gets another index.
func TestIndexOfATruncatedLog(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Index: true})
	l := newTimed()
	for range 3 {
		l.log(t, s, 2*aBlock)
		f, err := m.Open(livePath, os.O_RDWR, 0)
		must(t, err, f.Truncate(0), f.Close())
		clock.advance(time.Second)
		l.log(t, s, 1000)
		if got := covered(t, m, livePath); got > 0 {
			t.Errorf("the index covers %d bytes of the truncated log", got)
		}
	}
	l.log(t, s, 2*aBlock)
	wantCovered(t, m, livePath, aBlock)
}

// Old files keep their indexes until they are compressed or deleted.
func TestIndexesAreDeletedWithTheirFiles(t *testing.T) {
	for _, c := range []Config{{MaxBackups: 2}, {MaxAge: 150 * time.Second}, {MaxTotal: 500_000, MaxSize: 500_000}, {Compress: Gzip{}}} {
		m, clock := newMem(t)
		c.Index = true
		s := openMem(t, m, clock, c)
		l := newTimed()
		foreign := []string{".app.log.1.index", ".other.log.index", ".app-20261121T103000.123456Z-0000.log.gz.index"}
		left := []string{ // by a process that was killed, in order before and behind the others
			lineindex.NameOf("app-20201121T103000.123456Z-0000.log"), lineindex.NameOf("app-20991121T103000.123456Z-0000.log"),
		}
		for _, name := range slices.Concat(foreign, left) {
			f, err := m.Open(filepath.Join(logDir, name), os.O_WRONLY|os.O_CREATE, 0o600)
			must(t, err, f.Close())
		}
		for range 5 {
			l.log(t, s, 200_000)
			must(t, s.Rotate())
			tidied(s)
			clock.advance(time.Minute)
		}
		must(t, s.Close())
		names := memFiles(t, m)
		indexes := 0
		for _, name := range names {
			log, ok := lineindex.LogOf(name)
			if !ok || slices.Contains(foreign, name) {
				continue
			}
			if indexes++; !slices.Contains(names, log) {
				t.Errorf("%+v: %s is there without its log", c, name)
			} else if log != "app.log" {
				wantCovered(t, m, filepath.Join(logDir, log), 0)
			}
		}
		if want := map[bool]int{true: 0, false: 2}[c.Compress != nil]; indexes < want || c.Compress != nil && indexes > 1 {
			t.Errorf("%+v: got %d indexes in %q", c, indexes, names)
		}
		for _, name := range foreign {
			if !slices.Contains(names, name) {
				t.Errorf("%s was deleted", name)
			}
		}
	}
}

// An error of the index is reported and counted, and costs no line.
func TestIndexThatCannotBeWritten(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpCreate, vfstest.OpLock, vfstest.OpStat, vfstest.OpLstat, vfstest.OpRead, vfstest.OpTruncate, vfstest.OpWrite, vfstest.OpClose, vfstest.OpRename} {
		for _, buffer := range []int{0, 4096} {
			m, clock := newMem(t)
			put(t, m, liveIndex, "of another log")
			var reported error
			heal := failIndex(m, op, false)
			s := openMem(t, m, clock, Config{Index: true, Buffer: buffer, OnError: func(err error) { reported = err }})
			n := 0
			for range 6000 {
				mustWrite(t, s, record(nib.LevelInfo, n, 100))
				n++
			}
			must(t, s.Rotate(), s.Close())
			heal()
			checkNumbers(t, memAll(t, m), n)
			checkIdentity(t, s, n)
			if !errors.Is(reported, syscall.EIO) || s.Stats().Errors == 0 {
				t.Errorf("%s: reported: %v, counted: %d", op, reported, s.Stats().Errors)
			}
		}
	}
}

// An index is continued after an error, with the lines written in between.
func TestIndexContinuesAfterAnError(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault vfstest.Fault
		want  error
	}{
		{"write", vfstest.Fault{Op: vfstest.OpWrite, Path: ".app.log.index", Times: 1, Err: syscall.EIO}, syscall.EIO},
		{"description of the log", vfstest.Fault{Op: vfstest.OpStat, Path: "app.log", Times: 1, Err: syscall.EIO}, syscall.EIO},
		{"read of the log", vfstest.Fault{Op: vfstest.OpRead, Path: "app.log", Times: 1, Err: syscall.EIO}, syscall.EIO},
	} {
		m, clock := newMem(t)
		var reported error
		s := openMem(t, m, clock, Config{Index: true, OnError: func(err error) { reported = err }})
		l := newTimed()
		l.log(t, s, aBlock)
		first := len(memText(t, m, liveIndex))
		var batch []nib.Record
		for size := 0; size < aBlock; size += len(batch[len(batch)-1].Line) {
			batch = append(batch, *l.record())
		}
		deliverAll(t, s, batch...)
		if more := len(memText(t, m, liveIndex)) - first; more != first-len("nibidx2\n") {
			t.Errorf("the second block took %d bytes, want an entry like the first one", more)
		}
		m.Fail(c.fault)
		l.log(t, s, 2*aBlock)
		if !errors.Is(reported, c.want) {
			t.Errorf("%s: OnError got %v, want %v", c.name, reported, c.want)
		}
		opened := 0
		m.Fail(vfstest.Fault{Op: vfstest.OpCreate, Path: ".app.log.index", Reached: func() { opened++ }})
		if must(t, s.Reopen()); opened != 0 {
			t.Errorf("%s: Reopen of the same file opens its index %d times", c.name, opened)
		}
		l.log(t, s, aBlock)
		must(t, s.Close())
		wantCovered(t, m, livePath, 0)

		s = openMem(t, m, clock, Config{Index: true, OnError: func(err error) { reported = err }})
		l.log(t, s, 1000)
		reported = nil
		m.Fail(vfstest.Fault{Op: vfstest.OpStat, Path: "app.log", Times: 1, Err: syscall.EIO})
		if must(t, s.Close()); !errors.Is(reported, syscall.EIO) {
			t.Errorf("%s: OnError got %v when the index was closed, want %v", c.name, reported, syscall.EIO)
		}
	}
}

// Too long a log without an index gets none, and an error is reported only if
// an operation fails.
func TestOpenIndex(t *testing.T) {
	for _, c := range []struct {
		name   string
		size   int
		stored string // in the index
		fault  vfstest.Fault
		change func(m *vfstest.Mem) // at the fault
		want   bool                 // there is an index
		err    error
	}{
		{name: "new", want: true},
		{name: "as long as possible", size: lineindex.MaxGap, want: true},
		{name: "too long", size: lineindex.MaxGap + 1},
		{name: "too long, index of another log", size: lineindex.MaxGap + 1, stored: "x"},
		{name: "too long, not opened", size: lineindex.MaxGap + 1, stored: "x", fault: vfstest.Fault{Op: vfstest.OpOpen, Err: syscall.EIO}, err: syscall.EIO},
		{name: "too long, not truncated", size: lineindex.MaxGap + 1, stored: "x", fault: vfstest.Fault{Op: vfstest.OpTruncate, Err: syscall.EIO}, err: syscall.EIO},
		{name: "too long, not closed", size: lineindex.MaxGap + 1, stored: "x", fault: vfstest.Fault{Op: vfstest.OpClose, Err: syscall.EIO}, err: syscall.EIO},
		{name: "not locked", fault: vfstest.Fault{Op: vfstest.OpLock, Err: syscall.EIO}, err: syscall.EIO},
		{name: "locked by another", fault: vfstest.Fault{Op: vfstest.OpLock, Err: vfs.ErrLocked}},
		{name: "deleted", fault: vfstest.Fault{Op: vfstest.OpLock}, change: func(m *vfstest.Mem) { must(t, m.Remove(liveIndex)) }},
		{name: "not described", fault: vfstest.Fault{Op: vfstest.OpStat, Skip: 1, Err: syscall.EIO}, err: syscall.EIO},
		{name: "log not described", fault: vfstest.Fault{Op: vfstest.OpStat, Path: "app.log", Skip: 1, Err: syscall.EIO}, err: syscall.EIO},
		{name: "cut off", stored: "x", fault: vfstest.Fault{Op: vfstest.OpRead}, change: func(m *vfstest.Mem) { truncate(t, m, liveIndex, 0) }, want: true},
	} {
		m, clock := newMem(t)
		put(t, m, livePath, strings.Repeat("x", max(c.size-1, 0))+"\n"[:min(c.size, 1)])
		if c.stored != "" {
			put(t, m, liveIndex, c.stored)
		}
		if c.fault.Times = 1; c.fault.Path == "" {
			c.fault.Path = filepath.Base(liveIndex)
		}
		c.fault.Reached = func() {
			if c.change != nil {
				c.change(m)
			}
		}
		heal := m.Fail(c.fault)
		var reported error
		s := openMem(t, m, clock, Config{Index: true, OnError: func(err error) { reported = err }})
		heal()
		if !errors.Is(reported, c.err) {
			t.Errorf("%s: OnError got %v, want %v", c.name, reported, c.err)
		}
		if n := m.Opened() - 1; n != map[bool]int{true: 1}[c.want] {
			t.Errorf("%s: got %d open indexes, want one: %v", c.name, n, c.want)
		}
		must(t, s.Close())
	}
}

// An error of the deletion of an index is reported.
func TestIndexThatCannotBeDeleted(t *testing.T) {
	m, clock := newMem(t)
	left := lineindex.NameOf("app-20201121T103000.123456Z-0000.log")
	put(t, m, filepath.Join(logDir, left), "")
	m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: left, Err: syscall.EIO})
	var reported error
	s := openMem(t, m, clock, Config{Index: true, MaxBackups: 1, OnError: func(err error) { reported = err }})
	must(t, s.Rotate())
	tidied(s)
	if must(t, s.Close()); !errors.Is(reported, syscall.EIO) {
		t.Errorf("OnError got %v, want %v", reported, syscall.EIO)
	}
}

// An index is only written if it is asked for.
func TestNoIndexByDefault(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	newTimed().log(t, s, 2*aBlock)
	must(t, s.Close())
	if names := memFiles(t, m); !slices.Equal(names, []string{"app.log"}) {
		t.Errorf("got %q", names)
	}
}
