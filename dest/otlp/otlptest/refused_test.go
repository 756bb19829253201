// SPDX-License-Identifier: Apache-2.0

package otlptest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
	"github.com/nib-log/nib/internal/seed"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
)

// refusal answers with a status, also if net/http does not send it.
func refusal(w http.ResponseWriter, code int) {
	if code >= 200 {
		w.WriteHeader(code)
		return
	}
	hijacked(w, fmt.Sprintf("HTTP/1.1 %d x\r\n\r\n", code))
}

// One record is the reason why a request gets a status, at any position: it is
// rejected, and the others arrive, one of them up to three times more to be
// compared with it. If all of them are, they wait.
func TestOneRefusedRecordStopsNothing(t *testing.T) {
	const n = 3
	cases, selected := 0, seed.Sample(t, 20, 20)
	for code := 100; code < 600; code++ {
		special := []int{100, 101, 302, 400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503,
			504}
		if code/100 == 2 || !slices.Contains(special, code) && (testing.Short() || !selected()) {
			continue
		}
		for bad := range n + 1 {
			cases++
			synctest.Test(t, func(t *testing.T) { checkRefused(t, code, bad, n) })
		}
	}
	t.Logf("%d cases", cases)
}

// checkRefused checks that the record with the index bad is rejected; with
// index n, all are bad.
func checkRefused(t *testing.T, code, bad, n int) {
	works := false
	s := &receiver{answer: func(w http.ResponseWriter, q *request) {
		isBad := func(r *logspb.LogRecord) bool { return bad == n || numberOf(r) == bad+1 }
		if !works && slices.ContainsFunc(q.records, isBad) {
			refusal(w, code)
			return
		}
		ok(w, q)
	}}
	d := open(t, collector, s, otlp.Config{})
	name := fmt.Sprintf("status %d, record %d of %d", code, bad, n)
	batch := batchOf(1, n)
	if bad == n {
		if rejected, _, left := httpsendtest.Deliver(d, batch, 40); len(rejected) > 0 ||
			left != n || len(s.arrived) > 0 {
			t.Errorf("%s: %d left, rejected %q, %d arrived", name, left, rejected, len(s.arrived))
		}
		works = true
	}
	rejected, _ := httpsendtest.DeliverAll(t, d, batch)
	if bad < n && (len(rejected) != 1 || !strings.HasPrefix(rejected[0],
		uidsOf(batch)[bad]+": ")) || bad == n && len(rejected) > 0 {
		t.Errorf("%s: rejected %q", name, rejected)
	}
	repeats := len(s.arrived) - (n - len(rejected))
	if repeats < 0 || repeats > 3*len(rejected) || s.requests > 1000 {
		t.Errorf("%s: %d arrived, %d rejected, %d requests", name, len(s.arrived), len(rejected),
			s.requests)
	}
}

// Status 413 for everything is a limit of 0 in a proxy: no line is too long.
func TestTooLargeForEverythingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &receiver{answer: during(10*time.Minute, status(413))}
		d := open(t, collector, s, otlp.Config{})
		rejected, errs := httpsendtest.DeliverAll(t, d, batchOf(1, 1000))
		if len(rejected) > 0 || len(s.arrived) != 1000 {
			t.Fatalf("%d rejected, %d arrived", len(rejected), len(s.arrived))
		}
		if text := errs[len(errs)-1].Error(); !strings.Contains(text,
			"the server accepts no record; all of them wait") || !strings.Contains(text, "413") {
			t.Errorf("got %q", text)
		}
	})
}
