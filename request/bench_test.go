// SPDX-License-Identifier: Apache-2.0

package request_test

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/request"
)

func addTwelve(e *nib.Event) {
	e.Str("method", "GET").Str("path", "/v1/accounts/7361/orders").Int("status", 200).
		Int("size", 48231).Bool("cached", true).Dur("took", 1834512).Str("zone", "b").
		Str("user", "alice").Int("items", 3).Str("cart", "c-1234").Float64("load", 0.75).
		Uint64("id", 12345678)
}

// BenchmarkEvent compares the event of a request with a line of the same twelve
// fields.
func BenchmarkEvent(b *testing.B) {
	log := nib.New(io.Discard)
	b.Run("Line", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e := log.Info()
			addTwelve(e)
			e.Msg("request")
		}
	})
	policy := request.New(request.Config{})
	run := func(b *testing.B, traceparent string, o request.Outcome) {
		b.ReportAllocs()
		ctx := context.Background()
		for b.Loop() {
			r := new(request.Request)
			r.Start(ctx, policy, log, "r1", traceparent)
			request.Add(r, addTwelve)
			if e := r.End(o); e != nil {
				r.AddIDs(e)
				r.AddFields(e)
				e.Msg("request")
			}
		}
	}
	kept, dropped := request.Outcome{Took: time.Millisecond}, request.Outcome{Skip: true}
	b.Run("Kept", func(b *testing.B) { run(b, "", kept) })
	b.Run("KeptWithTrace", func(b *testing.B) { run(b, traceparent, kept) })
	b.Run("Dropped", func(b *testing.B) { run(b, "", dropped) })
}
