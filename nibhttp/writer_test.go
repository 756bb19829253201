// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/nibhttp"
)

// serve starts a server that must not complain about the handler.
func serve(t *testing.T, g *rig, http2 bool) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(g)
	srv.Config.ErrorLog = log.New(complaint{t}, "", 0)
	if srv.EnableHTTP2 = http2; http2 {
		srv.StartTLS()
	} else {
		srv.Start()
	}
	t.Cleanup(srv.Close)
	return srv
}

type complaint struct{ t *testing.T }

func (c complaint) Write(p []byte) (int, error) {
	c.t.Errorf("the server complains: %s", p)
	return len(p), nil
}

// get fetches a path and waits until the line is written: a response can be
// complete before its handler has ended.
func (g *rig) get(t *testing.T, srv *httptest.Server, path string) (*http.Response, string) {
	t.Helper()
	resp, err := srv.Client().Get(srv.URL + path)
	must.Succeed(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	must.Succeed(t, err)
	<-g.ended
	return resp, string(body)
}

func TestBytesAreCountedOverHTTP(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	must.Succeed(t, os.WriteFile(file, []byte(strings.Repeat("x", 100_000)), 0o600))
	g := newRig(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/write":
			_, _ = w.Write([]byte("12345"))
			_, _ = io.WriteString(w, "678")
		case "/file":
			http.ServeFile(w, r, file)
		case "/empty":
			n, err := io.Copy(w, strings.NewReader(""))
			if n != 0 || err != nil {
				t.Errorf("io.Copy of nothing: got %d, %v", n, err)
			}
			w.WriteHeader(404) // not too late
		}
	})
	for _, http2 := range []bool{false, true} {
		srv := serve(t, g, http2)
		for _, c := range []struct {
			path   string
			status int
			bytes  int
		}{{"/write", 200, 8}, {"/file", 200, 100_000}, {"/empty", 404, 0}, {"/nothing", 200, 0}} {
			g.rec.Reset()
			resp, body := g.get(t, srv, c.path)
			if resp.StatusCode != c.status || len(body) != c.bytes || (resp.ProtoMajor == 2) != http2 {
				t.Errorf("%s: got %s, status %d, %d bytes", c.path, resp.Proto, resp.StatusCode, len(body))
			}
			if f := g.rec.Find("request"); f["status"] != float64(c.status) || f["bytes"] != float64(c.bytes) {
				t.Errorf("%s, HTTP/2 %v: the line has status %v and bytes %v, want %d and %d",
					c.path, http2, f["status"], f["bytes"], c.status, c.bytes)
			}
		}
	}
}

// abilities lists the interfaces that a handler finds in its ResponseWriter.
func abilities(w http.ResponseWriter) (all string) {
	if _, ok := w.(http.Flusher); ok {
		all += "Flusher "
	}
	if _, ok := w.(http.Hijacker); ok {
		all += "Hijacker "
	}
	if _, ok := w.(io.ReaderFrom); ok {
		all += "ReaderFrom "
	}
	if _, ok := w.(http.Pusher); ok {
		all += "Pusher "
	}
	if _, ok := w.(io.StringWriter); ok {
		all += "StringWriter "
	}
	if _, ok := w.(interface{ CloseNotify() <-chan bool }); ok {
		all += "CloseNotifier "
	}
	return all
}

func TestWriterHasTheAbilitiesOfTheServers(t *testing.T) {
	var with, without string
	for _, http2 := range []bool{false, true} {
		g := newRig(func(w http.ResponseWriter, _ *http.Request) { with = abilities(w) })
		g.get(t, serve(t, g, http2), "/")
		plain := newRig(func(http.ResponseWriter, *http.Request) {})
		plain.h = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { without = abilities(w) })
		plain.get(t, serve(t, plain, http2), "/")
		if with != without {
			t.Errorf("HTTP/2 %v: got %s, without the middleware %s", http2, with, without)
		}
	}
}

func TestWriterHasTheAbilitiesOfATimeoutHandler(t *testing.T) {
	var with, without string
	within := func(h http.Handler) http.Handler { return http.TimeoutHandler(h, time.Hour, "") }
	g := newRig(func(w http.ResponseWriter, _ *http.Request) { with = abilities(w) })
	within(g).ServeHTTP(httptest.NewRecorder(), newRequest("/"))
	within(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { without = abilities(w) })).ServeHTTP(httptest.NewRecorder(), newRequest("/"))
	if want := without + "StringWriter "; with != want {
		t.Errorf("got %s, want %s", with, want)
	}
}

