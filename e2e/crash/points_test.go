// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
)

// The code that is tested has no hooks. Instead the test sets breakpoints in
// the memory of the child, one at the beginning of any statement, and the
// kernel ends the child when one of its threads executes it.

// A point is where a statement begins.
type point struct {
	at   uintptr
	name string
}

// breakpoints are the instructions.
var breakpoints = map[string][]byte{"amd64": {0xcc}, "arm64": {0x00, 0x00, 0x20, 0xd4}}

// pointsOf lists all statements of the package that a method is of, and of the
// internal packages below it. Their functions are close together in memory. The
// tables of the runtime change from one line to another at the beginning of
// instructions only.
func pointsOf(method any) (points []point, functions int) {
	const around = 1 << 20
	near := reflect.ValueOf(method).Pointer()
	full := runtime.FuncForPC(near).Name()
	slash := strings.LastIndexByte(full, '/')
	prefix := full[:slash+strings.IndexByte(full[slash:], '.')]
	isOf := func(name string) bool {
		return strings.HasPrefix(name, prefix+".") || strings.HasPrefix(name, prefix+"/internal/")
	}
	outer, entry, known := "", uintptr(0), map[string]bool{}
	for pc := near - around; pc < near+around; pc++ {
		f := runtime.FuncForPC(pc)
		if f == nil {
			continue
		}
		if f.Entry() != entry {
			entry = f.Entry()
			if outer = outermost(entry); isOf(outer) {
				functions++
			}
		}
		if !isOf(outer) {
			continue
		}
		name, line := f.FileLine(pc)
		here := fmt.Sprintf("%s:%d in %s", filepath.Base(name), line, outer[len(prefix)+1:])
		if !known[here] && line > 0 {
			known[here] = true
			points = append(points, point{pc, here})
		}
	}
	return points, functions
}

// outermost returns the function whose code is at pc, whatever was inlined
// there.
func outermost(pc uintptr) string {
	frames := runtime.CallersFrames([]uintptr{pc + 1})
	name := ""
	for {
		f, more := frames.Next()
		if f.Function != "" {
			name = f.Function
		}
		if !more {
			return name
		}
	}
}

// awaitTrap runs in the child: it reports its address, and waits.
func awaitTrap(b *board) error {
	if err := dieOfTraps(); err != nil {
		return err
	}
	b.words[atAddress].Store(uint64(address()))
	for b.words[atPatch].Load() == 0 {
		time.Sleep(50 * time.Microsecond)
	}
	return nil
}

// address returns the address of one function: if it is the same in both
// processes, so are all.
func address() uintptr { return reflect.ValueOf((*spool.Sink).WriteRecord).Pointer() }

// setTrap writes the breakpoint into the memory of the child.
func setTrap(c *child, at uintptr) error {
	f, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", c.cmd.Process.Pid), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(breakpoints[runtime.GOARCH], int64(at))
	return err
}

// TestKillAtPoints is row 2. Each child gets one breakpoint before it starts;
// those that are reached are set once more in other children, at some moment
// while they log.
func TestKillAtPoints(t *testing.T) {
	r := begin(t, "2")
	if breakpoints[runtime.GOARCH] == nil {
		r.skip("no breakpoints for %s", runtime.GOARCH)
	}
	points, functions := pointsOf((*spool.Sink).WriteRecord)
	more, others := pointsOf((*file.Sink).WriteRecord)
	points, functions = append(points, more...), functions+others
	all := len(points)
	if all < 500 {
		t.Fatalf("only %d statements are known", all)
	}
	r.rng.Shuffle(all, func(i, k int) { points[i], points[k] = points[k], points[i] })
	points = points[:min(all, count(200, all))]
	reached, sum := r.killAtAll(points, false)
	again, late := r.killAtAll(reached, true)
	sum.add(late)
	r.found("%d statements in %d functions, tried %d, died at %d, at %d of them once more while logging: %v",
		all, functions, len(points), len(reached), len(again), sum)
	if len(reached) == 0 {
		t.Error("no breakpoint was reached")
	}
}

// killAtAll runs a child for each point, 20 of them over each spool.
func (r *run) killAtAll(points []point, late bool) (reached []point, sum verdict) {
	b := newBoard(r, 4)
	dir := shmDir(r)
	for len(points) > 0 {
		p, l, written := newPlace(r, dir), newLedger(), len(points)/20%2 == 1
		for ; l.rounds < 20 && len(points) > 0; points = points[1:] {
			if killedAt(r, p, l, b, points[0], late, written) {
				reached = append(reached, points[0])
			}
		}
		v, _ := l.check(r, p, 96<<10)
		sum.add(v)
		must(r, os.RemoveAll(p.base))
	}
	return reached, sum
}

// killedAt runs one child and reports whether it died at the point; otherwise
// it ended by itself.
func killedAt(r *run, p place, l *ledger, b *board, at point, late, written bool) bool {
	r.Helper()
	round := l.rounds
	c := start(r, job{Role: "log", Trap: true, Spool: p.spool, Log: p.log, Round: round, Writers: 4,
		Lines: 120, Pad: 1200, Written: written,
		Segment: segment, Size: 64 << 20, MaxFile: 96 << 10, Seed: r.seed}, b)
	c.await("its trap", func() bool { return b.words[atAddress].Load() != 0 })
	if b.words[atAddress].Load() != uint64(address()) {
		r.skip("programs lie at different addresses in memory")
	}
	if !late {
		if err := setTrap(c, at.at); err != nil {
			r.skip("no breakpoints can be set: %v", err)
		}
	}
	b.words[atPatch].Store(1)
	if late {
		after := r.rng.Uint64N(400)
		c.awaitOrEnd(func() bool { return b.sum(laneAccepted) >= after })
		_ = setTrap(c, at.at) // it may have ended
	}
	status := c.wait()
	died := status.Signaled() && status.Signal() == syscall.SIGTRAP
	if !died {
		if c.ends(exitedWith(0)); c.out.Len() == 0 {
			r.Fatalf("%s: the child has nothing to report", at.name)
		}
		c.report()
	}
	l.enter(round, b)
	return died
}
