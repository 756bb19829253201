// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"iter"

	"github.com/nib-log/nib/metrics"
)

var _ metrics.Source = (*Destination)(nil)

// Metrics implements [metrics.Source]. The names begin with nib_otlp_; the
// label url is the receiver.
func (d *Destination) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	st := d.Stats()
	url := metrics.Label{Name: "url", Value: d.url}
	l.Counter("nib_otlp_accepted_records_total", "Records that the receiver accepted.",
		float64(st.Records), url)
	l.Counter("nib_otlp_rejected_records_total", "Records that the receiver never accepts.",
		float64(st.Rejected), url)
	l.Counter("nib_otlp_partial_rejected_records_total",
		"Records that the receiver rejected in partial successes, without the information which.",
		float64(st.PartialRejected), url)
	l.Counter("nib_otlp_requests_total", "Requests that were attempted.", float64(st.Requests), url)
	l.Counter("nib_otlp_retries_total", "Attempts that failed and were repeated.",
		float64(st.Failures), url)
	l.Counter("nib_otlp_request_bytes_total", "Bytes of requests, compressed.", float64(st.Bytes),
		url)
	return l.Metrics()
}
