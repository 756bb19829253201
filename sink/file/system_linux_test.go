// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

// TestFullTmpfs fills a real file system of 1 MiB.
func TestFullTmpfs(t *testing.T) {
	for _, buffer := range []int{0, 16 << 10} {
		dir := t.TempDir()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
			t.Skipf("cannot mount a tmpfs: %v", err)
		}
		t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
		ballast := filepath.Join(dir, "ballast")
		must(t, os.WriteFile(ballast, make([]byte, 512<<10), 0o600))
		clock := newTestClock()
		s := open(t, filepath.Join(dir, "app.log"), Config{MaxSize: 100_000, Buffer: buffer, clock: clock.clock()})
		logged := 0
		log := func() error {
			clock.advance(50 * time.Microsecond)
			err := s.WriteRecord(record(nib.LevelInfo, logged, 200))
			logged++
			return err
		}
		for range 20_000 { // 4 MB, and a second of the clock
			if err := log(); err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
		}
		if st := s.Stats(); count(st, delivery.ReasonFull, nib.LevelInfo) == 0 || st.Lost() != count(st, delivery.ReasonFull, nib.LevelInfo) {
			t.Errorf("Buffer %d: got %+v, want losses as full", buffer, st)
		}
		checkIdentity(t, s, logged)
		must(t, os.Remove(ballast))
		freed := clock.now()
		for s.Stats().Notices == 0 {
			if _ = log(); clock.now().Sub(freed) > time.Second {
				t.Fatal("writing is not taken up within a second")
			}
		}
		if err := s.Close(); err != nil && (buffer == 0 || !errors.Is(err, syscall.ENOSPC)) {
			t.Error(err) // with a buffer it returns losses after the calls
		}
		checkIdentity(t, s, logged)
		st := s.Stats()
		lines, notices, torn := parse(allOf(t, dir))
		if uint64(len(lines)) != st.Lines || uint64(len(notices)) != st.Notices || len(torn) > 1 {
			t.Errorf("Buffer %d: got %d lines, %d notices, %d torn; counted %+v", buffer, len(lines), len(notices), len(torn), st)
		}
	}
}

// TestReadOnlyRemount makes a file system read-only under the sink and writable
// again.
func TestReadOnlyRemount(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("cannot mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
	path := filepath.Join(dir, "app.log")
	s := open(t, path, Config{})
	writeNumbers(t, s, 0, 1)
	must(t, s.Close())
	must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	if _, err := Open(path, Config{}); !errors.Is(err, syscall.EROFS) {
		t.Errorf("Open: got %v, want EROFS", err)
	}
	must(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT, ""))
	s = open(t, path, Config{})
	writeNumbers(t, s, 1, 2)
	checkNumbers(t, text(t, path), 2)
}

const nobody = 65534

// asNobody runs f in a thread that accesses files as the user nobody.
func asNobody(f func()) {
	if os.Getuid() != 0 {
		f()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		_, _, _ = syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), nobody, ^uintptr(0))
		f()
	}()
	<-done
}

