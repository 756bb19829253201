// SPDX-License-Identifier: Apache-2.0

package fiber

import (
	"net"
	"testing"

	"github.com/gofiber/fiber/v3"
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/e2e/recipes/orders"
	"github.com/nib-log/nib/nibtest"
)

// serve starts the service on loopback and returns its URL.
func serve(t *testing.T, rec *nibtest.Recorder) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	app, done := App(nib.NewSink(rec, nib.WithCaller()), nil), make(chan error)
	go func() { done <- app.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true}) }()
	t.Cleanup(func() {
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

func TestRequests(t *testing.T) {
	var rec nibtest.Recorder
	orders.Test(t, serve(t, &rec), &rec, "/orders/:id", "Service Unavailable\nno such shard")
}

func TestPanicIsAnswered(t *testing.T) {
	var rec nibtest.Recorder
	orders.Get(t, serve(t, &rec), "-1", 500)
	orders.Check(t, rec.Find("request"), map[string]any{"level": "error", "error": "negative", "route": "/orders/:id"})
}
