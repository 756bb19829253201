// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"iter"

	"github.com/nib-log/nib/metrics"
)

var _ metrics.Source = (*Destination)(nil)

// Metrics implements [metrics.Source]. The names begin with nib_syslog_; the
// label receiver is the network and address of the destination.
func (d *Destination) Metrics() iter.Seq[metrics.Metric] {
	var l metrics.Samples
	st := d.Stats()
	receiver := metrics.Label{Name: "receiver", Value: d.network + ":" + d.addr}
	connected := 0.0
	if st.Connected {
		connected = 1
	}
	l.Counter("nib_syslog_accepted_lines_total", "Lines that the receiver or the socket accepted.",
		float64(st.Accepted), receiver)
	l.Counter("nib_syslog_accepted_bytes_total",
		"Bytes of the messages of accepted lines, without framing.", float64(st.Bytes), receiver)
	l.Counter("nib_syslog_shortened_lines_total",
		"Accepted lines that were cut to the maximum message size.", float64(st.Shortened),
		receiver)
	l.Counter("nib_syslog_rejected_lines_total", "Lines that are never accepted.",
		float64(st.Rejected), receiver)
	l.Counter("nib_syslog_retried_lines_total",
		"Lines in flight when a connection failed, which are delivered again.",
		float64(st.Doubtful), receiver)
	l.Counter("nib_syslog_connects_total", "Connections made.", float64(st.Connects), receiver)
	l.Counter("nib_syslog_connect_failures_total", "Attempts to connect that failed.",
		float64(st.Refused), receiver)
	l.Counter("nib_syslog_connection_failures_total", "Connections that failed.",
		float64(st.Failures), receiver)
	l.Gauge("nib_syslog_connected", "1 if there is a connection, otherwise 0.", connected, receiver)
	return l.Metrics()
}
