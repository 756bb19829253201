// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/nibtest"
	"github.com/nib-log/nib/request"
)

// A rig is a handler behind the middleware, with the lines it writes.
type rig struct {
	rec   recordtest.Recorder
	clock nibtest.Clock
	ended chan struct{} // has one for each request whose line is written
	h     http.Handler
}

func newRig(h http.HandlerFunc, config ...nibhttp.Config) *rig {
	g := new(rig)
	g.init(h, config...)
	return g
}

func (g *rig) init(h http.HandlerFunc, config ...nibhttp.Config) {
	g.ended = make(chan struct{}, 1000)
	log := nib.NewSink(&g.rec, nib.WithClock(g.clock.Now))
	var c nibhttp.Config
	if len(config) > 0 {
		c = config[0]
	}
	if c.Now == nil {
		c.Now = g.clock.Now
	}
	g.h = nibhttp.Middleware(log, c)(h)
}

func (g *rig) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() { g.ended <- struct{}{} }()
	g.h.ServeHTTP(w, r)
}

// do sends one request through the handler, without a network.
func (g *rig) do(r *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	g.ServeHTTP(w, r)
	return w
}

// newRequest returns a GET of path with an id, so that lines are predictable.
func newRequest(path string) *http.Request {
	r := httptest.NewRequest("GET", path, nil)
	r.Header.Set("X-Request-Id", "r1")
	return r
}

func wantLine(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("line:\n got %s\nwant %s", got, want)
	}
}

const head = `{"time":"2026-01-02T15:04:05.000Z",`

func TestLineOfARequest(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello")
	})
	g.do(newRequest("/a/b?token=secret"))
	wantLine(t, g.rec.Last(), head+`"level":"info","method":"GET","path":"/a/b","status":200,"bytes":5,"took":0,`+
		`"remote":"192.0.2.1:1234","request_id":"r1","message":"request"}`)
	if got := g.rec.Len(); got != 1 {
		t.Errorf("got %d lines, want 1", got)
	}
}

func TestTookIsTheTimeOfTheHandler(t *testing.T) {
	var g *rig
	g = newRig(func(http.ResponseWriter, *http.Request) { g.clock.Advance(1500 * time.Microsecond) })
	g.do(newRequest("/"))
	if got := g.rec.Find("request")["took"]; got != 1.5 {
		t.Errorf("took: got %v, want 1.5", got)
	}
}

func TestLevelFollowsStatus(t *testing.T) {
	for _, c := range []struct {
		status int
		level  string
	}{{200, "info"}, {204, "info"}, {302, "info"}, {399, "info"}, {400, "warn"}, {404, "warn"}, {499, "warn"}, {500, "error"}, {503, "error"}} {
		g := newRig(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(c.status) })
		g.do(newRequest("/"))
		if got := g.rec.Find("request"); got["level"] != c.level || got["status"] != float64(c.status) {
			t.Errorf("status %d: got level %v and status %v, want %s", c.status, got["level"], got["status"], c.level)
		}
	}
}

func TestConfig(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(404) },
		nibhttp.Config{
			Level:           func(status int) nib.Level { return nib.Level(status % 10) },
			Skip:            func(r *http.Request) bool { return r.URL.Path == "/health" },
			Fields:          func(e *nib.Event, r *http.Request) { e.Str("agent", r.UserAgent()) },
			RequestIDHeader: true,
		})
	r := newRequest("/x")
	r.Header.Set("User-Agent", "curl")
	w := g.do(r)
	wantLine(t, g.rec.Last(), head+`"level":"warn","method":"GET","path":"/x","status":404,"bytes":0,"took":0,`+
		`"remote":"192.0.2.1:1234","request_id":"r1","agent":"curl","message":"request"}`)
	if got := w.Header().Get("X-Request-Id"); got != "r1" {
		t.Errorf("X-Request-Id of the response: got %q, want r1", got)
	}
	g.do(newRequest("/health"))
	if got := g.rec.Len(); got != 1 {
		t.Errorf("after a request to skip: got %d lines, want 1", got)
	}
}

