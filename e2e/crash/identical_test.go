// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

func init() {
	roles["identical"] = func(j *job) error { return logIdentical(j) }
}

// logIdentical logs lines that have neither a time nor anything else of this
// process, until it is killed; without a round it delivers the lines of others.
func logIdentical(j *job) error {
	v, err := open(j)
	if err != nil {
		return err
	}
	b := v.board
	b.words[atLogging].Store(1)
	for k := 0; j.Round >= 0; k++ {
		b.lane(0, laneBegun).Store(uint64(k) + 1)
		if err := v.spool.WriteRecord(&nib.Record{Level: nib.LevelInfo, Line: identicalLine(j.Round, k)}); err != nil {
			return err
		}
		b.lane(0, laneAccepted).Store(uint64(k) + 1)
		time.Sleep(j.Pace)
	}
	return v.close()
}

func identicalLine(round, k int) []byte {
	return fmt.Appendf(nil, "{\"r\":%d,\"k\":%d,\"pad\":%q}\n", round, k, strings.Repeat("x", k*37%200))
}

// TestIdenticalLines is row 34: two processes log the same lines into one file
// and are killed, one a little before the other.
func TestIdenticalLines(t *testing.T) {
	r := begin(t, "34")
	for _, shared := range []bool{false, true} {
		rounds := count(20, 150)
		p, want := newPlace(t, t.TempDir()), map[string][2]int{}
		boards := [2]*board{newBoard(t, 1), newBoard(t, 1)}
		run := func(round, i int) *child {
			dir := filepath.Join(p.base, fmt.Sprintf("spool%d", i))
			if shared {
				dir = p.spool
			}
			return start(t, job{Role: "identical", Spool: dir, Log: p.log, Shared: shared, Blocks: true, Round: round,
				Pace: 50 * time.Microsecond, Segment: segment, Size: 64 << 20, MaxFile: 256 << 10}, boards[i])
		}
		accepted := 0
		for round := range rounds {
			children := [2]*child{run(round, 0), run(round, 1)}
			children[0].awaitLogging()
			children[1].awaitLogging()
			first := r.rng.IntN(2)
			time.Sleep(time.Duration(r.rng.IntN(20_000)) * time.Microsecond)
			children[first].kill()
			time.Sleep(time.Duration(r.rng.IntN(10_000)) * time.Microsecond)
			children[1-first].kill()
			for _, b := range boards {
				accepted += int(b.lane(0, laneAccepted).Load())
				expect(want, round, b)
			}
		}
		for i := range boards {
			run(-1, i).ends(exitedWith(0))
		}
		if shared {
			deliverShared(t, p, 256<<10) // waits until all slots are delivered
		}
		lost, more := compareIdentical(string(logText(t, p.log)), want)
		r.found("%d rounds, shared %v: %d accepted, %d lost, %d more than logged", rounds, shared, accepted, lost, more)
		if lost+more > 0 || accepted == 0 {
			t.Errorf("shared %v: of %d lines %d are lost, and %d there more often than logged", shared, accepted, lost, more)
		}
		must(t, os.RemoveAll(p.base))
	}
}

// expect adds the lines of a process: how often each line has to be there at
// least, and may be at most. It clears the board.
func expect(want map[string][2]int, round int, b *board) {
	accepted := int(b.lane(0, laneAccepted).Load())
	for k := range int(b.lane(0, laneBegun).Load()) {
		line := strings.TrimSuffix(string(identicalLine(round, k)), "\n")
		n := want[line]
		if n[1]++; k < accepted {
			n[0]++
		}
		want[line] = n
	}
	for i := range b.words {
		b.words[i].Store(0)
	}
}

// compareIdentical counts the lines that are not there often enough, or too
// often.
func compareIdentical(text string, want map[string][2]int) (lost, more int) {
	there := map[string]int{}
	for line := range strings.SplitSeq(text, "\n") {
		there[line]++
	}
	for line, n := range want {
		lost += max(n[0]-there[line], 0)
		more += max(there[line]-n[1], 0)
	}
	return lost, more
}
