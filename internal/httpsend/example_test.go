// SPDX-License-Identifier: Apache-2.0

package httpsend_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/httpsend"
)

// batches is a protocol whose request has the lines of all records, and whose
// response is about all of them.
type batches struct{}

func (batches) Check(*nib.Record) error { return nil }

func (batches) Body(batch []nib.Record, want []int, limit int) (body []byte, n int) {
	for _, i := range want {
		if n > 0 && len(body)+len(batch[i].Line) > limit {
			break
		}
		body = append(body, batch[i].Line...)
		n++
	}
	return body, n
}

func (batches) Read(httpsend.Response, []httpsend.RecordStatus) error { return nil }

func (batches) Error(resp httpsend.Response) error { return resp.Err() }

func ExampleNewSender() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte("bad")) {
			http.Error(w, "bad line", http.StatusBadRequest)
		}
	}))
	defer server.Close()
	client, err := httpsend.New(httpsend.Config{URL: server.URL})
	if err != nil {
		return
	}
	defer client.Close()
	sender := httpsend.NewSender(client, batches{}, 1<<20)
	res, err := sender.Deliver(context.Background(), []nib.Record{
		{Line: []byte("one\n")}, {Line: []byte("bad\n")}, {Line: []byte("two\n")},
	})
	fmt.Println(res.Accepted, err)
	for _, r := range res.Rejected {
		fmt.Println("rejected:", r.Index)
	}
	// Output:
	// 3 <nil>
	// rejected: 1
}
