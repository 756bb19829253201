// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// TestNameThatChangesWhileItIsOpened removes the file, or makes one, between
// the look at the name and the open.
func TestNameThatChangesWhileItIsOpened(t *testing.T) {
	for op, change := range map[vfstest.Op]func(m *vfstest.Mem){
		vfstest.OpOpen:   func(m *vfstest.Mem) { must(t, m.Remove(livePath)) },
		vfstest.OpCreate: func(m *vfstest.Mem) { must(t, m.Rename(filepath.Join(logDir, "other"), livePath)) },
	} {
		m, clock := newMem(t)
		put(t, m, filepath.Join(logDir, "other"), "")
		if op == vfstest.OpOpen {
			put(t, m, livePath, "")
		}
		m.Fail(vfstest.Fault{Op: op, Path: "app.log", Times: 1, Reached: func() { change(m) }})
		s := openMem(t, m, clock, Config{})
		writeNumbers(t, s, 0, 1)
		wantText(t, string(op), numbers(memText(t, m, livePath)), "0")
	}
}

// TestNameThatKeepsChanging has a file at the name whenever the sink makes one,
// and none when it looks: Open gives up.
func TestNameThatKeepsChanging(t *testing.T) {
	m, clock := newMem(t)
	tries := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpCreate, Path: "app.log", Err: fs.ErrExist, Reached: func() { tries++ }})
	s, err := Open(livePath, Config{fs: m, clock: clock.clock()})
	if !errors.Is(err, errMoved) || s != nil || tries != openTries {
		t.Errorf("got %v, %v after %d attempts, want %v", s, err, tries, errMoved)
	}
}

// TestOpenThatFailsLeavesNothingOpen fails each look at the file or its
// directory: Open returns the error.
func TestOpenThatFailsLeavesNothingOpen(t *testing.T) {
	for _, fault := range []vfstest.Fault{
		{Op: vfstest.OpLstat, Path: "."},
		{Op: vfstest.OpLstat, Path: "app.log"},
		{Op: vfstest.OpLstat, Path: "app.log", Skip: 1},
		{Op: vfstest.OpStat, Path: "app.log"},
		{Op: vfstest.OpLock, Path: "app.log"},
	} {
		m, clock := newMem(t)
		fault.Times, fault.Err = 1, syscall.EIO
		m.Fail(fault)
		s, err := Open(livePath, Config{fs: m, clock: clock.clock()})
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("%+v: got %v, want %v", fault, err, syscall.EIO)
		}
		if n := m.Opened(); n != 0 {
			t.Errorf("%+v: got %d open files, want none", fault, n)
		}
		if err == nil {
			must(t, s.Close())
		}
	}
}

// TestFileSystemWithoutLocks rotates, deletes and compresses where files cannot
// be locked.
func TestFileSystemWithoutLocks(t *testing.T) {
	m, clock := newMem(t)
	m.Fail(vfstest.Fault{Op: vfstest.OpLock, Err: errors.ErrUnsupported})
	s := openMem(t, m, clock, Config{MaxBackups: 2, Compress: Gzip(0), OnError: func(err error) { t.Errorf("OnError: %v", err) }})
	rotated(t, s, clock, 4)
	must(t, s.Close())
	wantText(t, "lines", numbers(memAll(t, m)), "2 3")
}

// TestFileIsSyncedBeforeItIsLeft checks that Reopen syncs a file that was
// renamed, and reports an error of that.
func TestFileIsSyncedBeforeItIsLeft(t *testing.T) {
	for _, fails := range []bool{false, true} {
		m, clock := newMem(t)
		var reported error
		s := openMem(t, m, clock, Config{Sync: SyncFlush, OnError: func(err error) { reported = err }})
		dirs, syncs := 0, 0
		m.Fail(vfstest.Fault{Op: vfstest.OpSyncDir, Reached: func() { dirs++ }})
		if must(t, s.Reopen()); dirs != 0 {
			t.Errorf("the directory was synced %d times without a line, want none", dirs)
		}
		writeNumbers(t, s, 0, 1)
		must(t, m.Rename(livePath, livePath+".1"))
		fault := vfstest.Fault{Op: vfstest.OpSync, Path: "app.log", Reached: func() { syncs++ }}
		if fails {
			fault.Err = syscall.EIO
		}
		m.Fail(fault)
		must(t, s.Reopen())
		if syncs != 1 || !errors.Is(reported, fault.Err) {
			t.Errorf("got %d syncs and %v, want 1 and %v", syncs, reported, fault.Err)
		}
	}
}