func TestWriterHasNoAbilitiesOfItsOwn(t *testing.T) {
	type bare struct{ http.ResponseWriter }
	var got string
	var flush error
	g := newRig(func(w http.ResponseWriter, _ *http.Request) {
		got = abilities(w)
		flush = http.NewResponseController(w).Flush()
	})
	g.ServeHTTP(bare{httptest.NewRecorder()}, newRequest("/"))
	if got != "StringWriter " || !errors.Is(flush, http.ErrNotSupported) {
		t.Errorf("got %s, and Flush says %v", got, flush)
	}
}

// An unwrapper is the writer of a middleware that leaves all abilities to
// http.ResponseController.
type unwrapper struct{ http.ResponseWriter }

func (u unwrapper) Unwrap() http.ResponseWriter { return u.ResponseWriter }

// unwrapped serves g behind such a middleware.
func unwrapped(t *testing.T, g *rig) *httptest.Server {
	h := g.h
	g.h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(unwrapper{w}, r) })
	return serve(t, g, false)
}

func TestFlushOfAWrappedWriterSendsStatus200(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, _ *http.Request) {
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("Flush: %v", err)
		}
		w.WriteHeader(500)
	})
	resp, _ := g.get(t, unwrapped(t, g), "/")
	if f := g.rec.Find("request"); resp.StatusCode != 200 || f["status"] != 200.0 || f["status_ignored"] != 500.0 {
		t.Errorf("got status %d; the line has %v", resp.StatusCode, f)
	}
}

func TestHijackOfAWrappedWriterIsInTheLine(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Errorf("Hijack: %v", err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		_ = conn.Close()
	})
	resp, _ := g.get(t, unwrapped(t, g), "/")
	if f := g.rec.Find("request"); resp.StatusCode != 204 || f["hijacked"] != true || f["status"] != 0.0 {
		t.Errorf("got status %d; the line has %v", resp.StatusCode, f)
	}
}

func TestCloseNotifierIsNotified(t *testing.T) {
	started := make(chan struct{})
	g := newRig(func(w http.ResponseWriter, _ *http.Request) {
		gone := w.(interface{ CloseNotify() <-chan bool }).CloseNotify()
		close(started)
		<-gone
	})
	srv := serve(t, g, false)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-started
		cancel()
	}()
	req, _ := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
	if _, err := srv.Client().Do(req); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	<-g.ended
}

func TestFlushSendsWhatThereIs(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		seen := make(chan struct{})
		g := newRig(func(w http.ResponseWriter, _ *http.Request) {
			for i := range 3 {
				fmt.Fprintf(w, "event %d\n", i)
				if i%2 == 0 {
					w.(http.Flusher).Flush()
				} else if err := http.NewResponseController(w).Flush(); err != nil {
					t.Errorf("Flush: %v", err)
				}
				<-seen // would wait without end if the client saw nothing
			}
		})
		srv := serve(t, g, http2)
		resp, err := srv.Client().Get(srv.URL)
		must.Succeed(t, err)
		lines := bufio.NewScanner(resp.Body)
		for i := range 3 {
			if !lines.Scan() || lines.Text() != fmt.Sprintf("event %d", i) {
				t.Errorf("got %q, want event %d", lines.Text(), i)
			}
			seen <- struct{}{}
		}
		<-g.ended
		_ = resp.Body.Close()
		if f := g.rec.Find("request"); f["bytes"] != 24.0 {
			t.Errorf("bytes: got %v, want 24", f["bytes"])
		}
	}
}

func TestFlushAloneSendsStatus200(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		w.WriteHeader(500)
	})
	resp, _ := g.get(t, serve(t, g, false), "/")
	if f := g.rec.Find("request"); resp.StatusCode != 200 || f["status"] != 200.0 || f["status_ignored"] != 500.0 {
		t.Errorf("got status %d; the line has %v", resp.StatusCode, f)
	}
}

func TestHijack(t *testing.T) {
	for _, c := range []struct {
		name   string
		hijack func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error)
		status float64
	}{
		{"Hijacker", func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) { return w.(http.Hijacker).Hijack() }, 0},
		{"ResponseController", func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
			return http.NewResponseController(w).Hijack()
		}, 0},
		{"after status 101", func(w http.ResponseWriter) (net.Conn, *bufio.ReadWriter, error) {
			w.WriteHeader(http.StatusSwitchingProtocols)
			return w.(http.Hijacker).Hijack()
		}, 101},
	} {
		g := newRig(func(w http.ResponseWriter, r *http.Request) {
			conn, _, err := c.hijack(w)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				return
			}
			defer conn.Close()
			if _, err := w.Write([]byte("x")); !errors.Is(err, http.ErrHijacked) {
				t.Errorf("%s: Write afterwards: got error %v, want http.ErrHijacked", c.name, err)
			}
			_, _ = io.WriteString(conn, "raw")
		})
		srv := httptest.NewUnstartedServer(g)
		srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it reports the Write
		srv.Start()
		conn, err := net.Dial("tcp", srv.Listener.Addr().String())
		must.Succeed(t, err)
		_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		got, _ := io.ReadAll(conn)
		_ = conn.Close()
		<-g.ended
		srv.Close()
		if f := g.rec.Find("request"); !strings.HasSuffix(string(got), "raw") || f["hijacked"] != true || f["status"] != c.status {
			t.Errorf("%s: the client got %q, the line has %v", c.name, got, f)
		}
	}
}

