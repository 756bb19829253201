// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package file

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/enumerate"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// The contents of the directory before a life begins, which is at midnight of
// January 1, 2000.
var (
	ownOld     = "app-19990101T000000.000000Z-0000.log" // older than MaxAge
	ownYoung   = "app-19991231T235900.000000Z-0000.log" // to be compressed
	ownEmpty   = "app-19991231T235901.000000Z-0000.log" // of an unfinished rotation
	ownTemp    = "app-19991231T235800.000000Z-0000.log.gz.tmp"
	foreigners = []string{"app.audit.log", "app-notes.log", "app-20000101.log", ownOld + ".bak", "app2-19990101T000000.000000Z-0000.log"}
)

const (
	oldLine  = `{"old":1}` + "\n"
	tornLine = `{"torn":`
)

func newLogDir(t testing.TB) vfs.FS {
	m := vfstest.NewMem(nil)
	must(t, m.MkdirAll(logDir, 0o700))
	put := func(name, text string) {
		f, err := m.Open(filepath.Join(logDir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		must(t, err)
		_, err = f.Write([]byte(text))
		must(t, err, f.Sync(), f.Close())
	}
	put("app.log", oldLine+tornLine)
	put(ownOld, oldLine)
	put(ownYoung, oldLine)
	put(ownEmpty, "")
	put(ownTemp, "half of a compressed file")
	for _, name := range foreigners {
		put(name, name)
	}
	must(t, m.SyncDir(logDir))
	return m
}

// A fileLife is the life of a sink to whose file other processes log.
type fileLife struct {
	t       *testing.T
	w       *enumerate.World
	s       *Sink
	logged  int
	stored  map[int]bool // lines whose calls have returned nil
	refused int          // calls of Open

	mu   sync.Mutex
	errs []error // returned by calls or passed to OnError, on any goroutine
}

// do notes the error of a call.
func (l *fileLife) do(err error) error {
	if err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.errs = append(l.errs, err)
	}
	return err
}

// open opens the sink like a service that is restarted when it fails.
func (l *fileLife) open(c Config) {
	c.fs = l.w.FS
	c.OnError = func(err error) { l.do(err) }
	for range 3 {
		s, err := Open(livePath, c)
		if l.do(err) == nil {
			l.s = s
			return
		}
		l.refused++
		time.Sleep(100 * time.Millisecond)
	}
	l.w.Heal()
	s, err := Open(livePath, c)
	must(l.t, err)
	l.s = s
}

// log logs lines, 20 ms apart.
func (l *fileLife) log(n int) {
	for range n {
		if l.do(l.s.WriteRecord(record(nib.LevelInfo, l.logged, 100))) == nil {
			l.stored[l.logged] = true
		}
		l.logged++
		time.Sleep(20 * time.Millisecond)
	}
}

// live calls everything that a sink can do, and then once more without faults.
func (l *fileLife) live(c Config) {
	l.open(c)
	l.log(12)
	l.do(l.s.Rotate())
	l.log(2)
	_ = l.w.Sound.Rename(livePath, livePath+".1") // like logrotate; without a file it does nothing
	time.Sleep(200 * time.Millisecond)
	l.log(3)
	l.do(l.s.Reopen())
	l.do(l.s.Flush(context.Background()))
	time.Sleep(time.Hour) // Every
	l.log(3)
	synctest.Wait()

	l.w.Heal()
	time.Sleep(time.Duration(longestRotate))
	l.do(l.s.Flush(context.Background())) // returns earlier losses
	must(l.t, l.s.Flush(context.Background()))
	before := l.s.Stats()
	l.log(12)
	must(l.t, l.s.Rotate())
	l.log(1)
	synctest.Wait()
	after := l.s.Stats()
	if after.Lost() != before.Lost() || after.Errors != before.Errors {
		l.t.Errorf("without a fault: got %+v, and %+v before", after, before)
	}
	if after.Rotations < before.Rotations+2 {
		l.t.Errorf("rotation does not go on: got %d, and %d before", after.Rotations, before.Rotations)
	}
	must(l.t, l.s.Close())
}

// check checks the files and counters in the end.
func (l *fileLife) check() {
	t, st := l.t, l.s.Stats()
	if got := st.Lines + st.Lost(); got != uint64(l.logged) || st.Pending > 0 {
		t.Errorf("logged %d, but written %d + dropped %d, pending %d", l.logged, st.Lines, st.Lost(), st.Pending)
	}
	c, faulty := l.w.Case()
	struck := l.w.Struck()
	if struck > 0 && !c.Half && !l.harmless(c) {
		if !slices.ContainsFunc(l.errs, func(err error) bool {
			return errors.Is(err, c.Err) || c.Err == vfs.ErrLocked && errors.Is(err, errInUse)
		}) {
			t.Errorf("the error was not reported, but %v", l.errs)
		}
		if st.Errors == 0 && l.refused == 0 {
			t.Errorf("the error was not counted: %+v", st)
		}
	}
	if !faulty && (len(l.errs) > 0 || st.Errors > 0 || st.Lost() > 0) {
		t.Errorf("without a fault: got %v, %+v", l.errs, st)
	}
	mem := l.w.Sound.(*vfstest.Mem)
	if n := mem.Opened(); n != 0 {
		t.Errorf("%d files are open in the end", n)
	}
	l.checkFiles(mem, st)
	if t.Failed() {
		t.Logf("%d calls failed; reported: %d; %+v; files: %q", struck, len(l.errs), st, memFiles(t, mem))
	}
}

// harmless reports whether a fault has no consequence.
func (l *fileLife) harmless(c enumerate.Case) bool {
	switch {
	case c.Err == errors.ErrUnsupported: // then there is another way
		return true
	case c.Op == vfstest.OpClose: // of a file to which nothing was written
		return c.Base != "app.log" && !strings.HasSuffix(c.Base, tempExtension)
	case c.Op == vfstest.OpRemove && c.Done: // there was no file
		return strings.HasSuffix(c.Base, tempExtension)
	case c.Err == vfs.ErrLocked && c.Base == "app.log" && c.Nth == 1: // of Open, which tries again
		return c.Span == enumerate.Once
	case c.Err == vfs.ErrLocked: // another process is rotating, or has not followed the rotation yet
		return c.Base == lockName("app.log") && (c.Span != enumerate.Lasting || c.Nth > 2) || c.Base >= ownYoung && c.Base != "app.log"
	case c.Op == vfstest.OpOpen && errors.Is(c.Err, os.ErrPermission): // then it is opened for reading
		return c.Span == enumerate.Once && c.Base != "app.log"
	case c.Op == vfstest.OpSyncDir && errors.Is(c.Err, os.ErrPermission): // it is not new
		return c.Base == filepath.Base(filepath.Dir(logDir))
	}
	return false
}

// checkFiles checks that the directory has each line that a call has stored,
// once.
func (l *fileLife) checkFiles(m *vfstest.Mem, st Stats) {
	t, torn := l.t, 0
	var all strings.Builder
	names := memFiles(t, m)
	for _, name := range names {
		text := memText(t, m, filepath.Join(logDir, name))
		if slices.Contains(foreigners, name) {
			wantText(t, name, text, name)
			continue
		}
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s was left over", name)
			continue
		}
		if strings.HasSuffix(name, ".gz") {
			text = gunzip(t, text)
		}
		if text == "" && strings.HasPrefix(name, "app-") {
			t.Errorf("%s is empty", name)
		}
		all.WriteString(text)
		if !strings.HasSuffix(text, "\n") { // the disk was full when the file ended
			all.WriteString("\n")
		}
	}
	times := map[int]int{}
	dropped := uint64(0)
	for line := range strings.Lines(all.String()) {
		lines, notices, bad := parse(line)
		torn += len(bad)
		for _, x := range lines {
			times[*x.N]++
		}
		for _, x := range notices {
			dropped += x.Dropped
		}
	}
	c, _ := l.w.Case()
	// A line that was written although the call failed, or that may not be on
	// disk, is written again.
	again := c.Done || l.s.w.c.Sync == SyncAlways && (c.Op == vfstest.OpSync || c.Span >= enumerate.AllHundred)
	for n := range l.logged {
		if k := times[n]; k > 1 && !again || k == 0 && l.stored[n] && l.s.buffer == nil {
			t.Errorf("line %d is there %d times; stored: %v", n, k, l.stored[n])
		}
	}
	if uint64(len(times)) < st.Lines {
		t.Errorf("%d lines are there, but %d were written", len(times), st.Lines)
	}
	if dropped != st.Lost() && !c.Done { // a notice that was written although the call failed is written again
		t.Errorf("notices report %d lines that were dropped, want %d", dropped, st.Lost())
	}
	if most := 1 + l.w.Struck(); torn > most {
		t.Errorf("%d torn lines, want at most %d", torn, most)
	}
	l.checkNames(names)
	if n := strings.Count(all.String(), oldLine); n != 2 {
		t.Errorf("%d lines of before are there, want 2", n)
	}
}

