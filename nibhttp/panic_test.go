// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/nibhttp"
)

// recovered sends a request and returns the panic that leaves the middleware.
func (g *rig) recovered(r *http.Request) (p any) {
	defer func() { p = recover() }()
	g.do(r)
	return nil
}

func TestPanicIsWrittenAndGoesOn(t *testing.T) {
	boom := errors.New("boom")
	g := newRig(func(http.ResponseWriter, *http.Request) { explode(boom) })
	if got := g.recovered(newRequest("/p")); got != boom {
		t.Errorf("got panic %v, want %v", got, boom)
	}
	if g.rec.Len() != 1 {
		t.Fatalf("got lines %q, want one", g.rec.Lines())
	}
	line, stack, ok := strings.Cut(g.rec.Last(), `"stack":`)
	if !ok || !strings.HasPrefix(stack, `"github.com/nib-log/nib/nibhttp_test.explode\n`) {
		t.Errorf("the stack does not begin with the function that panicked:\n%s", stack)
	}
	wantLine(t, line, head+`"level":"error","method":"GET","path":"/p","status":500,"bytes":0,"took":0,`+
		`"remote":"192.0.2.1:1234","request_id":"r1","aborted":true,"panic":"boom",`)
}

//go:noinline
func explode(err error) { panic(err) }

func TestPanicAfterTheHeaderKeepsItsStatus(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic("late")
	})
	_ = g.recovered(newRequest("/"))
	if f := g.rec.Find("request"); f["status"] != 200.0 || f["level"] != "error" || f["bytes"] != 4.0 {
		t.Errorf("got status %v, level %v, bytes %v; want 200, error, 4", f["status"], f["level"], f["bytes"])
	}
}

func TestSkippedRequestIsWrittenWhenItPanics(t *testing.T) {
	g := newRig(func(http.ResponseWriter, *http.Request) { panic("x") },
		nibhttp.Config{Skip: func(*http.Request) bool { return true }})
	_ = g.recovered(newRequest("/"))
	if g.rec.Len() != 1 {
		t.Errorf("got lines %q, want one", g.rec.Lines())
	}
}

