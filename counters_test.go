// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"io"
	"testing"
)

// Each counter has another value, so that no name can show another counter.
func TestCountersAreShownUnderTheirNames(t *testing.T) {
	l := New(io.Discard)
	s := l.core.state
	s.failed.Store(1)
	s.reentrant.Store(2)
	s.aborted.Store(3)
	s.misused.Store(4)
	idle := idleLogger.core.state.misused.Load() // of all loggers
	stats := Stats{Failed: 1, Reentrant: 2, Aborted: 3, Misused: 4 + idle}
	if got := l.Stats(); got != stats {
		t.Errorf("Stats: got %+v, want %+v", got, stats)
	}
	want := map[string]float64{
		"nib_logger_failed_lines_total": 1, "nib_logger_reentrant_lines_total": 2,
		"nib_logger_aborted_lines_total":  3,
		"nib_logger_misused_events_total": float64(4 + idle),
	}
	for m := range l.Metrics() {
		if v, ok := want[m.Name]; ok && m.Value != v {
			t.Errorf("%s: got %v, want %v", m.Name, m.Value, v)
		}
		delete(want, m.Name)
	}
	if len(want) > 0 {
		t.Errorf("no metrics for %v", want)
	}
	for range l.Metrics() { // a loop may be left at any time
		break
	}
}
