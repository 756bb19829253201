// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"cmp"
	"slices"
	"strings"
)

// Visit is told one count: its name in the form that Prometheus asks for (one
// that ends in _total only grows, any other may fall), what it counts in one
// sentence, its value, and its labels as pairs of name and value. It is an alias,
// so that a type can be a [Counter] without importing this package.
type Visit = func(name, help string, value uint64, labels ...string)

// A Counter shows what it has counted. All combinators of this package are
// Counters, and show the counts of the sinks behind them too: of those that are
// Counters themselves, and of those that have a method Stats which returns a
// struct (see [StatsCounter]).
//
// Counters may be called at any time. The counts are read one after the other,
// not all at one instant; while no line is under way they are exact.
type Counter interface {
	Counters(visit Visit)
}

// A Count is one count as [Snapshot] keeps it.
type Count struct {
	Name, Help string
	Labels     []string // pairs of name and value
	Value      uint64
}

// Snapshot collects what c shows, sorted by name and labels. It allocates.
func Snapshot(c Counter) []Count {
	var all []Count
	c.Counters(func(name, help string, value uint64, labels ...string) {
		all = append(all, Count{Name: name, Help: help, Labels: slices.Clone(labels), Value: value})
	})
	slices.SortStableFunc(all, func(a, b Count) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), slices.Compare(a.Labels, b.Labels))
	})
	return all
}

// Vars gives the function that package expvar asks for, without importing it:
//
//	expvar.Publish("log", expvar.Func(sink.Vars(s)))
//
// Its result is a map from `name{label="value"}` to the value; counts with the
// same name and labels are added up.
func Vars(c Counter) func() any {
	return func() any {
		vars := map[string]uint64{}
		c.Counters(func(name, _ string, value uint64, labels ...string) {
			vars[name+braces(labels)] += value
		})
		return vars
	}
}

func braces(labels []string) string {
	if len(labels) < 2 {
		return ""
	}
	var b strings.Builder
	for i := 0; i+1 < len(labels); i += 2 {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(labels[i] + `="` + labels[i+1] + `"`)
	}
	b.WriteByte('}')
	return b.String()
}
