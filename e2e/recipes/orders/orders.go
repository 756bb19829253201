// SPDX-License-Identifier: Apache-2.0

// Package orders checks the lines of the HTTP services among the recipes, which
// all serve GET /orders/{id}.
package orders

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nib-log/nib/nibtest"
)

const (
	traceID     = "4bf92f3577b34da6a3ce929d0e0e4736"
	traceparent = "00-" + traceID + "-00f067aa0ba902b7-01"
)

// Get requests an order from the service at url and checks the status.
func Get(t *testing.T, url, id string, status int) {
	t.Helper()
	r, err := http.NewRequest("GET", url+"/orders/"+id, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Request-Id", "r"+id)
	r.Header.Set("Traceparent", traceparent)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != status {
		t.Errorf("order %s: got status %d, %v, want %d", id, resp.StatusCode, err, status)
	}
}

// Test requests an order that exists and an order that fails.
func Test(t *testing.T, url string, rec *nibtest.Recorder, route string, failure any) {
	t.Helper()
	for id, status := range map[string]int{"7": 200, "0": 503} {
		rec.Reset()
		Get(t, url, id, status)
		ids := map[string]any{"request_id": "r" + id, "trace_id": traceID,
			"span_id": "00f067aa0ba902b7"}
		Check(t, rec.Find("looking"), ids,
			map[string]any{"level": "info", "caller": Caller(t, "recipe.go", `"looking"`)})
		want := map[string]any{"level": "info", "method": "GET", "path": "/orders/" + id,
			"route": route, "status": float64(status), "order": id, "bytes": 3.0, "error": nil}
		if status == 503 {
			want["level"], want["error"] = "error", failure
			delete(want, "bytes")
		}
		Check(t, rec.Find("request"), ids, want)
		if rec.Len() != 2 {
			t.Errorf("got %d lines, want 2: %q", rec.Len(), rec.Lines())
		}
	}
}

// Check compares fields of a line.
func Check(t *testing.T, line map[string]any, wants ...map[string]any) {
	t.Helper()
	for _, want := range wants {
		for key, w := range want {
			if got := line[key]; got != w {
				t.Errorf("%s: got %v, want %v in %v", key, got, w, line)
			}
		}
	}
}

// Caller returns the first call site in a file whose line contains text.
func Caller(t *testing.T, file, text string) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, _, found := strings.Cut(string(source), text)
	if !found {
		t.Fatalf("%s does not contain %s", file, text)
	}
	return fmt.Sprintf("%s/%s:%d", filepath.Base(folder), file, 1+strings.Count(before, "\n"))
}
