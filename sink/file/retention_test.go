// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// rotated logs n lines of 100 bytes into one file each, an hour apart, and
// waits for the retention after each.
func rotated(t testing.TB, s *Sink, clock *testClock, n int) {
	t.Helper()
	for i := range n {
		mustWrite(t, s, record(nib.LevelInfo, i, 100))
		must(t, s.Rotate())
		cleaned(s)
		clock.advance(time.Hour)
	}
}

// half is a Compressor that shortens lines of 100 bytes to 50 bytes.
var half = testCompressor(func(dst io.Writer, src io.Reader) error {
	b, err := io.ReadAll(src)
	b = bytes.Replace(b, []byte(strings.Repeat("x", 50)), nil, 1)
	_, writeErr := dst.Write(b)
	return errors.Join(err, writeErr)
})

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		c    Config
		want string
	}{
		{"none", Config{}, "0 1 2 3 4 5 6 7 8 9"},
		{"MaxBackups", Config{MaxBackups: 3}, "7 8 9"},
		{"MaxBackups of one", Config{MaxBackups: 1}, "9"},
		{"MaxAge", Config{MaxAge: 2*time.Hour + time.Minute}, "7 8 9"},
		{"MaxAge to the nanosecond", Config{MaxAge: 2 * time.Hour}, "7 8 9"},
		{"MaxTotal", Config{MaxTotal: 399}, "7 8 9"},
		{"MaxTotal to the byte", Config{MaxTotal: 400}, "6 7 8 9"},
		{"the narrowest counts", Config{MaxBackups: 5, MaxAge: 3*time.Hour + time.Minute, MaxTotal: 200}, "8 9"},
		{"compressed", Config{MaxBackups: 3, Compress: Gzip(0)}, "7 8 9"},
		{"MaxTotal of compressed bytes", Config{MaxTotal: 100, Compress: half}, "8 9"},
	} {
		m, clock := newMem(t)
		s := openMem(t, m, clock, c.c)
		rotated(t, s, clock, 10)
		must(t, s.Close())
		wantText(t, c.name, numbers(memAll(t, m)), c.want)
	}
}

func TestLimitsHoldWhenAFileIsOpened(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	rotated(t, s, clock, 10)
	must(t, s.Close())
	clock.advance(24 * time.Hour)
	s = openMem(t, m, clock, Config{MaxBackups: 2})
	cleaned(s)
	wantText(t, "left", numbers(memAll(t, m)), "8 9")
	s = openMem(t, m, clock, Config{MaxAge: time.Hour})
	cleaned(s)
	wantText(t, "left", numbers(memAll(t, m)), "")
}

