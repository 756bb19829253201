// SPDX-License-Identifier: Apache-2.0

package gin

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/e2e/recipes/orders"
	"github.com/nib-log/nib/nibtest"
)

func TestRequests(t *testing.T) {
	var rec nibtest.Recorder
	server := httptest.NewServer(Handler(nib.NewSink(&rec, nib.WithCaller())))
	defer server.Close()
	orders.Test(t, server.URL, &rec, "/orders/:id", "no such shard")
}

func TestPanicIsAnswered(t *testing.T) {
	var rec nibtest.Recorder
	server := httptest.NewServer(Handler(nib.NewSink(&rec)))
	defer server.Close()
	orders.Get(t, server.URL, "-1", 500)
	line := rec.Find("request")
	orders.Check(t, line, map[string]any{"level": "error", "panic": "negative", "route": "/orders/:id"})
	if stack, _ := line["panic_stack"].(string); !strings.Contains(stack, "gin.order(") {
		t.Errorf("got the stack %q, want the function that panicked in it", stack)
	}
}

func TestLinesOfGinItself(t *testing.T) {
	var rec nibtest.Recorder
	Handler(nib.NewSink(&rec, nib.WithLevel(nib.LevelDebug)))
	for _, line := range rec.Lines() {
		if !strings.Contains(line, `"level":"debug","logger":"gin"`) {
			t.Errorf("got %s", line)
		}
	}
	if rec.Len() == 0 {
		t.Error("got no lines, want the lines of gin's debug mode")
	}
}
