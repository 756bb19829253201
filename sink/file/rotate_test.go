// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// size is the length of the line of record(_, n, 100), and of a file.
func size(t testing.TB, dir, name string) int64 {
	t.Helper()
	info, err := os.Lstat(filepath.Join(dir, name))
	must(t, err)
	return info.Size()
}

func TestMaxSizeIsNotExceeded(t *testing.T) {
	for _, buffer := range []int{0, 350, 4096} {
		for _, max := range []int64{100, 399, 400, 401, 1000} {
			dir := t.TempDir()
			s := open(t, filepath.Join(dir, "app.log"), Config{MaxSize: max, Buffer: buffer})
			const lines = 20
			for n := range lines {
				mustWrite(t, s, record(nib.LevelInfo, n, 100))
			}
			must(t, s.Close())
			perFile := int(max / 100)
			names := files(t, dir)
			if want := (lines + perFile - 1) / perFile; len(names) != want {
				t.Errorf("MaxSize %d, Buffer %d: got %d files, want %d", max, buffer, len(names), want)
			}
			for _, name := range names {
				if got := size(t, dir, name); got > max {
					t.Errorf("MaxSize %d, Buffer %d: %s has %d bytes", max, buffer, name, got)
				}
			}
			checkNumbers(t, all(t, dir), lines)
		}
	}
}

func TestLineAboveMaxSizeHasAFileOfItsOwn(t *testing.T) {
	for _, buffer := range []int{0, 200, 4096} {
		dir := t.TempDir()
		s := open(t, filepath.Join(dir, "app.log"), Config{MaxSize: 250, Buffer: buffer})
		for n, size := range []int{100, 1000, 100, 3000, 2000} {
			mustWrite(t, s, record(nib.LevelInfo, n, size))
		}
		must(t, s.Close())
		var got []int64
		for _, name := range files(t, dir) {
			got = append(got, size(t, dir, name))
		}
		if want := []int64{100, 1000, 100, 3000, 2000}; !slices.Equal(got, want) {
			t.Errorf("Buffer %d: got files of %d bytes, want %d", buffer, got, want)
		}
		checkNumbers(t, all(t, dir), 5)
	}
}

func TestExistingFileIsAppendedTo(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "app.log")
	for n := range 3 {
		s := open(t, path, Config{MaxSize: 1000})
		writeNumbers(t, s, n, n+1)
		must(t, s.Close())
	}
	checkNumbers(t, text(t, path), 3)
	if got := files(t, dir); len(got) != 1 {
		t.Errorf("got files %q, want one", got)
	}
	// Its size counts.
	s := open(t, path, Config{MaxSize: size(t, dir, "app.log")})
	mustWrite(t, s, record(nib.LevelInfo, 3, 0))
	if got := files(t, dir); len(got) != 2 {
		t.Errorf("full from the beginning: got files %q, want two", got)
	}
}

// TestRotationsInOneMicrosecond rotates a thousand times while the clock stands.
func TestRotationsInOneMicrosecond(t *testing.T) {
	dir := t.TempDir()
	clock := newTestClock()
	s := open(t, filepath.Join(dir, "app.log"), Config{clock: clock.clock()})
	for n := range 1000 {
		mustWrite(t, s, record(nib.LevelInfo, n, 0))
		must(t, s.Rotate())
	}
	names := files(t, dir)
	if len(names) != 1001 {
		t.Errorf("got %d files, want 1000 old ones and the live one", len(names))
	}
	for i, name := range names[:len(names)-1] {
		if want := fmt.Sprintf("app-20261121T103000.123456Z-%04d.log", i); name != want {
			t.Fatalf("file %d: got %s, want %s", i, name, want)
		}
	}
	checkNumbers(t, all(t, dir), 1000)
	if st := s.Stats(); st.Rotations != 1000 {
		t.Errorf("got %d rotations, want 1000", st.Rotations)
	}
}

// TestNamesThatAreTakenAreLeftAlone, also when the clock was set back, and when
// the file that had the name was compressed.
func TestNamesThatAreTakenAreLeftAlone(t *testing.T) {
	dir := t.TempDir()
	clock := newTestClock()
	const stem = "app-20261121T103000.123456Z-"
	taken := []string{stem + "0000.log", stem + "0001.log.gz", stem + "0003.log"}
	for _, name := range taken {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600))
	}
	must(t, os.Symlink(filepath.Join(dir, "victim"), filepath.Join(dir, stem+"0004.log")))
	s := open(t, filepath.Join(dir, "app.log"), Config{clock: clock.clock()})
	for n := range 2 {
		mustWrite(t, s, record(nib.LevelInfo, n, 0))
		must(t, s.Rotate())
	}
	for _, name := range taken {
		b, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		wantText(t, name, string(b), name)
	}
	wantText(t, "first free name", numbers(text(t, filepath.Join(dir, stem+"0002.log"))), "0")
	wantText(t, "second free name", numbers(text(t, filepath.Join(dir, stem+"0005.log"))), "1")
	if _, err := os.Lstat(filepath.Join(dir, "victim")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target of a link was made: %v", err)
	}
}

func TestEmptyFileIsNotRotated(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "app.log"), Config{})
	must(t, s.Rotate(), s.Rotate())
	if got := files(t, dir); !slices.Equal(got, []string{"app.log"}) {
		t.Errorf("got files %q, want only app.log", got)
	}
}

