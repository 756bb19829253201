// SPDX-License-Identifier: Apache-2.0

package chi

import (
	"net/http/httptest"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/e2e/recipes/orders"
	"github.com/nib-log/nib/nibtest"
)

func TestRequests(t *testing.T) {
	var rec nibtest.Recorder
	server := httptest.NewServer(Handler(nib.NewSink(&rec, nib.WithCaller())))
	defer server.Close()
	orders.Test(t, server.URL, &rec, "/orders/{id}", nil)
}
