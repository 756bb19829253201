// SPDX-License-Identifier: Apache-2.0

package counttest

import (
	"testing"

	"github.com/nib-log/nib/metrics"
)

// A failed T counts its errors.
type failed struct {
	testing.TB
	errors int
}

func (f *failed) Helper()               {}
func (f *failed) Errorf(string, ...any) { f.errors++ }

func TestShown(t *testing.T) {
	type stats struct {
		A, B uint64
		Len  int
		Text string
	}
	var l metrics.Samples
	l.Counter("x_a_total", "A.", 1)
	l.Counter("x_b_total", "B.", 2, metrics.Label{Name: "level", Value: "info"})
	l.Counter("x_b_total", "B.", 3, metrics.Label{Name: "level", Value: "warn"})
	names := func(a, b string) map[string]string {
		return map[string]string{"A": a, "B": b, "Len": ""}
	}
	for _, c := range []struct {
		stats  any
		names  map[string]string
		errors int
	}{
		{stats{1, 5, 7, ""}, names("x_a_total", "x_b_total"), 0},
		{stats{1, 3, 7, ""}, names("x_a_total", `x_b_total{level="warn"}`), 0},
		{stats{1, 2, 7, ""}, names("x_a_total", "x_b_total"), 1},
		{stats{5, 1, 7, ""}, names("x_a_total", "x_b_total"), 2},
		{stats{1, 1, 7, ""}, names("x_a_total", "x_a_total"), 1},
		{stats{1, 0, 7, ""}, names("x_a_total", ""), 1},
		{stats{1, 5, 7, ""}, names("x_a_total", "x_c_total"), 1},
		{stats{1, 5, 7, ""}, map[string]string{"A": "x_a_total", "Len": ""}, 1},
	} {
		f := &failed{TB: t}
		Shown(f, l, c.stats, c.names)
		if f.errors != c.errors {
			t.Errorf("%+v as %v: got %d errors, want %d", c.stats, c.names, f.errors, c.errors)
		}
	}
}
