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
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// size returns the size of a file.
func size(t testing.TB, dir, name string) int64 {
	t.Helper()
	info, err := os.Lstat(filepath.Join(dir, name))
	must(t, err)
	return info.Size()
}

func TestMaxSizeIsNotExceeded(t *testing.T) {
	for _, buffer := range []int{0, 350, 4096} {
		for _, limit := range []int64{100, 399, 400, 401, 1000} {
			dir := t.TempDir()
			s := open(t, filepath.Join(dir, "app.log"), Config{MaxSize: limit, Buffer: buffer})
			const lines = 20
			for n := range lines {
				mustWrite(t, s, record(nib.LevelInfo, n, 100))
			}
			must(t, s.Close())
			perFile := int(limit / 100)
			names := files(t, dir)
			if want := (lines + perFile - 1) / perFile; len(names) != want {
				t.Errorf("MaxSize %d, Buffer %d: got %d files, want %d", limit, buffer, len(names), want)
			}
			for _, name := range names {
				if got := size(t, dir, name); got > limit {
					t.Errorf("MaxSize %d, Buffer %d: %s has %d bytes", limit, buffer, name, got)
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

// TestRotationsInOneMicrosecond rotates a thousand times while the clock stands
// still.
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

// TestNamesThatAreTakenAreLeftAlone checks that existing names are not reused,
// also when the clock was set back, and when the file with the name was
// compressed.
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
	if _, err := os.Lstat(filepath.Join(dir, stem+"0001.log")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an empty file was left beside the compressed one: %v", err)
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

// TestFileThatWasCutOffIsNotRotated truncates the file, which the sink detects
// when it is about to rotate.
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
		fault vfstest.Fault
	}{
		{"lock", vfstest.Fault{Op: vfstest.OpLock, Path: lockName("app.log"), Err: syscall.EMFILE}},
		{"rename", vfstest.Fault{Op: vfstest.OpNoReplace, Err: syscall.EACCES}},
		{"reserve", vfstest.Fault{Op: vfstest.OpCreate, Path: "app-*", Err: syscall.EMFILE}},
		{"replace", vfstest.Fault{Op: vfstest.OpRename, Err: syscall.EACCES}},
		{"create", vfstest.Fault{Op: vfstest.OpCreate, Path: "app.log", Err: syscall.EMFILE}},
		{"lock of the new file", vfstest.Fault{Op: vfstest.OpLock, Path: "app.log", Err: syscall.EIO}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, clock := newMem(t)
			var reported []error
			s := openMem(t, m, clock, Config{MaxSize: 200, OnError: func(err error) { reported = append(reported, err) }})
			writeNumbers(t, s, 0, 5)
			if c.name == "reserve" || c.name == "replace" {
				replacesOnly(m)
			}
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
			if len(reported) == 0 || len(reported) > 2 || !errors.Is(reported[0], c.fault.Err) || !strings.Contains(reported[0].Error(), livePath) {
				t.Errorf("OnError got %q, want the fault once for each operation", reported)
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

// TestOpenLooksAgain has another process rotate the file, and delete the old
// one, after it was opened and before it is locked.
func TestOpenLooksAgain(t *testing.T) {
	m, clock := newMem(t)
	done := false
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: "app.log", Reached: func() {
		if !done {
			done = true
			must(t, m.Remove(livePath))
			f, err := m.Open(livePath, os.O_RDWR|os.O_CREATE, 0o600)
			must(t, err, f.Close())
		}
	}})
	s := openMem(t, m, clock, Config{})
	if s.w.orphaned() {
		t.Error("the sink has a file without a name")
	}
	writeNumbers(t, s, 0, 1)
	checkNumbers(t, memAll(t, m), 1)
	if !done {
		t.Error("the file was not locked")
	}
}

// TestOpenDoesNotWaitForCompression has a lock on a file that no longer has
// the name.
func TestOpenDoesNotWaitForCompression(t *testing.T) {
	m, clock := newMem(t)
	f, err := m.Open(livePath, os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	done := false
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: "app.log", Reached: func() {
		if !done {
			done = true
			must(t, m.Rename(livePath, filepath.Join(logDir, "old")), f.Lock(vfs.Exclusive))
		}
	}})
	openMem(t, m, clock, Config{})
	must(t, f.Close())
}

// TestRotateWaitsForAnotherProcess holds the lock that rotations take.
func TestRotateWaitsForAnotherProcess(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxSize: 200})
	writeNumbers(t, s, 0, 5)
	lock := lockOf(t, m)
	writeNumbers(t, s, 5, 20) // to the old file
	if st := s.Stats(); st.Errors != 0 {
		t.Errorf("got %d errors while another process rotates, want none", st.Errors)
	}
	before := len(memFiles(t, m))
	waiting, released := make(chan struct{}), false
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: lockName("app.log"), Reached: func() {
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

// TestRotationThatCannotTakeItsTurnIsReported has another process that holds
// the lock for a minute. Lines go to the old file, the error is reported and
// counted, and few attempts are made; rotation continues when the lock is free.
func TestRotationThatCannotTakeItsTurnIsReported(t *testing.T) {
	m, clock := newMem(t)
	var reported []error
	s := openMem(t, m, clock, Config{MaxSize: 200, OnError: func(err error) { reported = append(reported, err) }})
	lock := lockOf(t, m)
	attempts := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: lockName("app.log"), Reached: func() { attempts++ }})
	n := 0
	for range 60_000 { // one minute
		clock.advance(time.Millisecond)
		writeNumbers(t, s, n, n+1)
		n++
	}
	if len(reported) != 1 || !errors.Is(reported[0], vfs.ErrLocked) || s.Stats().Errors == 0 {
		t.Errorf("got %v and %+v, want one report of the lock", reported, s.Stats())
	}
	if attempts > 30 {
		t.Errorf("got %d attempts in a minute, want at most 30", attempts)
	}
	must(t, lock.Close())
	clock.advance(time.Duration(longestRotate))
	writeNumbers(t, s, n, n+1)
	if st := s.Stats(); st.Rotations != 1 {
		t.Errorf("got %d rotations, want 1", st.Rotations)
	}
	checkNumbers(t, memAll(t, m), n+1)
}

// TestOldFileThatStaysLockedIsReported has a locked old file that exceeds a
// limit.
func TestOldFileThatStaysLockedIsReported(t *testing.T) {
	m, clock := newMem(t)
	var reported []error
	s := openMem(t, m, clock, Config{MaxAge: time.Hour, OnError: func(err error) { reported = append(reported, err) }})
	rotated(t, s, clock, 1)
	cleaned(s)
	old := memFiles(t, m)[0]
	f, err := m.Open(filepath.Join(logDir, old), os.O_RDONLY, 0)
	must(t, err, f.Lock(vfs.Shared))
	clock.advance(2 * time.Hour)
	writeNumbers(t, s, 1, 2)
	must(t, s.Rotate())
	cleaned(s)
	if len(reported) != 1 || !errors.Is(reported[0], vfs.ErrLocked) || s.Stats().Errors != 1 {
		t.Errorf("got %v and %+v, want a report of the lock", reported, s.Stats())
	}
	must(t, f.Close())
	clock.advance(2 * time.Second)
	writeNumbers(t, s, 2, 3)
	cleaned(s)
	if slices.Contains(memFiles(t, m), old) {
		t.Errorf("%s is still there", old)
	}
}

// TestRenameThatWasDoneAlthoughItFailed has a rename that returns an error
// although it was done, as on a network file system that has lost the response
// of its server: the file must not be taken for the empty file that reserved
// the name.
func TestRenameThatWasDoneAlthoughItFailed(t *testing.T) {
	for i, op := range []vfstest.Op{vfstest.OpRename, vfstest.OpRename, vfstest.OpNoReplace, vfstest.OpNoReplace} {
		m, clock := newMem(t)
		if op == vfstest.OpRename {
			replacesOnly(m)
		}
		var reported []error
		s := openMem(t, m, clock, Config{OnError: func(err error) { reported = append(reported, err) }})
		writeNumbers(t, s, 0, 3)
		done := i%2 == 0
		m.Fail(vfstest.Fault{Op: op, Times: 1, Err: syscall.EIO, Done: done})
		err := s.Rotate()
		if done && (err != nil || len(reported) != 1 || s.Stats().Rotations != 1) {
			t.Errorf("done: got %v, %v, %+v, want a rotation and a report", err, reported, s.Stats())
		}
		if !done && (!errors.Is(err, syscall.EIO) || s.Stats().Rotations != 0 || len(memFiles(t, m)) != 1) {
			t.Errorf("not done: got %v, %+v, files %q, want EIO and only the live file", err, s.Stats(), memFiles(t, m))
		}
		writeNumbers(t, s, 3, 5)
		must(t, s.Close())
		checkNumbers(t, memAll(t, m), 5)
	}
}

// TestPausesBetweenFailedRotations checks that the pauses double, from a tenth
// of a millisecond while another process rotates and from a tenth of a second
// after an error, and start over after a rotation.
func TestPausesBetweenFailedRotations(t *testing.T) {
	for _, c := range []struct {
		name  string
		fail  func(t *testing.T, m *vfstest.Mem) (heal func())
		first time.Duration
	}{
		{"lock taken", func(t *testing.T, m *vfstest.Mem) func() {
			lock := lockOf(t, m)
			return func() { must(t, lock.Close()) }
		}, 100 * time.Microsecond},
		{"fault", func(_ *testing.T, m *vfstest.Mem) func() {
			return m.Fail(vfstest.Fault{Op: vfstest.OpNoReplace, Err: syscall.EACCES})
		}, 100 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, clock := newMem(t)
			s := openMem(t, m, clock, Config{MaxSize: 1})
			writeNumbers(t, s, 0, 1)
			for range 2 {
				heal := c.fail(t, m)
				var attempts []int
				step := 0
				ignore := m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: lockName("app.log"), Reached: func() { attempts = append(attempts, step) }})
				for ; step < 200; step++ { // ten steps are the first pause
					writeNumbers(t, s, step, step+1)
					clock.advance(c.first / 10)
				}
				if want := []int{0, 10, 30, 70, 150}; !slices.Equal(attempts, want) {
					t.Errorf("got attempts at %v tenths of the first pause, want %v", attempts, want)
				}
				ignore()
				heal()
				clock.advance(time.Duration(longestRotate))
				before := s.Stats().Rotations
				writeNumbers(t, s, 0, 1)
				if got := s.Stats().Rotations - before; got != 1 {
					t.Fatalf("got %d rotations without the fault, want 1", got)
				}
			}
		})
	}
}

