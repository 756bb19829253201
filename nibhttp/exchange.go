// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/usercode"
)

// An exchange is a request, its context and the writer of its response: all
// that one request needs, in one malloc. It is not pooled. A handler may leave
// goroutines behind that hold its request or, wrongly, its ResponseWriter; in a
// pool those would write into the response of another request.
type exchange struct {
	context.Context // of the request as it came in
	m               *middleware
	req             http.Request // what the handler gets
	w               writer

	start       time.Time
	path        string // the handler may change the URL
	id          string // from the client; "" when it is in made
	trace, span string // within the header; "" without a valid one
	made        [idLen]byte
	returned    bool
	log         atomic.Pointer[nib.Logger] // nil until the handler asks for it
	panicked    bool
	panicText   string

	// Of WithBacktrace:
	over  bool         // the handler has ended
	mu    sync.Mutex   // protects over and scope, and is held while the logger is made
	scope requestScope // nil until the handler asks for the logger, and when it has ended
}

// exchangeKey is the key of the exchange itself.
type exchangeKey struct{}

func begin(m *middleware, w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{Context: r.Context(), m: m, path: r.URL.Path, start: m.clock()}
	x.w.ResponseWriter = w
	x.req = *r.WithContext(x) // inlined, so that this is the only copy
	if !m.ownIDs {
		x.id = clientID(r.Header)
	}
	if x.id == "" {
		makeID(&x.made)
	}
	if v := r.Header["Traceparent"]; len(v) == 1 {
		x.trace, x.span, _ = parseTraceparent(v[0])
	}
	if m.echo {
		w.Header()["X-Request-Id"] = []string{x.requestID()}
	}
	return x
}

// Value implements context.Context. It answers for the logger itself, which is
// made only when a handler asks for it and needs no context.WithValue to hold it.
func (x *exchange) Value(key any) any {
	switch key {
	case contract.LoggerKey{}:
		return x.logger()
	case exchangeKey{}:
		return x
	}
	return x.Context.Value(key)
}

// logger returns the logger of the request. Goroutines of the handler may call
// it at once; they get the same one.
func (x *exchange) logger() *nib.Logger {
	if l := x.log.Load(); l != nil {
		return l
	}
	if b := x.m.backtrace; b != nil {
		return x.scopedLogger(b)
	}
	l := x.m.log.With(x.addIDs)
	if !x.log.CompareAndSwap(nil, l) {
		return x.log.Load()
	}
	return l
}

func (x *exchange) addIDs(e *nib.Event) {
	if x.id != "" {
		e.Str("request_id", x.id)
	} else {
		e.Bytes("request_id", x.made[:])
	}
	if x.trace != "" {
		e.Str("trace_id", x.trace).Str("span_id", x.span)
	}
}

func (x *exchange) requestID() string {
	if x.id != "" {
		return x.id
	}
	return string(x.made[:])
}

// end writes the lines of a request whose handler has returned, panicked or
// ended its goroutine. It is deferred. r is the request as it came in.
func (x *exchange) end(r *http.Request) {
	if r.MultipartForm == nil {
		// The server removes the temporary files of the form it finds in its own
		// request (golang/go#58809); the handler has parsed its copy.
		r.MultipartForm = x.req.MultipartForm
	}
	took := x.m.since(x.start)
	if x.returned {
		x.finish(took)
		return
	}
	p := recover()
	if p != nil && p != http.ErrAbortHandler {
		x.panicked, x.panicText = true, usercode.PanicText(p)
	}
	if x.finish(took) && x.panicked && x.isOutermost() {
		p = http.ErrAbortHandler
	}
	if p != nil {
		panic(p)
	}
}

// isOutermost reports whether nothing but net/http recovers a panic of the
// handler: net/http would log what the access line contains already.
func (x *exchange) isOutermost() bool {
	s, ok := x.Context.Value(http.ServerContextKey).(*http.Server)
	return ok && s.Handler == http.Handler(x.m)
}

// finish writes what is left to write. It reports whether there is an access
// line.
func (x *exchange) finish(took time.Duration) bool {
	if b := x.m.backtrace; b != nil {
		x.endScope(b, took)
	}
	return x.writeLine(took)
}

// status is what the access line shows; see the package comment.
func (x *exchange) status() int {
	switch {
	case x.w.status != 0 || x.w.hijacked:
		return x.w.status
	case x.panicked:
		return http.StatusInternalServerError
	case x.returned:
		return http.StatusOK
	}
	return 0
}

// writeLine writes the access line, unless it is skipped or its level is off.
func (x *exchange) writeLine(took time.Duration) (written bool) {
	m := x.m
	skip, problem := false, ""
	if m.skip != nil && !x.panicked {
		problem = guard(func() { skip = m.skip(&x.req) })
	}
	if skip {
		return false
	}
	status := x.status()
	level := LevelOf(status)
	if m.levels != nil {
		if p := guard(func() { level = m.levels(status) }); p != "" {
			problem = p
		}
	}
	if x.panicked {
		level = max(level, nib.LevelError)
	}
	e := m.log.At(level)
	if e == nil {
		return false
	}
	m.text(e, "method", x.req.Method)
	m.text(e, "path", x.path)
	if x.req.Pattern != "" {
		e.Str("route", x.req.Pattern)
	}
	e.Int("status", status).Int64("bytes", x.w.bytes).Dur("took", took)
	m.text(e, "remote", x.req.RemoteAddr)
	x.addIDs(e)
	if x.Context.Err() == context.Canceled {
		e.Bool("canceled", true)
	}
	if x.w.hijacked {
		e.Bool("hijacked", true)
	}
	if !x.returned {
		e.Bool("aborted", true)
	}
	if x.w.ignored != 0 {
		e.Int("status_ignored", x.w.ignored)
	}
	if x.panicked {
		problem = x.panicText
	}
	if problem != "" {
		m.text(e, "panic", problem)
	}
	if m.fields != nil {
		m.addFields(e, &x.req)
	}
	if x.panicked {
		e.Stack()
	}
	e.Msg("request")
	return true
}

// text adds a text that a client may have made as long as it likes.
func (m *middleware) text(e *nib.Event, key, text string) {
	if len(text) <= m.maxText {
		e.Str(key, text)
		return
	}
	m.cutText(e, key, text)
}

func (m *middleware) cutText(e *nib.Event, key, text string) {
	n := m.maxText
	for n > 0 && n > m.maxText-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	e.Str(key, text[:n]+"…").Int(key+"_length", len(text))
}

// addFields runs the function of WithFields, within Func: it may end its goroutine.
func (m *middleware) addFields(e *nib.Event, r *http.Request) {
	e.Func(func(e *nib.Event) {
		if problem := guard(func() { m.fields(e, r) }); problem != "" {
			m.text(e, "panic", problem)
		}
	})
}