// HTTP/2 cannot switch protocols: net/http takes 101 for informational there.
func TestStatus101IsInformationalInHTTP2(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusSwitchingProtocols)
		w.WriteHeader(http.StatusTeapot)
	})
	resp, _ := g.get(t, serve(t, g, true), "/")
	f := g.rec.Find("request")
	if resp.StatusCode != 418 || f["status"] != 418.0 || f["status_ignored"] != nil {
		t.Errorf("got status %d; the line has %v", resp.StatusCode, f)
	}
}

func TestInformationalStatusIsNotTheResponses(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusProcessing)
		w.WriteHeader(http.StatusTeapot)
	})
	srv := serve(t, g, false)
	var hints []int
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
		hints = append(hints, code)
		return nil
	}}
	req, _ := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), "GET", srv.URL, nil)
	resp, err := srv.Client().Do(req)
	must.Succeed(t, err)
	_ = resp.Body.Close()
	<-g.ended
	if fmt.Sprint(hints) != "[103 102]" || resp.StatusCode != 418 || g.rec.Find("request")["status"] != 418.0 {
		t.Errorf("got hints %v, status %d, the line %s", hints, resp.StatusCode, g.rec.Last())
	}
}

// A second WriteHeader would make the server complain, naming the middleware;
// serve fails the test then.
func TestSecondStatusIsInTheLineOnly(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "part")
		http.Error(w, "too late", 500)
	})
	resp, _ := g.get(t, serve(t, g, false), "/")
	if f := g.rec.Find("request"); resp.StatusCode != 200 || f["status"] != 200.0 || f["status_ignored"] != 500.0 {
		t.Errorf("got status %d; the line has %v", resp.StatusCode, f)
	}
}

func TestStatusThatDoesNotExistPanicsAsWithoutMiddleware(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(7) })
	if p := g.recovered(newRequest("/")); p == nil {
		t.Error("no panic")
	}
	if f := g.rec.Find("request"); f["status"] != 500.0 {
		t.Errorf("status: got %v, want 500", f["status"])
	}
}

func TestMaxBytesHandlerAroundTheMiddlewareClosesTheConnection(t *testing.T) {
	read := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	})
	srv := httptest.NewServer(http.MaxBytesHandler(nibhttp.Middleware(nil)(read), 3))
	defer srv.Close()
	res, err := http.Post(srv.URL, "text/plain", strings.NewReader("four"))
	must.Succeed(t, err)
	defer res.Body.Close()
	if res.StatusCode != http.StatusRequestEntityTooLarge || !res.Close {
		t.Errorf("status %d, close %v, want 413, true", res.StatusCode, res.Close)
	}
}

func TestKeepAliveConnectionHasALineForEachRequest(t *testing.T) {
	g := newRig(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.URL.Path) })
	srv := serve(t, g, false)
	const requests = 50
	var remotes sync.Map
	for i := range requests {
		if _, body := g.get(t, srv, fmt.Sprintf("/%d", i)); body != fmt.Sprintf("/%d", i) {
			t.Fatalf("request %d: got %q", i, body)
		}
	}
	for i, f := range g.rec.FindAll("request") {
		if f["path"] != fmt.Sprintf("/%d", i) {
			t.Errorf("line %d: got path %v", i, f["path"])
		}
		remotes.Store(f["remote"], true)
	}
	n := 0
	remotes.Range(func(any, any) bool { n++; return true })
	if g.rec.Len() != requests || n != 1 {
		t.Errorf("got %d lines of %d connections, want %d of 1", g.rec.Len(), n, requests)
	}
}

func TestClientThatWentAwayShows(t *testing.T) {
	started := make(chan struct{})
	g := newRig(func(_ http.ResponseWriter, r *http.Request) {
		close(started)
		<-r.Context().Done()
	})
	srv := httptest.NewServer(g)
	defer srv.Close()
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-started
		cancel()
	}()
	req, _ := http.NewRequestWithContext(ctx, "GET", srv.URL, nil)
	if _, err := srv.Client().Do(req); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want context.Canceled", err)
	}
	<-g.ended
	if f := g.rec.Find("request"); f["canceled"] != true {
		t.Errorf("the line does not say that the client went away: %v", f)
	}
}
