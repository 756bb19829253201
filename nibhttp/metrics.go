// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"net/http"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/metrics"
)

// MetricsHandler serves the metrics of l, of its sinks, and of more, to
// Prometheus: in OpenMetrics 1.0 if the client accepts that, otherwise in the
// text format 0.0.4. Metrics that a source would yield after a panic are left
// out. Of Loggers that share a sink pass only one: their metrics are the same.
// It is safe for concurrent use.
func MetricsHandler(l *nib.Logger, more ...metrics.Source) http.Handler {
	sources := append([]metrics.Source{l}, more...)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "want GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		write, contentType := metrics.WritePrometheus, "text/plain; version=0.0.4; charset=utf-8"
		if accepts(r, "application/openmetrics-text") {
			write, contentType = metrics.WriteOpenMetrics,
				"application/openmetrics-text; version=1.0.0; charset=utf-8"
		}
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Vary", "Accept")
		_ = write(w, sources...) // the client went away, or a source panicked
	})
}
