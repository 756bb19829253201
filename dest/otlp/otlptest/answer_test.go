// SPDX-License-Identifier: Apache-2.0

package otlptest

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/nib-log/nib/dest/otlp"
	"github.com/nib-log/nib/internal/httpsend/httpsendtest"
	collogspb "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Bytes()
}

// A response that reports rejected records is read in every form in which
// receivers send it.
func TestPartialSuccessIsReadInEveryForm(t *testing.T) {
	m := &collogspb.ExportLogsServiceResponse{PartialSuccess: &collogspb.ExportLogsPartialSuccess{RejectedLogRecords: 3, ErrorMessage: "too \"old\""}}
	binary, _ := proto.Marshal(m)
	text, _ := protojson.Marshal(m)
	for _, body := range [][]byte{binary, text,
		[]byte(" {\"partialSuccess\": {\"errorMessage\": \"too \\\"old\\\"\", \"rejectedLogRecords\": 3}}\n")} {
		for _, kind := range []string{"application/x-protobuf", "application/json",
			"Application/JSON; charset=utf-8", "text/plain", "application/octet-stream", ""} {
			for _, zip := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					s := &receiver{answer: func(w http.ResponseWriter, q *request) {
						q.accept()
						w.Header()["Content-Type"] = []string{kind}
						if kind == "" {
							w.Header()["Content-Type"] = nil // net/http does not add one
						}
						sent := body
						if zip {
							w.Header().Set("Content-Encoding", "gzip")
							sent = gzipped(body)
						}
						_, _ = w.Write(sent)
					}}
					var reported []string
					report := func(err error) { reported = append(reported, err.Error()) }
					d := open(t, collector, s, otlp.Config{OnError: report})
					rejected, errs := httpsendtest.DeliverAll(t, d, batchOf(1, 10))
					if len(rejected)+len(errs) > 0 || d.Stats().PartialRejected != 3 ||
						!strings.Contains(fmt.Sprint(reported),
							`rejected 3 of 10 records, and does not say which: too "old"`) {
						t.Errorf("%q as %q, gzip %v: rejected %q, errors %q, %+v, reported %q",
							body, kind, zip, rejected, errs, d.Stats(), reported)
					}
				})
			}
		}
	}
}

// A response 200 that is not one of a receiver is no success: the records wait.
// One without contents is.
func TestOtherResponsesWithStatus200(t *testing.T) {
	for body, want := range map[string]bool{
		"": true, "ok": true, "OK\n": true, "{}": true, `{"partialSuccess":{}}`: true, `{"partialSuccess":null,"error":null}`: true, `{"status":"success"}`: true,
		"error: quota exceeded": false, "\nno\n": false, `{"error":"quota"}`: false, `{"errors":[{"x":1}]}`: false, `{"partialSuccess":{"rejectedLogRecords":"many"}}`: false,
		`{"partialSuccess":`: false, "<p>log in": false,
	} {
		synctest.Test(t, func(t *testing.T) {
			d := open(t, collector, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				_, _ = w.Write([]byte(body))
			}), otlp.Config{})
			res, err := d.Deliver(context.Background(), batchOf(1, 10))
			if (res.Accepted == 10) != want || (err == nil) != want || len(res.Rejected) > 0 {
				t.Errorf("%q: got %+v and %v", body, res, err)
			}
			if err := d.Ping(context.Background()); (err == nil) != want {
				t.Errorf("%q: Ping returned %v", body, err)
			}
		})
	}
}
