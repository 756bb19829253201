// SPDX-License-Identifier: Apache-2.0

package nibhttp

import (
	"context"
	"net/http"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/request"
)

// An exchange is a request, its context and the writer of its response: all
// that one request needs, in one malloc. It is not pooled. Goroutines that
// outlive the handler may hold its request or, wrongly, its ResponseWriter;
// with a pool they would write into the response of another request.
type exchange struct {
	request.Request // the context
	m               *middleware
	req             http.Request // the handler's request
	w               writer

	start     time.Time
	path      string // the handler may change the URL
	returned  bool
	panicked  bool
	panicText string // text of a panic in the handler, or in a function that decides about the line
}

func begin(m *middleware, w http.ResponseWriter, r *http.Request) *exchange {
	x := &exchange{m: m, path: r.URL.Path, start: m.clock()}
	id := ""
	if !m.OwnRequestIDs {
		id = only(r.Header["X-Request-Id"])
	}
	x.Start(r.Context(), m.Policy, m.log, id, only(r.Header["Traceparent"]))
	x.w.ResponseWriter, x.w.switches = w, r.ProtoMajor < 2
	x.req = *r.WithContext(&x.Request) // WithContext is inlined, so this is the only copy
	if m.RequestIDHeader {
		w.Header()["X-Request-Id"] = []string{x.ID()}
	}
	return x
}

// only returns the value of a header that occurs once, otherwise "".
func only(values []string) string {
	if len(values) != 1 {
		return ""
	}
	return values[0]
}

// end writes the lines of a request whose handler has returned, panicked or
// ended its goroutine. It is deferred. r is the request as it came in.
func (x *exchange) end(r *http.Request) {
	if r.MultipartForm == nil {
		// The server removes the temporary files of the form it finds in its
		// own request (golang/go#58809); the handler has parsed its copy.
		r.MultipartForm = x.req.MultipartForm
	}
	r.Pattern = x.req.Pattern // an outer middleware reads it after the handler
	var p any
	if !x.returned {
		p = recover()
		x.panicked = p != nil && p != http.ErrAbortHandler
	}
	o := request.Outcome{Level: LevelOf(x.status())}
	defer func() { // runs even if a function of the program ends the goroutine
		if x.writeLine(o) && x.panicked && x.isOutermost() {
			p = http.ErrAbortHandler
		}
		if p != nil {
			panic(p)
		}
	}()
	x.decide(&o, p)
}

// isOutermost reports whether nothing but net/http recovers a panic of the
// handler: net/http would log it again after the access line.
func (x *exchange) isOutermost() bool {
	s, ok := x.Context.Value(http.ServerContextKey).(*http.Server)
	return ok && s.Handler == http.Handler(x.m)
}

// status returns the status of the access line; see the package comment.
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

// decide calls the functions of the program that decide about the line.
func (x *exchange) decide(o *request.Outcome, p any) {
	m := x.m
	if x.panicked {
		usercode.TakePanicText(&x.panicText, p)
	}
	o.Took = m.since(x.start)
	if m.Skip != nil && !x.panicked {
		x.panicText = guard(func() { o.Skip = m.Skip(&x.req) })
	}
	if m.Level != nil && !o.Skip {
		if text := guard(func() { o.Level = m.Level(x.status()) }); text != "" && !x.panicked {
			x.panicText = text
		}
	}
}

// writeLine ends the request and writes its line, if there is one.
func (x *exchange) writeLine(o request.Outcome) (written bool) {
	m, status := x.m, x.status()
	o.Failed = !x.returned || status >= http.StatusInternalServerError
	o.Route, o.Code = x.req.Pattern, status
	if x.panicked {
		o.Level = max(o.Level, nib.LevelError)
	}
	e := x.End(o)
	if e == nil {
		return false
	}
	addText(e, "method", x.req.Method)
	addText(e, "path", x.path)
	if x.req.Pattern != "" {
		e.Str("route", x.req.Pattern)
	}
	e.Int("status", status).Int64("bytes", x.w.bytes).Dur("took", o.Took)
	addText(e, "remote", x.req.RemoteAddr)
	x.AddIDs(e)
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
	if x.panicText != "" {
		addText(e, "panic", x.panicText)
	}
	if m.Fields != nil {
		m.addFields(e, &x.req)
	}
	x.AddFields(e)
	if x.panicked {
		e.Stack()
	}
	e.Msg("request")
	return true
}

// maxText is how many bytes of a text from a client are written.
const maxText = 4 << 10

// addText adds a text from a client, which may be of any length.
func addText(e *nib.Event, key, text string) {
	if len(text) <= maxText {
		e.Str(key, text)
		return
	}
	cutText(e, key, text)
}

// cutText cuts between characters.
func cutText(e *nib.Event, key, text string) {
	n := maxText
	for n > maxText-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	e.Str(key, text[:n]+"…").Int(key+"_length", len(text))
}

// addFields calls Config.Fields, within Func, because it may end its goroutine.
func (m *middleware) addFields(e *nib.Event, r *http.Request) {
	e.Func(func(e *nib.Event) {
		if problem := guard(func() { m.Fields(e, r) }); problem != "" {
			addText(e, "panic", problem)
		}
	})
}
