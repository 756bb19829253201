// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"net/http"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/nibhttp"
)

func TestLinesWithARequestsContextHaveItsIDs(t *testing.T) {
	var rec recordtest.Recorder
	base := nib.NewSink(&rec)
	h := nibhttp.Middleware(base)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		base.Info().Ctx(r.Context()).Msg("Event.Ctx")
		base.LogAttrs(r.Context(), nib.LevelInfo, "LogAttrs")
		base.WithGroup("g").LogAttrs(r.Context(), nib.LevelInfo, "group")
		nib.FromContext(r.Context()).LogAttrs(r.Context(), nib.LevelInfo, "own logger")
	}))
	r := newRequest("/")
	r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	h.ServeHTTP(nil, r)
	for _, message := range []string{"Event.Ctx", "LogAttrs", "group", "own logger"} {
		f := rec.Find(message)
		if f["request_id"] != "r1" || f["trace_id"] != "4bf92f3577b34da6a3ce929d0e0e4736" || f["span_id"] != "00f067aa0ba902b7" {
			t.Errorf("%s: got %v", message, f)
		}
	}
}
