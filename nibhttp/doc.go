// SPDX-License-Identifier: Apache-2.0

// Package nibhttp connects nib with net/http: [Middleware] writes one line per
// request, which handlers add fields to with package request, and gives them a
// logger with the ids of the request; with [Config.Policy] lines are sampled,
// and the debug lines of failed requests are written; [LevelHandler] and
// [RulesHandler] change levels while the server runs, [MetricsHandler] serves
// metrics to Prometheus.
//
//	func serve(log *nib.Logger, level *nib.LevelVar) error {
//		mux := http.NewServeMux()
//		mux.HandleFunc("GET /cart", func(w http.ResponseWriter, r *http.Request) {
//			nib.FromContext(r.Context()).Info().Int("items", 3).Msg("cart shown")
//		})
//		mux.Handle("/metrics", nibhttp.MetricsHandler(log))
//		mux.Handle("/level", nibhttp.LevelHandler(level))
//		handler := nibhttp.Middleware(log)(mux)
//		return http.ListenAndServe("127.0.0.1:8080", handler)
//	}
//
// An access line has, in this order:
//
//	method      of the request
//	path        of the URL, decoded; without the query, which often holds secrets
//	route       pattern of the ServeMux that was matched, if any
//	status      of the response; 0 if none is known (see below)
//	bytes       of the body, as the handler wrote them
//	took        from the start of the handler to its end
//	remote      address of the peer, as in http.Request
//	request_id  from X-Request-Id, or made up
//	trace_id, span_id  from traceparent (W3C Trace Context), if there is a valid one
//	canceled    true when the context of the request was cancelled before the handler
//	            had ended: the client went away, or the server is shutting down
//	hijacked    true when the handler took the connection over
//	aborted     true when the handler panicked or ended its goroutine
//	status_ignored  a second status the handler set, too late to be sent
//	panic       text of the panic value of the handler, with the stack after it
//
// The fields of [Config.Fields] and of package request follow these.
//
// A client cannot make lines arbitrarily long: of method, path, remote and the
// text of a panic at most 4 KiB are written, and a cut text is followed by its
// length, as path_length. A request_id of the client is used only if it has at
// most 128 characters, all of them ASCII letters, digits or one of -_.~:/+=@.
//
// The status is 200 when the handler set none, as in net/http, and 500 when it
// panicked before it set one, although net/http then closes the connection. It
// is 0 for a connection that was taken over before a status was set, and for a
// handler that ended with [net/http.ErrAbortHandler] before it had set one.
package nibhttp
