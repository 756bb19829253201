// SPDX-License-Identifier: Apache-2.0

package child

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"

	"google.golang.org/protobuf/encoding/protowire"
)

// A Receiver counts the records that it receives over OTLP/HTTP, in a separate
// process.
type Receiver struct{ server *server }

// StartReceiver starts a Receiver. Close ends it.
func StartReceiver() (*Receiver, error) {
	s, err := start(nil, "receive")
	return &Receiver{s}, err
}

// URL returns the URL at which it receives logs.
func (r *Receiver) URL() string { return r.server.address + "/v1/logs" }

// Close ends the Receiver.
func (r *Receiver) Close() error { return r.server.end() }

// Records returns the number of records that have arrived.
func (r *Receiver) Records() (n int, err error) {
	answer, err := http.Get(r.server.address)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	_, err = fmt.Fscan(answer.Body, &n)
	return n, err
}

func receive() error {
	var total atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprintln(w, total.Load())
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		n, err := records(body, 1, 2, 2) // the fields of resources, scopes and records
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		total.Add(int64(n))
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	defer s.Close()
	fmt.Fprintln(os.Stderr, s.URL)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// records counts the messages at the end of a path of fields.
func records(message []byte, path ...protowire.Number) (count int, err error) {
	if len(path) == 0 {
		return 1, nil
	}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		message = message[n:]
		size := protowire.ConsumeFieldValue(number, kind, message)
		if size < 0 {
			return 0, protowire.ParseError(size)
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
