// SPDX-License-Identifier: Apache-2.0

package otlps

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Receiver counts the records that it receives over OTLP/HTTP.
type Receiver struct {
	server  *httptest.Server
	records atomic.Uint64
}

// NewReceiver starts a Receiver on 127.0.0.1. Close ends it.
func NewReceiver() *Receiver {
	r := &Receiver{}
	r.server = httptest.NewServer(r)
	return r
}

// URL returns the URL at which it receives logs.
func (r *Receiver) URL() string { return r.server.URL + "/v1/logs" }

// Records returns the number of records that have arrived.
func (r *Receiver) Records() uint64 { return r.records.Load() }

// Close ends the Receiver.
func (r *Receiver) Close() { r.server.Close() }

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	n, err := records(body, fieldResource, fieldScope, fieldRecord)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.records.Add(uint64(n))
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// The numbers of the fields on the way to the records of a request.
const (
	fieldResource = 1 // ResourceLogs of ExportLogsServiceRequest
	fieldScope    = 2 // ScopeLogs of ResourceLogs
	fieldRecord   = 2 // LogRecord of ScopeLogs
)

// records counts the messages at the end of a path of fields.
func records(message []byte, path ...protowire.Number) (count int, err error) {
	if len(path) == 0 {
		return 1, nil
	}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return 0, fmt.Errorf("otlps: %w", protowire.ParseError(n))
		}
		message = message[n:]
		size := protowire.ConsumeFieldValue(number, kind, message)
		if size < 0 {
			return 0, fmt.Errorf("otlps: %w", protowire.ParseError(size))
		}
		if number == path[0] && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message)
			inner, err := records(value, path[1:]...)
			if err != nil {
				return 0, err
			}
			count += inner
		}
		message = message[size:]
	}
	return count, nil
}
