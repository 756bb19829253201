// SPDX-License-Identifier: Apache-2.0

// Package nibotel connects nib with OpenTelemetry: the ids of the active span
// in each line that has its context, and records of its Logs API in nib's
// sinks.
//
//	func main() {
//		log := nib.New(os.Stdout, nib.WithContextFields(nibotel.ContextFields))
//		otel.SetLoggerProvider(nibotel.NewLoggerProvider(log)) // for libraries that log through OpenTelemetry
//
//		http.HandleFunc("GET /cart", func(w http.ResponseWriter, r *http.Request) {
//			nib.FromContext(r.Context()).Info().Int("items", 3).Msg("cart shown")
//		})
//		handler := nibhttp.Middleware(log)(http.DefaultServeMux) // inside of otelhttp.NewHandler
//		if err := http.ListenAndServe("127.0.0.1:8080", handler); err != nil {
//			log.Fatal().Err(err).Msg("cannot serve")
//		}
//	}
//
// To deliver lines to an OpenTelemetry receiver, use the destination dest/otlp,
// which needs no SDK and survives outages with a spool.
package nibotel
