// SPDX-License-Identifier: Apache-2.0

package httpsend_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/delivery/httpsend"
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
