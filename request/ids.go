// SPDX-License-Identifier: Apache-2.0

package request

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"

	"github.com/nib-log/nib"
)

// idLen is the length of a generated request id: 128 random bits in
// hexadecimal. They come from math/rand/v2, seeded by the system: unique, but
// not secret.
const idLen = 32

// maxClientID limits the id that a client adds to every line.
const maxClientID = 128

// ids are the ids of a request.
type ids struct {
	client      string // the id from the client; "" if made contains the id
	made        [idLen]byte
	header      string // traceparent, of version 00; "" without a valid one
	trace, span string
}

// set takes ids from, in order: the client, the request that ctx belongs to, a
// generator.
func (x *ids) set(ctx context.Context, id, traceparent string) {
	var traced bool
	if x.trace, x.span, traced = parseTraceparent(traceparent); traced {
		x.header = version00(traceparent)
	}
	var outer *ids
	named := isClientID(id)
	if !named || !traced {
		outer = idsFrom(ctx)
	}
	if named {
		x.client = id
	} else if outer != nil {
		x.client, x.made = outer.client, outer.made
	} else {
		makeID(&x.made)
	}
	if !traced && outer != nil {
		x.header, x.trace, x.span = outer.header, outer.trace, outer.span
	}
}

// idsKey is the context key of *ids, of a request or of WithIDs.
type idsKey struct{}

func idsFrom(ctx context.Context) *ids {
	if ctx == nil {
		return nil
	}
	x, _ := ctx.Value(idsKey{}).(*ids)
	return x
}

// WithIDs returns a context whose requests and jobs have these ids, for work
// that has an id already: an invocation of AWS Lambda, an activity of Temporal,
// a message of a queue.
//
//	ctx = request.WithIDs(ctx, invocation.AwsRequestID, "")
//	err := policy.Run(ctx, log, "resize", f)
//
// id is the request id, at most 128 ASCII letters, digits and characters of
// -_.~:/+=@, and traceparent a header of W3C Trace Context. If one is missing
// or invalid, ctx keeps its own; without either, the request id is made up.
func WithIDs(ctx context.Context, id, traceparent string) context.Context {
	x := new(ids)
	x.set(ctx, id, traceparent)
	return context.WithValue(ctx, idsKey{}, x)
}

// ID returns the id of the request, and "" for a nil Request. A generated id is
// a new string: 1 malloc.
func (r *Request) ID() string {
	if r == nil {
		return ""
	}
	if r.ids.client != "" {
		return r.ids.client
	}
	return string(r.ids.made[:])
}

// Traceparent returns the valid traceparent header of the request, for a
// request to another service, or "", also for a nil Request. One of a later
// version is converted to version 00.
func (r *Request) Traceparent() string {
	if r == nil {
		return ""
	}
	return r.ids.header
}

// AddIDs adds request_id, the fields of the context that the request began with
// (see [nib.Event.Ctx]) and, unless these have the id of a trace, the ids of
// the traceparent header, under the keys of the layout: trace_id and span_id.
func (r *Request) AddIDs(e *nib.Event) {
	if r.ids.client != "" {
		e.Str("request_id", r.ids.client)
	} else {
		e.Bytes("request_id", r.ids.made[:])
	}
	e.Ctx(r.Context)
	if r.ids.trace == "" {
		return
	}
	trace, span := nib.TraceKeys(e)
	if _, ok := e.Lookup(trace); ok && trace != "" {
		return
	}
	if trace != "" {
		e.Str(trace, r.ids.trace)
	}
	if span != "" {
		e.Str(span, r.ids.span)
	}
}

func makeID(dst *[idLen]byte) {
	var b [idLen / 2]byte
	binary.NativeEndian.PutUint64(b[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(b[8:], rand.Uint64())
	hex.Encode(dst[:], b[:])
}

// isClientID reports whether the id of a client is 1 to 128 ASCII letters,
// digits and characters of -_.~:/+=@, which no reader of logs, shell or web
// page interprets.
func isClientID(id string) bool {
	for i := range len(id) {
		switch c := id[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == '~', c == ':', c == '/', c == '+', c == '=', c == '@':
		default:
			return false
		}
	}
	return 0 < len(id) && len(id) <= maxClientID
}

// traceparentLen is the length of a traceparent of version 00.
const traceparentLen = len("00-0123456789abcdef0123456789abcdef-0123456789abcdef-00")

// version00 converts a valid traceparent to the version that we know, of whose
// flags the lowest alone has a meaning in later ones.
func version00(s string) string {
	if s[:2] == "00" {
		return s
	}
	flags := "00"
	if strings.IndexByte("13579bdf", s[traceparentLen-1]) >= 0 {
		flags = "01"
	}
	return "00" + s[2:traceparentLen-2] + flags
}

// parseTraceparent reads the header of W3C Trace Context (Recommendation of 23
// November 2021, section 3.2): version, trace-id, parent-id and flags. ids are
// in lower-case hexadecimal and not zero; version ff is invalid; a version
// above 00 may have more after a dash. trace and span are parts of s.
func parseTraceparent(s string) (trace, span string, ok bool) {
	if len(s) < traceparentLen || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return "", "", false
	}
	version, trace, span, flags := s[:2], s[3:35], s[36:52], s[53:55]
	switch {
	case version == "ff", !isHex(version), !isHex(flags):
		return "", "", false
	case !isHex(trace), isZero(trace), !isHex(span), isZero(span):
		return "", "", false
	case len(s) > traceparentLen && (version == "00" || s[traceparentLen] != '-'):
		return "", "", false
	}
	return trace, span, true
}

func isHex(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func isZero(s string) bool {
	for i := range len(s) {
		if s[i] != '0' {
			return false
		}
	}
	return true
}
