// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/sink/file"
	"github.com/nib-log/nib/sink/spool"
)

// TestRollingRestart is row 32: each process starts while the one before logs,
// on the same directory, and the one before then ends in an orderly way, or is
// killed.
func TestRollingRestart(t *testing.T) {
	r := begin(t, "32")
	for _, killed := range []bool{false, true} {
		restarts := count(10, 60)
		p, l, maxFile := newPlace(t, t.TempDir()), newLedger(), int64(1<<20)
		before := startShared(t, r, p, 0, maxFile)
		for round := 1; round <= restarts; round++ {
			c := startShared(t, r, p, round, maxFile)
			time.Sleep(time.Duration(r.rng.IntN(200)) * time.Millisecond)
			if killed && round%2 == 0 { // with lines that only the spool has
				before.board.words[atDown].Store(1)
				time.Sleep(time.Duration(r.rng.IntN(20)) * time.Millisecond)
			}
			endShared(t, before, killed)
			l.enter(round-1, before.board)
			before = c
		}
		endShared(t, before, killed)
		l.enter(restarts, before.board)
		deliverShared(t, p, maxFile)
		v := l.judge(logText(t, p.log))
		r.found("%d restarts, killed %v: %v", restarts, killed, v)
		if killed && v.torn <= restarts { // beginnings of lines, after which another process wrote
			v.torn = 0
		}
		if !v.clean() || v.accepted == 0 {
			t.Errorf("%v (%s)", v, v.example)
		}
		must(t, os.RemoveAll(p.base))
	}
}

// startShared starts a process on the spool that others have open, and waits
// until it logs.
func startShared(t *testing.T, r *run, p place, round int, maxFile int64) *child {
	t.Helper()
	c := start(t, job{Role: "log", Spool: p.spool, Log: p.log, Shared: true, Blocks: true, Round: round, Writers: 8, Pad: 500,
		Pace: 200 * time.Microsecond, Segment: 256 << 10, Size: 256 << 20, MaxFile: maxFile, Seed: r.seed}, newBoard(t, 8))
	c.awaitLogging()
	return c
}

// endShared ends a process by SIGKILL, or lets it drain.
func endShared(t *testing.T, c *child, killed bool) {
	t.Helper()
	if killed {
		c.kill()
		return
	}
	c.board.words[atEnough].Store(1)
	if got := c.report(); len(got.Told) > 0 {
		t.Errorf("the process has reported %q", got.Told)
	}
}

// deliverShared acts as a last process: it delivers the lines of all others.
func deliverShared(t *testing.T, p place, maxFile int64) {
	t.Helper()
	f, err := file.Open(p.log, file.Config{MaxSize: maxFile})
	must(t, err)
	defer f.Close()
	s, err := spool.Open(p.spool, f, spool.Config{SegmentSize: 256 << 10, Shared: true})
	must(t, err)
	slots := func() []string {
		names, err := filepath.Glob(filepath.Join(p.spool, "slot-*"))
		must(t, err)
		return names
	}
	await.Until(t, "one slot is left and nothing pending", func() bool { return len(slots()) == 1 && s.Stats().Pending == 0 })
	must(t, s.Flush(context.Background()), s.Close())
	checkAccounts(t, s.Stats())
	if dirs, err := spool.Find(p.spool); err != nil || len(dirs) != 1 || !strings.HasPrefix(dirs[0], p.spool) {
		t.Errorf("found the spools %q, %v", dirs, err)
	}
}
