// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"iter"

	"github.com/nib-log/nib/metrics"
)

var _ metrics.Source = (*Destination)(nil)

// Metrics implements [metrics.Source]. The names begin with nib_kafka_; the
// label topic is the topic.
func (d *Destination) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	st := d.Stats()
	topic := metrics.Label{Name: "topic", Value: d.cluster.topic}
	l.Counter("nib_kafka_acknowledged_records_total", "Records that the brokers acknowledged.",
		float64(st.Records), topic)
	l.Counter("nib_kafka_batches_total", "Batches that the brokers acknowledged.",
		float64(st.Batches), topic)
	l.Counter("nib_kafka_batch_bytes_total", "Bytes of acknowledged batches, compressed.",
		float64(st.Bytes), topic)
	l.Counter("nib_kafka_present_records_total",
		"Records that were found in the topic and not sent again.", float64(st.Present), topic)
	l.Counter("nib_kafka_rejected_records_total", "Records that the brokers never accept.",
		float64(st.Rejected), topic)
	l.Counter("nib_kafka_dead_letter_records_total", "Records sent to the dead letter topic.",
		float64(st.DeadLettered), topic)
	l.Counter("nib_kafka_retries_total", "Attempts that failed and were repeated.",
		float64(st.Failures), topic)
	l.Counter("nib_kafka_searches_total",
		"Times that a partition was read to find which records it has.", float64(st.Searches),
		topic)
	return l.Metrics()
}
