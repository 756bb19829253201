// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"iter"

	"github.com/nib-log/nib/metrics"
)

var _ metrics.Source = (*Destination)(nil)

// Metrics implements [metrics.Source]. The names begin with nib_elastic_; the
// label index is the index.
func (d *Destination) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	st := d.Stats()
	index := metrics.Label{Name: "index", Value: d.index}
	l.Counter("nib_elastic_created_records_total", "Documents that were created.",
		float64(st.Records), index)
	l.Counter("nib_elastic_present_records_total", "Records whose documents existed already.",
		float64(st.Present), index)
	l.Counter("nib_elastic_rejected_records_total", "Records that the server never accepts.",
		float64(st.Rejected), index)
	l.Counter("nib_elastic_requests_total", "Requests that were attempted.", float64(st.Requests),
		index)
	l.Counter("nib_elastic_retries_total", "Attempts that failed and were repeated.",
		float64(st.Failures), index)
	l.Counter("nib_elastic_request_bytes_total", "Bytes of requests, compressed.",
		float64(st.Bytes), index)
	return l.Metrics()
}