func TestRotateWritesBufferedLinesToTheOldFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "app.log"), Config{Buffer: 1 << 16, Delay: time.Hour})
	writeNumbers(t, s, 0, 3)
	must(t, s.Rotate())
	writeNumbers(t, s, 3, 4)
	must(t, s.Close())
	names := files(t, dir)
	wantText(t, "old file", numbers(text(t, filepath.Join(dir, names[0]))), "0 1 2")
	wantText(t, "live file", numbers(text(t, filepath.Join(dir, names[1]))), "3")
}

// TestFileThatWasCutOffIsNotRotated: the sink learns it when it is about to.
func TestFileThatWasCutOffIsNotRotated(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 200})
	writeNumbers(t, s, 0, 8)
	f, err := m.Open(livePath, os.O_RDWR, 0)
	must(t, err, f.Truncate(0))
	mustWrite(t, s, record(nib.LevelInfo, 8, 150))
	if got := memFiles(t, m); len(got) != 1 {
		t.Errorf("got files %q, want only the live one", got)
	}
	wantText(t, "live file", numbers(memAll(t, m)), "8")
}

// TestFailedRotationLosesNothing makes each step of a rotation fail.
func TestFailedRotationLosesNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault vfs.Fault
	}{
		{"lock", vfs.Fault{Op: vfs.OpLock, Path: "log", Err: syscall.EMFILE}},
		{"reserve", vfs.Fault{Op: vfs.OpCreate, Path: "app-*", Err: syscall.EMFILE}},
		{"rename", vfs.Fault{Op: vfs.OpRename, Err: syscall.EACCES}},
		{"create", vfs.Fault{Op: vfs.OpCreate, Path: "app.log", Err: syscall.EMFILE}},
		{"lock of the new file", vfs.Fault{Op: vfs.OpLock, Path: "app.log", Err: syscall.EIO}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, clock := newMem(t)
			var told []error
			s := openMem(t, m, clock, Config{MaxSize: 200, OnError: func(err error) { told = append(told, err) }})
			writeNumbers(t, s, 0, 5)
			heal := m.Fail(c.fault)
			for n := 5; n < 40; n++ { // for seven seconds
				writeNumbers(t, s, n, n+1)
				clock.advance(200 * time.Millisecond)
			}
			if err := s.Rotate(); !errors.Is(err, c.fault.Err) {
				t.Errorf("Rotate: got %v, want %v", err, c.fault.Err)
			}
			clock.advance(time.Second)
			writeNumbers(t, s, 40, 50)
			if len(told) == 0 || len(told) > 2 || !errors.Is(told[0], c.fault.Err) || !strings.Contains(told[0].Error(), livePath) {
				t.Errorf("OnError was told %q, want the fault once for each operation", told)
			}
			heal()
			clock.advance(time.Minute)
			rotations := s.Stats().Rotations
			writeNumbers(t, s, 50, 100)
			if got := s.Stats().Rotations; got <= rotations+1 {
				t.Errorf("got %d rotations after the fault, want some", got-rotations)
			}
			must(t, s.Close())
			checkNumbers(t, memAll(t, m), 100)
			checkIdentity(t, s, 100)
		})
	}
}

// TestOpenLooksAgain: another process rotates, and deletes what it has rotated,
// between the opening of the file and its lock.
func TestOpenLooksAgain(t *testing.T) {
	m, clock := newMem(t)
	done := false
	m.Fail(vfs.Fault{Op: vfs.OpLock, Path: "app.log", Reached: func() {
		if !done {
			done = true
			must(t, m.Remove(livePath))
			f, err := m.Open(livePath, os.O_RDWR|os.O_CREATE, 0o600)
			must(t, err, f.Close())
		}
	}})
	s := openMem(t, m, clock, Config{})
	if s.orphaned() {
		t.Error("the sink has a file without a name")
	}
	writeNumbers(t, s, 0, 1)
	checkNumbers(t, memAll(t, m), 1)
	if !done {
		t.Error("the file was not locked")
	}
}

// TestOpenWaitsForNoOneWhoCompresses: the lock that is in the way is on a file
// that has lost the name meanwhile.
func TestOpenWaitsForNoOneWhoCompresses(t *testing.T) {
	m, clock := newMem(t)
	f, err := m.Open(livePath, os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	done := false
	m.Fail(vfs.Fault{Op: vfs.OpLock, Path: "app.log", Reached: func() {
		if !done {
			done = true
			must(t, m.Rename(livePath, filepath.Join(logDir, "old")), f.Lock(vfs.Exclusive))
		}
	}})
	openMem(t, m, clock, Config{})
	must(t, f.Close())
}

// TestRotateWaitsForAnotherProcess holds the lock of the directory.
func TestRotateWaitsForAnotherProcess(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 200})
	writeNumbers(t, s, 0, 5)
	lock, err := m.LockDir(logDir)
	must(t, err)
	writeNumbers(t, s, 5, 20) // to the old file meanwhile
	if st := s.Stats(); st.Errors != 0 {
		t.Errorf("got %d errors while another process rotates, want none", st.Errors)
	}
	before := len(memFiles(t, m))
	waiting, released := make(chan struct{}), false
	heal := m.Fail(vfs.Fault{Op: vfs.OpLock, Path: "log", Reached: func() {
		if !released {
			released = true
			close(waiting)
		}
	}})
	done := make(chan error)
	go func() { done <- s.Rotate() }()
	<-waiting
	must(t, lock.Close(), <-done)
	heal()
	if got := len(memFiles(t, m)); got != before+1 {
		t.Errorf("got %d files, want %d", got, before+1)
	}
	checkNumbers(t, memAll(t, m), 20)
}
