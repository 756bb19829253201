// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// mountedTmpfs mounts a file system in memory for a test, or returns why it
// cannot.
func mountedTmpfs(t testing.TB, size string) (dir, why string) {
	t.Helper()
	return mounted(t, func(dir string) error {
		return syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size)
	})
}

// mounted returns a directory that mount mounts, or why it cannot.
func mounted(t testing.TB, mount func(dir string) error) (dir, why string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "mounted")
	must(t, os.Mkdir(dir, 0o755))
	if err := mount(dir); err != nil {
		return "", fmt.Sprint("cannot mount: ", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) }) // or TempDir could not remove it
	return dir, ""
}

// ext4Image makes a file system in a file.
func ext4Image(t testing.TB, size int64) (image, why string) {
	t.Helper()
	image = filepath.Join(shmDir(t), "image")
	if err := vfstest.MakeExt4(image, size); err != nil {
		return "", fmt.Sprint("cannot make a file system: ", err)
	}
	return image, ""
}

func mountedExt4(t testing.TB, size int64, options string) (dir, why string) {
	t.Helper()
	image, why := ext4Image(t, size)
	if why != "" {
		return "", why
	}
	return mounted(t, func(dir string) error { return vfstest.MountExt4(image, dir, options) })
}

// A setback is a fault that a service survives, and that is then repaired.
type setback struct {
	name    string
	prepare func(s *scene) (why string) // sets the scene up, or returns why it cannot
	strike  func(s *scene) error
	mend    func(s *scene) error
	refuses bool // lines are refused during the fault
	harms   bool // lines may be lost, of one segment, and are counted
}

// A scene is a service in a setback.
type scene struct {
	*run
	p      place
	c      *child
	before []byte // the contents of a log file that was removed
	job    job
	hog    string
	old    *os.File
}

// endure runs a service through setbacks, each with a new service, and sums up.
func (r *run) endure(list []setback) {
	var sum verdict
	var slowest time.Duration
	var refused uint64
	done := 0
	for _, b := range list {
		ok := r.T.Run(b.name, func(t *testing.T) {
			s := &scene{run: &run{T: t, row: r.row, rng: r.rng, seed: r.seed}}
			s.p = newPlace(t, shmDir(t))
			s.job = job{Role: "log", Writers: 4, Pad: 400, Pace: 20 * time.Microsecond, Segment: segment, Size: 64 << 20, Seed: r.seed}
			if why := b.prepare(s); why != "" {
				r.lacks(b.name, why)
				t.Skip(why)
			}
			v, resumed, n := s.endure(b)
			sum.add(v)
			slowest, refused = max(slowest, resumed), refused+n
			done++
		})
		if !ok {
			r.found("%s failed", b.name)
		}
	}
	r.found("%d of %d setbacks: %v; %d refused, all counted; takes lines again after %.0f ms at most",
		done, len(list), sum, refused, ms(slowest))
	if done == 0 {
		r.Skip("none of it can be done here")
	}
}

func (s *scene) endure(k setback) (v verdict, resumed time.Duration, refused uint64) {
	s.Helper()
	b := newBoard(s, s.job.Writers)
	s.job.Spool, s.job.Log = s.p.spool, s.p.log
	s.c = start(s, s.job, b)
	more := func(word int, n uint64) {
		s.Helper()
		from := b.sum(word)
		s.c.await("lines", func() bool { return b.sum(word) >= from+n })
	}
	more(laneAccepted, 500)
	s.must(k.strike(s))
	if k.refuses {
		more(laneRefused, 100)
	} else {
		more(laneAccepted, 2000)
	}
	s.must(k.mend(s))
	from := time.Now()
	more(laneAccepted, 4)
	resumed = time.Since(from)
	more(laneAccepted, 500)
	b.words[atEnough].Store(1)
	s.c.harmed = k.harms
	rep := s.c.report()
	refused = b.sum(laneRefused)
	lost := rep.Stats.Lost()
	l := newLedger()
	l.enter(0, b)
	s.own()
	st := deliverRest(s, s.p, 0)
	v = l.judge(append(s.before, logText(s, s.p.log)...))
	w := v
	if k.harms { // a segment holds at most as many lines
		if counted := lost - refused + st.Lost(); v.lost > segment/(48+100) || uint64(v.lost) > counted {
			s.Errorf("%d lines are lost, %d are counted", v.lost, counted)
		}
		w.lost = 0
	} else if lost != refused {
		s.Errorf("%d lines were refused, %d are counted: %+v", refused, lost, rep.Stats.Dropped)
	}
	if !w.clean() {
		s.Errorf("%v (%s)", v, v.example)
	}
	if k.refuses && v.notices == 0 {
		s.Error("the log does not tell of the lines that were refused")
	}
	return v, resumed, refused
}

