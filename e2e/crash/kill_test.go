// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

const segment = 64 << 10

// TestKillAtRandom is row 1: SIGKILL during logging, repeatedly over the same
// spool.
func TestKillAtRandom(t *testing.T) {
	r := begin(t, "1")
	rounds, of := count(30, 1000), count(5, 25) // rounds over one spool before the log is checked
	b := newBoard(t, 1000)
	var sum verdict
	var opens []time.Duration
	for group := 0; group*of < rounds; group++ {
		dir, maxFile, written := t.TempDir(), int64(0), false
		if group%2 == 1 {
			dir = shmDir(t)
		}
		if group%4 >= 2 {
			maxFile = 256 << 10
		}
		if group%3 == 2 {
			written = true
		}
		p, l := newPlace(t, dir), newLedger()
		if group%5 == 3 {
			p.second = filepath.Join(p.base, "second.log")
		}
		for done := group * of; l.rounds < of && done < rounds; done++ {
			c := start(t, job{Role: "log", Spool: p.spool, Log: p.log, Second: p.second,
				Written: written, Round: done,
				Writers: []int{1, 8, 1000}[done%3], Pad: 2000, Segment: segment, Size: 64 << 20, MaxFile: maxFile, Seed: r.seed}, b)
			c.awaitLogging()
			time.Sleep(time.Duration(r.rng.IntN(10_000)) * time.Microsecond)
			c.kill()
			opens = append(opens, time.Duration(b.words[atOpen].Load()))
			l.enter(done, b)
		}
		v, _ := l.check(t, p, maxFile)
		sum.add(v)
		must(t, os.RemoveAll(p.base))
	}
	slices.Sort(opens)
	r.found("%d rounds: %v; start takes %.1f ms (median), %.1f ms at most", rounds, sum, ms(opens[len(opens)/2]), ms(opens[len(opens)-1]))
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
