// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/nibtest"
)

// A scope holds back debug lines in the plainest way. It is like that of package
// sink for what the middleware has to do with it.
type scope struct {
	to   nib.Sink
	done *sync.Map // what ended it, by scope

	mu    sync.Mutex
	lines []nib.Record
	open  bool
}

func (s *scope) WriteRecord(r *nib.Record) error {
	if r.Level >= nib.LevelError {
		_ = s.Dump()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Level < nib.LevelInfo && !s.open {
		c := *r
		c.Line, c.Message = bytes.Clone(r.Line), bytes.Clone(r.Message)
		s.lines = append(s.lines, c)
		return nil
	}
	return s.to.WriteRecord(r)
}

func (s *scope) Dump() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done.LoadOrStore(s, "dumped")
	s.open = true
	for i := range s.lines {
		if err := s.to.WriteRecord(&s.lines[i]); err != nil {
			return err
		}
	}
	s.lines = nil
	return nil
}

func (s *scope) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done.LoadOrStore(s, "discarded")
	s.lines = nil
}

// A traced rig has a middleware with backtraces.
type traced struct {
	*rig
	done   sync.Map
	scopes []*scope
	mu     sync.Mutex // protects scopes
}

func newTraced(h http.HandlerFunc, slow time.Duration, opts ...nibhttp.Option) *traced {
	g := new(traced)
	begin := func() *scope {
		s := &scope{to: &g.rig.rec, done: &g.done}
		for range 100 {
			runtime.Gosched() // goroutines that ask at the same time do so now
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		g.scopes = append(g.scopes, s)
		return s
	}
	logger := func(s nib.Sink) *nib.Logger {
		return nib.NewSink(s, nib.WithLevel(nib.LevelTrace), nib.WithClock(g.rig.clock.Now))
	}
	g.rig = newRig(h, append(opts, nibhttp.WithBacktrace(begin, logger, slow))...)
	return g
}

// messages are those of all lines, in order.
func (g *traced) messages() string {
	var all []string
	for _, r := range g.rec.Records() {
		f, err := nibtest.Decode(r.Line)
		if err != nil || f["request_id"] != "r1" {
			all = append(all, "?")
		}
		all = append(all, f["message"].(string))
	}
	return strings.Join(all, ", ")
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
				g.do(request("/"))
			}()
			<-done
			if got := g.messages(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if len(g.scopes) != 1 {
				t.Errorf("%d scopes were made, want 1", len(g.scopes))
			}
			for _, s := range g.scopes {
				if _, ended := g.done.Load(s); !ended {
					t.Error("a scope was neither dumped nor discarded")
				}
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
	g.do(request("/"))
	if got := g.messages(); got != "request" {
		t.Errorf("got %s, want the access line alone", got)
	}
}

func TestBacktraceCostsNothingWithoutALoggerAsked(t *testing.T) {
	g := newTraced(func(http.ResponseWriter, *http.Request) {}, 0)
	g.do(request("/"))
	if len(g.scopes) != 0 {
		t.Errorf("%d scopes were made, want none", len(g.scopes))
	}
}

func TestBacktraceGivesOneLoggerToAllGoroutinesOfARequest(t *testing.T) {
	g := newTraced(func(w http.ResponseWriter, r *http.Request) {
		var wg sync.WaitGroup
		for range 8 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				nib.FromContext(r.Context()).Debug().Msg("debug")
			}()
		}
		wg.Wait()
		w.WriteHeader(503)
	}, 0)
	g.do(request("/"))
	if got := len(g.rec.FindAll("debug")); got != 8 || len(g.scopes) != 1 {
		t.Errorf("got %d lines and %d scopes, want 8 and 1", got, len(g.scopes))
	}
}

func TestBacktraceEndsTheScopeOfAGoroutineLeftBehind(t *testing.T) {
	go1, done := make(chan struct{}), make(chan struct{})
	g := newTraced(func(_ http.ResponseWriter, r *http.Request) {
		go func() {
			defer close(done)
			<-go1
			nib.FromContext(r.Context()).Info().Msg("late")
		}()
	}, 0)
	g.do(request("/"))
	close(go1)
	<-done
	if got := g.messages(); got != "request, late" {
		t.Errorf("got %s", got)
	}
	if v, _ := g.done.Load(g.scopes[0]); v != "discarded" {
		t.Errorf("its scope was %v, want discarded", v)
	}
}

// A broken is a scope whose sink panics.
type broken struct{ scope }

func (*broken) Dump() error { panic("sink") }

func TestBacktraceSurvivesAScopeThatPanics(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, r *http.Request) {
		nib.FromContext(r.Context()).Debug().Msg("debug")
		w.WriteHeader(500)
	}, nibhttp.WithBacktrace(func() *broken { return new(broken) }, func(s nib.Sink) *nib.Logger { return nil }, 0))
	g.do(request("/"))
	if got := g.rec.Len(); got != 1 {
		t.Errorf("got %d lines, want the access line", got)
	}
}

func TestBacktraceRefusesNil(t *testing.T) {
	for name, f := range map[string]func(){
		"scope":  func() { nibhttp.WithBacktrace[*scope](nil, func(nib.Sink) *nib.Logger { return nil }, 0) },
		"logger": func() { nibhttp.WithBacktrace(func() *scope { return nil }, nil, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s nil did not panic", name)
				}
			}()
			f()
		}()
	}
}

func TestMallocsOfARequestWithBacktrace(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	body := []byte("hello")
	never := new(scope)
	opt := nibhttp.WithBacktrace(func() *scope { return never }, func(nib.Sink) *nib.Logger { return nib.New(io.Discard) }, 0)
	h := nibhttp.Middleware(nib.New(io.Discard), opt)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }))
	r := httptest.NewRequest("GET", "/some/path", nil)
	var w http.ResponseWriter = nullWriter{http.Header{}}
	if got, _ := alloctest.Count(func() { h.ServeHTTP(w, r) }, 1000); got != 1 {
		t.Errorf("got %v mallocs for a request that asks for no logger, want 1", got)
	}
}
