// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"os"
	"slices"
	"testing"
	"time"
)

const segment = 64 << 10

// TestKillAtRandom is row 1: SIGKILL in the midst of logging, again and again over the
// same spool.
func TestKillAtRandom(t *testing.T) {
	r := begin(t, "1")
	rounds, of := count(24, 1000), 25 // rounds over one spool, before what is there is judged
	b := newBoard(t, 1000)
	var sum verdict
	var opens []time.Duration
	for done := 0; done < rounds; {
		dir, maxFile := t.TempDir(), int64(0)
		if done/of%2 == 1 {
			dir = shmDir(t)
		}
		if done/of%4 >= 2 {
			maxFile = 256 << 10
		}
		p, l := newPlace(t, dir), newLedger()
		for ; l.rounds < of && done < rounds; done++ {
			c := start(t, job{Role: "log", Spool: p.spool, Log: p.log, Round: done, Writers: []int{1, 8, 1000}[done%3],
				Pad: 2000, Segment: segment, Size: 64 << 20, MaxFile: maxFile, Seed: r.seed}, b)
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
	if opens[len(opens)/2] > 50*time.Millisecond {
		t.Errorf("a start takes %v", opens[len(opens)/2])
	}
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }
