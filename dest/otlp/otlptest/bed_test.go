// SPDX-License-Identifier: Apache-2.0

package otlptest

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
	"github.com/nib-log/nib/internal/must"
	collogspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"
)

// A receiver is an OTLP/HTTP server. answer decides what happens to a request;
// it calls accept for the records that arrive.
type receiver struct {
	answer func(w http.ResponseWriter, q *request)

	mu       sync.Mutex
	requests int // requests with records
	arrived  []*logspb.LogRecord
	scopes   []string // of arrived
	resource map[string]string
	faults   []string
}

// A request is a request with records.
type request struct {
	*http.Request
	number  int // from 1
	size    int // compressed
	records []*logspb.LogRecord
	accept  func()
}

func (s *receiver) fault(format string, values ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, values...))
}

func (s *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	size := len(body)
	if body, err = unpack(r.Header.Get("Content-Encoding"), body); err != nil {
		s.fault("Content-Encoding: %v", err)
	}
	var m collogspb.ExportLogsServiceRequest
	if err := proto.Unmarshal(body, &m); err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" || r.Method != "POST" {
		s.fault("%s %s, Content-Type %q: %v", r.Method, r.URL, r.Header.Get("Content-Type"), err)
	}
	q := &request{Request: r, size: size}
	var scopes []string
	resource := map[string]string{}
	for _, rl := range m.ResourceLogs {
		for _, kv := range rl.Resource.GetAttributes() {
			resource[kv.Key] = kv.Value.GetStringValue()
		}
		for _, sl := range rl.ScopeLogs {
			q.records = append(q.records, sl.LogRecords...)
			scopes = append(scopes, slices.Repeat([]string{sl.Scope.GetName()}, len(sl.LogRecords))...)
		}
	}
	s.mu.Lock()
	if len(q.records) > 0 {
		s.requests++
	}
	q.number = s.requests
	s.mu.Unlock()
	q.accept = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.arrived, s.scopes, s.resource = append(s.arrived, q.records...), append(s.scopes, scopes...), resource
	}
	if len(q.records) == 0 || s.answer == nil { // a ping
		ok(w, q)
		return
	}
	s.answer(w, q)
}

// ok accepts a request.
func ok(w http.ResponseWriter, q *request) {
	q.accept()
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// status returns a handler that responds with only a status.
func status(code int, header ...string) func(http.ResponseWriter, *request) {
	return func(w http.ResponseWriter, _ *request) {
		if len(header) > 0 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(code)
	}
}

func unpack(encoding string, body []byte) ([]byte, error) {
	switch encoding {
	case "":
		return body, nil
	case "gzip":
		r, err := gzip.NewReader(bytesReader(body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	return nil, fmt.Errorf("unknown: %s", encoding)
}

// check reports the errors found in requests.
func (s *receiver) check(t testing.TB) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		t.Error(f)
	}
}

// uids returns the UIDs of the records that have arrived, in order.
func (s *receiver) uids() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.arrived {
		list = append(list, uidOf(r))
	}
	return list
}

func uidOf(r *logspb.LogRecord) string {
	for _, kv := range r.Attributes {
		if kv.Key == "log.record.uid" {
			return kv.Value.GetStringValue()
		}
	}
	return ""
}

// open returns a destination with a URL on a collector, which ends with the
// test. Unless c dials, it is connected to h by pipes.
func open(t testing.TB, url string, h http.Handler, c otlp.Config) *otlp.Destination {
	t.Helper()
	if h != nil {
		c.Dial = httpsendtest.Serve(t, h).Dial
	}
	d, err := otlp.New(url, c)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// collector is the URL of a receiver behind pipes.
const collector = "http://collector:4318/v1/logs"

// batchOf makes records with the numbers from first on.
func batchOf(first, n int) []nib.Record {
	batch := make([]nib.Record, n)
	for i := range batch {
		line := fmt.Appendf(nil, `{"time":"2026-01-02T15:04:05.000Z","level":"info","n":%d,"message":"m"}`+"\n", first+i)
		batch[i] = nib.Record{Time: 1767366245000000000, Line: line, Message: line[len(line)-4 : len(line)-3], Spool: 7, Seq: uint64(first + i)}
	}
	return batch
}

// uidsOf returns the UIDs of the records.
func uidsOf(batch []nib.Record) (list []string) {
	for _, r := range batch {
		list = append(list, httpsendtest.UID(&r))
	}
	return list
}
