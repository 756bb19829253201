// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/nibtest"
)

// These differ from run to run: the time a request took, and its port.
var varying = regexp.MustCompile(`"took":[0-9.e-]+|127\.0\.0\.1:[0-9]+`)

const want = `{"time":"2026-01-02T15:04:05.000Z","level":"info","method":"GET","path":"/hello/ada","route":"GET /hello/{name}","status":200,"bytes":11,TOOK,"remote":"ADDR","request_id":"r1","message":"request"}
{"time":"2026-01-02T15:04:05.000Z","level":"debug","request_id":"r2","name":"bob","message":"greeting"}
{"time":"2026-01-02T15:04:05.000Z","level":"info","method":"GET","path":"/hello/bob","route":"GET /hello/{name}","status":200,"bytes":11,TOOK,"remote":"ADDR","request_id":"r2","message":"request"}
{"time":"2026-01-02T15:04:05.000Z","level":"warn","method":"GET","path":"/nowhere","status":404,"bytes":19,TOOK,"remote":"ADDR","request_id":"r3","message":"request"}
{"time":"2026-01-02T15:04:05.000Z","level":"info","message":"stopped"}
`

func TestOutput(t *testing.T) {
	var b bytes.Buffer
	var clock nibtest.Clock
	var level nib.LevelVar
	log := nib.New(&b, nib.WithClock(clock.Now), nib.WithLevel(&level))
	public, private := listen(t), listen(t)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- run(ctx, log, map[net.Listener]http.Handler{
			public:  nibhttp.Middleware(log)(routes()),
			private: admin(log, &level),
		})
	}()

	send(t, "GET", public, "/hello/ada", "r1", "", "hello, ada\n")
	send(t, "PUT", private, "/level", "", "debug", "debug\n")
	send(t, "GET", public, "/hello/bob", "r2", "", "hello, bob\n")
	send(t, "GET", public, "/nowhere", "r3", "", "404 page not found\n")
	send(t, "GET", private, "/metrics", "", "", "nib_logger_failed_lines_total 0")
	stop()
	if err := <-ended; err != nil {
		t.Errorf("run: %v", err)
	}
	got := varying.ReplaceAllStringFunc(b.String(), func(s string) string {
		if strings.HasPrefix(s, `"took"`) {
			return "TOOK"
		}
		return "ADDR"
	})
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestRunEndsWhenAListenerFails(t *testing.T) {
	l := listen(t)
	_ = l.Close()
	err := run(context.Background(), nil, map[net.Listener]http.Handler{l: routes()})
	if err == nil {
		t.Error("got no error")
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func send(t *testing.T, method string, to net.Listener, path, id, body, want string) {
	t.Helper()
	req, err := http.NewRequest(method, "http://"+to.Addr().String()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Request-Id", id)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(got), want) {
		t.Errorf("%s %s: got %q and error %v, want %q", method, path, got, err, want)
	}
}

// The middleware and the logger of the handler add 3 mallocs per request to the
// service's own; the lines add none.
func TestMallocsOfLogging(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("mallocs mean nothing in this build")
	}
	log := nib.New(io.Discard, nib.WithLevel(nib.LevelDebug))
	plain, logged := routes(), nibhttp.Middleware(log)(routes())
	nib.SetDefault(log) // the logger of the handler without the middleware
	r := httptest.NewRequest("GET", "/hello/ada", nil)
	var w http.ResponseWriter = nowhere{}
	without, _ := alloctest.Count(func() { plain.ServeHTTP(w, r) }, 1000)
	with, _ := alloctest.Count(func() { logged.ServeHTTP(w, r) }, 1000)
	if got := with - without; got != 3 {
		t.Errorf("got %v mallocs (%v with, %v without), want 3", got, with, without)
	}
}

type nowhere struct{}

func (nowhere) Header() http.Header         { return nil }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}
