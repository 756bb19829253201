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
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/httpsend"
)

// A webhook is a destination that posts lines.
type webhook struct{ client *httpsend.Client }

func (w webhook) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	var body []byte
	for _, r := range batch {
		body = append(body, r.Line...)
	}
	resp, err := w.client.Post(ctx, body)
	switch {
	case err != nil:
		return delivery.Result{}, err
	case !resp.OK():
		return delivery.Result{}, resp.Err()
	}
	return delivery.Result{Accepted: len(batch)}, nil
}

func Example() {
	busy := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if busy {
			busy = false
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		body, _ := io.ReadAll(r.Body)
		fmt.Printf("%s", body)
	}))
	defer server.Close()
	client, err := httpsend.New(httpsend.Config{URL: server.URL})
	if err != nil {
		return
	}
	defer client.Close()
	fmt.Println(webhook{client}.Deliver(context.Background(), []nib.Record{{Line: []byte(`{"message":"a"}` + "\n")}}))
	fmt.Println(client.Stats().Requests, "requests")
	// Output:
	// {"message":"a"}
	// {1 []} <nil>
	// 2 requests
}

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