// TestNothingForeignIsDeleted has a directory with names that resemble old
// files, and with names of old files that are not regular files.
func TestNothingForeignIsDeleted(t *testing.T) {
	dir := t.TempDir()
	for _, name := range foreign {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	must(t, os.Mkdir(filepath.Join(dir, "app-20201121T103000.123456Z-0001.log"), 0o700),
		os.Symlink(filepath.Join(dir, "app.txt"), filepath.Join(dir, "app-20201121T103000.123456Z-0002.log")),
		os.WriteFile(filepath.Join(dir, "app-20201121T103000.123456Z-0003.log"), nil, 0o600))
	before := files(t, dir)
	clock := newTestClock()
	s := open(t, filepath.Join(dir, "app.log"), Config{
		MaxBackups: 1, MaxAge: time.Hour, MaxTotal: 1, Compress: Gzip(0), clock: clock.clock(),
		OnError: func(err error) { t.Errorf("OnError: %v", err) },
	})
	for range 5 {
		mustWrite(t, s, record(nib.LevelInfo, 1, 0))
		must(t, s.Rotate())
		cleaned(s)
		clock.advance(time.Minute)
	}
	must(t, s.Close())
	after := files(t, dir)
	for _, name := range before {
		if gone := !slices.Contains(after, name); gone != (name == "app-20201121T103000.123456Z-0003.log") {
			t.Errorf("%s: gone is %v", name, gone)
		}
	}
}

// TestFileThatIsWrittenToIsKept has another sink that has not noticed yet that
// its file was rotated.
func TestFileThatIsWrittenToIsKept(t *testing.T) {
	unwanted := func(err error) { t.Errorf("OnError: %v", err) }
	for _, c := range []Config{{MaxAge: time.Hour}, {Compress: Gzip(0), OnError: unwanted}} {
		m, clock := newMem(t)
		slow := openMem(t, m, newTestClock(), c) // its clock stands still
		writeNumbers(t, slow, 0, 1)
		s := openMem(t, m, clock, c)
		must(t, s.Rotate())
		clock.advance(2 * time.Hour)
		rotated(t, s, clock, 1)
		writeNumbers(t, slow, 1, 2)
		names := memFiles(t, m)
		wantText(t, "file of the other", numbers(memText(t, m, filepath.Join(logDir, names[0]))), "0 1")
		must(t, slow.Reopen()) // now it closes the file, and applies the limits itself
		cleaned(slow)
		if got := memFiles(t, m); slices.Contains(got, names[0]) && c.Compress.Compress != nil {
			t.Errorf("got files %q, want the first one compressed", got)
		}
	}
}

// TestDeletionLooksAgain replaces the file between the check of its name and
// the lock.
func TestDeletionLooksAgain(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	rotated(t, s, clock, 1)
	old := filepath.Join(logDir, memFiles(t, m)[0])
	done := false
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: "app-*", Reached: func() {
		if done {
			return
		}
		done = true
		f, err := m.Open(filepath.Join(logDir, "other"), os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err)
		_, err = f.Write([]byte("text\n"))
		must(t, err, f.Close(), m.Rename(filepath.Join(logDir, "other"), old))
	}})
	must(t, s.w.retention.remove(backup{name: filepath.Base(old)}))
	if !done || !slices.Contains(memFiles(t, m), filepath.Base(old)) {
		t.Errorf("the other file was deleted")
	}
	must(t, s.w.retention.remove(backup{name: filepath.Base(old)}))
	if slices.Contains(memFiles(t, m), filepath.Base(old)) {
		t.Error("the file is there still, want it deleted the second time")
	}
	if n := m.Opened(); n != 1 {
		t.Errorf("got %d open files, want the log only", n)
	}
}

// TestOldFileThatCannotBeExamined fails each look at the name of an old file
// that is to be deleted: the file stays, and the error is returned.
func TestOldFileThatCannotBeExamined(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	rotated(t, s, clock, 1)
	name := memFiles(t, m)[0]
	for skip := range 3 {
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: name, Skip: skip, Times: 1, Err: syscall.EIO})
		if err := s.w.retention.remove(backup{name: name}); !errors.Is(err, syscall.EIO) || !slices.Contains(memFiles(t, m), name) {
			t.Errorf("look %d: got %v and files %q, want EIO and %s", skip, err, memFiles(t, m), name)
		}
		heal()
	}
	must(t, m.MkdirAll(filepath.Join(logDir, "directory"), 0o700), s.w.retention.remove(backup{name: "directory"}))
}

// TestOldFileThatCannotBeListed has a look at an old file fail while the
// directory is read: the error is reported, and the file stays.
func TestOldFileThatCannotBeListed(t *testing.T) {
	m, clock := newMem(t)
	var reported error
	s := openMem(t, m, clock, Config{MaxBackups: 1, OnError: func(err error) { reported = err }})
	rotated(t, s, clock, 1)
	first := memFiles(t, m)[0]
	m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: first, Err: syscall.EIO})
	rotated(t, s, clock, 2)
	if !errors.Is(reported, syscall.EIO) || !slices.Contains(memFiles(t, m), first) {
		t.Errorf("got %v and files %q, want EIO and %s", reported, memFiles(t, m), first)
	}
	wantText(t, "error", reported.Error(), "nib/file: look at an old file of "+livePath+": lstat "+filepath.Join(logDir, first)+": "+syscall.EIO.Error())
}

