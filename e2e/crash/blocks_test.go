// SPDX-License-Identifier: Apache-2.0

//go:build linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/setup"
)

func init() {
	roles["blocks"] = func(j *job) error { return logBlocks(j) }
}

// blockOf returns the text of several lines that a record has. Many records
// have the same text.
func blockOf(k int) string { return strings.Repeat("at main.go:7\n", 1+k%4) + "at the end" }

// logBlocks logs records of several lines as an application that uses setup
// does, until it is killed; without lines to log it delivers the lines of
// others.
func logBlocks(j *job) error {
	b, err := openBoard(j.Board)
	if err != nil {
		return err
	}
	l, err := setup.Open(setup.Config{
		Format: "console", Signals: setup.SwitchOff, Reopen: setup.SwitchOff, Timeout: patience,
		Output: []string{"file:" + j.Log + "?spool=" + j.Spool + "&on_full=block:" + patience.String() + "&max_size=" + strconv.FormatInt(int64(j.MaxFile), 10) + "B"},
	})
	if err != nil {
		return err
	}
	b.words[atLogging].Store(1)
	for k := 0; j.Round >= 0; k++ {
		b.lane(0, laneBegun).Store(uint64(k) + 1)
		l.Info().Int("r", j.Round).Int("k", k).Err(errors.New(blockOf(k))).Msg("line")
		b.lane(0, laneAccepted).Store(uint64(k) + 1)
		if k%100 == 99 {
			time.Sleep(time.Millisecond)
		}
	}
	if err := l.Flush(context.Background()); err != nil {
		return err
	}
	return l.Close()
}

// TestRecordsOfSeveralLines is row 33: a service with the console view, a spool
// and a file is killed.
func TestRecordsOfSeveralLines(t *testing.T) {
	r := begin(t, "33")
	kills := count(30, 200)
	p, b := newPlace(t, t.TempDir()), newBoard(t, 1)
	begun, accepted := map[int]int{}, map[int]int{}
	for round := range kills {
		c := start(t, job{Role: "blocks", Spool: p.spool, Log: p.log, Round: round, MaxFile: 1 << 20}, b)
		c.awaitLogging()
		time.Sleep(time.Duration(r.rng.IntN(30)) * time.Millisecond)
		c.kill()
		begun[round], accepted[round] = int(b.lane(0, laneBegun).Load()), int(b.lane(0, laneAccepted).Load())
		for i := range b.words {
			b.words[i].Store(0)
		}
	}
	start(t, job{Role: "blocks", Spool: p.spool, Log: p.log, Round: -1}, b).ends(exitedWith(0))
	if names, err := filepath.Glob(filepath.Join(p.spool, "slot-*")); err != nil || len(names) != 1 {
		t.Errorf("got the slots %q, %v; want one", names, err)
	}

	there, odd := blocksIn(string(logText(t, p.log)))
	lines, twice, lost := 0, 0, 0
	for round, n := range begun {
		for k := range n {
			lines++
			switch c := there[lineID{round, 0, k}]; {
			case c > 1:
				twice++
			case c == 0 && k < accepted[round]:
				lost++
			}
		}
	}
	r.found("%d kills, %d records: %d lost, %d twice, %d without their lines", kills, lines, lost, twice, odd)
	if lost+twice+odd > 0 || lines == 0 {
		t.Errorf("of %d records %d are lost, %d there twice and %d without their lines", lines, lost, twice, odd)
	}
	must(t, os.RemoveAll(p.base))
}

// blocksIn counts the records in a text, and the records without the lines of
// their block.
func blocksIn(text string) (there map[lineID]int, odd int) {
	there = map[lineID]int{}
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		id := lineID{}
		at := strings.LastIndex(row, " r=")
		if at < 0 {
			continue
		}
		if n, err := fmt.Sscanf(row[at:], " r=%d k=%d", &id.round, &id.k); n < 2 || err != nil {
			continue
		}
		there[id]++
		if !hasBlock(rows[i+1:], id.k) {
			odd++
		}
	}
	return there, odd
}

// hasBlock reports whether the lines of a record follow, and then another
// record or nothing.
func hasBlock(rows []string, k int) bool {
	block := strings.Split(blockOf(k), "\n")
	for i, row := range block {
		if i == len(rows) || !strings.HasPrefix(rows[i], "    │ ") || !strings.HasSuffix(rows[i], row) || i == 0 && !strings.Contains(rows[i], "error: ") {
			return false
		}
	}
	return len(rows) == len(block) || !strings.HasPrefix(rows[len(block)], "    │ ")
}