// TestRotationOfAnotherProcessIsFollowed has another process rotate before the
// sink checks the name again.
func TestRotationOfAnotherProcessIsFollowed(t *testing.T) {
	m, clock := newMem(t)
	s, other := openMem(t, m, clock, Config{}), openMem(t, m, clock, Config{})
	writeNumbers(t, s, 0, 1)
	must(t, other.Rotate(), s.Rotate())
	if st := s.Stats(); st.Followed != 1 || st.Rotations != 0 || len(memFiles(t, m)) != 2 {
		t.Errorf("got %+v and files %q, want one file followed and no rotation", st, memFiles(t, m))
	}
	writeNumbers(t, s, 1, 2)
	wantText(t, "live file", numbers(memText(t, m, livePath)), "1")
}

// TestNameOfADeletedFileIsNotGivenAgain deletes a file and rotates in the same
// microsecond: with the same name, the new file would seem older than those
// after the deleted one.
func TestNameOfADeletedFileIsNotGivenAgain(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	for n := range 5 {
		writeNumbers(t, s, n, n+1)
		must(t, s.Rotate())
		old := memFiles(t, m)[0]
		if want := fmt.Sprintf("app-20261121T103000.123456Z-%04d.log", n); old != want {
			t.Errorf("rotation %d: got %s, want %s", n, old, want)
		}
		must(t, m.Remove(filepath.Join(logDir, old)))
	}
	clock.advance(time.Microsecond)
	writeNumbers(t, s, 5, 6)
	must(t, s.Rotate())
	wantText(t, "a microsecond later", memFiles(t, m)[0], "app-20261121T103000.123457Z-0000.log")
}

