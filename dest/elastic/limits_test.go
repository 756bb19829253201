// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"bytes"
	"context"
	"errors"
	"net"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/counttest"
	"github.com/nib-log/nib/internal/must"
)

func TestLimitsOfAConfig(t *testing.T) {
	for _, c := range []struct {
		config Config
		valid  bool
	}{
		{Config{MaxRequest: -1}, false}, {Config{MaxRequest: 1}, true},
		{Config{MaxRequest: maxRequest}, true}, {Config{MaxRequest: maxRequest + 1}, false},
		{Config{Timeout: -1}, false}, {Config{Timeout: 1}, true},
	} {
		if err := c.config.Validate(); (err == nil) != c.valid {
			t.Errorf("%+v: got %v, want valid: %v", c.config, err, c.valid)
		}
	}
}

// A request has at most as many bytes as the limit, with room for the longest
// action of each line; a single line may have more.
func TestRecordsOfMaxRequest(t *testing.T) {
	line := []byte(`{"n":1}` + "\n")
	batch := []nib.Record{{Line: line}, {Line: line}}
	first := len(appendAction(nil, &batch[0])) + len(line)
	both := first + len(bytes.TrimSuffix(line, newline)) + maxAction
	for limit, want := range map[int]int{1: 1, both - 1: 1, both: 2} {
		if _, n := new(bulk).Body(batch, []int{0, 1}, limit); n != want {
			t.Errorf("%d bytes: got %d records, want %d", limit, n, want)
		}
	}
}

func TestActions(t *testing.T) {
	for want, r := range map[string]nib.Record{
		`{"create":{}}`: {Seq: 7},
		`{"create":{"_id":"0000000000000001-7"}}`: {Spool: 1, Seq: 7},
		`{"create":{"_id":"123456789abcdef0-18446744073709551615"}}`: {
			Spool: 0x123456789abcdef0, Seq: 1<<64 - 1,
		},
	} {
		got := appendAction(nil, &r)
		if string(got) != want+"\n" || len(got) > maxAction {
			t.Errorf("got %q of %d bytes, want %q of at most %d", got, len(got), want, maxAction)
		}
	}
}

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	refuse := func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("refused")
	}
	d, err := New("http://opensearch:9200", "logs", Config{Dial: refuse})
	must.Succeed(t, err)
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