// TestOldFileIsLockedWhileItIsDeleted checks that no process can open the file
// for writing and lock it just before it is deleted.
func TestOldFileIsLockedWhileItIsDeleted(t *testing.T) {
	if !vfs.CanRenameOpen {
		t.Skip("an open file cannot be deleted here")
	}
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	rotated(t, s, clock, 1)
	name := memFiles(t, m)[0]
	f, err := m.Open(filepath.Join(logDir, name), os.O_RDWR, 0)
	must(t, err)
	var lockErr error
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: name, Err: syscall.EPERM, Reached: func() { lockErr = f.Lock(vfs.Shared) }})
	err = s.w.retention.remove(backup{name: name})
	heal()
	if lockErr != vfs.ErrLocked {
		t.Errorf("got %v from the lock, want %v", lockErr, vfs.ErrLocked)
	}
	if !errors.Is(err, syscall.EPERM) || !slices.Contains(memFiles(t, m), name) {
		t.Errorf("got %v and files %q, want EPERM and the file", err, memFiles(t, m))
	}
	must(t, f.Close(), s.w.retention.remove(backup{name: name}))
	wantText(t, "files", strings.Join(memFiles(t, m), " "), "app.log")
}

// TestLastLinesOfAnotherProcessAreCompressed has another process write to the
// file, and close it, before it is locked.
func TestLastLinesOfAnotherProcessAreCompressed(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Compress: Gzip(0), OnError: func(err error) { t.Errorf("OnError: %v", err) }})
	cleaned(s)
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Path: "app-*", Times: 1, Reached: func() {
		f, err := m.Open(filepath.Join(logDir, firstName), os.O_RDWR|os.O_APPEND, 0)
		must(t, err)
		_, err = f.Write(record(nib.LevelInfo, 1, 0).Line)
		must(t, err, f.Close())
	}})
	rotated(t, s, clock, 1)
	wantText(t, "files", strings.Join(memFiles(t, m), " "), firstName+".gz app.log")
	checkNumbers(t, memAll(t, m), 2)
}

// TestNameThatARotationHasTakenIsLeftAlone has another process apply its limits
// between the two steps of a rotation, with the clock set back by an hour, so
// that the name is the oldest file's.
func TestNameThatARotationHasTakenIsLeftAlone(t *testing.T) {
	for _, c := range []Config{{MaxBackups: 2}, {Compress: Gzip(0)}, {MaxAge: time.Minute}} {
		m, clock := newMem(t)
		other := openMem(t, m, clock, c)
		s := openMem(t, m, clock, Config{})
		rotated(t, s, clock, 2)
		writeNumbers(t, s, 2, 3)
		clock.set(clock.now().Add(-24 * time.Hour))
		cleaned(other)
		replacesOnly(m)
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpRename, Path: "app.log", Reached: other.w.retention.apply})
		must(t, s.Rotate())
		heal()
		wantText(t, "lines", numbers(memText(t, m, filepath.Join(logDir, memFiles(t, m)[0]))), "2")
		must(t, s.Close(), other.Close())
	}
}

// TestNameThatACompressionHasFreedIsNotUsed has an old file compressed between
// the two steps of a rotation in the same microsecond: under its name, the new
// file would replace the compressed one. The file system has no locks.
func TestNameThatACompressionHasFreedIsNotUsed(t *testing.T) {
	m, clock := newMem(t)
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Err: errors.ErrUnsupported})
	other := openMem(t, m, clock, Config{Compress: Gzip(0)})
	must(t, other.Close())
	r := other.w.retention
	r.quit.Store(false)
	for n := range 2 {
		s := openMem(t, m, clock, Config{})
		writeNumbers(t, s, n, n+1)
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpNoReplace, Path: "app.log", Reached: r.apply})
		must(t, s.Rotate(), s.Close())
		heal()
	}
	r.apply()
	checkNumbers(t, memAll(t, m), 2)
}

// TestNamesThatARotationHasLeftBehind deletes the names reserved by a process
// that died during a rotation.
func TestNamesThatARotationHasLeftBehind(t *testing.T) {
	m, clock := newMem(t)
	f, err := m.Open(filepath.Join(logDir, firstName), os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err, f.Close())
	lock := lockOf(t, m)
	s := openMem(t, m, clock, Config{MaxBackups: 1, OnError: func(err error) { t.Errorf("OnError: %v", err) }})
	cleaned(s)
	if got := memFiles(t, m); !slices.Contains(got, firstName) {
		t.Errorf("got files %q, want the empty one untouched while another process rotates", got)
	}
	must(t, s.w.retention.remove(backup{name: firstName})) // as if it had had lines when the directory was read
	if got := memFiles(t, m); !slices.Contains(got, firstName) {
		t.Errorf("got files %q, want the empty one untouched", got)
	}
	must(t, lock.Close(), s.Reopen())
	cleaned(s)
	wantText(t, "files", strings.Join(memFiles(t, m), " "), "app.log")
}

