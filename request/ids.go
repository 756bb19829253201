// SPDX-License-Identifier: Apache-2.0

package request

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonread"
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
	if traceparent != "" {
		if x.trace, x.span, traced = parseTraceparent(traceparent); traced {
			x.header = version00(traceparent)
		}
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
// The ids of another request that the context belongs to are left out.
func (r *Request) AddIDs(e *nib.Event) {
	outer := from(r.Context) // lines of its logger have ids
	if outer == nil || !r.ids.isIn(e) {
		if r.ids.client != "" {
			e.Str(requestID, r.ids.client)
		} else {
			e.Bytes(requestID, r.ids.made[:])
		}
	}
	if outer == nil || outer.ids == r.ids {
		e.Ctx(r.Context)
	} else {
		r.addContext(e, &outer.ids)
	}
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

const requestID = "request_id"

// isIn reports whether the line has the request id: a job may have the logger
// of the request that starts it.
func (x *ids) isIn(e *nib.Event) bool {
	value, ok := e.Lookup(requestID)
	return ok && x.isID(string(value))
}

// isID reports whether an encoded value is the request id.
func (x *ids) isID(value string) bool {
	return strings.Trim(value, `"`) == cmp.Or(x.client, string(x.made[:]))
}

// addContext adds the fields of the context without the ids of the request that
// it belongs to.
func (r *Request) addContext(e *nib.Event, outer *ids) {
	trace, span := nib.TraceKeys(e)
	fields := r.base.AppendFields(nil, func(e *nib.Event) { e.Ctx(r.Context) })
	for name, value := range jsonread.Fields(fields) {
		switch key, id := string(name), string(value); {
		case key == requestID && outer.isID(id):
		case key == trace && id == `"`+outer.trace+`"`, key == span && id == `"`+outer.span+`"`:
		default:
			if had, ok := e.Lookup(key); !ok || !bytes.Equal(had, value) {
				addField(e, name, value)
			}
		}
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
		case c == '-', c == '_', c == '.', c == '~', c == ':', c == '/', c == '+', c == '=',
			c == '@':
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
