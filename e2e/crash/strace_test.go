// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// strace returns a function that makes the command line that injects a fault.
func strace(r *run) func(call, fault string) []string {
	path, err := exec.LookPath("strace")
	if err != nil {
		r.skip("strace is not installed")
	}
	if out, err := exec.Command(path, "-f", "-qq", "-o", "/dev/null", "-e", "trace=write", "true").CombinedOutput(); err != nil {
		r.skip("strace does not work here: %v: %s", err, out)
	}
	return func(call, fault string) []string {
		return []string{path, "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", "inject=" + call + ":" + fault}
	}
}

// small returns a job that does a bit of everything: it finds the lines of the
// previous one, fills segments, delivers, rotates, deletes.
func small(r *run, p place, round int) job {
	return job{Role: "log", Spool: p.spool, Log: p.log, Round: round, Writers: 4, Lines: 60, Pad: 2000,
		Segment: segment, Size: 64 << 20, MaxFile: 40 << 10, Seed: r.seed}
}

var killCalls = []string{"openat", "fallocate", "ftruncate", "pwrite64", "pread64", "write", "fsync", "fdatasync", "mmap",
	"munmap", "madvise", "renameat", "linkat", "unlinkat", "flock", "close", "fstat"}

// TestKillAtSystemCall is row 3. strace counts the calls of each thread by
// itself, so n may be reached several times, or not at all, in a run.
func TestKillAtSystemCall(t *testing.T) {
	r := begin(t, "3")
	inject := strace(r)
	b := newBoard(t, 4)
	var sum verdict
	runs, deaths, most := 0, 0, 0
	for _, call := range killCalls {
		p, l := newPlace(t, shmDir(t)), newLedger()
		clean := 0
		for n := 1; clean < 2 && n < 200; n += count(1+n/2, 1+n/40) {
			c := start(t, small(r, p, l.rounds), b, inject(call, fmt.Sprintf("signal=SIGKILL:when=%d", n))...)
			if status := c.wait(); status.Signaled() {
				deaths, clean, most = deaths+1, 0, max(most, n)
			} else {
				c.report()
				clean++
			}
			runs++
			l.enter(l.rounds, b)
		}
		v, _ := l.check(t, p, 40<<10)
		sum.add(v)
		must(t, os.RemoveAll(p.base))
	}
	r.found("%d system calls, %d runs, %d deaths, n up to %d: %v", len(killCalls), runs, deaths, most, sum)
	if deaths == 0 {
		t.Error("no process was killed")
	}
}

// diskFaults are the faults of the disk: at which calls, on which file.
var diskFaults = []struct {
	call, err string
	on        string // "log": at the log file only
}{
	{"fallocate", "EIO", ""}, {"fallocate", "ENOSPC", ""}, {"pwrite64", "EIO", ""}, {"pwrite64", "ENOSPC", ""},
	{"fsync", "EIO", ""}, {"fdatasync", "EIO", ""}, {"renameat", "EIO", ""}, {"linkat", "EIO", ""}, {"unlinkat", "EIO", ""},
	{"ftruncate", "EIO", ""}, {"write", "EIO", "log"}, {"write", "ENOSPC", "log"}, {"openat", "EMFILE", "log"},
}

