// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/internal/vfs"
)

// record returns a record whose line has a number and at least size bytes.
func record(l nib.Level, n, size int) *nib.Record {
	line := fmt.Appendf(nil, `{"level":%q,"n":%d}`, l, n)
	if pad := size - len(line) - 1; pad > 0 {
		line = fmt.Appendf(line[:len(line)-1], `,"pad":"%s"}`, strings.Repeat("x", max(0, pad-9)))
	}
	return &nib.Record{Level: l, Line: append(line, '\n')}
}

// A testClock stands still until it is advanced. Both of its clocks move
// together, except in set.
type testClock struct {
	mu    sync.Mutex
	mono  int64
	wall  time.Time
	steps time.Duration // how much it advances each time it is read
}

func newTestClock() *testClock {
	return &testClock{wall: time.Date(2026, 11, 21, 10, 30, 0, 123456e3, time.UTC)}
}

func (c *testClock) clock() clock {
	return clock{
		mono: func() int64 { c.mu.Lock(); defer c.mu.Unlock(); c.mono += int64(c.steps); return c.mono },
		wall: func() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.wall },
	}
}

func (c *testClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mono += int64(d)
	c.wall = c.wall.Add(d)
}

// set moves only the wall clock.
func (c *testClock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wall = t
}

func (c *testClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

// open opens a sink or ends the test, and closes it with the test.
func open(t testing.TB, path string, c Config) *Sink {
	t.Helper()
	s, err := Open(path, c)
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// must ends the test if any error is not nil.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// mustWrite logs lines that must not be lost.
func mustWrite(t testing.TB, s *Sink, records ...*nib.Record) {
	t.Helper()
	for _, r := range records {
		if err := s.WriteRecord(r); err != nil {
			t.Fatalf("WriteRecord(%.100s): %v", r.Line, err)
		}
	}
}

// writeNumbers logs the lines from to to-1.
func writeNumbers(t testing.TB, s *Sink, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		mustWrite(t, s, record(nib.LevelInfo, n, 0))
	}
}

var parse = recordtest.Split

// numbers returns the numbers of the lines in a text, joined.
func numbers(text string) string {
	lines, _, _ := parse(text)
	var b bytes.Buffer
	for _, l := range lines {
		fmt.Fprintf(&b, "%d ", *l.N)
	}
	return strings.TrimSpace(b.String())
}

// text returns the contents of a file, decompressed, or a description of its
// error.
func text(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return err.Error()
		}
		if b, err = io.ReadAll(z); err != nil {
			return err.Error()
		}
	}
	return string(b)
}

// memText is text for a file system in memory.
func memText(t testing.TB, fsys vfs.FS, name string) string {
	t.Helper()
	f, err := fsys.Open(name, os.O_RDONLY, 0)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	b := make([]byte, info.Size)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return string(b)
}

// files returns the names in a directory, the old files first, in order,
// without locks and claims.
func files(t testing.TB, dir string) []string {
	t.Helper()
	names, err := vfs.OS().ReadDir(dir)
	must(t, err)
	return slices.DeleteFunc(names, func(name string) bool { return name[0] == '.' })
}

// all returns the text of all files of a directory, oldest first.
func all(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range files(t, dir) {
		b.WriteString(text(t, filepath.Join(dir, name)))
	}
	return b.String()
}

// checkNumbers checks that a text has the lines 0 to n-1, in order, and nothing
// else.
func checkNumbers(t testing.TB, text string, n int) {
	t.Helper()
	lines, notices, torn := parse(text)
	if len(notices)+len(torn) > 0 {
		t.Errorf("got %d notices and %d torn lines (%.100q), want none", len(notices), len(torn), torn)
	}
	if len(lines) != n {
		t.Errorf("got %d lines, want %d", len(lines), n)
	}
	for i, l := range lines {
		if *l.N != i {
			t.Fatalf("line %d has number %d", i, *l.N)
		}
	}
}

// checkIdentity checks that the counters of the sink add up to the lines
// logged.
func checkIdentity(t testing.TB, s *Sink, logged int) {
	t.Helper()
	st := s.Stats()
	if got := st.Lines + st.Pending + st.Lost(); got != uint64(logged) {
		t.Errorf("written %d + pending %d + dropped %d = %d, want %d logged\n%+v",
			st.Lines, st.Pending, st.Lost(), got, logged, st)
	}
}

// count returns how many lines were dropped for a reason at a level.
func count(st Stats, r delivery.Reason, l nib.Level) uint64 {
	for _, d := range st.Dropped {
		if d.Reason == r && d.Level == l {
			return d.Lines
		}
	}
	return 0
}

// cleaned waits until no goroutine applies the limits to old files.
func cleaned(s *Sink) { s.w.retention.done.Wait() }

func wantText(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %.300q\nwant %.300q", what, got, want)
	}
}

// sortOldestFirst sorts by the time of rotation.
func sortOldestFirst(list []backup) {
	slices.SortFunc(list, func(a, b backup) int { return b.compare(a) })
}
