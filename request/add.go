// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"log/slog"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/contract"
)

// Add adds fields to the event of the request, RPC or job that ctx belongs to:
//
//	request.Add(ctx, func(e *nib.Event) { e.Str("cart", id).Int("items", n) })
//
// f runs at once and only adds fields, whose values are copied; it does not run
// when ctx belongs to no request. Once the request has ended the fields are
// dropped and counted. Stack and Caller of e do nothing: they belong to a line.
// 0 allocs.
func Add(ctx context.Context, f func(e *nib.Event)) {
	if r := from(ctx); r != nil {
		r.add(f)
	}
}

// AddAttrs is Add with slog's attributes:
//
//	request.AddAttrs(ctx, slog.String("cart", id), slog.Int("items", n))
func AddAttrs(ctx context.Context, attrs ...slog.Attr) {
	if r := from(ctx); r != nil {
		r.add(func(e *nib.Event) { e.Attrs(attrs...) })
	}
}

// Keep marks the request that ctx belongs to: its event is written whatever
// Sample is, and so are its lines that were held back.
func Keep(ctx context.Context) {
	r := from(ctx)
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		r.policy.late.Add(1)
		return
	}
	r.keep = true
}

// FromContext returns the request that ctx belongs to, or nil.
func FromContext(ctx context.Context) *Request { return from(ctx) }

// add encodes the fields before it takes the lock: f is code of the program,
// which may add fields or log with the same context.
func (r *Request) add(f func(e *nib.Event)) {
	if f == nil {
		return
	}
	s := fieldsPool.Get().(*fields)
	s.errorKeys = true // also if f panics
	s.buf = r.base.AppendFields(s.buf[:0], func(e *nib.Event) {
		f(e)
		s.errorKeys = contract.HasErrorKeys(e)
	})
	if len(s.buf) > 0 {
		s = r.collect(s)
	}
	s.free()
}

// collect adopts the fields, if it can. It returns the buffer that is then
// free.
func (r *Request) collect(s *fields) *fields {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over: // AddFields has the fields, without the lock
		r.policy.late.Add(1)
	case r.fields == nil && len(s.buf) <= r.policy.config.maxBytes():
		r.fields = s
		return nil
	case r.fields != nil && len(r.fields.buf)+len(s.buf) <= r.policy.config.maxBytes():
		r.fields.buf = append(r.fields.buf, s.buf...)
		r.fields.errorKeys = r.fields.errorKeys || s.errorKeys
	default:
		r.dropped++
		r.policy.tooLarge.Add(1)
	}
	return s
}
