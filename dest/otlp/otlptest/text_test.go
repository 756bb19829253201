// SPDX-License-Identifier: Apache-2.0

package otlptest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
)

// protobuf refuses a request with a string that is not UTF-8, so none has one.
func TestTextIsUTF8(t *testing.T) {
	s := &receiver{}
	server := httptest.NewServer(s)
	defer server.Close()
	d := open(t, server.URL, nil, otlp.Config{Resource: map[string]string{"caf\xe9": "\xff"}})
	line := "{\"level\":\"\xfe\",\"k\xff\":[\"v\xff\"],\"deep\":" + strings.Repeat(`{"a":`, 30) + "\"\xff\"" + strings.Repeat("}", 30) + ",\"message\":\"\xff\"}\n"
	batch := []nib.Record{{Line: []byte(line)}, {Line: []byte(line), Logger: "caf\xe9"}, {Line: []byte("caf\xe9\n")}}
	if rejected, errs := httpsendtest.DeliverAll(t, d, batch); len(rejected)+len(errs) > 0 ||
		len(s.arrived) != 3 {
		t.Errorf("got %d records, %q and %q", len(s.arrived), rejected, errs)
	}
	if s.check(t); s.resource["caf\ufffd"] != "\ufffd" || len(s.scopes) != 3 || s.scopes[1] != "caf\ufffd" {
		t.Errorf("got %q and %q", s.resource, s.scopes)
	}
}

// A line that only begins like an object is text.
func TestLinesThatAreNotObjects(t *testing.T) {
	s := &receiver{}
	server := httptest.NewServer(s)
	defer server.Close()
	d := open(t, server.URL, nil, otlp.Config{})
	for line, want := range map[string]string{
		"{worker-1} started": "{worker-1} started", `{"a":1,oops}`: `{"a":1,oops}`, `{"a":1`: `{"a":1`, `{`: `{`,
		`{"a":1} b`: `{"a":1} b`, `{"message":"m","a":[1,]}`: `{"message":"m","a":[1,]}`, `{"a":1,}`: `{"a":1,}`, `{,}`: `{,}`,
		`{}`: "", `{ }`: "", `{"a":1}`: "", `{"message":"m","a":{} } `: "m", `{"":""}`: "",
	} {
		s.arrived = nil
		_, _ = httpsendtest.DeliverAll(t, d, []nib.Record{{Line: []byte(line + "\n")}})
		if len(s.arrived) != 1 || s.arrived[0].Body.GetStringValue() != want || want == line && len(s.arrived[0].Attributes) > 0 {
			t.Errorf("%s: got %v, want the body %s", line, s.arrived, want)
		}
	}
}

// A receiver that refuses the encoding of requests refuses every record, so
// they wait.
func TestUnsupportedEncodingHoldsEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := open(t, collector, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			if r.Header.Get("Content-Encoding") != "" {
				http.Error(w, "unsupported encoding", http.StatusBadRequest)
			}
		}), otlp.Config{Compression: "gzip"})
		res, err := d.Deliver(t.Context(), batchOf(1, 5))
		if res.Accepted != 0 || err == nil || !strings.Contains(err.Error(), "400 Bad Request: unsupported encoding") {
			t.Errorf("got %+v and %v, want nothing settled and the server's text", res, err)
		}
	})
}
