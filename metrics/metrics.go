// SPDX-License-Identifier: Apache-2.0

// Package metrics reports the counters of loggers, sinks, spools, destinations
// and pools, in a form that any monitoring system can read.
//
// Everything in this repository that counts is a [Source]. A source yields its
// metrics on each call; nothing is registered, and no goroutine runs:
//
//	s, err := spool.Open("/var/spool/app", dest, spool.Config{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	log := nib.NewSink(s)
//	http.HandleFunc("/metrics", func(w http.ResponseWriter, r *http.Request) {
//		// The metrics of log are followed by the metrics of s and dest.
//		_ = metrics.WritePrometheus(w, log)
//	})
//
// Names and units follow the conventions of Prometheus and OpenTelemetry: base
// units, the unit at the end of the name, and _total after the name of a
// counter. Labels have few values, which are fixed by the configuration: names,
// paths, levels and reasons, never texts, numbers or times. Series of reasons
// and levels that have not occurred are 0, so the set of series does not change
// while a program runs.
package metrics

import (
	"iter"
	"math"
	"slices"
)

// A Kind describes how the value of a Metric changes.
type Kind int

// The kinds.
const (
	KindCounter Kind = iota // a value that only grows while the process runs
	KindGauge               // may fall
)

// A Label is one dimension of a Metric.
type Label struct{ Name, Value string }

// A Metric is one value at one moment. Metrics with the same name and labels
// are one series; a writer adds them up.
type Metric struct {
	Name   string  // "nib_file_bytes_total": with the unit and, for a counter, _total
	Help   string  // one sentence
	Unit   string  // "bytes", "seconds"; "" for a plain count
	Kind   Kind    // KindCounter or KindGauge
	Labels []Label // in any order; must not be modified
	Value  float64
}

// A Source yields the metrics of one component, and of the components that it
// writes to. Metrics may be called at any time by any goroutine; it allocates.
// The values are read one after the other, not all at one instant.
type Source interface {
	Metrics() iter.Seq[Metric]
}

// A sourceFunc is a function that serves as a Source.
type sourceFunc func() iter.Seq[Metric]

func (f sourceFunc) Metrics() iter.Seq[Metric] { return f() }

// Of returns v if it is a Source, and otherwise a Source without metrics. A
// sink that wraps another one uses it.
func Of(v any) Source {
	if s, ok := v.(Source); ok {
		return s
	}
	return Samples(nil)
}

// WithLabels returns a Source that yields the metrics of s with labels added:
// the name of a pool, for example. A label that a metric has already stays.
func WithLabels(s Source, labels ...Label) Source {
	return sourceFunc(func() iter.Seq[Metric] {
		return func(yield func(Metric) bool) {
			for m := range s.Metrics() {
				m.Labels = withLabels(m.Labels, labels)
				if !yield(m) {
					return
				}
			}
		}
	})
}

func withLabels(labels, more []Label) []Label {
	all := append(make([]Label, 0, len(labels)+len(more)), labels...)
	for _, l := range more {
		if !hasLabel(all, l.Name) {
			all = append(all, l)
		}
	}
	return all
}

func hasLabel(labels []Label, name string) bool {
	for _, l := range labels {
		if l.Name == name {
			return true
		}
	}
	return false
}

// Vars returns a function for package expvar, which this package does not
// import because that would add a handler to http.DefaultServeMux:
//
//	expvar.Publish("log", expvar.Func(metrics.Vars(log)))
//
// Its result is a map from `name{label="value"}` to the value: a number, or a
// string if JSON has no such number. Metrics that a source would yield after a
// panic are left out.
func Vars(sources ...Source) func() any {
	sources = slices.Clone(sources)
	return func() any {
		vars := map[string]any{}
		families, _ := collect(sources)
		for _, f := range families {
			for _, s := range f.series {
				name := f.Name
				if len(s.labels) > 0 {
					name += "{" + string(s.labels) + "}"
				}
				vars[name] = s.value
				if math.IsNaN(s.value) || math.IsInf(s.value, 0) {
					vars[name] = string(appendNumber(nil, s.value))
				}
			}
		}
		return vars
	}
}
