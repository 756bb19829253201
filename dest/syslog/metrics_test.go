// SPDX-License-Identifier: Apache-2.0

package syslog

import (
	"maps"
	"sync/atomic"
	"testing"
)

func TestMetricsAreTheStats(t *testing.T) {
	r := newReceiver(t, "unix", readCounted).start()
	d := dial(t, "unix", r.addr, Config{})
	for _, connected := range []float64{0, 1} {
		if connected == 1 {
			deliver(t, d, batchOf(0, 3))
		}
		c := &d.counters
		for i, n := range []*atomic.Uint64{&c.accepted, &c.bytes, &c.shortened, &c.rejected, &c.doubtful, &c.connects, &c.refused, &c.failures} {
			n.Store(uint64(11 + i))
		}
		want := map[string]float64{
			"nib_syslog_accepted_lines_total": 11, "nib_syslog_accepted_bytes_total": 12, "nib_syslog_shortened_lines_total": 13,
			"nib_syslog_rejected_lines_total": 14, "nib_syslog_retried_lines_total": 15, "nib_syslog_connects_total": 16,
			"nib_syslog_connect_failures_total": 17, "nib_syslog_connection_failures_total": 18, "nib_syslog_connected": connected,
		}
		got := map[string]float64{}
		for m := range d.Metrics() {
			got[m.Name] = m.Value
			if len(m.Labels) != 1 || m.Labels[0].Name != "receiver" || m.Labels[0].Value != "unix:"+r.addr {
				t.Errorf("%s: got labels %v, want the receiver", m.Name, m.Labels)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}