// checkNames checks that all outdated files are gone, and no foreign ones.
func (l *fileLife) checkNames(names []string) {
	for _, name := range foreigners {
		if !slices.Contains(names, name) {
			l.t.Errorf("%s was deleted", name)
		}
	}
	for _, name := range []string{ownOld, ownYoung, ownEmpty} {
		if slices.Contains(names, name) {
			l.t.Errorf("%s is still there", name)
		}
	}
}

func gunzip(t testing.TB, text string) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader([]byte(text)))
	must(t, err)
	plain, err := io.ReadAll(z)
	must(t, err)
	return string(plain)
}

// TestEveryCallMayFail enumerates the life of a sink.
func TestEveryCallMayFail(t *testing.T) {
	for _, c := range []Config{
		{},
		{Buffer: 1000},
		{Sync: SyncAlways},
	} {
		c.MaxSize, c.Every, c.MaxAge, c.Compress = 900, time.Hour, 24*time.Hour, Gzip(1)
		t.Run(fmt.Sprintf("buffer=%d,sync=%d", c.Buffer, c.Sync), func(t *testing.T) {
			enumerate.Life{New: func(t testing.TB) vfs.FS {
				m := newLogDir(t)
				if c.Buffer > 0 {
					replacesOnly(m.(*vfstest.Mem))
				}
				return m
			}, Run: func(t *testing.T, w *enumerate.World) {
				synctest.Test(t, func(t *testing.T) {
					l := fileLife{t: t, w: w, stored: map[int]bool{}}
					l.live(c)
					l.check()
				})
			}}.Enumerate(t)
		})
	}
}
