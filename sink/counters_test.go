// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/counttest"
	"github.com/nib-log/nib/metrics"
)

func TestCountersOfABacktrace(t *testing.T) {
	b := Backtrace(Discard(), BacktraceConfig{})
	b.passed.Store(1)
	b.held.Store(100)
	b.dumped.Store(2)
	b.discarded.Store(3)
	b.overwritten.Store(4)
	b.tooLarge.Store(5)
	b.gone.Store(6)
	want := BacktraceStats{
		Passed: 1, Held: 100, Dumped: 2, Discarded: 3, Overwritten: 4, TooLarge: 5,
		Failed: 6, Pending: 80,
	}
	if got := b.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, b, want, map[string]string{
		"Passed": "nib_backtrace_passed_lines_total", "Held": "nib_backtrace_held_lines_total",
		"Dumped":      "nib_backtrace_dumped_lines_total",
		"Discarded":   `nib_backtrace_dropped_lines_total{reason="discarded"}`,
		"Overwritten": `nib_backtrace_dropped_lines_total{reason="overwritten"}`,
		"TooLarge":    `nib_backtrace_dropped_lines_total{reason="too_large"}`,
		"Failed":      `nib_backtrace_dropped_lines_total{reason="failed"}`,
		"Pending":     "nib_backtrace_pending_lines",
	})
}

func TestCountersOfASuppressor(t *testing.T) {
	g := Limit(Discard(), LimitConfig{})
	g.passed[levelIndex(nib.LevelInfo)].Store(1)
	g.passed[levelIndex(nib.LevelWarn)].Store(2)
	g.suppressed[levelIndex(nib.LevelInfo)].Store(4)
	g.suppressed[levelIndex(nib.LevelError)].Store(8)
	g.announced.Store(5)
	g.owing.Store(7)
	g.forgotten.Store(6)
	want := SuppressionStats{
		Taken: 15, Passed: 3, Suppressed: 12, Announced: 5, Owed: 7, Forgotten: 6,
	}
	if got := g.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, g, want, map[string]string{
		"Taken": "", "Owed": "", // sums and differences of the others
		"Passed":     "nib_limit_passed_lines_total",
		"Suppressed": "nib_limit_suppressed_lines_total",
		"Announced":  "nib_limit_announced_lines_total",
		"Forgotten":  "nib_limit_forgotten_total",
	})
	levels := struct{ PassedInfo, PassedWarn, SuppressedInfo, SuppressedError uint64 }{1, 2, 4, 8}
	counttest.Shown(t, g, levels, map[string]string{
		"PassedInfo":      `nib_limit_passed_lines_total{level="info"}`,
		"PassedWarn":      `nib_limit_passed_lines_total{level="warn"}`,
		"SuppressedInfo":  `nib_limit_suppressed_lines_total{level="info"}`,
		"SuppressedError": `nib_limit_suppressed_lines_total{level="error"}`,
	})
}

func TestCountersOfAFilter(t *testing.T) {
	f := Filter(Discard(), func(*nib.Record) bool { return true }).(*filter)
	f.passed.Store(1)
	f.dropped.Store(2)
	f.faults.Store(3)
	counts := struct{ Passed, Dropped, Faults uint64 }{1, 2, 3}
	counttest.Shown(t, metrics.Of(f), counts, map[string]string{
		"Passed": "nib_filter_passed_lines_total", "Dropped": "nib_filter_dropped_lines_total",
		"Faults": "nib_filter_faults_total",
	})
}
