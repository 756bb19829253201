// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"net/http"
	"time"

	"github.com/nib-log/nib"
)

// A requestScope is what is used of a *sink.Scope.
type requestScope interface {
	nib.Sink
	Dump() error // writes what is held back
	Discard()    // forgets it
}

// WithBacktrace gives each request a scope of its own, a *sink.Scope. What it holds back, as a
// rule the debug lines, is written only if the request fails (its status is 500 or
// above, its handler panics or does not return, or it logs a line that is a
// trigger for the scope) or if it takes slow or longer; 0 is no limit. The access
// line comes after it.
//
//	bt := sink.Backtrace(out, sink.BacktraceConfig{})
//	nibhttp.WithBacktrace(bt.Scope, func(s nib.Sink) *nib.Logger {
//		return nib.NewSink(s, nib.WithLevel(nib.LevelTrace))
//	}, time.Second)
//
// logger makes the logger for a scope, when a handler first asks for it; its
// level must let the lines through that are to be held back. It runs per
// request, so it should not compile a Layout. The logger given to Middleware
// writes the access line. The scope counts lines that are lost when it writes.
func WithBacktrace[S interface {
	nib.Sink
	Dump() error // writes what is held back
	Discard()    // forgets it
}](scope func() S, logger func(nib.Sink) *nib.Logger, slow time.Duration) Option {
	if scope == nil || logger == nil {
		panic("nib/http: WithBacktrace with a nil function")
	}
	return func(c *config) {
		c.backtrace = &backtrace{scope: func() requestScope { return scope() }, logger: logger, slow: slow}
	}
}

type backtrace struct {
	scope  func() requestScope
	logger func(nib.Sink) *nib.Logger
	slow   time.Duration // 0: none is slow
}

// scopedLogger makes the scope of the request and its logger, once.
func (x *exchange) scopedLogger(b *backtrace) *nib.Logger {
	x.mu.Lock()
	defer x.mu.Unlock()
	if l := x.log.Load(); l != nil {
		return l
	}
	var s requestScope
	l := x.m.log
	problem := guard(func() { s = b.scope(); l = b.logger(s) })
	l = l.With(x.addIDs)
	if problem != "" {
		l = l.With(func(e *nib.Event) { e.Str("panic", problem) })
	}
	if s == nil {
		x.log.Store(l)
		return l
	}
	if x.over {
		s.Discard() // asked for by a goroutine that the handler has left behind
	} else {
		x.scope = s
	}
	x.log.Store(l)
	return l
}

// endScope settles what is held back, when the handler has ended.
func (x *exchange) endScope(b *backtrace, took time.Duration) {
	x.mu.Lock()
	s := x.scope
	x.over, x.scope = true, nil
	x.mu.Unlock()
	if s == nil {
		return
	}
	defer func() {
		_ = recover() // the sink's own; a request does not fail because its log does
	}()
	if !x.returned || x.status() >= http.StatusInternalServerError || b.slow > 0 && took >= b.slow {
		_ = s.Dump() // the scope has counted what is lost
	} else {
		s.Discard()
	}
}
