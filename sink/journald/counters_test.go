// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"reflect"
	"testing"

	"github.com/nib-log/nib/internal/counttest"
)

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	s := new(Sink)
	c := &s.counters
	c.large.Store(1)
	c.reconnects.Store(2)
	c.written[0].lines.Store(3)
	c.written[1].lines.Store(4)
	c.written[1].bytes.Store(5)
	for i := range reasons {
		c.dropped[i][i].Store(uint64(11 + i))
	}
	got, want := s.Stats(), Stats{Lines: 7, Bytes: 5, Large: 1, Reconnects: 2}
	if got.Lost() != 50 {
		t.Errorf("got %d lost lines, want 50", got.Lost())
	}
	if got.Dropped = nil; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, s, want, map[string]string{
		"Lines": "nib_journald_lines_total", "Bytes": "nib_journald_bytes_total",
		"Large":      "nib_journald_large_lines_total",
		"Reconnects": "nib_journald_reconnects_total",
	})
	dropped := struct{ Stalled, Gone, Closed, Failed uint64 }{11, 12, 13, 14}
	counttest.Shown(t, s, dropped, map[string]string{
		"Stalled": `nib_journald_dropped_lines_total{reason="stalled"}`,
		"Gone":    `nib_journald_dropped_lines_total{reason="gone"}`,
		"Closed":  `nib_journald_dropped_lines_total{reason="closed"}`,
		"Failed":  `nib_journald_dropped_lines_total{reason="failed"}`,
	})
}