// own changes the owner of the files of a child that ran as another user, so
// that this process may use them.
func (s *scene) own() {
	if s.job.UID == 0 {
		return
	}
	s.must(filepath.WalkDir(s.p.base, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, os.Getuid(), os.Getgid())
	}))
}

// fill fills the file system.
func (s *scene) fill(dir string) error {
	s.hog = filepath.Join(dir, "hog")
	f, err := os.Create(s.hog)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		n, err := f.Write(make([]byte, size))
		if err != nil && !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		if n < size {
			size /= 2
		}
	}
	return nil
}

func (s *scene) free() error { return os.Remove(s.hog) }

// TestDiskFull is row 7.
func TestDiskFull(t *testing.T) {
	r := begin(t, "7")
	small := func(s *scene) (dir, why string) { return mountedTmpfs(s, "4m") }
	spoolIn := func(mount func(s *scene) (string, string)) func(s *scene) string {
		return func(s *scene) string {
			dir, why := mount(s)
			s.p.spool = filepath.Join(dir, "spool")
			return why
		}
	}
	down := func(s *scene) error { s.c.board.words[atDown].Store(1); return nil }
	up := func(s *scene) error { // there is room again when something has been delivered
		from, err := os.Stat(s.p.log)
		s.must(err)
		s.c.board.words[atDown].Store(0)
		s.c.await("a delivery", func() bool { now, err := os.Stat(s.p.log); return err == nil && now.Size() > from.Size() })
		return nil
	}
	freeAndUp := func(s *scene) error { return errors.Join(s.free(), up(s)) }
	fillSpool := func(s *scene) error { _ = down(s); return s.fill(filepath.Dir(s.p.spool)) }
	r.endure([]setback{
		{name: "the spool fills a tmpfs of 4 MiB", prepare: spoolIn(small), strike: down, mend: up, refuses: true},
		{name: "someone else fills it", prepare: spoolIn(small), strike: fillSpool,
			mend: freeAndUp, refuses: true},
		{name: "someone else fills an ext4", prepare: spoolIn(func(s *scene) (string, string) { return mountedExt4(s, 8<<20, "") }),
			strike: fillSpool, mend: freeAndUp, refuses: true},
		{name: "someone fills the disk of the log", prepare: func(s *scene) string {
			dir, why := small(s)
			s.p.log = filepath.Join(dir, "app.log")
			return why
		}, strike: func(s *scene) error { return s.fill(filepath.Dir(s.p.log)) }, mend: (*scene).free},
		{name: "the spool has its size", prepare: func(s *scene) string { s.job.Size = 4 * segment; return "" },
			strike: down, mend: up, refuses: true},
	})
}

// segments returns the names of the files of the spool, the oldest first.
func (s *scene) segments() []string {
	names, err := filepath.Glob(filepath.Join(s.p.spool, "*.seg"))
	s.must(err)
	return names
}

