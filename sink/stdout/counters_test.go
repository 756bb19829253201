// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"reflect"
	"testing"

	"github.com/nib-log/nib/internal/counttest"
)

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	s := &Sink{name: "/dev/stdout", head: head{written: 1}}
	s.buffer.fill.Add([]byte("a\n"), 0)
	s.buffer.out.Add([]byte("b\n"), 0)
	s.written[0].Lines, s.written[1].Lines, s.written[1].Bytes = 3, 4, 5
	for i, cause := range []cause{stalled, gone, closed, failed} {
		s.head.dropped[cause][i] = uint64(11 + i)
	}
	got, want := s.Stats(), Stats{Lines: 7, Bytes: 5, Pending: 2, Notices: 1}
	if got.Lost() != 50 {
		t.Errorf("got %d lost lines, want 50", got.Lost())
	}
	if got.Dropped = nil; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, s, want, map[string]string{
		"Lines": "nib_stdout_lines_total", "Bytes": "nib_stdout_bytes_total",
		"Pending": "nib_stdout_buffered_lines",
		"Notices": `nib_stdout_notices_total{stream="/dev/stdout"}`,
	})
	dropped := struct{ Stalled, Gone, Closed, Failed uint64 }{11, 12, 13, 14}
	counttest.Shown(t, s, dropped, map[string]string{
		"Stalled": `nib_stdout_dropped_lines_total{reason="stalled"}`,
		"Gone":    `nib_stdout_dropped_lines_total{reason="gone"}`,
		"Closed":  `nib_stdout_dropped_lines_total{reason="closed"}`,
		"Failed":  `nib_stdout_dropped_lines_total{reason="failed"}`,
	})
}