func TestErrAbortHandlerHasNoLineOfItsOwn(t *testing.T) {
	g := newRig(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	if got := g.recovered(newRequest("/")); got != http.ErrAbortHandler {
		t.Errorf("got panic %v, want http.ErrAbortHandler", got)
	}
	if g.rec.Len() != 1 {
		t.Fatalf("got lines %q, want one", g.rec.Lines())
	}
	wantLine(t, g.rec.Last(), head+`"level":"info","method":"GET","path":"/","status":0,"bytes":0,"took":0,`+
		`"remote":"192.0.2.1:1234","request_id":"r1","aborted":true,"message":"request"}`)
}

func TestPanicWithAValueThatCannotBeCompared(t *testing.T) {
	g := newRig(func(http.ResponseWriter, *http.Request) { panic([]int{1, 2}) })
	_ = g.recovered(newRequest("/"))
	if got := g.rec.Find("request")["panic"]; got != "[]int" {
		t.Errorf("panic: got %v, want []int", got)
	}
}

func TestGoexitWritesTheLine(t *testing.T) {
	g := newRig(func(http.ResponseWriter, *http.Request) { runtime.Goexit() })
	done := make(chan struct{})
	go func() {
		defer close(done)
		g.do(newRequest("/"))
	}()
	<-done
	if f := g.rec.Find("request"); f["aborted"] != true || g.rec.Len() != 1 {
		t.Errorf("got lines %q, want one with aborted", g.rec.Lines())
	}
}

// An endsGoroutine is an error whose Error method ends the goroutine.
type endsGoroutine struct{}

func (endsGoroutine) Error() string {
	runtime.Goexit()
	return ""
}

// TestLineIsWrittenIfUserCodeEndsTheGoroutine has functions that call
// runtime.Goexit after the handler has returned or panicked.
func TestLineIsWrittenIfUserCodeEndsTheGoroutine(t *testing.T) {
	calls := 0
	ends := func() { runtime.Goexit() }
	respond := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }
	for _, tt := range []struct {
		name      string
		handler   http.HandlerFunc
		config    nibhttp.Config
		status    float64
		panicText any
		goesOn    any // the panic that leaves the middleware
	}{
		{"text of a panic", func(http.ResponseWriter, *http.Request) { panic(endsGoroutine{}) }, nibhttp.Config{}, 500, "nibhttp_test.endsGoroutine", endsGoroutine{}},
		{"skip", respond, nibhttp.Config{Skip: func(*http.Request) bool { ends(); return true }}, 418, nil, nil},
		{"levels", respond, nibhttp.Config{Level: func(int) nib.Level { ends(); return 0 }}, 418, nil, nil},
		{"levels after a panic", func(http.ResponseWriter, *http.Request) { panic("boom") },
			nibhttp.Config{Level: func(int) nib.Level { ends(); return 0 }}, 500, "boom", "boom"},
		{"clock", respond, nibhttp.Config{Now: func() time.Time {
			if calls++; calls > 1 {
				ends()
			}
			return time.Time{}
		}}, 418, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newRig(tt.handler, tt.config)
			var p any
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() { p = recover() }()
				g.do(newRequest("/"))
			}()
			<-done
			f := g.rec.Find("request")
			if g.rec.Len() != 1 || f["status"] != tt.status || f["panic"] != tt.panicText {
				t.Errorf("got lines %q, want one with status %v and panic %v", g.rec.Lines(), tt.status, tt.panicText)
			}
			if p != tt.goesOn {
				t.Errorf("the panic %T left the middleware, want %T", p, tt.goesOn)
			}
		})
	}
}

func TestAPanicOfAServersHandlerIsOneLine(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic("on purpose")
		}
	})
	srv := httptest.NewUnstartedServer(g.h)
	var errors strings.Builder
	srv.Config.ErrorLog = log.New(&errors, "", 0)
	srv.Start()
	for _, path := range []string{"/panic", "/", "/panic", "/"} {
		resp, err := srv.Client().Post(srv.URL+path, "", nil) // a GET would be sent again
		if (err != nil) != (path == "/panic") {
			t.Errorf("%s: got error %v", path, err)
		}
		if err == nil {
			_ = resp.Body.Close()
		}
	}
	srv.Close() // waits for the connections
	panics := 0
	for _, f := range g.rec.FindAll("request") {
		if f["panic"] == "on purpose" {
			panics++
		}
	}
	if panics != 2 || g.rec.Len() != 4 || errors.Len() > 0 {
		t.Errorf("got %d panics in lines %q, and from net/http %q; want 2 in 4 lines, and none", panics, g.rec.Lines(), errors.String())
	}
}

// Without a line of nib, the line of net/http must not be missing.
func TestNetHTTPWritesThePanicThatNibDoesNot(t *testing.T) {
	for name, wrap := range map[string]func(http.Handler) http.Handler{
		"level off":  nibhttp.Middleware(nib.New(io.Discard, nib.WithLevel(nib.LevelFatal))),
		"nil Logger": nibhttp.Middleware(nil),
		"a handler outside": func(h http.Handler) http.Handler {
			h = nibhttp.Middleware(nib.New(io.Discard))(h)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewUnstartedServer(wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("boom") })))
			var errors strings.Builder
			srv.Config.ErrorLog = log.New(&errors, "", 0)
			srv.Start()
			if resp, err := srv.Client().Post(srv.URL, "", nil); err == nil {
				_ = resp.Body.Close()
			}
			srv.Close()
			if !strings.Contains(errors.String(), "boom") {
				t.Errorf("got %q from net/http, want its text with boom", errors.String())
			}
		})
	}
}
