// SPDX-License-Identifier: Apache-2.0

package request

import (
	"testing"

	"github.com/nib-log/nib/internal/counttest"
)

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	var p Policy
	p.failed.Store(2)
	p.slow.Store(3)
	p.marked.Store(4)
	p.written.Store(5)
	p.sampledOut.Store(6)
	p.suppressed.Store(7)
	p.late.Store(8)
	p.tooLarge.Store(9)
	want := Stats{
		Ended: 18, Failed: 2, Slow: 3, Marked: 4, Written: 5, SampledOut: 6, Suppressed: 7,
		Late: 8, TooLarge: 9,
	}
	if got := p.Stats(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, &p, want, map[string]string{
		"Ended":      "", // the sum of the events
		"Written":    `nib_request_events_total{outcome="written"}`,
		"SampledOut": `nib_request_events_total{outcome="sampled_out"}`,
		"Suppressed": `nib_request_events_total{outcome="suppressed"}`,
		"Failed":     `nib_request_kept_total{reason="failed"}`,
		"Slow":       `nib_request_kept_total{reason="slow"}`,
		"Marked":     `nib_request_kept_total{reason="marked"}`,
		"Late":       `nib_request_dropped_additions_total{reason="late"}`,
		"TooLarge":   `nib_request_dropped_additions_total{reason="too_large"}`,
	})
}
