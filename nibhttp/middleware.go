// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"net/http"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/request"
)

// A middleware is a handler wrapped by Middleware. It is immutable.
type middleware struct {
	Config
	log  *nib.Logger
	next http.Handler
}

// A Config configures [Middleware]. The zero Config is ready.
type Config struct {
	// Policy decides which requests have a line, and whether the debug lines of
	// failed requests are written. If it is nil, all requests have a line, and
	// the level of the logger decides about debug lines.
	Policy *request.Policy

	// Level returns the level of a line for its status (0 if there is none).
	// Defaults to [LevelOf]. The line of a handler that panicked has at least
	// LevelError.
	Level func(status int) nib.Level

	// Skip omits the line of requests for which it returns true, such as health
	// checks, unless their handler panics.
	Skip func(*http.Request) bool

	// Fields adds fields to each line, after nib's own. It runs after the
	// handler, on its goroutine; r is the request that the handler got.
	Fields func(e *nib.Event, r *http.Request)

	// OwnRequestIDs generates every request id and ignores the client's, for
	// servers that do not trust their clients.
	OwnRequestIDs bool

	// RequestIDHeader sets X-Request-Id in each response. It is not the default
	// because it costs two allocations per request.
	RequestIDHeader bool

	// Now replaces time.Now as the clock that measures took. It must be safe for
	// concurrent use.
	Now func() time.Time
}

// LevelOf returns the default level of an access line: LevelError from status
// 500 on, LevelWarn from 400 on, otherwise LevelInfo.
func LevelOf(status int) nib.Level {
	switch {
	case status >= 500:
		return nib.LevelError
	case status >= 400:
		return nib.LevelWarn
	}
	return nib.LevelInfo
}

// Middleware returns a function that wraps a handler. Each request writes one
// line to l when its handler has ended; see the package comment for its fields.
// nib.FromContext(r.Context()) gives the handler a logger with request_id,
// trace_id and span_id bound, request.FromContext the request with its id, and
// request.Add adds fields to the line. Without a config the zero Config
// applies; Middleware panics if there are several.
//
// The line of a handler that panicked has at least LevelError, and contains the
// text of the panic and its stack. The panic continues, for an outer middleware
// to recover from. If there is none, because the result is the Handler of the
// http.Server, it continues as [net/http.ErrAbortHandler]: net/http then closes
// the connection without logging the panic and its stack a second time.
//
// The ResponseWriter given to the handler has Unwrap for
// [net/http.ResponseController], and is a Flusher, Hijacker, ReaderFrom
// (sendfile), Pusher or CloseNotifier where the wrapped one is. But
// [net/http.MaxBytesReader] only closes the connection of a client that sends
// too much if it has net/http's own ResponseWriter: limit bodies with
// [net/http.MaxBytesHandler] around the result.
//
// The result is safe for concurrent use. A request costs 1 malloc (the request
// with its context, and the ResponseWriter), and 2 more when the handler asks
// for its logger, or logs with the context; the line costs none. A nil l writes
// nothing.
func Middleware(l *nib.Logger, config ...Config) func(http.Handler) http.Handler {
	var c Config
	switch len(config) {
	case 0:
	case 1:
		c = config[0]
	default:
		panic("nib/http: Middleware has several configurations: put all fields into one Config")
	}
	return func(next http.Handler) http.Handler {
		return &middleware{Config: c, log: l, next: next}
	}
}

func (c *Config) clock() (t time.Time) {
	if c.Now == nil || guard(func() { t = c.Now() }) != "" {
		return time.Now()
	}
	return t
}

// since uses time.Since if it can, which reads only the monotonic clock.
func (c *Config) since(start time.Time) time.Duration {
	if c.Now == nil {
		return time.Since(start)
	}
	return c.clock().Sub(start)
}

// guard runs a function of the program: a request must not fail because its log
// does. It returns the text of a panic.
func guard(f func()) (panicked string) {
	defer func() {
		if p := recover(); p != nil {
			panicked = "!PANIC: " + usercode.PanicText(p)
		}
	}()
	f()
	return ""
}

// ServeHTTP implements http.Handler.
func (m *middleware) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := begin(m, w, r)
	defer x.end(r)
	m.next.ServeHTTP(x.w.abilities(), &x.req)
	x.returned = true
}