// TestFilesTakenAway is row 9.
func TestFilesTakenAway(t *testing.T) {
	r := begin(t, "9")
	here := func(*scene) string { return "" }
	nothing := func(*scene) error { return nil }
	cut := func(size int64, which func(names []string) []string) func(s *scene) error {
		return func(s *scene) error {
			for _, name := range which(s.segments()) {
				if err := os.Truncate(name, size); err != nil && !errors.Is(err, os.ErrNotExist) {
					return err
				}
			}
			return nil
		}
	}
	all := func(names []string) []string { return names }
	newest := func(names []string) []string { return names[max(len(names)-2, 0):] } // the one in use, and the next one
	oldest := func(names []string) []string { return names[:1] }
	backlog := func(strike func(s *scene) error) func(s *scene) error { // the lines are delivered after the fault
		return func(s *scene) error {
			s.c.board.words[atDown].Store(1)
			s.c.await("a backlog", func() bool { return len(s.segments()) > 5 })
			err := strike(s)
			from := s.c.board.sum(laneAccepted)
			s.c.await("lines", func() bool { return s.c.board.sum(laneAccepted) > from+2000 })
			s.c.board.words[atDown].Store(0)
			return err
		}
	}
	r.endure([]setback{
		{name: "all segments cut to nothing", prepare: here, strike: cut(0, all), mend: nothing, harms: true},
		{name: "all segments cut in half", prepare: here, strike: cut(segment/2, all), mend: nothing, harms: true},
		{name: "segment in use cut, with a backlog", prepare: here, strike: backlog(cut(4096, newest)), mend: nothing, harms: true},
		{name: "oldest segment cut, with a backlog", prepare: here, strike: backlog(cut(4096, oldest)), mend: nothing, harms: true},
		{name: "segments removed", prepare: here, strike: func(s *scene) error {
			for _, name := range s.segments() {
				_ = os.Remove(name) // it may be gone already
			}
			return nil
		}, mend: nothing, harms: true},
		{name: "the log removed", prepare: here, strike: func(s *scene) (err error) {
			if s.old, err = os.Open(s.p.log); err != nil {
				return err
			}
			return os.Remove(s.p.log)
		}, mend: func(s *scene) (err error) {
			s.c.await("a new log", func() bool { _, err := os.Lstat(s.p.log); return err == nil })
			s.before, err = os.ReadFile("/proc/self/fd/" + strconv.Itoa(int(s.old.Fd())))
			return err
		}},
	})
	r.directoryRemoved()
}

// directoryRemoved removes the directory of a service, and starts another one
// there: that one has the spool now, and the first one does not touch it. Its
// lines are delivered, or refused.
func (r *run) directoryRemoved() {
	r.T.Run("the directory removed", func(t *testing.T) {
		p, b, l := newPlace(t, shmDir(t)), newBoard(t, 4), newLedger()
		j := job{Role: "log", Spool: p.spool, Log: p.log, Writers: 4, Pad: 400, Pace: 20 * time.Microsecond, Segment: segment, Size: 64 << 20, Seed: r.seed}
		c := start(t, j, b)
		c.await("lines", func() bool { return b.sum(laneAccepted) > 500 })
		c.await("the directory being removed", func() bool { return os.RemoveAll(p.spool) == nil }) // the service makes segments there

		p2, b2, l2 := p, newBoard(t, 4), newLedger()
		p2.log = filepath.Join(p.base, "second.log")
		j.Log = p2.log
		c2 := start(t, j, b2)
		b2.words[atDown].Store(1) // so that there are lines to lose
		c2.await("lines", func() bool { return b2.sum(laneAccepted) > 2000 })
		c.await("refused lines", func() bool { return b.sum(laneRefused) > 20 })
		b.words[atEnough].Store(1)
		rep := c.report()
		if n := b.sum(laneRefused); n != rep.Stats.Lost() {
			t.Errorf("%d lines were refused, %d are counted", n, rep.Stats.Lost())
		}
		l.enter(0, b)
		v := l.judge(logText(t, p.log))
		c2.kill()
		l2.enter(0, b2)
		w, _ := l2.check(t, p2, 0)
		if !v.clean() {
			t.Errorf("%v (%s)", v, v.example)
		}
		r.found("directory removed: %v, %d refused; the service that was started there then: %v", v, rep.Stats.Lost(), w)
	})
}

// TestRightsTakenAway is row 10.
func TestRightsTakenAway(t *testing.T) {
	r := begin(t, "10")
	run := func(name string, args ...string) func(s *scene) error {
		return func(s *scene) error {
			if out, err := exec.Command(name, append(args, s.p.spool)...).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", name, err, out)
			}
			return nil
		}
	}
	r.endure([]setback{
		{name: "the directory is immutable", prepare: func(s *scene) (why string) {
			dir, why := mountedExt4(s, 16<<20, "")
			if _, err := exec.LookPath("chattr"); err != nil {
				why = "chattr is not installed"
			}
			s.p.spool = filepath.Join(dir, "spool")
			return why
		}, strike: run("chattr", "+i"), mend: run("chattr", "-i"), refuses: true},
		{name: "another user may do nothing there", prepare: asNobody, strike: run("chmod", "000"), mend: run("chmod", "700"), refuses: true},
	})
	r.readOnlyAtStart()
	r.readOnlySuddenly()
}

