// SPDX-License-Identifier: Apache-2.0

package command_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool"
)

// asKeeper is a variable with a directory: the test binary logs to a spool
// there that keeps its lines, until it is killed. It writes the number of each
// line to standard output when the call has returned.
const asKeeper = "NIB_TEST_AS_KEEPER"

// keeperRound is a variable with a number that all lines of a keeper have.
const keeperRound = "NIB_TEST_KEEPER_ROUND"

func keepLines(dir string) error {
	s, err := spool.Open(dir, nil, spool.Config{
		Name: "kept", OnFull: []spool.FullRule{{From: nib.LevelTrace, Do: spool.ActionBlock, Wait: time.Minute}},
	})
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(os.Stdout, 512)
	for n := 0; ; n++ {
		r := nib.Record{Line: fmt.Appendf(nil, `{"round":%s,"n":%d}`+"\n", os.Getenv(keeperRound), n)}
		if err := s.WriteRecord(&r); err != nil {
			return err
		}
		if _, err := fmt.Fprintln(out, n); err != nil {
			return err
		}
	}
}

// nib cat of a spool whose owner is killed and started again shows each line
// once and in order, while it is written and at the end.
func TestCatOfASpoolHasEachLineOnceOverKills(t *testing.T) {
	rounds, lines := 3, 500
	if os.Getenv("NIB_E2E") == "full" {
		rounds, lines = 50, 20_000
	}
	dir := filepath.Join(t.TempDir(), "spool")
	var logged []int // lines whose calls had returned, by round
	total := 0
	for round := range rounds {
		service := child()
		service.Env = append(os.Environ(), asKeeper+"="+dir, fmt.Sprintf("%s=%d", keeperRound, round))
		out, err := service.StdoutPipe()
		must(t, err, service.Start())
		acknowledged := bufio.NewScanner(out)
		for n := range lines {
			if !acknowledged.Scan() {
				t.Fatal("the service has ended")
			}
			if n == lines/2 {
				checkKept(t, dir, append(logged, n+1))
			}
		}
		must(t, service.Process.Kill())
		n := lines
		for acknowledged.Scan() {
			if acknowledged.Text() == fmt.Sprint(n) { // the last one may be cut off
				n++
			}
		}
		_ = service.Wait() // it was killed
		logged = append(logged, n)
		total = checkKept(t, dir, logged)
	}
	t.Logf("%d lines of %d processes", total, rounds)
}

// checkKept checks that nib cat shows the lines of each round from 0 on, and at
// least those that had been logged. It returns their number.
func checkKept(t *testing.T, dir string, logged []int) (total int) {
	t.Helper()
	next := make([]int, len(logged))
	last := 0
	for text := range strings.Lines(want(t, "cat", "-t", "{round} {n}", dir)) {
		var round, n int
		if _, err := fmt.Sscan(text, &round, &n); err != nil || round < last || round >= len(next) || n != next[round] {
			t.Fatalf("got %q after %d lines of round %d", text, next[last], last)
		}
		last = round
		next[round]++
		total++
	}
	for round, n := range logged {
		if next[round] < n {
			t.Fatalf("round %d: got %d lines, want the %d that were logged", round, next[round], n)
		}
	}
	return total
}
