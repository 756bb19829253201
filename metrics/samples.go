// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"iter"
	"slices"
	"strings"
)

// Samples is a Source of the metrics that were added to it. The unit of a
// metric is the end of its name: nib_file_bytes_total has the unit "bytes".
type Samples []Metric

// Counter adds a counter, whose name ends in _total.
func (s *Samples) Counter(name, help string, value float64, labels ...Label) {
	s.add(KindCounter, name, help, value, labels)
}

// Gauge adds a gauge.
func (s *Samples) Gauge(name, help string, value float64, labels ...Label) {
	s.add(KindGauge, name, help, value, labels)
}

func (s *Samples) add(k Kind, name, help string, value float64, labels []Label) {
	*s = append(*s, Metric{name, help, unitOf(name), k, labels, value})
}

// Metrics yields the metrics in the order in which they were added.
func (s Samples) Metrics() iter.Seq[Metric] { return slices.Values(s) }

func unitOf(name string) string {
	name = strings.TrimSuffix(name, totalSuffix)
	for _, unit := range []string{"bytes", "seconds"} {
		if strings.HasSuffix(name, "_"+unit) {
			return unit
		}
	}
	return ""
}