// TestPermissionsThatAreLost revokes the permissions for the directory.
func TestPermissionsThatAreLost(t *testing.T) {
	base := t.TempDir()
	must(t, os.Chmod(filepath.Dir(base), 0o711), os.Chmod(base, 0o711))
	for _, c := range []struct {
		name string
		mode os.FileMode
	}{{"not writable", 0o500}, {"not searchable", 0}} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(base, fmt.Sprintf("log%o", c.mode))
			must(t, os.Mkdir(dir, 0o700))
			if os.Getuid() == 0 {
				must(t, os.Chown(dir, nobody, -1))
			}
			asNobody(func() {
				clock := newTestClock()
				var reported atomic.Int64
				s, err := Open(filepath.Join(dir, "app.log"), Config{MaxSize: 200, clock: clock.clock(), OnError: func(error) { reported.Add(1) }})
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				log := func(from, to int) {
					for n := from; n < to; n++ {
						clock.advance(time.Second)
						if err := s.WriteRecord(record(nib.LevelInfo, n, 0)); err != nil {
							t.Errorf("line %d: %v", n, err)
						}
					}
				}
				log(0, 10)
				before := s.Stats().Rotations
				if err := os.Chmod(dir, c.mode); err != nil {
					t.Error(err)
				}
				log(10, 30)
				if err := s.Rotate(); !errors.Is(err, os.ErrPermission) {
					t.Errorf("Rotate: got %v, want ErrPermission", err)
				}
				if got := s.Stats().Rotations; got != before || reported.Load() == 0 {
					t.Errorf("got %d rotations, OnError was called %d times", got-before, reported.Load())
				}
				if err := os.Chmod(dir, 0o700); err != nil {
					t.Error(err)
				}
				clock.advance(time.Minute)
				log(30, 50)
				if got := s.Stats().Rotations; got == before {
					t.Error("rotation is not taken up again")
				}
			})
			checkNumbers(t, all(t, dir), 50)
		})
	}
}

// TestLogrotate runs the real logrotate while lines are written.
func TestLogrotate(t *testing.T) {
	logrotate, err := exec.LookPath("logrotate")
	if err != nil {
		t.Skipf("logrotate is not installed: %v", err)
	}
	for _, c := range []rotator{
		{"rename and reopen", "nocreate", true, true},
		{"rename and create", "create 0600", true, true},
		{"rename without a signal", "nocreate", true, false},
		{"copytruncate", "copytruncate", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.Chmod(dir, 0o700), os.Mkdir(filepath.Join(dir, "log"), 0o700))
			path := filepath.Join(dir, "log", "app.log")
			n := c.rotate(t, logrotate, dir, path)
			var b bytes.Buffer
			for i := rotatorRounds; i > 0; i-- {
				if old := fmt.Sprintf("%s.%d", path, i); exists(old) {
					b.WriteString(text(t, old))
				}
			}
			if exists(path) {
				b.WriteString(text(t, path))
			}
			checkNumbers(t, b.String(), n)
			if bytes.IndexByte(b.Bytes(), 0) >= 0 {
				t.Error("a file has a hole")
			}
			if got := len(files(t, filepath.Join(dir, "log"))); got < 5 {
				t.Errorf("got %d files, want more: logrotate did nothing", got)
			}
		})
	}
}

// A rotator is a way to use logrotate.
type rotator struct {
	name, directives string
	during           bool // lines are written while it runs; copytruncate loses those between its two steps
	reopen           bool // the test reopens the file, as a program does on SIGHUP
}

const rotatorRounds = 10

// rotate logs lines to path, runs logrotate, and returns the number of lines.
func (r rotator) rotate(t *testing.T, logrotate, dir, path string) (n int) {
	t.Helper()
	conf := filepath.Join(dir, "conf")
	must(t, os.WriteFile(conf, fmt.Appendf(nil, "%s {\n\trotate 1000\n\tsize 1\n\tmissingok\n\t%s\n}\n", path, r.directives), 0o600))
	clock := newTestClock()
	s := open(t, path, Config{clock: clock.clock()})
	write := func(lines int) {
		t.Helper()
		writeNumbers(t, s, n, n+lines)
		n += lines
	}
	for range rotatorRounds {
		write(20)
		run := exec.Command(logrotate, "--force", "--state", filepath.Join(dir, "state"), conf)
		var out bytes.Buffer
		run.Stdout, run.Stderr = &out, &out
		must(t, run.Start())
		if r.during {
			write(20)
		}
		if err := run.Wait(); err != nil {
			t.Fatalf("%v: %s", err, out.String())
		}
		if r.reopen {
			write(5)
			must(t, s.Reopen())
		}
		clock.advance(time.Second)
	}
	must(t, s.Close())
	return n
}

func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}
