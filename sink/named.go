// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"iter"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/metrics"
)

// Named returns s with a name, which the errors and metrics of a [Tee] or a
// [Route] use instead of its index. It forwards records unchanged. The name
// must not be empty, nor contain a slash or white space. It does not allocate
// per record.
func Named(name string, s nib.Sink) nib.Sink {
	if name == "" || strings.ContainsAny(name, "/ \t\r\n") {
		panic("nib/sink: Named with a name that is empty or has a slash or white space")
	}
	return &named{branches: newBranches("Named", s), sink: s, name: name}
}

type named struct {
	branches
	sink nib.Sink
	name string
}

var (
	_ nib.Sink       = (*named)(nil)
	_ metrics.Source = (*named)(nil)
)

// WriteRecord forwards r.
func (n *named) WriteRecord(r *nib.Record) error { return n.sink.WriteRecord(r) }

// Metrics returns the sink's metrics; the combinator around n adds the name.
func (n *named) Metrics() iter.Seq[metrics.Metric] { return metricsOf(n) }

func (n *named) own(*metrics.Samples) {}
