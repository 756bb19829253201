// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/await"
	"github.com/nib-log/nib/internal/recordtest"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/request"
	"github.com/nib-log/nib/sink"
)

// A traced rig has a middleware whose policy holds back debug lines.
type traced struct {
	*rig
	bt     *sink.Backtracer
	policy *request.Policy
}

func newTraced(h http.HandlerFunc, slow time.Duration) *traced {
	g := &traced{rig: new(rig)}
	g.bt = sink.Backtrace(&g.rec, sink.BacktraceConfig{Mark: nib.OmitKey})
	g.policy = request.New(request.Config{Slow: slow, Backtrace: g.bt})
	g.rig.init(h, nibhttp.Config{Policy: g.policy})
	return g
}

// messages returns the messages of all lines, in order.
func (g *traced) messages() string {
	var all []string
	for _, r := range g.rec.Records() {
		f, err := recordtest.Decode(r.Line)
		if err != nil || f["request_id"] != "r1" {
			all = append(all, "?")
		}
		all = append(all, f["message"].(string))
	}
	return strings.Join(all, ", ")
}

// count returns a count of the Backtracer, of all reasons together.
func (g *traced) count(name string) (n float64) {
	for m := range g.bt.Metrics() {
		if m.Name == "nib_backtrace_"+name {
			n += m.Value
		}
	}
	return n
}

func TestBacktraceOfARequest(t *testing.T) {
	var g *traced
	for _, c := range []struct {
		name string
		end  func(w http.ResponseWriter, log *nib.Logger)
		want string
	}{
		{"that is well", func(http.ResponseWriter, *nib.Logger) {}, "info, request"},
		{"that is the client's fault", func(w http.ResponseWriter, _ *nib.Logger) { w.WriteHeader(404) }, "info, request"},
		{"that is almost slow", func(http.ResponseWriter, *nib.Logger) { g.clock.Advance(time.Second - 1) }, "info, request"},
		{"that is slow", func(http.ResponseWriter, *nib.Logger) { g.clock.Advance(time.Second) }, "info, debug, request"},
		{"that fails", func(w http.ResponseWriter, _ *nib.Logger) { w.WriteHeader(500) }, "info, debug, request"},
		{"that logs an error", func(_ http.ResponseWriter, log *nib.Logger) {
			log.Error().Msg("error")
			log.Debug().Msg("after")
		}, "info, debug, error, after, request"},
		{"that panics", func(http.ResponseWriter, *nib.Logger) { panic("boom") }, "info, debug, request"},
		{"that is aborted", func(http.ResponseWriter, *nib.Logger) { panic(http.ErrAbortHandler) }, "info, debug, request"},
		{"that ends the goroutine", func(http.ResponseWriter, *nib.Logger) { runtime.Goexit() }, "info, debug, request"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g = newTraced(func(w http.ResponseWriter, r *http.Request) {
				log := nib.FromContext(r.Context())
				log.Debug().Msg("debug")
				log.Info().Msg("info")
				c.end(w, nib.FromContext(r.Context()))
			}, time.Second)
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { _ = recover() }()
				g.do(newRequest("/"))
			}()
			<-done
			if got := g.messages(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			held, pending := g.count("held_lines_total"), g.count("pending_lines")
			if pending != 0 || held == 0 {
				t.Errorf("%v of %v lines are still held, want none", pending, held)
			}
		})
	}
}

func TestBacktraceOfARequestIsNeverSlowWithoutALimit(t *testing.T) {
	var g *traced
	g = newTraced(func(_ http.ResponseWriter, r *http.Request) {
		nib.FromContext(r.Context()).Debug().Msg("debug")
		g.clock.Advance(time.Hour)
	}, 0)
	g.do(newRequest("/"))
	if got := g.messages(); got != "request" {
		t.Errorf("got %s, want the access line alone", got)
	}
}

func TestBacktraceGivesOneLoggerToAllGoroutinesOfARequest(t *testing.T) {
	g := newTraced(func(w http.ResponseWriter, r *http.Request) {
		await.Goroutines(8, func(int) {
			nib.FromContext(r.Context()).Debug().Msg("debug")
		})
		w.WriteHeader(503)
	}, 0)
	g.do(newRequest("/"))
	if got := len(g.rec.FindAll("debug")); got != 8 {
		t.Errorf("got %d lines, want 8", got)
	}
}

func TestBacktraceEndsTheScopeOfAGoroutineLeftBehind(t *testing.T) {
	go1, done := make(chan struct{}), make(chan struct{})
	g := newTraced(func(_ http.ResponseWriter, r *http.Request) {
		go func() {
			defer close(done)
			<-go1
			nib.FromContext(r.Context()).Debug().Msg("too late")
			nib.FromContext(r.Context()).Info().Msg("late")
		}()
	}, 0)
	g.do(newRequest("/"))
	close(go1)
	<-done
	if got := g.messages(); got != "request, late" {
		t.Errorf("got %s", got)
	}
	dropped, pending := g.count("dropped_lines_total"), g.count("pending_lines")
	if dropped != 1 || pending != 0 {
		t.Errorf("%v lines are dropped, %v held, want the debug line dropped", dropped, pending)
	}
}

func TestBacktraceSurvivesASinkThatPanics(t *testing.T) {
	var rec recordtest.Recorder
	var broken recordtest.Recorder
	broken.WriteWith(func(*nib.Record) error { panic("sink") })
	bt := sink.Backtrace(&broken, sink.BacktraceConfig{})
	c := nibhttp.Config{Policy: request.New(request.Config{Backtrace: bt})}
	h := nibhttp.Middleware(nib.NewSink(&rec), c)(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			nib.FromContext(r.Context()).Debug().Msg("debug")
			w.WriteHeader(500)
		}))
	h.ServeHTTP(httptest.NewRecorder(), newRequest("/"))
	if got := rec.Len(); got != 1 {
		t.Errorf("got %d lines, want the access line", got)
	}
}

func TestMallocsOfARequestWithBacktrace(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	body := []byte("hello")
	out := nib.New(io.Discard)
	bt := sink.Backtrace(sink.Discard(), sink.BacktraceConfig{})
	c := nibhttp.Config{Policy: request.New(request.Config{Backtrace: bt})}
	h := nibhttp.Middleware(out, c)(
		http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
	r := httptest.NewRequest("GET", "/some/path", nil)
	var w http.ResponseWriter = nullWriter{http.Header{}}
	if got, _ := alloctest.Count(func() { h.ServeHTTP(w, r) }, 1000); got != 1 {
		t.Errorf("got %v mallocs for a request that asks for no logger, want 1", got)
	}
}