// TestErrorOfClosingTheFileThatIsLeft has a close(2) that fails after the file
// was renamed: the new one is used, and the error is reported.
func TestErrorOfClosingTheFileThatIsLeft(t *testing.T) {
	m, clock := newMem(t)
	var reported error
	s := openMem(t, m, clock, Config{OnError: func(err error) { reported = err }})
	must(t, m.Rename(livePath, livePath+".1"))
	m.Fail(vfstest.Fault{Op: vfstest.OpClose, Path: "app.log", Times: 1, Err: syscall.EIO})
	must(t, s.Reopen())
	if !errors.Is(reported, syscall.EIO) || !strings.Contains(reported.Error(), "close "+livePath) {
		t.Errorf("OnError got %v, want %v", reported, syscall.EIO)
	}
	writeNumbers(t, s, 0, 1)
	checkNumbers(t, memText(t, m, livePath), 1)
}

// TestPartialLineIsEndedInItsFile writes a part of a line, after which the file
// is renamed: the next file does not begin with an empty line.
func TestPartialLineIsEndedInItsFile(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{OnError: func(error) {}})
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Times: 1, Short: 5})
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.ENOSPC})
	_ = s.WriteRecord(record(nib.LevelInfo, 0, 0))
	heal()
	must(t, m.Rename(livePath, livePath+".1"), s.Reopen())
	clock.advance(time.Second)
	writeNumbers(t, s, 1, 2)
	if got := memText(t, m, livePath); !strings.HasPrefix(got, "{") || numbers(got) != "1" {
		t.Errorf("got %q, want a notice and the line", got)
	}
}

// TestFileThatSeemsNewerThanTheClock opens a file that was written to just
// before the hour: it ends at the hour.
func TestFileThatSeemsNewerThanTheClock(t *testing.T) {
	m, clock := newMem(t)
	clock.set(time.Date(2026, 11, 21, 10, 59, 59, 990e6, time.UTC))
	s := openMem(t, m, clock, Config{})
	writeNumbers(t, s, 0, 1)
	must(t, s.Close())
	s = openMem(t, m, clock, Config{Every: time.Hour})
	clock.advance(10 * time.Millisecond)
	writeNumbers(t, s, 1, 2)
	wantText(t, "live file", numbers(memText(t, m, livePath)), "1")
}

// TestNameThatCannotBeChecked fails the looks at the name while the file is
// open, and the query of the free space: lines are written, and the first is
// reported.
func TestNameThatCannotBeChecked(t *testing.T) {
	m, clock := newMem(t)
	var reported error
	s := openMem(t, m, clock, Config{MinFree: 1, OnError: func(err error) { reported = err }})
	m.SetFree(1000)
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpFree, Err: syscall.EIO})
	clock.advance(time.Second)
	if writeNumbers(t, s, 0, 1); reported != nil {
		t.Errorf("OnError got %v", reported)
	}
	heal()
	m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: "app.log", Err: syscall.EIO})
	clock.advance(time.Second)
	writeNumbers(t, s, 1, 2)
	if !errors.Is(reported, syscall.EIO) || !strings.Contains(reported.Error(), "open "+livePath) {
		t.Errorf("OnError got %v, want %v", reported, syscall.EIO)
	}
	checkNumbers(t, memAll(t, m), 2)
	if st := s.Stats(); st.Followed != 0 {
		t.Errorf("got %+v, want no file followed", st)
	}
}
