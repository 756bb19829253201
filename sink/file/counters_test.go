// SPDX-License-Identifier: Apache-2.0

package file

import (
	"reflect"
	"testing"

	"github.com/nib-log/nib/internal/counttest"
)

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	m, clock := newMem(t)
	s := openMem(t, m, clock, Config{Buffer: 1000, Delay: never})
	writeNumbers(t, s, 0, 2)
	s.mu.Lock()
	s.w.stats = Stats{Notices: 3, Rotations: 4, Followed: 5, Truncations: 6}
	s.w.errors.count.Store(7)
	s.w.written[0].Lines, s.w.written[1].Lines, s.w.written[1].Bytes = 8, 9, 10
	s.w.dropped[full][0], s.w.dropped[failed][1], s.w.dropped[closed][2] = 11, 12, 13
	s.w.size = 14
	s.mu.Unlock()
	want := Stats{
		Lines: 17, Bytes: 10, Pending: 2, Notices: 3, Rotations: 4, Followed: 5,
		Truncations: 6, Errors: 7,
	}
	if got := s.Stats(); got.Lost() != 36 || !sameCounts(got, want) {
		t.Errorf("got %+v, want %+v and 36 dropped lines", got, want)
	}
	counttest.Shown(t, s, want, map[string]string{
		"Lines": "nib_file_lines_total", "Bytes": "nib_file_bytes_total",
		"Pending": "nib_file_buffered_lines",
		"Notices": "nib_file_notices_total", "Rotations": "nib_file_rotations_total",
		"Followed": "nib_file_followed_total", "Truncations": "nib_file_truncations_total",
		"Errors": "nib_file_errors_total",
	})
	others := struct{ Full, Failed, Closed, Size uint64 }{11, 12, 13, 14}
	counttest.Shown(t, s, others, map[string]string{
		"Full":   `nib_file_dropped_lines_total{reason="full"}`,
		"Failed": `nib_file_dropped_lines_total{reason="failed"}`,
		"Closed": `nib_file_dropped_lines_total{reason="closed"}`,
		"Size":   "nib_file_size_bytes",
	})
}

// sameCounts compares all counts except Dropped.
func sameCounts(a, b Stats) bool {
	a.Dropped, b.Dropped = nil, nil
	return reflect.DeepEqual(a, b)
}