func TestRouteIsThePatternOfTheMux(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", func(w http.ResponseWriter, r *http.Request) {
		if got := r.PathValue("id"); got != "7" {
			t.Errorf("PathValue: got %q, want 7", got)
		}
	})
	g := newRig(mux.ServeHTTP)
	g.do(newRequest("/items/7"))
	if got := g.rec.Find("request")["route"]; got != "GET /items/{id}" {
		t.Errorf("route: got %v", got)
	}
}

// A middleware around this one, such as a tracer, finds the pattern in
// its own request, as it does when it calls the mux itself.
func TestRouteIsInTheRequestOfAnOuterMiddleware(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /items/{id}", func(http.ResponseWriter, *http.Request) { panic("boom") })
	twice := new(recordtest.Recorder)
	outer := nibhttp.Middleware(nib.NewSink(twice))
	g := newRig(mux.ServeHTTP)
	r := newRequest("/items/7")
	func() {
		defer func() { _ = recover() }()
		outer(g).ServeHTTP(httptest.NewRecorder(), r)
	}()
	if r.Pattern != "GET /items/{id}" {
		t.Errorf("Pattern of the outer request: got %q", r.Pattern)
	}
	if got := twice.Find("request")["route"]; got != "GET /items/{id}" {
		t.Errorf("route in the line of the outer middleware: got %v", got)
	}
}

func TestPathIsTheOneThatCameIn(t *testing.T) {
	g := newRig(func(_ http.ResponseWriter, r *http.Request) { r.URL.Path = "/other" })
	g.do(newRequest("/came/in"))
	if got := g.rec.Find("request")["path"]; got != "/came/in" {
		t.Errorf("path: got %v, want /came/in", got)
	}
}

func TestHandlerGetsALoggerOfTheRequest(t *testing.T) {
	g := newRig(func(_ http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context()) // a derived context has them, too
		defer cancel()
		nib.FromContext(ctx).Info().Msg("working")
		if got := request.FromContext(ctx).ID(); got != "r1" {
			t.Errorf("ID: got %q, want r1", got)
		}
	})
	r := newRequest("/")
	r.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	g.do(r)
	const ids = `"request_id":"r1","trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":"b7ad6b7169203331",`
	wantLine(t, g.rec.Lines()[0], head+`"level":"info",`+ids+`"message":"working"}`)
	wantLine(t, g.rec.Last(), head+`"level":"info","method":"GET","path":"/","status":200,"bytes":0,"took":0,`+
		`"remote":"192.0.2.1:1234",`+ids+`"message":"request"}`)
}

func TestLoggerIsTheSameForAllGoroutinesOfAHandler(t *testing.T) {
	var all sync.Map
	g := newRig(func(_ http.ResponseWriter, r *http.Request) {
		await.Goroutines(8, func(int) {
			all.Store(nib.FromContext(r.Context()), true)
		})
	})
	g.do(newRequest("/"))
	n := 0
	all.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("got %d loggers, want 1", n)
	}
}

func TestContextOfTheServerShowsThrough(t *testing.T) {
	type key struct{}
	g := newRig(func(_ http.ResponseWriter, r *http.Request) {
		if got := r.Context().Value(key{}); got != "v" {
			t.Errorf("Value: got %v, want v", got)
		}
		if _, ok := r.Context().Deadline(); !ok {
			t.Error("the deadline is gone")
		}
	})
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), key{}, "v"), time.Hour)
	defer cancel()
	g.do(newRequest("/").WithContext(ctx))
}

