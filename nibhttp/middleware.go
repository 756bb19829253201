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
	config
	next http.Handler
}

type config struct {
	log    *nib.Logger
	levels func(status int) nib.Level // if nil, LevelOf
	skip   func(*http.Request) bool
	fields func(*nib.Event, *http.Request)
	now    func() time.Time // if nil, the clock of package time
	ownIDs bool
	echo   bool

	maxText int // bytes of a text that a client sends

	policy *request.Policy
}

// An Option configures [Middleware].
type Option func(*config)

// WithLevels sets the level of an access line by its status (0 if there is
// none). The default is [LevelOf]. The line of a handler that panicked has at
// least LevelError.
func WithLevels(f func(status int) nib.Level) Option { return func(c *config) { c.levels = f } }

// WithSkip omits the access line of requests for which f returns true, such as
// health checks, unless their handler panics.
func WithSkip(f func(*http.Request) bool) Option { return func(c *config) { c.skip = f } }

// WithFields calls f to add fields to each access line, after nib's own. f
// runs after the handler, on its goroutine; r is the request that the handler
// got.
func WithFields(f func(e *nib.Event, r *http.Request)) Option {
	return func(c *config) { c.fields = f }
}

// WithClock replaces time.Now as the clock that measures took. now must be safe
// for concurrent use.
func WithClock(now func() time.Time) Option { return func(c *config) { c.now = now } }

const defaultMaxText = 4 << 10

// WithMaxText sets how many bytes of a method, path, remote address or text of
// a panic are written. The default, also for n < 1, is 4 KiB. A longer text is
// cut between characters and ends in "…"; a field with the same key and
// "_length" has its length in bytes.
func WithMaxText(n int) Option {
	if n < 1 {
		n = defaultMaxText
	}
	return func(c *config) { c.maxText = n }
}

// WithOwnRequestIDs generates every request id and ignores the client's,
// for servers that do not trust their clients.
func WithOwnRequestIDs() Option { return func(c *config) { c.ownIDs = true } }

// WithRequestIDHeader sets X-Request-Id in each response. It is not the default
// because it costs two allocations per request.
func WithRequestIDHeader() Option { return func(c *config) { c.echo = true } }

// WithPolicy sets which requests have a line, and whether the debug lines of
// failed requests are written. Without it all requests have a line, and debug
// lines are like those of any logger.
func WithPolicy(p *request.Policy) Option { return func(c *config) { c.policy = p } }

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
// trace_id and span_id bound, [RequestID] the id, and request.Add adds fields
// to the line.
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
func Middleware(l *nib.Logger, opts ...Option) func(http.Handler) http.Handler {
	c := config{log: l, maxText: defaultMaxText}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return func(next http.Handler) http.Handler {
		return &middleware{config: c, next: next}
	}
}

func (c *config) clock() (t time.Time) {
	if c.now == nil || guard(func() { t = c.now() }) != "" {
		return time.Now()
	}
	return t
}

// since uses time.Since if it can, which reads only the monotonic clock.
func (c *config) since(start time.Time) time.Duration {
	if c.now == nil {
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
