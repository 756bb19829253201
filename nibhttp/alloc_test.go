// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/nibhttp"
)

// A nullWriter is a ResponseWriter that allocates nothing.
type nullWriter struct{ h http.Header }

func (w nullWriter) Header() http.Header         { return w.h }
func (w nullWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w nullWriter) WriteHeader(int)             {}
func (w nullWriter) Flush()                      {}

func TestMallocsOfARequest(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	body := []byte("hello")
	quiet := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
	logging := func(w http.ResponseWriter, r *http.Request) {
		log := nib.FromContext(r.Context())
		log.Info().Str("k", "v").Msg("one")
		log.Info().Str("k", "v").Msg("two")
		nib.FromContext(r.Context()).Info().Msg("three")
		_, _ = w.Write(body)
	}
	client := http.Header{
		"X-Request-Id": {"550e8400-e29b-41d4-a716-446655440000"},
		"Traceparent":  {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	}
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		header  http.Header
		config  nibhttp.Config
		want    float64
	}{
		{"the line", quiet, nil, nibhttp.Config{}, 1},
		{"the line, ids of the client", quiet, client, nibhttp.Config{}, 1},
		{"three lines of the handler too", logging, nil, nibhttp.Config{}, 3},
		{"three lines of the handler too, ids of the client", logging, client, nibhttp.Config{}, 3},
		{"fields", quiet, nil, nibhttp.Config{Fields: func(e *nib.Event, r *http.Request) { e.Str("host", r.Host) }}, 1},
		{"line off", quiet, nil, nibhttp.Config{Level: func(int) nib.Level { return nib.LevelDebug }}, 1},
	} {
		h := nibhttp.Middleware(nib.New(io.Discard), c.config)(c.handler)
		r := httptest.NewRequest("GET", "/some/path", nil)
		if c.header != nil {
			r.Header = c.header
		}
		var w http.ResponseWriter = nullWriter{http.Header{}}
		if got, _ := alloctest.Count(func() { h.ServeHTTP(w, r) }, 1000); got != c.want {
			t.Errorf("%s: got %v mallocs a request, want %v", c.name, got, c.want)
		}
	}
}

// A nullHTTP1 has the abilities of a writer of HTTP/1.
type nullHTTP1 struct{ nullWriter }

func (nullHTTP1) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, nil }
func (w nullHTTP1) ReadFrom(r io.Reader) (n int64, err error)  { return io.Copy(w.nullWriter, r) }

// A body is a reader with no other methods, like the body of a response.
type body struct{ left int }

func (b *body) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil
}

func TestMallocsOfACopy(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	var b body
	copies := func(w http.ResponseWriter, _ *http.Request) {
		b.left = 100 << 10
		_, _ = io.Copy(w, &b)
	}
	h := nibhttp.Middleware(nib.New(io.Discard))(http.HandlerFunc(copies))
	r := httptest.NewRequest("GET", "/some/path", nil)
	var w http.ResponseWriter = nullHTTP1{nullWriter{http.Header{}}}
	if got, _ := alloctest.Count(func() { h.ServeHTTP(w, r) }, 1000); got != 1 {
		t.Errorf("got %v mallocs a request, want 1", got)
	}
}
