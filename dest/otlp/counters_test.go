// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/counttest"
)

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	refuse := func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("refused")
	}
	const url = "http://collector:4318/v1/logs"
	d, err := New(url, Config{Dial: refuse, Compression: "none"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 3 {
		_, _ = d.client.Ping(t.Context(), make([]byte, 100))
	}
	for range 2 {
		_, _ = d.Deliver(t.Context(), []nib.Record{{Line: []byte("{}\n")}})
	}
	d.records.Store(11)
	d.rejected.Store(12)
	d.partial.Store(13)
	want := Stats{
		Records: 11, Rejected: 12, PartialRejected: 13, Requests: 5, Failures: 2,
	}
	got := d.Stats()
	want.Bytes = got.Bytes
	if got != want || got.Bytes <= 300 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	counttest.Shown(t, d, want, map[string]string{
		"Records":         "nib_otlp_accepted_records_total",
		"Rejected":        "nib_otlp_rejected_records_total",
		"PartialRejected": "nib_otlp_partial_rejected_records_total",
		"Requests":        "nib_otlp_requests_total",
		"Failures":        "nib_otlp_retries_total",
		"Bytes":           `nib_otlp_request_bytes_total{url="` + url + `"}`,
	})
}
