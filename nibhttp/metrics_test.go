// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/metrics"
	"github.com/nib-log/nib/nibhttp"
)

func failedOnce() *nib.Logger {
	var rec recordtest.Recorder
	log := nib.NewSink(&rec, nib.WithErrorHandler(func(error) {}))
	rec.FailWith(errors.New("full"))
	log.Info().Msg("lost")
	return log
}

func TestMetricsHandler(t *testing.T) {
	w := ask(nibhttp.MetricsHandler(failedOnce()), "GET", "/metrics", "")
	got := w.Body.String()
	for _, want := range []string{
		"# HELP nib_logger_failed_lines_total ", "# TYPE nib_logger_failed_lines_total counter\nnib_logger_failed_lines_total 1\n",
		"\nnib_logger_reentrant_lines_total 0\n", "\nnib_logger_aborted_lines_total 0\n", "\nnib_logger_misused_events_total ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if typ := w.Header().Get("Content-Type"); typ != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("Content-Type: got %q", typ)
	}
	if w := ask(nibhttp.MetricsHandler(nil), "POST", "/metrics", ""); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: got %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
}

func TestMetricsHandlerAnswersInOpenMetrics(t *testing.T) {
	var app metrics.Samples
	app.Counter("app_lines_total", "Lines.", 1)
	h := nibhttp.MetricsHandler(nil, app, nil)
	w := ask(h, "GET", "/metrics", "", "Accept", "application/openmetrics-text;version=1.0.0;q=0.75,text/plain;version=0.0.4;q=0.5")
	got := w.Body.String()
	if !strings.Contains(got, "# TYPE app_lines counter\napp_lines_total 1\n") || !strings.HasSuffix(got, "# EOF\n") {
		t.Errorf("got\n%s", got)
	}
	if typ := w.Header().Get("Content-Type"); typ != "application/openmetrics-text; version=1.0.0; charset=utf-8" {
		t.Errorf("Content-Type: got %q", typ)
	}
	for _, q := range []string{"q=0", "q=0.0", "q=0.000"} {
		w = ask(h, "GET", "/metrics", "", "Accept", "application/openmetrics-text;"+q+", */*")
		if strings.Contains(w.Body.String(), "# EOF") {
			t.Errorf("%s: OpenMetrics was refused by the client and sent", q)
		}
	}
}