// TestFailedRotationIsReportedAtOnce checks that an error is reported by the
// first attempt, and that a turn of another process is not.
func TestFailedRotationIsReportedAtOnce(t *testing.T) {
	m, clock := newMem(t)
	var reported error
	s := openMem(t, m, clock, Config{MaxSize: 1, OnError: func(err error) { reported = err }})
	writeNumbers(t, s, 0, 1)
	lock := lockOf(t, m)
	writeNumbers(t, s, 1, 2)
	if must(t, lock.Close()); reported != nil {
		t.Errorf("got %v while another process rotates", reported)
	}
	clock.advance(time.Second)
	opens := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpNoReplace, Err: syscall.EACCES})
	m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: "app.log", Reached: func() { opens++ }})
	writeNumbers(t, s, 2, 3)
	if !errors.Is(reported, syscall.EACCES) {
		t.Errorf("got %v, want %v", reported, syscall.EACCES)
	}
	if opens != 0 && vfs.CanRenameOpen {
		t.Errorf("the file was opened %d times, want it left open", opens)
	}
}

// TestRenameWithAnUnknownResult has a rename that returns an error, and whose
// result cannot be examined, or is a file of another program: no file is
// deleted, and Rotate returns the errors.
func TestRenameWithAnUnknownResult(t *testing.T) {
	for name, c := range map[string]struct {
		rename, look vfstest.Fault
		want         error
	}{
		"done, and no look": {
			vfstest.Fault{Op: vfstest.OpNoReplace, Err: syscall.EIO, Done: true}, vfstest.Fault{Err: syscall.ESTALE}, syscall.ESTALE},
		"lines of another program": {
			vfstest.Fault{Op: vfstest.OpNoReplace, Err: syscall.EIO}, vfstest.Fault{}, syscall.EIO},
		"replaced, and no look": {
			vfstest.Fault{Op: vfstest.OpRename, Err: syscall.EIO, Done: true}, vfstest.Fault{Err: syscall.ESTALE}, syscall.ESTALE},
		"reserved, and lines of another program": {
			vfstest.Fault{Op: vfstest.OpRename, Err: syscall.EIO}, vfstest.Fault{}, syscall.EIO},
	} {
		m, clock := newMem(t)
		if c.rename.Op == vfstest.OpRename {
			replacesOnly(m)
		}
		s := openMem(t, m, clock, Config{})
		writeNumbers(t, s, 0, 2)
		c.rename.Times = 1
		c.look.Op, c.look.Path = vfstest.OpLstat, firstName
		if !c.rename.Done {
			c.rename.Reached = func() { put(t, m, filepath.Join(logDir, firstName), "text\n") }
		}
		m.Fail(c.rename)
		heal := m.Fail(c.look)
		err := s.Rotate()
		if heal(); !errors.Is(err, c.want) || !errors.Is(err, syscall.EIO) || s.Stats().Rotations != 0 {
			t.Errorf("%s: got %v and %d rotations, want %v", name, err, s.Stats().Rotations, c.want)
		}
		clock.advance(time.Second)
		writeNumbers(t, s, 2, 4)
		if got := numbers(memAll(t, m)); got != "0 1 2 3" {
			t.Errorf("%s: got lines %s, want 0 to 3", name, got)
		}
	}
}

