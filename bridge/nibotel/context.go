// SPDX-License-Identifier: Apache-2.0

package nibotel

import (
	"bytes"
	"context"
	"encoding/hex"

	"github.com/nib-log/nib"
	"go.opentelemetry.io/otel/trace"
)

// ContextFields adds the ids of the trace and the active span of ctx, if there
// is one, under the keys of the layout: trace_id and span_id. It is for
// nib.WithContextFields, so that each line with a context has them. An id that
// the line has already is not added again. A line of a logger that belongs to a
// request, and of a span below the request's, has the span_id of both, the
// active one after the other; nib.DuplicatesLastWins keeps the active one only.
// 0 allocs.
func ContextFields(ctx context.Context, e *nib.Event) {
	c := trace.SpanContextFromContext(ctx)
	if !c.IsValid() {
		return
	}
	traceID, spanID := c.TraceID(), c.SpanID()
	traceKey, spanKey := nib.TraceKeys(e)
	addID(e, traceKey, traceID[:])
	addID(e, spanKey, spanID[:])
}

// addID adds an id in hexadecimal, unless the line has it or omits the key.
func addID(e *nib.Event, key string, id []byte) {
	if key == "" {
		return
	}
	var quoted [2*16 + 2]byte
	b := append(hex.AppendEncode(append(quoted[:0], '"'), id), '"')
	if had, ok := e.Lookup(key); !ok || !bytes.Equal(had, b) {
		e.Hex(key, id)
	}
}