// asNobody runs the child as a user other than root.
func asNobody(s *scene) string {
	if os.Getuid() != 0 {
		return "" // it is not root
	}
	s.job.UID = 65534
	for _, dir := range []string{filepath.Dir(s.p.base), s.p.base, filepath.Dir(s.p.log)} {
		s.must(os.Chmod(dir, 0o755), os.Chown(dir, s.job.UID, s.job.UID))
	}
	return ""
}

// readOnlyAtStart opens a spool where nothing can be written: that is an error,
// and the next start finds the lines that were there.
func (r *run) readOnlyAtStart() {
	r.T.Run("read-only at the start", func(t *testing.T) {
		dir, why := mountedTmpfs(t, "16m")
		if why != "" {
			r.lacks("a read-only start", why)
			t.Skip(why)
		}
		p, b, l := newPlace(t, dir), newBoard(t, 4), newLedger()
		j := job{Role: "log", Spool: p.spool, Writers: 4, Lines: 100, Pad: 400, Segment: segment, Size: 8 << 20, Seed: r.seed}
		start(t, j, b).report()
		l.enter(0, b)
		must(t, exec.Command("mount", "-o", "remount,ro", dir).Run())
		c := start(t, j, b)
		c.ends(exitedWith(1))
		if !strings.Contains(c.err.String(), syscall.EROFS.Error()) {
			t.Errorf("the start says %q", &c.err)
		}
		must(t, exec.Command("mount", "-o", "remount,rw", dir).Run())
		if v, _ := l.check(t, p, 0); v.lines > 0 {
			r.found("a start on a read-only file system is an error, the next one delivers all: %v", v)
		}
	})
}

// readOnlySuddenly has the kernel find an error in the file system, which then
// becomes read-only. The service goes on, and lines are refused. The next one
// finds the file system repaired.
func (r *run) readOnlySuddenly() {
	r.T.Run("read-only suddenly", func(t *testing.T) {
		dir, why := mountedExt4(t, 16<<20, "errors=remount-ro")
		trigger := ""
		if why == "" {
			trigger, why = errorTrigger(dir)
		}
		if why != "" {
			r.lacks("an error of the file system", why)
			t.Skip(why)
		}
		p, b, l := newPlace(t, shmDir(t)), newBoard(t, 4), newLedger()
		p.spool = filepath.Join(dir, "spool")
		c := start(t, job{Role: "log", Spool: p.spool, Log: p.log, Writers: 4, Pad: 400, Segment: segment, Size: 8 << 20, Seed: r.seed,
			Wait: time.Second}, b)
		c.await("lines", func() bool { return b.sum(laneAccepted) > 1000 })
		must(t, os.WriteFile(trigger, []byte("1"), 0))
		c.await("refused lines", func() bool { return b.sum(laneRefused) > 100 })
		b.words[atEnough].Store(1)
		rep := c.report()
		if n := b.sum(laneRefused); n != rep.Stats.Lost() {
			t.Errorf("%d lines were refused, %d are counted", n, rep.Stats.Lost())
		}
		l.enter(0, b)
		must(t, syscall.Unmount(dir, 0))
		v := l.judge(logText(t, p.log)) // all that was accepted has been delivered
		if !v.clean() {
			t.Errorf("%v (%s)", v, v.example)
		}
		r.found("read-only by an error of the file system: %v, %d refused, OnError was called %d times", v, rep.Stats.Lost(), len(rep.Told))
	})
}

// errorTrigger returns a file with which the kernel can be made to find an
// error in the file system mounted at dir.
func errorTrigger(dir string) (name, why string) {
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return "", err.Error()
	}
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 1 && f[1] == dir {
			name = filepath.Join("/sys/fs/ext4", filepath.Base(f[0]), "trigger_fs_error")
		}
	}
	if _, err := os.Stat(name); err != nil {
		return "", "the kernel cannot be made to see an error: " + err.Error()
	}
	return name, ""
}

// TestNoDescriptors is row 11.
func TestNoDescriptors(t *testing.T) {
	r := begin(t, "11")
	limit := func(n string) func(s *scene) error {
		return func(s *scene) error {
			return exec.Command("prlimit", "--pid", strconv.Itoa(s.c.cmd.Process.Pid), "--nofile="+n+":").Run()
		}
	}
	r.endure([]setback{{name: "no descriptors", prepare: func(*scene) (why string) {
		if _, err := exec.LookPath("prlimit"); err != nil {
			why = "prlimit is not installed"
		}
		return why
	}, strike: limit("4"), mend: limit("1024"), refuses: true}})
}
