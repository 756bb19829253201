// SPDX-License-Identifier: Apache-2.0

// Package request writes one event for each request, RPC or job: a single line
// with everything that the code below it has added, when it ends. Such a line
// is also called a canonical log line or a wide event. Package nibhttp and the
// module bridge/nibgrpc have them for servers, [Policy.Run] for jobs.
//
//	func serve(log *nib.Logger) error {
//		policy := request.New(request.Config{
//			Slow:      time.Second,
//			Sample:    20, // of the rest, one in 20
//			Backtrace: sink.Backtrace(log.Sink(), sink.BacktraceConfig{}),
//		})
//		http.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
//			if err := store(r.Context(), r.FormValue("item")); err != nil {
//				http.Error(w, "try again", http.StatusServiceUnavailable)
//			}
//		})
//		handler := nibhttp.Middleware(log, nibhttp.Config{Policy: policy})(http.DefaultServeMux)
//		return http.ListenAndServe("127.0.0.1:8080", handler)
//	}
//
//	func store(ctx context.Context, item string) error {
//		request.AddAttrs(ctx, slog.String("item", item)) // in the event
//		nib.FromContext(ctx).Debug().Msg("storing")      // written if the request fails
//		return nil
//	}
//
// # Fields
//
// [Add] and [AddAttrs] add fields from any function that has the context.
// Values are encoded at once, with the layout of the logger. The rules for
// fields of a line apply to them: keys that the layout reserves are renamed,
// and several fields with one key follow nib.WithDuplicateKeys. At most
// Config.MaxBytes are collected. An addition that does not fit or comes after
// the end, from a goroutine that has outlived its request, is dropped as a
// whole and counted.
//
// # Which requests have an event
//
// The event of a request that failed, was slow, or was marked with [Keep] is
// always written, if its level is enabled; of the rest one in Config.Sample.
// The field sample_weight is the number of requests that an event represents,
// so that totals stay correct: the sum of sample_weight is the number of
// requests, and the sum of sample_weight times took the time spent in them. A
// sampler of the logger (nib.WithSampler) would make these sums wrong.
//
// With Config.Backtrace the debug lines of these requests are written, too, and
// all other debug lines are dropped.
//
// An event is written exactly once, when the handler returns, panics or ends
// its goroutine. There is none of a request that is in progress when the
// process is killed.
package request
