// SPDX-License-Identifier: Apache-2.0

//go:build unix

package file

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
)

func TestModeOfNewFiles(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	for _, c := range []struct {
		umask      int
		mode, want os.FileMode
	}{
		{0, 0, 0o600},
		{0o077, 0, 0o600},
		{0, 0o640, 0o640},
		{0o027, 0o664, 0o640},
		{0o077, 0o640, 0o600},
	} {
		syscall.Umask(c.umask)
		dir := t.TempDir()
		s := open(t, filepath.Join(dir, "app.log"), Config{Mode: c.mode, Compress: Gzip(0)})
		for n := range 2 {
			mustWrite(t, s, record(nib.LevelInfo, n, 0))
			must(t, s.Rotate())
			cleaned(s)
		}
		names := files(t, dir)
		if len(names) != 3 {
			t.Fatalf("got files %q, want three", names)
		}
		for _, name := range names {
			info, err := os.Lstat(filepath.Join(dir, name))
			must(t, err)
			if info.Mode() != c.want {
				t.Errorf("umask %03o, Mode %03o: %s has %03o, want %03o", c.umask, c.mode, name, info.Mode(), c.want)
			}
		}
	}
}

// Rotation keeps the permissions and the group that the file has then, also in
// compressed files and against the umask, unless the Config has a Mode.
func TestRotationKeepsRights(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	group := os.Getegid()
	if os.Geteuid() == 0 {
		group = 65534
	}
	for _, c := range []struct {
		mode, want fs.FileMode
		group      int
	}{{0, 0o640, group}, {0o660, 0o600, os.Getegid()}} {
		dir := t.TempDir()
		path := filepath.Join(dir, "app.log")
		s := open(t, path, Config{Mode: c.mode, Compress: Gzip(0)})
		must(t, os.Chmod(path, 0o640), os.Chown(path, -1, group))
		for n := range 2 {
			mustWrite(t, s, record(nib.LevelInfo, n, 0))
			must(t, s.Rotate())
			cleaned(s)
		}
		newest, err := vfs.OS().Lstat(path)
		must(t, err)
		if newest.Mode != c.want || newest.Group != c.group {
			t.Errorf("Mode %03o: the new file has %v and group %d, want %v and %d",
				c.mode, newest.Mode, newest.Group, c.want, c.group)
		}
		for _, name := range files(t, dir) {
			info, err := vfs.OS().Lstat(filepath.Join(dir, name))
			if must(t, err); c.mode == 0 && (info.Mode != c.want || info.Group != c.group) {
				t.Errorf("%s has %v and group %d, want %v and %d",
					name, info.Mode, info.Group, c.want, c.group)
			}
		}
	}
}

func TestModeOfAnExistingFileIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	must(t, os.WriteFile(path, nil, 0o644), os.Chmod(path, 0o644))
	open(t, path, Config{})
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("got %v, %v, want 0644", info.Mode(), err)
	}
}

// plants put something unsuitable in the place of a log file.
var plants = []struct {
	name  string
	plant func(t *testing.T, path, victim string)
	want  error
	says  string
}{
	{"symbolic link", func(t *testing.T, path, victim string) { must(t, os.Symlink(victim, path)) },
		errNotRegular, "a symbolic link"},
	{"dangling link", func(t *testing.T, path, victim string) {
		must(t, os.Symlink(victim+"x", path))
	}, errNotRegular, "a symbolic link"},
	{"hard link", func(t *testing.T, path, victim string) { must(t, os.Link(victim, path)) },
		errLinked, "2 hard links"},
	{"FIFO", func(t *testing.T, path, victim string) { must(t, syscall.Mkfifo(path, 0o600)) },
		errNotRegular, "a FIFO"},
	{"directory", func(t *testing.T, path, victim string) { must(t, os.Mkdir(path, 0o700)) },
		errNotRegular, "a directory"},
	{"socket", func(t *testing.T, path, victim string) {
		l, err := net.Listen("unix", path)
		must(t, err)
		t.Cleanup(func() { l.Close() })
	}, errNotRegular, "a socket"},
	{"device", func(t *testing.T, path, victim string) {
		if err := syscall.Mknod(path, syscall.S_IFCHR|0o600, 1<<8|3); err != nil {
			t.Skipf("cannot make a device: %v", err)
		}
	}, errNotRegular, "a device"},
}

// TestOpenRefusesWhatIsNotAFileOfItsOwn checks that Open fails instead of
// hanging at a FIFO or writing to the victim.
func TestOpenRefusesWhatIsNotAFileOfItsOwn(t *testing.T) {
	for _, c := range plants {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path, victim := filepath.Join(dir, "a"), filepath.Join(dir, "v")
			must(t, os.WriteFile(victim, []byte("victim"), 0o600))
			c.plant(t, path, victim)
			s, err := Open(path, Config{})
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, %v, want %v, with the path and %q", s, err, c.want, c.says)
			}
			wantText(t, "victim", text(t, victim), "victim")
			if got := len(files(t, dir)); got != 2 {
				t.Errorf("got %q, want the two that were there", files(t, dir))
			}
		})
	}
}

