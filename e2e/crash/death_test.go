// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A death is a way to die: an action of the child, or of the test on it, and
// how it must have ended.
type death struct {
	name   string
	own    func(v *service) error // by itself
	inside func(c *child)         // done to it
	status syscall.WaitStatus
}

var deaths = []death{
	{name: "return", own: func(*service) error { return nil }, status: exitedWith(0)},
	{name: "os.Exit", own: func(*service) error { os.Exit(3); return nil }, status: exitedWith(3)},
	{name: "panic", own: func(*service) error { panic("boom") }, status: exitedWith(2)},
	{name: "Fatal", own: fatal, status: exitedWith(1)},
	{name: "SIGTERM", inside: func(c *child) { _ = c.cmd.Process.Signal(syscall.SIGTERM) }, status: killedBy(syscall.SIGTERM)},
	{name: "fatal error of the runtime", own: func(*service) error { new(sync.Mutex).Unlock(); return nil }, status: exitedWith(2)},
	{name: "out of memory", own: fillMemory, status: killedBy(syscall.SIGKILL)},
	{name: "SIGSTOP, SIGKILL", inside: stopAndKill, status: killedBy(syscall.SIGKILL)},
}

// die logs, and dies while it logs.
func die(j *job) error {
	v, err := open(j)
	if err != nil {
		return err
	}
	if j.Cgroup != "" {
		if err := os.WriteFile(filepath.Join(j.Cgroup, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
			return err
		}
	}
	j.Writers-- // the last one is for fatal
	v.logAll()
	for v.board.sum(laneAccepted) < uint64(j.Writers*20) {
		time.Sleep(time.Millisecond)
	}
	for _, d := range deaths {
		if d.name == j.Death && d.own != nil {
			return d.own(v)
		}
	}
	select {} // until the test ends it
}

// fatal ends the process with a line, which must be delivered, too.
func fatal(v *service) error {
	w := v.j.Writers
	l := newLane(v.spool)
	l.ack = func() { v.board.lane(w, laneAccepted).Store(1) }
	v.board.lane(w, laneBegun).Store(1)
	pad := newPadding(v.j.Seed, v.j.Pad)
	addLine(l.log.Fatal(), lineID{v.j.Round, w, 0}, pad)
	return nil
}

// fillMemory allocates until the system ends the process.
func fillMemory(*service) error {
	for {
		kept = append(kept, make([]byte, 1<<20))
		for i := 0; i < 1<<20; i += 4096 {
			kept[len(kept)-1][i] = 1
		}
	}
}

var kept [][]byte

func stopAndKill(c *child) {
	_ = c.cmd.Process.Signal(syscall.SIGSTOP)
	stat := "/proc/" + strconv.Itoa(c.cmd.Process.Pid) + "/stat"
	c.await("a stop", func() bool {
		text, err := os.ReadFile(stat)
		_, state, _ := strings.Cut(string(text), ") ")
		return err == nil && strings.HasPrefix(state, "T")
	})
	time.Sleep(100 * time.Millisecond)
	_ = c.cmd.Process.Kill()
}

// memoryCgroup makes a cgroup of 64 MiB.
func memoryCgroup(t testing.TB) (dir, why string) {
	const root = "/sys/fs/cgroup"
	for _, kind := range []struct{ dir, limit, swap string }{
		{root + "/memory", "memory.limit_in_bytes", ""},
		{root, "memory.max", "memory.swap.max"},
	} {
		if _, err := os.Stat(filepath.Join(kind.dir, "cgroup.procs")); err != nil {
			continue
		}
		dir = filepath.Join(kind.dir, "nib-crash-"+strconv.Itoa(os.Getpid()))
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", err.Error()
		}
		t.Cleanup(func() { _ = syscall.Rmdir(dir) })
		if err := os.WriteFile(filepath.Join(dir, kind.limit), []byte("67108864"), 0); err != nil {
			return "", err.Error()
		}
		if kind.swap != "" {
			_ = os.WriteFile(filepath.Join(dir, kind.swap), []byte("0"), 0) // there may be no swap
		}
		return dir, ""
	}
	return "", "no memory cgroups"
}

// TestWaysToDie is row 28.
func TestWaysToDie(t *testing.T) {
	r := begin(t, "28")
	const writers = 9
	b := newBoard(t, writers)
	var sum verdict
	died := 0
	for round := range 2 * len(deaths) {
		d, written := deaths[round/2], round%2 == 1
		t.Run(d.name, func(t *testing.T) {
			p, l := newPlace(t, t.TempDir()), newLedger()
			j := job{Role: "die", Death: d.name, Spool: p.spool, Log: p.log, Round: round,
				Writers: writers, Pad: 500, Written: written,
				Segment: segment, Size: 64 << 20, Seed: r.seed}
			if d.name == "out of memory" {
				var why string
				if j.Cgroup, why = memoryCgroup(t); why != "" {
					if round%2 == 0 {
						r.lacks(d.name, why)
					}
					t.Skip(why)
				}
			}
			c := start(t, j, b)
			if d.inside != nil {
				c.await("lines", func() bool { return b.sum(laneAccepted) > writers*20 })
				d.inside(c)
			}
			c.ends(d.status)
			l.enter(round, b)
			v, _ := l.check(t, p, 0)
			sum.add(v)
			died++
		})
	}
	r.found("%d ways, mapped and written: %v", died/2, sum)
}