// TestReservedNameIsExaminedAgain has a rotation, or another program, use a
// reserved name before the turn to delete it is taken.
func TestReservedNameIsExaminedAgain(t *testing.T) {
	path := filepath.Join(logDir, firstName)
	for name, c := range map[string]struct {
		fault vfstest.Fault
		do    func(m *vfstest.Mem)
	}{
		"lines": {do: func(m *vfstest.Mem) {
			f, err := m.Open(path, os.O_WRONLY, 0)
			must(t, err)
			_, err = f.Write([]byte("text\n"))
			must(t, err, f.Close())
		}},
		"directory": {do: func(m *vfstest.Mem) { must(t, m.Remove(path), m.MkdirAll(path, 0o700)) }},
		"lock":      {fault: vfstest.Fault{Op: vfstest.OpLock, Path: lockName("app.log"), Err: syscall.EIO}},
		"look":      {fault: vfstest.Fault{Op: vfstest.OpLstat, Path: firstName, Skip: 1, Err: syscall.EIO}},
		"remove":    {fault: vfstest.Fault{Op: vfstest.OpRemove, Path: firstName, Err: syscall.EIO}},
	} {
		m, clock := newMem(t)
		f, err := m.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
		must(t, err, f.Close())
		fault := c.fault
		if c.do != nil {
			fault = vfstest.Fault{Op: vfstest.OpLock, Path: lockName("app.log"), Times: 1, Reached: func() { c.do(m) }}
		}
		m.Fail(fault)
		var reported error
		s := openMem(t, m, clock, Config{MaxBackups: 1, OnError: func(err error) { reported = err }})
		cleaned(s)
		if !slices.Contains(memFiles(t, m), firstName) {
			t.Errorf("%s: got files %q, want %s", name, memFiles(t, m), firstName)
		}
		if !errors.Is(reported, c.fault.Err) {
			t.Errorf("%s: OnError got %v, want %v", name, reported, c.fault.Err)
		}
	}
}

// TestDirectoryIsReadOnce counts how often the directory is read for each
// limit.
func TestDirectoryIsReadOnce(t *testing.T) {
	for _, c := range []Config{{MaxBackups: 1}, {MaxAge: time.Hour}, {MaxTotal: 1}, {Compress: Gzip(0)}} {
		m, clock := newMem(t)
		reads := 0
		m.Fail(vfstest.Fault{Op: vfstest.OpReadDir, Reached: func() { reads++ }})
		s := openMem(t, m, clock, c)
		if cleaned(s); reads != 1 {
			t.Errorf("%+v: the directory was read %d times, want once", c, reads)
		}
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxBackups: 1, Compress: Gzip(0), Buffer: 1000, Delay: time.Nanosecond})
	for n := range 100 {
		mustWrite(t, s, record(nib.LevelInfo, n, 0))
		must(t, s.Rotate())
	}
	must(t, s.Close())
	s.w.retention.mu.Lock()
	defer s.w.retention.mu.Unlock()
	if s.w.retention.running {
		t.Error("the goroutine goes on after Close")
	}
}

// TestRetentionWhenTheClockJumps checks that files stamped by a wrong clock do
// not lead to the deletion of new lines.
func TestRetentionWhenTheClockJumps(t *testing.T) {
	for name, jump := range map[string]time.Duration{
		"ten years ahead": 10 * 365 * 24 * time.Hour,
		"an hour ahead":   time.Hour,
		"an hour back":    -time.Hour,
		"ten years back":  -10 * 365 * 24 * time.Hour,
	} {
		for _, c := range []Config{{MaxBackups: 3}, {MaxTotal: 3 * int64(len(record(nib.LevelInfo, 0, 0).Line))}} {
			m, clock := newMem(t)
			s := openMem(t, m, clock, c)
			rotated(t, s, clock, 3) // 0 to 2
			right := clock.now()
			clock.set(right.Add(jump))
			for n := 3; n < 6; n++ {
				writeNumbers(t, s, n, n+1)
				must(t, s.Rotate())
				cleaned(s)
				clock.advance(time.Minute)
			}
			clock.set(right.Add(2 * time.Hour))
			for n := 6; n < 9; n++ {
				writeNumbers(t, s, n, n+1)
				must(t, s.Rotate())
				cleaned(s)
				if got := strings.Fields(numbers(memAll(t, m))); !slices.Contains(got, strconv.Itoa(n)) || len(got) != 3 {
					t.Errorf("%s, %+v: after line %d the files have %q, want 3 lines with that one", name, c, n, got)
				}
				clock.advance(time.Minute)
			}
			if got := slices.Sorted(slices.Values(strings.Fields(numbers(memAll(t, m))))); !slices.Equal(got, []string{"6", "7", "8"}) {
				t.Errorf("%s, %+v: got lines %q, want the last three", name, c, got)
			}
			must(t, s.Close())
		}
	}
}