// TestPlantedWhileOpen removes the file and plants something in its place. The
// lines are lost and counted, until the place is free again.
func TestPlantedWhileOpen(t *testing.T) {
	for _, c := range plants {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path, victim := filepath.Join(dir, "a"), filepath.Join(dir, "v")
			must(t, os.WriteFile(victim, []byte("victim"), 0o600))
			clock := newTestClock()
			s := open(t, path, Config{clock: clock.clock()})
			writeNumbers(t, s, 0, 1)
			must(t, os.Remove(path))
			c.plant(t, path, victim)
			clock.advance(1e9)
			for range 3 {
				if err := s.WriteRecord(record(nib.LevelInfo, 1, 0)); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
				clock.advance(1e9)
			}
			if err := s.Reopen(); !errors.Is(err, c.want) {
				t.Errorf("Reopen: got %v, want %v", err, c.want)
			}
			wantText(t, "victim", text(t, victim), "victim")
			must(t, os.Remove(path))
			clock.advance(1e9)
			writeNumbers(t, s, 4, 5)
			wantText(t, "the new file", numbers(text(t, path)), "4")
			checkIdentity(t, s, 5)
			if got := count(s.Stats(), delivery.ReasonFailed, nib.LevelInfo); got != 3 {
				t.Errorf("got %d lines dropped as failed, want 3", got)
			}
		})
	}
}

// TestPlantedWhileRenamed is the same while the old file still has a name: no
// line is lost.
func TestPlantedWhileRenamed(t *testing.T) {
	for _, c := range plants {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path, victim := filepath.Join(dir, "a"), filepath.Join(dir, "v")
			must(t, os.WriteFile(victim, []byte("victim"), 0o600))
			clock := newTestClock()
			s := open(t, path, Config{clock: clock.clock(), MaxSize: 100})
			writeNumbers(t, s, 0, 1)
			must(t, os.Rename(path, path+".1"))
			c.plant(t, path, victim)
			for n := range 10 {
				clock.advance(1e9)
				writeNumbers(t, s, n+1, n+2)
			}
			checkNumbers(t, text(t, path+".1"), 11)
			wantText(t, "victim", text(t, victim), "victim")
			checkIdentity(t, s, 11)
		})
	}
}

// TestFileIsFollowed renames, removes and replaces the file as other programs
// do.
func TestFileIsFollowed(t *testing.T) {
	for _, c := range []struct {
		name  string
		take  func(path string) error
		old   string // numbers of the lines in path.1 afterwards
		fresh string // and at path
	}{
		{"removed", os.Remove, "", "2 3"},
		{"renamed", func(path string) error { return os.Rename(path, path+".1") }, "0 1", "2 3"},
		{"renamed and made", func(path string) error {
			return errors.Join(os.Rename(path, path+".1"), os.WriteFile(path, nil, 0o600))
		}, "0 1", "2 3"},
		{"replaced by another", func(path string) error {
			other := path + ".2"
			return errors.Join(os.WriteFile(other, []byte("{\"n\":7}\n"), 0o600), os.Rename(other, path))
		}, "", "7 2 3"},
		{"truncated", func(path string) error { return os.Truncate(path, 0) }, "", "2 3"},
		{"copied and truncated", func(path string) error {
			b, err := os.ReadFile(path)
			return errors.Join(err, os.WriteFile(path+".1", b, 0o600), os.Truncate(path, 0))
		}, "0 1", "2 3"},
	} {
		for _, buffer := range []int{0, 4096} {
			path := filepath.Join(t.TempDir(), "app.log")
			clock := newTestClock()
			s := open(t, path, Config{clock: clock.clock(), Buffer: buffer})
			writeNumbers(t, s, 0, 2)
			must(t, s.Flush(context.Background()), c.take(path))
			clock.advance(500e6)
			writeNumbers(t, s, 2, 4)
			must(t, s.Flush(context.Background()))
			if c.old != "" {
				wantText(t, c.name+", old file", numbers(text(t, path+".1")), c.old)
			}
			wantText(t, c.name+", new file", numbers(text(t, path)), c.fresh)
			if _, _, torn := parse(text(t, path)); len(torn) > 0 {
				t.Errorf("%s: the new file has a hole or an empty line: %q", c.name, torn)
			}
			st := s.Stats()
			if st.Followed+st.Truncations != 1 {
				t.Errorf("%s: got %d times followed, %d truncations, want 1 of them", c.name, st.Followed, st.Truncations)
			}
			checkIdentity(t, s, 4)
		}
	}
}

// TestTruncatedInTheMiddleOfALine truncates the file so that half a line is
// left.
func TestTruncatedInTheMiddleOfALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	clock := newTestClock()
	s := open(t, path, Config{clock: clock.clock()})
	writeNumbers(t, s, 0, 2)
	must(t, os.Truncate(path, s.w.size-3))
	clock.advance(1e9)
	writeNumbers(t, s, 2, 3)
	wantText(t, "file", text(t, path), "{\"level\":\"info\",\"n\":0}\n{\"level\":\"info\",\"n\":\n{\"level\":\"info\",\"n\":2}\n")
}