// TestDiskFaults is row 8.
func TestDiskFaults(t *testing.T) {
	r := begin(t, "8")
	inject := strace(r)
	b := newBoard(t, 4)
	var sum verdict
	var cpu float64
	runs, met, refusedOpen := 0, 0, 0
	for _, f := range diskFaults {
		for _, when := range []string{"%d", "%d+"} {
			p, l := newPlace(t, shmDir(t)), newLedger()
			for n := 1; n < count(4, 30); n += count(2, 1+n/6) {
				before := inject(f.call, "error="+f.err+":when="+fmt.Sprintf(when, n))
				if f.on == "log" {
					before = append(before, "-P", p.log)
				}
				j := small(r, p, l.rounds)
				j.Wait = 100 * time.Millisecond
				if when == "%d+" && n == 1 {
					j.Wait = time.Second // to measure the cost of a missing disk
				}
				j.Tries = 50
				c := start(t, j, b, before...)
				runs++
				if status := c.wait(); status.ExitStatus() == 1 && strings.Contains(c.err.String(), ": open ") {
					refusedOpen++ // a start without a disk is an error, and no more
					l.enter(l.rounds, b)
					continue
				}
				rep := c.report()
				if faultWasMet(t, rep) {
					met++
				}
				if j.Wait >= time.Second && rep.Waited >= j.Wait {
					share := float64(rep.CPU) / float64(rep.Waited)
					t.Logf("%.1f %% CPU with %s of %s", 100*share, f.err, f.call)
					cpu = max(cpu, share)
				}
				l.enter(l.rounds, b)
			}
			sum.add(r.afterFaults(l, p, strings.Contains(f.call, "sync") || f.call == "pwrite64")) // the cursor is written with that
			if t.Failed() {
				t.Fatalf("%s of %s, %s", f.err, f.call, when)
			}
			must(t, os.RemoveAll(p.base))
		}
	}
	r.found("%d kinds of faults, %d runs, met in %d, %d starts refused with the error, up to %.1f %% CPU while broken: %v",
		2*len(diskFaults), runs, met, refusedOpen, 100*cpu, sum)
	if met == 0 {
		t.Error("no fault was met")
	}
	if cpu > 0.05 {
		t.Errorf("%.1f %% CPU while the disk is broken", 100*cpu)
	}
}

// faultWasMet reports whether a child has counted errors, and checks that none
// was reported twice.
func faultWasMet(t *testing.T, rep report) bool {
	t.Helper()
	reported := slices.Clone(rep.Told)
	slices.Sort(reported)
	if n := len(reported); n != len(slices.Compact(reported)) {
		t.Errorf("OnError was called with the same error again: %q", rep.Told)
	}
	return rep.Stats.Errors+rep.Stats.Failures+rep.File.Errors > 0
}

// afterFaults is like check, where lines may be in the file twice: after a
// failed sync the contents of the disk are unknown, and without a cursor the
// delivered lines.
func (r *run) afterFaults(l *ledger, p place, again bool) verdict {
	r.Helper()
	deliverRest(r, p, 40<<10)
	v := l.judge(logText(r, p.log))
	w := v
	if again {
		w.duplicates = 0
	}
	if !w.clean() {
		r.Errorf("%v (%s)", v, v.example)
	}
	return v
}

// TestKillDuringReplay is row 30.
func TestKillDuringReplay(t *testing.T) {
	r := begin(t, "30")
	kills := count(12, 200)
	b := newBoard(t, 4)
	p, l := newPlace(t, shmDir(t)), newLedger()
	c := start(t, job{Role: "log", Spool: p.spool, Writers: 4, Lines: kills * 1000, Pad: 400, Segment: segment, Size: 1 << 30, Seed: r.seed}, b)
	c.report()
	l.enter(0, b)
	killed := 0
	for round := 1; round <= kills; round++ {
		c := start(t, job{Role: "log", Spool: p.spool, Log: p.log, Round: round, Writers: 1, Lines: 1, Segment: segment, Size: 1 << 30, Seed: r.seed}, b)
		c.awaitOrEnd(func() bool { return b.words[atOpen].Load() != 0 })
		time.Sleep(time.Duration(r.rng.IntN(3000)) * time.Microsecond)
		_ = c.cmd.Process.Kill() // it may have ended
		if c.wait().Signaled() {
			killed++
		}
		l.enter(round, b)
	}
	v, st := l.check(t, p, 0)
	r.found("%d processes, %d killed, %d lines left to the last one: %v", kills, killed, st.Recovered, v)
}