// TestMaxAgeKeepsWhatSeemsToBeFromTheFuture has files with times in the future,
// like all files after a start with an unset clock.
func TestMaxAgeKeepsWhatSeemsToBeFromTheFuture(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxAge: 24 * time.Hour})
	rotated(t, s, clock, 3)
	clock.set(time.Unix(0, 0))
	writeNumbers(t, s, 3, 4)
	must(t, s.Rotate())
	cleaned(s)
	if got := len(strings.Fields(numbers(memAll(t, m)))); got != 4 {
		t.Errorf("got %d lines, want all 4", got)
	}
}

// TestPausesBetweenFailedDeletions checks that a failed deletion is retried
// after a pause, not before, and that the pause doubles from a second to ten
// minutes.
func TestPausesBetweenFailedDeletions(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{MaxBackups: 1})
	attempts := 0
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: "app-*", Err: syscall.EACCES, Reached: func() { attempts++ }})
	write := func() int {
		before := attempts
		writeNumbers(t, s, 0, 1)
		cleaned(s)
		return attempts - before
	}
	for range 2 {
		clock.advance(time.Microsecond)
		writeNumbers(t, s, 0, 1)
		must(t, s.Rotate())
		cleaned(s)
	}
	if attempts != 1 {
		t.Fatalf("got %d attempts after the rotation, want 1", attempts)
	}
	for pause := time.Second; pause < 15*time.Minute; pause *= 2 {
		pause := min(pause, 10*time.Minute)
		clock.advance(pause - time.Nanosecond)
		if got := write(); got != 0 {
			t.Errorf("got %d attempts just before the end of %v, want none", got, pause)
		}
		s.w.check.at = 0 // the name was checked a nanosecond ago
		clock.advance(time.Nanosecond)
		if got := write(); got != 1 {
			t.Errorf("got %d attempts after %v, want 1", got, pause)
		}
	}
	heal()
	clock.advance(10 * time.Minute)
	write()
	if got := len(memFiles(t, m)); got != 2 {
		t.Errorf("got files %q without the fault, want one old file", memFiles(t, m))
	}
	reads := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpReadDir, Reached: func() { reads++ }})
	clock.advance(10 * time.Minute)
	if write(); reads != 0 {
		t.Errorf("the directory was read %d times after a success, want none", reads)
	}
	m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: "app-*", Err: syscall.EACCES, Reached: func() { attempts++ }})
	attempts = 0
	must(t, s.Rotate())
	cleaned(s)
	clock.advance(time.Second)
	if write(); attempts != 2 {
		t.Errorf("got %d attempts in a second after a success, want 2: the pauses start over", attempts)
	}
}

// TestFailedDeletionIsNotRepeatedAtOnce has a line that is logged while two
// files are being deleted, one of them in vain.
func TestFailedDeletionIsNotRepeatedAtOnce(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{})
	rotated(t, s, clock, 3)
	must(t, s.Close())
	s = openMem(t, m, clock, Config{MaxBackups: 3, OnError: func(error) {}})
	cleaned(s)
	attempts := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpRemove, Path: "app-*", Err: syscall.EACCES, Reached: func() {
		if attempts++; attempts == 2 {
			clock.advance(time.Second)
			writeNumbers(t, s, 3, 4)
		}
	}})
	s.w.c.MaxBackups = 1
	must(t, s.Reopen())
	if cleaned(s); attempts != 2 {
		t.Errorf("got %d attempts, want 2, and the next ones after a pause", attempts)
	}
}
