// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"time"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/hlog"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/sampling"
)

// events returns the rows of request events.
func events() []row {
	const (
		kept = "two readings of the clock, an id, one malloc, the line with all fields, and a " +
			"copy of the added ones"
		dropped = "two readings of the clock, an id, one malloc, and the added fields encoded"
	)
	drop := func(request.Outcome) (bool, int) { return false, 0 }
	var rows []row
	for _, x := range []struct {
		n      int
		fields func(*nib.Event)
	}{{0, none}, {6, six}, {12, twelve}, {24, twentyFour}} {
		added := plain.AppendFields(nil, x.fields)
		add := func(ctx context.Context) { request.Add(ctx, x.fields) }
		n := strconv.Itoa(x.n)
		rows = append(rows,
			row{name: "EventKept" + n, title: "request event, " + n + " fields", price: kept,
				want: `"job":"restock"`, path: job(request.Config{}, add),
				parts: parts{readClock, duration, makeID, allocate,
					line(plain, func(e *nib.Event) {
						jobFields(e)
						x.fields(e)
					}), copies(added)}},
			row{name: "EventDropped" + n, title: "request event, " + n + " fields, dropped",
				price: dropped, path: job(request.Config{Decide: drop}, add),
				parts: parts{readClock, duration, makeID, allocate, func(n int) {
					for range n {
						buf = plain.AppendFields(buf[:0], x.fields)
					}
				}}})
	}
	all := attrs()
	added := plain.AppendFields(nil, func(e *nib.Event) { e.Attrs(all...) })
	rows = append(rows, row{name: "EventAttrs", title: "request.AddAttrs, 12 fields", price: kept,
		want: `"cart":"c-1234"`,
		path: job(request.Config{}, func(ctx context.Context) { request.AddAttrs(ctx, all...) }),
		parts: parts{readClock, duration, makeID, allocate, line(plain, func(e *nib.Event) {
			jobFields(e)
			e.Attrs(all...)
		}), copies(added)}})
	return append(rows,
		access("Access", "access line of nibhttp", none, newHlog),
		access("AccessEvent", "access line of nibhttp, 12 fields added", twelve, nil))
}

// job runs jobs with a policy, which add their fields.
func job(c request.Config, add func(context.Context)) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) {
		p, l, ctx := request.New(c), nib.New(w), context.Background()
		f := func(ctx context.Context) error {
			add(ctx)
			return nil
		}
		return func(n int) {
			for range n {
				_ = p.Run(ctx, l, "restock", f)
			}
		}
	}
}

// jobFields are the fields of the event of a job.
func jobFields(e *nib.Event) {
	e.Str("job", "restock").Dur("took", took).Bytes("request_id", made[:])
}

// access returns a row of the middleware of nibhttp, whose handler adds fields.
func access(name, title string, fields func(*nib.Event), peer func(io.Writer) func(n int)) row {
	added := plain.AppendFields(nil, fields)
	return row{name: name, title: title, want: `"status":200`, hlog: peer,
		price: "two readings of the clock, an id, one malloc with a copy of the http.Request, " +
			"the line with all fields, and a copy of the added ones",
		path: func(w io.Writer) func(n int) {
			return serve(nibhttp.Middleware(nib.New(w))(http.HandlerFunc(
				func(_ http.ResponseWriter, r *http.Request) { request.Add(r.Context(), fields) })))
		},
		parts: parts{readClock, duration, makeID, func(n int) {
			for range n {
				kept = &exchange{req: *arrived}
			}
			read(kept)
		}, line(plain, func(e *nib.Event) {
			e.Str("method", arrived.Method).Str("path", arrived.URL.Path).Int("status", status).
				Int("bytes", size).Dur("took", took).Str("remote", arrived.RemoteAddr).
				Bytes("request_id", made[:])
			fields(e)
		}), copies(added)}}
}

// An exchange is what a middleware needs for a request.
type exchange struct {
	request.Request
	req http.Request
}

var arrived = httptest.NewRequest("GET", "/v1/accounts/7361/orders", nil)

// A response discards everything.
type response struct{ header http.Header }

func (r response) Header() http.Header       { return r.header }
func (response) Write(p []byte) (int, error) { return len(p), nil }
func (response) WriteHeader(int)             {}

func serve(h http.Handler) func(n int) {
	var w http.ResponseWriter = response{http.Header{}}
	return func(n int) {
		for range n {
			h.ServeHTTP(w, arrived)
		}
	}
}

// newHlog writes the fields of nibhttp with the handlers of zerolog's package.
func newHlog(w io.Writer) func(n int) {
	h := hlog.AccessHandler(func(r *http.Request, status, size int, took time.Duration) {
		hlog.FromRequest(r).Info().Str("method", r.Method).Str("path", r.URL.Path).
			Int("status", status).Int("bytes", size).Dur("took", took).Msg("request")
	})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }))
	h = hlog.RequestIDHandler("request_id", "")(hlog.RemoteAddrHandler("remote")(h))
	return serve(hlog.NewHandler(zerolog.New(w).With().Timestamp().Logger())(h))
}

// logged returns a path of lines to a logger with options.
func logged(fields func(*nib.Event), options ...nib.Option) func(w io.Writer) func(n int) {
	return func(w io.Writer) func(n int) { return line(nib.New(w, options...), fields) }
}

