// SPDX-License-Identifier: Apache-2.0

package nibhttp_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/recordtest"
)

// wantHarmless checks that a line is one JSON object on one line, printable
// ASCII or harmless Unicode only.
func wantHarmless(t *testing.T, r nib.Record) map[string]any {
	t.Helper()
	f, err := recordtest.Decode(r.Line)
	if err != nil {
		t.Errorf("%v: %.300q", err, r.Line)
	}
	for _, c := range string(r.Line[:len(r.Line)-1]) {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c >= 0x202a && c <= 0x202e || c == 0x2028 || c == 0x2029 {
			t.Errorf("the line has the bare character %U: %.300q", c, r.Line)
		}
	}
	return f
}

var hostile = []string{
	"\n", "\r\n{\"level\":\"fatal\"}\r\n", "\x00", "\x1b[2J", "\x7f", "\u0085", "\u009b31m",
	"\u202egnp.exe", "\u2028", "\xff\xfe", "\xc3", `"`, `","admin":true,"x":"`, `\`, "</script>",
	strings.Repeat("ä", 1<<15), strings.Repeat("\x01", 1<<14),
}

func TestHostilePathsStayInTheirField(t *testing.T) {
	for _, path := range hostile {
		g := newRig(func(http.ResponseWriter, *http.Request) {})
		r := newRequest("/")
		r.URL = &url.URL{Path: "/" + path}
		g.do(r)
		f := wantHarmless(t, g.rec.Records()[0])
		if want := bounded("/" + string([]rune(path))); f["path"] != want { // with U+FFFD for invalid UTF-8
			t.Errorf("path: got %.100q, want %.100q", f["path"], want)
		}
		if f["admin"] != nil || f["level"] != "info" {
			t.Errorf("the path %.100q has become fields: %v", path, f)
		}
	}
}

func TestHostileHeadersAreNotTaken(t *testing.T) {
	for _, v := range append(hostile, "", " ", "a b", "é", "a,b", "a;b", "<b>", strings.Repeat("a", 129)) {
		g := newRig(func(_ http.ResponseWriter, r *http.Request) { nib.FromContext(r.Context()).Info().Msg("x") })
		r := newRequest("/")
		r.Header["X-Request-Id"] = []string{v}
		r.Header["Traceparent"] = []string{v}
		r.RemoteAddr = v
		r.Method = "GET" + v
		g.do(r)
		for _, rec := range g.rec.Records() {
			f := wantHarmless(t, rec)
			if id, _ := f["request_id"].(string); len(id) != 32 || f["trace_id"] != nil {
				t.Errorf("header %.100q: got request_id %q and trace_id %v", v, id, f["trace_id"])
			}
		}
	}
}

func TestSaneRequestIDsAreTaken(t *testing.T) {
	for _, id := range []string{
		"1", "550e8400-e29b-41d4-a716-446655440000", "Root=1-67891233-abcdef012345678912345678",
		"host/abc-000001", "aGk+/_==", "a:b.c~d@e", strings.Repeat("a", 128),
	} {
		g := newRig(func(http.ResponseWriter, *http.Request) {})
		r := newRequest("/")
		r.Header.Set("X-Request-Id", id)
		g.do(r)
		if got := g.rec.Find("request")["request_id"]; got != id {
			t.Errorf("request_id: got %v, want %s", got, id)
		}
	}
	g := newRig(func(http.ResponseWriter, *http.Request) {})
	r := newRequest("/")
	r.Header["X-Request-Id"] = []string{"a", "b"}
	g.do(r)
	if got, _ := g.rec.Find("request")["request_id"].(string); len(got) != 32 {
		t.Errorf("of two ids got %q, want a generated id", got)
	}
}

// Bytes that net/http accepts from the wire.
func TestHostileBytesOverTheNetwork(t *testing.T) {
	g := newRig(func(http.ResponseWriter, *http.Request) {})
	srv := httptest.NewServer(g)
	defer srv.Close()
	conn, err := net.Dial("tcp", srv.Listener.Addr().String())
	must.Succeed(t, err)
	defer conn.Close()
	in := bufio.NewReader(conn)
	targets := []string{
		"/%0a%0d%00%1b%5b31m", "/%ff%fe", "/%22,%22admin%22:true", "/%e2%80%ae", "//evil.example/..", "/?" + strings.Repeat("q", 1<<16),
		"/" + strings.Repeat("a", 1<<16), "/" + strings.Repeat("%01", 1<<16), "/\xc3\xa4\x80",
	}
	for _, target := range targets {
		fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\tb\r\n\r\n", target)
		resp, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatalf("%.40q: %v", target, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		if resp.StatusCode != 200 {
			t.Fatalf("%.40q: status %d", target, resp.StatusCode)
		}
		<-g.ended
	}
	for i, r := range g.rec.Records() {
		f := wantHarmless(t, r)
		if target, err := url.PathUnescape(strings.SplitN(targets[i], "?", 2)[0]); err == nil &&
			f["path"] != bounded(string([]rune(target))) {
			t.Errorf("path %.40q: got %.40q", targets[i], f["path"])
		}
	}
	if g.rec.Len() != len(targets) {
		t.Errorf("got %d lines, want %d", g.rec.Len(), len(targets))
	}
}
