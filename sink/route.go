// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"fmt"
	"iter"
	"math"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/metrics"
)

// A RouteRule routes the levels From to To, inclusive, to Sink. [AtLeast]
// returns the usual rule.
type RouteRule struct {
	From, To nib.Level
	Sink     nib.Sink
}

// AtLeast returns a rule for level from and all levels above it.
func AtLeast(from nib.Level, s nib.Sink) RouteRule {
	return RouteRule{From: from, To: math.MaxInt, Sink: s}
}

// Route returns a sink that writes each record to one sink: the sink of the
// first rule that matches its level, or otherwise if no rule does, so that a
// line without a rule is not lost. Use [Discard] as otherwise to drop the rest.
// A line without a level counts as info. Errors and panics come from the chosen
// sink. Route panics if a sink is nil or if the From of a rule is above its To.
// The sink counts the lines per branch, and does not allocate per record.
//
//	sink.Route(stdout, sink.AtLeast(nib.LevelError, stderr))
func Route(otherwise nib.Sink, rules ...RouteRule) nib.Sink {
	sinks := []nib.Sink{otherwise}
	for i, rule := range rules {
		if rule.From > rule.To {
			panic(fmt.Sprintf("nib/sink: Route: rule %d holds for no level: %s to %s", i, rule.From,
				rule.To))
		}
		sinks = append(sinks, rule.Sink)
	}
	return &route{
		branches:  newBranches("Route", sinks...),
		otherwise: otherwise,
		rules:     append([]RouteRule(nil), rules...),
		lines:     make([]atomic.Uint64, len(sinks)),
	}
}

type route struct {
	branches
	otherwise nib.Sink
	rules     []RouteRule
	lines     []atomic.Uint64 // written to each branch, with or without success
}

var (
	_ nib.Sink       = (*route)(nil)
	_ metrics.Source = (*route)(nil)
)

// WriteRecord writes r to the sink of its level.
func (t *route) WriteRecord(r *nib.Record) error {
	for i := range t.rules {
		if rule := &t.rules[i]; r.Level >= rule.From && r.Level <= rule.To {
			t.lines[i+1].Add(1)
			return rule.Sink.WriteRecord(r)
		}
	}
	t.lines[0].Add(1)
	return t.otherwise.WriteRecord(r)
}

// Metrics implements [metrics.Source].
func (t *route) Metrics() iter.Seq[metrics.Metric] { return metricsOf(t) }

func (t *route) own(l *metrics.Samples) {
	for i, name := range t.names {
		if name == "" {
			name = "0"
		}
		l.Counter("nib_route_lines_total", "Lines that a Route wrote to a branch.",
			float64(t.lines[i].Load()), metrics.Label{Name: branchLabel, Value: name})
	}
}