// A columns has the fields of six.
type columns struct {
	Path   string        `json:"path"`
	Status int           `json:"status"`
	Size   int           `json:"size"`
	Cached bool          `json:"cached"`
	Took   time.Duration `json:"took"`
	User   string        `json:"user"`
}

// An object is a nib.Marshaler.
type object func(*nib.Event)

func (f object) MarshalNib(e *nib.Event) { f(e) }

// A traceKey is the key of a context with a trace.
type traceKey struct{}

// fields returns the rows of fields that are not added by calls of methods.
func fields() []row {
	const same = "the line with the same fields, without the object"
	served := nib.NewTemplate[columns](nib.LevelInfo, message)
	value := &columns{path, status, size, cached, took, name}
	nested := func(e *nib.Event) {
		six(e)
		e.Dict("more", other)
	}
	ctx := context.WithValue(context.Background(), traceKey{}, id)
	seven := func(e *nib.Event) {
		six(e)
		e.Str("trace_id", id)
	}
	return []row{
		{name: "Template", title: "Template, 6 columns", price: "the short line", want: user,
			path: func(w io.Writer) func(n int) {
				l := nib.New(w)
				return func(n int) {
					for range n {
						served.Log(context.Background(), l, value)
					}
				}
			}, parts: parts{line(plain, six)}},
		{name: "Dict", title: "Dict in a Dict, 12 fields", price: same, want: `"all":{"path"`,
			path:  logged(func(e *nib.Event) { e.Dict("all", nested) }),
			parts: parts{line(plain, twelve)}},
		{name: "Object", title: "Object with a Dict, 12 fields", price: same, want: `"all":{"path"`,
			path:  logged(func(e *nib.Event) { e.Object("all", object(nested)) }),
			parts: parts{line(plain, twelve)}},
		{name: "Context", title: "WithContextFields, 1 field", want: `"trace_id":"c-1234"`,
			price: "the short line and the field, of a value of the context",
			path: logged(func(e *nib.Event) { six(e); e.Ctx(ctx) },
				nib.WithContextFields(func(ctx context.Context, e *nib.Event) {
					e.Str("trace_id", ctx.Value(traceKey{}).(string))
				})),
			parts: parts{line(plain, func(e *nib.Event) {
				six(e)
				e.Str("trace_id", ctx.Value(traceKey{}).(string))
			})}},
		{name: "Hook", title: "a hook that adds a field", price: "the short line and the field",
			want: `"trace_id":"c-1234"`,
			path: logged(six, nib.WithHook(nib.HookFunc(func(e *nib.Event, _ nib.Level, _ string) {
				e.Str("trace_id", id)
			}))), parts: parts{line(plain, seven)}},
	}
}

// edits returns the rows of changes to the finished line.
func edits() []row {
	const edited = "the line, one look and one copy"
	twice := func(e *nib.Event) {
		twelve(e)
		e.Str("user", id)
	}
	policy := func(name string, p nib.DuplicateKeys, want string) row {
		return row{name: "Duplicates" + name, title: "WithDuplicateKeys, " + name, want: want,
			price: edited, path: logged(twice, nib.WithDuplicateKeys(p)),
			parts: parts{line(plain, twice), look(long.Line), copies(long.Line)}}
	}
	keys := nib.WithRedact("password", "token", "authorization", "cart")
	return []row{
		{name: "RedactNone", title: "WithRedact, 4 keys, none present",
			price: "the short line, and one look",
			want:  user, path: logged(six, keys),
			parts: parts{line(plain, six), look(short.Line)}},
		{name: "Redact", title: "WithRedact, 4 keys, one present", price: edited,
			want: `"cart":"***"`, path: logged(twelve, keys),
			parts: parts{line(plain, twelve), look(long.Line), copies(long.Line)}},
		{name: "DuplicatesNone", title: "WithDuplicateKeys, none equal",
			price: "the line, and one look", want: `"cart":"c-1234"`,
			path:  logged(twelve, nib.WithDuplicateKeys(nib.DuplicatesLastWins)),
			parts: parts{line(plain, twelve), look(long.Line)}},
		policy("LastWins", nib.DuplicatesLastWins, `"user":"c-1234"`),
		policy("FirstWins", nib.DuplicatesFirstWins, user),
		policy("Rename", nib.DuplicatesRename, `"user#2":"c-1234"`),
		{name: "MaxLineFits", title: "WithMaxLine, a line that fits", price: "the line",
			want: `"cart":"c-1234"`, path: logged(twelve, nib.WithMaxLine(4096)),
			parts: parts{line(plain, twelve)}},
		{name: "MaxLineCut", title: "WithMaxLine, a line that is cut", price: edited,
			want: `"truncated":`, path: logged(twelve, nib.WithMaxLine(200)),
			parts: parts{line(plain, twelve), look(long.Line), copies(long.Line)}},
		{name: "Sampler", title: "WithSampler, 1 of 100 lines", want: user,
			price: "an atomic count, the calls of a line that is off, and 1 of 100 short lines",
			path:  logged(six, nib.WithSampler(sampling.Every(100))),
			parts: parts{count, off, func(n int) { line(plain, six)(n / 100) }}},
	}
}