func TestRequestIDIsMadeUp(t *testing.T) {
	var inside string
	g := newRig(func(_ http.ResponseWriter, r *http.Request) {
		inside = request.FromContext(r.Context()).ID()
	}, nibhttp.Config{RequestIDHeader: true})
	form := regexp.MustCompile(`^[0-9a-f]{32}$`)
	seen := map[any]bool{}
	for range 100 {
		w := g.do(httptest.NewRequest("GET", "/", nil))
		id := w.Header().Get("X-Request-Id")
		if !form.MatchString(id) || seen[id] || id != inside {
			t.Fatalf("got id %q, inside %q; want 32 hexadecimal digits, new each time", id, inside)
		}
		seen[id] = true
	}
	for _, f := range g.rec.FindAll("request") {
		if !seen[f["request_id"]] {
			t.Errorf("the line has request_id %v, which no response had", f["request_id"])
		}
	}
}

func TestRequestIDOfTheClientIsNotTakenWhenUnwanted(t *testing.T) {
	g := newRig(func(http.ResponseWriter, *http.Request) {}, nibhttp.Config{OwnRequestIDs: true})
	g.do(newRequest("/"))
	if got, _ := g.rec.Find("request")["request_id"].(string); len(got) != 32 {
		t.Errorf("request_id: got %q, want 32 hexadecimal digits", got)
	}
}

func TestRequestIDWithoutMiddleware(t *testing.T) {
	if got := request.FromContext(context.Background()).ID(); got != "" {
		t.Errorf("got %q, want none", got)
	}
}

func TestNilLoggerWritesNothing(t *testing.T) {
	h := nibhttp.Middleware(nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		nib.FromContext(r.Context()).Info().Msg("nowhere")
		w.WriteHeader(204)
	}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, newRequest("/"))
	if w.Code != 204 {
		t.Errorf("status: got %d, want 204", w.Code)
	}
}

// The server removes the temporary files of a form only if the form is in its
// own request.
func TestTemporaryFilesOfAFormAreRemoved(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TMP", os.Getenv("TMPDIR"))
	g := newRig(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(1); err != nil {
			t.Errorf("ParseMultipartForm: %v", err)
		}
		if n := len(entries(t)); n == 0 {
			t.Error("the form made no temporary file; there is nothing to test")
		}
	})
	srv := httptest.NewServer(g)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, _ := form.CreateFormFile("f", "f.bin")
	_, _ = part.Write(make([]byte, 1<<20))
	_ = form.Close()
	resp, err := http.Post(srv.URL, form.FormDataContentType(), &body)
	must.Succeed(t, err)
	_ = resp.Body.Close()
	srv.Close() // waits for the connection to be done with the request
	if left := entries(t); len(left) > 0 {
		t.Errorf("left behind: %s", strings.Join(left, " "))
	}
}

func entries(t *testing.T) (names []string) {
	t.Helper()
	list, err := os.ReadDir(os.TempDir())
	must.Succeed(t, err)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

func TestSeveralConfigsPanic(t *testing.T) {
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "one Config") {
			t.Errorf("got %q, want what to write instead", text)
		}
	}()
	nibhttp.Middleware(nil, nibhttp.Config{}, nibhttp.Config{})
}

func TestLinesWithARequestsContextHaveItsIDs(t *testing.T) {
	var rec recordtest.Recorder
	base := nib.NewSink(&rec)
	h := nibhttp.Middleware(base)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		base.Info().Ctx(r.Context()).Msg("Event.Ctx")
		base.LogAttrs(r.Context(), nib.LevelInfo, "LogAttrs")
		base.WithGroup("g").LogAttrs(r.Context(), nib.LevelInfo, "group")
		nib.FromContext(r.Context()).LogAttrs(r.Context(), nib.LevelInfo, "own logger")
	}))
	r := newRequest("/")
	r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	h.ServeHTTP(nil, r)
	for _, message := range []string{"Event.Ctx", "LogAttrs", "group", "own logger"} {
		f := rec.Find(message)
		if f["request_id"] != "r1" || f["trace_id"] != "4bf92f3577b34da6a3ce929d0e0e4736" ||
			f["span_id"] != "00f067aa0ba902b7" {
			t.Errorf("%s: got %v", message, f)
		}
	}
}
