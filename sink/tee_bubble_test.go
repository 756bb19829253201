// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package sink_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/sink"
)

func TestTeePassesOverABranchThatHasStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := newGated()
		var good recordtest.Recorder
		s := sink.Tee(hang, &good)
		held := make(chan error, 1)
		go func() { held <- s.WriteRecord(record(nib.LevelInfo, `{"n":0}`)) }()
		await.Sleep(1050 * time.Millisecond) // fake time
		go func() { held <- s.WriteRecord(record(nib.LevelInfo, `{"n":1}`)) }()
		synctest.Wait()
		select {
		case err := <-held:
			t.Errorf("after 1.05 s the branch was passed over already: %v", err)
		default:
		}
		await.Sleep(300 * time.Millisecond)
		wantLines(t, &good, "the other branch", "{\"n\":0}", "{\"n\":1}")

		start := time.Now()
		if err := s.WriteRecord(record(nib.LevelInfo, `{"n":2}`)); !errors.Is(err, delivery.ErrStalled) || time.Since(start) > 0 {
			t.Errorf("after 1.35 s: got error %v in %v, want %v at once", err, time.Since(start), delivery.ErrStalled)
		}
		wantCounts(t, s, "nib_tee_dropped_lines_total", map[string]uint64{
			"0 error": 0, "0 panic": 0, "0 stalled": 1, "1 error": 0, "1 panic": 0, "1 stalled": 0,
		})

		close(hang.gate)
		for range 2 {
			if err := <-held; err != nil {
				t.Errorf("a line that was held up: got error %v, want nil", err)
			}
		}
		if err := s.WriteRecord(record(nib.LevelInfo, `{"n":3}`)); err != nil {
			t.Errorf("after the branch has returned: got error %v, want nil", err)
		}
		wantLines(t, &good, "the other branch", "{\"n\":0}", "{\"n\":1}", "{\"n\":2}", "{\"n\":3}")
		if hang.Len() != 3 {
			t.Errorf("the branch that hung got %q, want all but the line it was passed over with", hang.Lines())
		}
	})
}

func TestTeeKeepsTheRecordUntilTheLastBranchHasReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := newGated(), newGated()
		got := signal(make(chan string, 10))
		s := sink.Tee(first, second, writingWith(func(*nib.Record) error { return errTwo }), got)
		returned := make(chan error, 1)
		go func() { returned <- s.WriteRecord(record(nib.LevelInfo, "{}")) }()
		<-got
		close(first.gate)
		synctest.Wait()
		select {
		case <-returned:
			t.Error("WriteRecord has returned while the second branch has the record")
		default:
		}
		close(second.gate)
		if err := <-returned; !errors.Is(err, errTwo) {
			t.Errorf("got error %v, want the helper's error", err)
		}
		wantLines(t, &first.Recorder, "first", "{}")
		wantLines(t, &second.Recorder, "second", "{}")
		wantCounts(t, s, "nib_tee_lines_total", map[string]uint64{"0": 1, "1": 1, "2": 0, "3": 1})
	})
}

func TestTeeGivesTheLineToTheOthersWithinTwoTicks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := newGated()
		got := signal(make(chan string, 1))
		s := sink.Tee(hang, got)
		returned := make(chan struct{})
		start := time.Now()
		go func() {
			defer close(returned)
			_ = s.WriteRecord(record(nib.LevelInfo, "{}"))
		}()
		<-got
		if d := time.Since(start); d < 100*time.Millisecond || d > 200*time.Millisecond {
			t.Errorf("the other branch got the line after %v, want 100 ms to 200 ms", d)
		}
		close(hang.gate)
		<-returned
	})
}

// A branch that is merely slow must not lose lines.
func TestTeeLosesNothingToASlowBranch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := writingWith(func(*nib.Record) error { time.Sleep(900 * time.Millisecond); return nil })
		var good recordtest.Recorder
		s := sink.Tee(slow, &good)
		for range 5 {
			if err := s.WriteRecord(record(nib.LevelInfo, "{}")); err != nil {
				t.Error(err)
			}
		}
		if slow.Len() != 5 || good.Len() != 5 {
			t.Errorf("got %d and %d lines, want 5 each", slow.Len(), good.Len())
		}
	})
}

// The bubble ends only when all of its goroutines have, and synctest fails if
// they are blocked.
func TestTeeLeavesNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := sink.Tee(newQuiet(), newQuiet())
		for range 10 {
			_ = s.WriteRecord(record(nib.LevelInfo, "{}"))
			await.Sleep(50 * time.Millisecond)
		}
	})
}
