// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"iter"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/metrics"
)

// Named gives a sink a name, by which the errors and counters of a [Tee] or a
// [Route] call it instead of its index. A record goes straight through. The name
// must not be empty, nor have a slash or white space in it. 0 allocs.
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

// WriteRecord hands r on.
func (n *named) WriteRecord(r *nib.Record) error { return n.sink.WriteRecord(r) }

// Metrics are those of the sink; the combinator around n adds the name.
func (n *named) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	n.behind(&l)
	return l.Metrics()
}
