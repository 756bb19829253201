// SPDX-License-Identifier: Apache-2.0

// Package counttest tests that each count is shown under its own name.
package counttest

import (
	"reflect"
	"testing"

	"github.com/nib-log/nib/metrics"
)

// Shown compares the metrics of source with stats, a struct of counts. names
// has the metric of each field: its name, or name{label="value"}, or "" if
// there is none. The counts must differ, so that no name can show another one.
func Shown(t testing.TB, source metrics.Source, stats any, names map[string]string) {
	t.Helper()
	got := map[string]float64{}
	for m := range source.Metrics() {
		got[m.Name] += m.Value
		for _, l := range m.Labels {
			got[m.Name+"{"+l.Name+`="`+l.Value+`"}`] += m.Value
		}
	}
	fieldOf := map[float64]string{0: "the zero value"}
	v := reflect.ValueOf(stats)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !v.Field(i).CanUint() && !v.Field(i).CanInt() {
			continue
		}
		want := v.Field(i).Convert(reflect.TypeFor[float64]()).Float()
		if other, ok := fieldOf[want]; ok {
			t.Errorf("%s: %v does not differ from %s", field.Name, want, other)
		}
		fieldOf[want] = field.Name
		name, ok := names[field.Name]
		if !ok {
			t.Errorf("%s has no name", field.Name)
		}
		if value, ok := got[name]; name != "" && (!ok || value != want) {
			t.Errorf("%s: got %v as %s (shown: %v), want %v", field.Name, value, name, ok, want)
		}
	}
}