// TestDirectoryThatIsRemoved removes the directory and everything in it.
func TestDirectoryThatIsRemoved(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	must(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "app.log")
	clock := newTestClock()
	s := open(t, path, Config{clock: clock.clock(), MaxSize: 100})
	writeNumbers(t, s, 0, 1)
	must(t, os.RemoveAll(dir))
	clock.advance(1e9)
	for range 3 {
		if err := s.WriteRecord(record(nib.LevelError, 1, 0)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got %v, want ErrNotExist", err)
		}
	}
	must(t, os.Mkdir(dir, 0o700))
	clock.advance(1e9)
	writeNumbers(t, s, 4, 5)
	_, notices, _ := parse(all(t, dir))
	if len(notices) != 1 || notices[0].Dropped != 3 || notices[0].Levels["error"] != 3 || notices[0].Reasons["failed"] != 3 {
		t.Errorf("got notices %+v, want one of 3 errors", notices)
	}
	checkIdentity(t, s, 5)
}

// TestLockedByAnotherProgram checks that an exclusive lock on the file is
// respected.
func TestLockedByAnotherProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app.log")
	f, err := vfs.OS().Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err)
	defer f.Close()
	must(t, f.Lock(vfs.Exclusive))
	if _, err := Open(path, Config{}); !errors.Is(err, errInUse) {
		t.Errorf("got %v, want errInUse", err)
	}
	must(t, f.Lock(vfs.Shared))
	open(t, path, Config{})
	if err := f.Lock(vfs.Exclusive); err != vfs.ErrLocked {
		t.Errorf("got %v, want ErrLocked: the sink holds its file", err)
	}
}

// TestLocksOfOthersDoNotStopRotation locks the directory and the log, as any
// user may who can read them.
func TestLocksOfOthersDoNotStopRotation(t *testing.T) {
	dir := t.TempDir()
	s := open(t, filepath.Join(dir, "app.log"), Config{MaxSize: 200, MaxBackups: 3})
	for _, name := range []string{dir, filepath.Join(dir, "app.log")} {
		f, err := os.Open(name)
		must(t, err)
		defer f.Close()
		must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_SH))
	}
	writeNumbers(t, s, 0, 20)
	must(t, s.Rotate())
	if st := s.Stats(); st.Rotations < 2 || st.Errors > 0 {
		t.Errorf("got %+v, want rotations and no errors", st)
	}
	info, err := os.Lstat(filepath.Join(dir, lockName("app.log")))
	if must(t, err); info.Mode() != 0o600 {
		t.Errorf("the lock has the mode %v, want 0600", info.Mode())
	}
}

// TestFilesOfOthersAreRefused opens a file or directory of another user, which
// that user can change or replace at any time.
func TestFilesOfOthersAreRefused(t *testing.T) {
	const other = 4242
	for _, c := range []struct {
		name  string
		owner map[string]int
		want  error
	}{
		{"own", map[string]int{logDir: os.Geteuid(), livePath: os.Geteuid()}, nil},
		{"root's", map[string]int{logDir: 0, livePath: 0}, nil},
		{"another user's file", map[string]int{logDir: 0, livePath: other}, errOwner},
		{"another user's directory", map[string]int{logDir: other, livePath: os.Geteuid()},
			errOwner},
	} {
		m, clock := newMem(t)
		f, err := m.Open(livePath, os.O_WRONLY|os.O_CREATE, 0o600)
		must(t, err, f.Close())
		for name, owner := range c.owner {
			m.Chown(name, owner)
		}
		s, err := Open(livePath, Config{fs: m, clock: clock.clock()})
		if !errors.Is(err, c.want) || err == nil && c.want != nil {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if err == nil {
			must(t, s.Close())
		} else if !strings.Contains(err.Error(), "chown") || !strings.HasPrefix(err.Error(), "nib/file: ") {
			t.Errorf("%s: the error does not say what to do: %v", c.name, err)
		}
	}
}

// TestFileOfAnotherUserIsRefusedOnDisk checks that a file of another user in a
// directory like /tmp is rejected, and such a lock file as well.
func TestFileOfAnotherUserIsRefusedOnDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o1777))
	path := filepath.Join(dir, "app.log")
	must(t, os.WriteFile(path, nil, 0o666), os.Chown(path, 65534, 65534))
	if s, err := Open(path, Config{}); !errors.Is(err, errOwner) {
		t.Errorf("got %v, %v, want errOwner", s, err)
	}
	must(t, os.Remove(path))
	s := open(t, path, Config{})
	lock := filepath.Join(dir, lockName("app.log"))
	must(t, os.WriteFile(lock, nil, 0o666), os.Chown(lock, 65534, 65534))
	writeNumbers(t, s, 0, 1)
	if err := s.Rotate(); !errors.Is(err, errOwner) {
		t.Errorf("with the lock of another user: got %v, want errOwner", err)
	}
	must(t, os.Chmod(dir, 0o700))
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link), os.Chown(dir, 65534, 65534))
	if s, err := Open(filepath.Join(link, "other.log"), Config{}); !errors.Is(err, errOwner) {
		t.Errorf("behind a link: got %v, %v, want errOwner", s, err)
	}
}