// TestRotationEndsTheLastLine rotates a file that ends with a line that a dead
// process has left, also after an attempt that has failed.
func TestRotationEndsTheLastLine(t *testing.T) {
	for _, fails := range []bool{false, true} {
		m, clock := newMem(t)
		put(t, m, livePath, `{"level`)
		s := openMem(t, m, clock, Config{OnError: func(error) {}})
		old := livePath
		if fails {
			m.Fail(vfstest.Fault{Op: vfstest.OpNoReplace, Times: 1, Err: syscall.EACCES})
			if err := s.Rotate(); !errors.Is(err, syscall.EACCES) {
				t.Errorf("got %v, want %v", err, syscall.EACCES)
			}
			writeNumbers(t, s, 0, 1)
			wantText(t, "after a rotation that failed", memText(t, m, old), `{"level`+"\n"+`{"level":"info","n":0}`+"\n")
			continue
		}
		must(t, s.Rotate())
		wantText(t, "old file", memText(t, m, filepath.Join(logDir, firstName)), `{"level`+"\n")
	}
}

// TestNameThatCannotBeCheckedIsNotUsed has a look for the compressed file with
// that name fail.
func TestNameThatCannotBeCheckedIsNotUsed(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	writeNumbers(t, s, 0, 1)
	m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: "*.gz", Err: syscall.EIO})
	if err := s.Rotate(); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v, want %v", err, syscall.EIO)
	}
	wantText(t, "files", strings.Join(memFiles(t, m), " "), "app.log")
}

// TestTurnIsTakenOnTheFileThatHasTheName removes or replaces the file of the
// lock before it is locked, fails the look at its name, or has no locks.
func TestTurnIsTakenOnTheFileThatHasTheName(t *testing.T) {
	path := filepath.Join(logDir, lockName("app.log"))
	for name, c := range map[string]struct {
		fault vfstest.Fault
		do    func(m *vfstest.Mem)
		want  error
	}{
		"removed": {do: func(m *vfstest.Mem) { must(t, m.Remove(path)) }},
		"replaced": {do: func(m *vfstest.Mem) {
			must(t, m.Remove(path))
			put(t, m, path, "")
		}},
		"look":     {fault: vfstest.Fault{Op: vfstest.OpLstat, Err: syscall.EIO}, want: syscall.EIO},
		"locked":   {fault: vfstest.Fault{Op: vfstest.OpLock, Err: vfs.ErrLocked}, want: vfs.ErrLocked},
		"no locks": {fault: vfstest.Fault{Op: vfstest.OpLock, Err: errors.ErrUnsupported}},
	} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, Config{})
		fault := c.fault
		if c.do != nil {
			fault = vfstest.Fault{Op: vfstest.OpLock, Times: 1, Reached: func() { c.do(m) }}
		}
		fault.Path = lockName("app.log")
		heal := m.Fail(fault)
		lock, err := s.w.takeTurn()
		heal()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if c.do != nil {
			f, err := m.Open(path, os.O_RDWR, 0)
			must(t, err)
			if err := f.Lock(vfs.Exclusive); err != vfs.ErrLocked {
				t.Errorf("%s: a second process got %v, want %v", name, err, vfs.ErrLocked)
			}
			must(t, f.Close())
		}
		if lock != nil {
			must(t, lock.Close())
		}
		if n := m.Opened(); n != 1 {
			t.Errorf("%s: got %d open files, want the log only", name, n)
		}
	}
}
