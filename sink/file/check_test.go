// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package file

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
)

// countedClock is the system clock, and counts how often it is read.
func countedClock(reads *int) clock {
	start := time.Now()
	return clock{
		mono:   func() int64 { *reads++; return int64(time.Since(start)) },
		wall:   time.Now,
		timers: true,
	}
}

// logged writes n lines, and returns how many of them read the clock.
func logged(t *testing.T, s *Sink, n int, reads *int) int {
	t.Helper()
	before := *reads
	for range n {
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 60)))
	}
	return *reads - before
}

// TestFastLinesReadNoClock writes many lines between two checks of the name,
// and then few: until the next check, the many do not read the clock.
func TestFastLinesReadNoClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		path := filepath.Join(t.TempDir(), "app.log")
		s, err := Open(path, Config{clock: countedClock(&reads)})
		must(t, err)
		defer s.Close()
		const rest = time.Duration(checkEvery)
		interval := func() {
			time.Sleep(rest)
			synctest.Wait()
		}

		if got := logged(t, s, fastLines-1, &reads); got < fastLines-1 {
			t.Errorf("%d lines read the clock %d times at the beginning", fastLines-1, got)
		}
		interval()
		logged(t, s, 1, &reads)
		if got := logged(t, s, fastLines, &reads); got != fastLines {
			t.Errorf("%d lines read the clock %d times after %d in the interval before", fastLines, got, fastLines-1)
		}
		interval()
		logged(t, s, 1, &reads)
		if got := logged(t, s, 100, &reads); got != 0 {
			t.Errorf("100 lines read the clock %d times after %d in the interval before", got, fastLines)
		}
		await.Sleep(rest - 1)
		must(t, os.Rename(path, path+".old"))
		if got := logged(t, s, 1, &reads); got != 0 {
			t.Errorf("a line read the clock %d times before the check was due", got)
		}
		await.Sleep(time.Nanosecond)
		logged(t, s, 1, &reads)
		if got := s.Stats().Followed; got != 1 {
			t.Errorf("the sink followed the name %d times after the check was due, want 1", got)
		}
		if got := logged(t, s, 10, &reads); got != 10 {
			t.Errorf("10 lines read the clock %d times after 102 in the interval before", got)
		}
	})
}

// TestFastLinesStopForTheSchedule writes many lines shortly before the schedule
// ends the file, and shortly before a rotation.
func TestFastLinesStopForTheSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		s, err := Open(filepath.Join(t.TempDir(), "app.log"), Config{Every: time.Minute, clock: countedClock(&reads)})
		must(t, err)
		defer s.Close()
		next := time.Now().Truncate(time.Minute).Add(time.Minute)
		await.Sleep(time.Until(next) - 10*time.Millisecond - time.Duration(checkEvery))
		logged(t, s, fastLines+1, &reads)
		await.Sleep(time.Duration(checkEvery))
		logged(t, s, 1, &reads)
		if got := logged(t, s, 1, &reads); got != 0 {
			t.Errorf("a line read the clock %d times", got)
		}
		await.Sleep(10 * time.Millisecond)
		logged(t, s, 1, &reads)
		if got := s.Stats().Rotations; got != 1 {
			t.Errorf("got %d rotations when the schedule ends the file, want 1", got)
		}

		logged(t, s, fastLines+1, &reads)
		await.Sleep(time.Duration(checkEvery))
		logged(t, s, 1, &reads)
		must(t, s.Rotate())
		if got := logged(t, s, 1, &reads); got == 0 {
			t.Error("the first line of a file does not determine when the schedule ends it")
		}
	})
}
