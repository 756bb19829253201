// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/nib-log/nib/internal/counttest"
)

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	refuse := func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("refused")
	}
	d, err := New("http://opensearch:9200", "logs", Config{Dial: refuse})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 3 {
		_, _ = d.client.Ping(t.Context(), make([]byte, 100))
	}
	for range 2 {
		_, _ = d.Deliver(t.Context(), batchOf(1))
	}
	d.bulk.created.Store(11)
	d.bulk.present.Store(12)
	d.rejected.Store(13)
	got := d.Stats()
	want := Stats{
		Records: 11, Present: 12, Rejected: 13, Requests: 5, Failures: 2, Bytes: got.Bytes,
	}
	if got != want || got.Bytes <= 300 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, d, want, map[string]string{
		"Records":  "nib_elastic_created_records_total",
		"Present":  "nib_elastic_present_records_total",
		"Rejected": "nib_elastic_rejected_records_total",
		"Requests": "nib_elastic_requests_total",
		"Failures": "nib_elastic_retries_total",
		"Bytes":    `nib_elastic_request_bytes_total{index="logs"}`,
	})
}
