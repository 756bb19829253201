// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, " 7 ": 7 * time.Second, "-1": 0, "1.5": 0, "x": 0, "99999": maxAfter, "4294967296": maxAfter, "99999999999999999999": maxAfter,
		"Fri, 02 Jan 2026 15:04:15 GMT":     10 * time.Second,
		"Fri, 02 Jan 2026 15:04:00 GMT":     0,
		"Friday, 02-Jan-26 15:05:05 GMT":    time.Minute,
		"Sat, 02 Jan 2126 15:04:05 GMT":     maxAfter,
		"Fri, 02 Jan 2026 15:04:15 +0000 x": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}, now); got != want {
			t.Errorf("Retry-After %q: got %v, want %v", text, got, want)
		}
	}
}

func TestValidate(t *testing.T) {
	for text, want := range map[string]string{
		"": "want a URL", "collector:4318": "want a URL", "ftp://a/": "want a URL", "http://": "want a URL", "http://a:b:c": "cannot be parsed",
		"https://me:geheim@host/": "the URL of host has a user", "http://host:1/x": "",
	} {
		err := Config{URL: text}.Validate()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: the password is in %v", text, err)
		}
	}
	err := Config{Name: "nib/x", URL: "http://a", Timeout: -1, MaxResponse: -1}.Validate()
	if n := strings.Count(err.Error(), "nib/x: "); n != 2 {
		t.Errorf("got %v, want two errors", err)
	}
}

// If the server responds before it has read the whole body, the transport may
// read it after Post has returned: it must be detached.
func TestBodyIsNotReadAfterPost(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	}))
	defer server.Close()
	c, err := New(Config{URL: server.URL})
	must.Succeed(t, err)
	defer c.Close()
	body := bytes.Repeat([]byte("x"), 32<<20)
	for range 3 {
		resp, err := c.Post(context.Background(), body)
		if err == nil && resp.Status != http.StatusRequestEntityTooLarge {
			t.Fatalf("got %d and %v", resp.Status, err)
		}
		clear(body) // the race detector reports a reader
	}
	b := &requestBody{data: []byte("abc")}
	before, err := b.reader()
	must.Succeed(t, err)
	b.detach()
	after, err := b.reader()
	must.Succeed(t, err)
	for _, r := range []io.Reader{before, after} {
		if n, err := r.Read(make([]byte, 3)); n != 0 || err == nil || b.hasBegun() {
			t.Errorf("read %d bytes and %v after detach", n, err)
		}
	}
}

func TestClosed(t *testing.T) {
	c, err := New(Config{URL: "http://127.0.0.1:1"})
	must.Succeed(t, err)
	if err := errors.Join(c.Close(), c.Close()); err != nil {
		t.Error(err)
	}
	_, post := c.Post(context.Background(), []byte("x"))
	_, ping := c.Ping(context.Background(), nil)
	for i, err := range []error{post, ping} {
		if !errors.Is(err, delivery.ErrClosed) {
			t.Errorf("%d: got %v, want ErrClosed", i, err)
		}
	}
}

func TestErrorsOfResponsesAreHarmless(t *testing.T) {
	hostile := "no\x1b]0;t\x07 \u202eway\n\xff" + strings.Repeat("x", 5000)
	r := Response{Status: 500, Body: []byte(hostile), prefix: "nib/x"}
	for _, err := range []error{r.Err(), r.Error(hostile)} {
		if text := err.Error(); !strings.HasPrefix(text, "nib/x: 500 Internal Server Error: no]0;t way xxx") || len(text) > 400 {
			t.Errorf("got %q", text)
		}
	}
}

func TestAPageIsNoSuccess(t *testing.T) {
	for kind, want := range map[string]bool{"": true, "application/json": true, "text/html": false, "Text/HTML; charset=utf-8": false} {
		if got := (Response{Status: 200, Header: http.Header{"Content-Type": {kind}}}).OK(); got != want {
			t.Errorf("%q: got %v", kind, got)
		}
	}
	for body, want := range map[string]bool{"": true, "\n<!DOCTYPE html>log in": false, `{"items":[]}`: true, "\x0a\x04\x08\x03\x12\x00": true} {
		if got := (Response{Status: 200, Body: []byte(body)}).OK(); got != want {
			t.Errorf("%q without Content-Type: got %v", body, got)
		}
	}
}

func TestCountersAreShownUnderTheirNames(t *testing.T) {
	var c Client
	c.requests.Store(1)
	c.failures.Store(2)
	c.sent.Store(3)
	if got, want := c.Stats(), (Stats{Requests: 1, Failures: 2, Bytes: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A header that net/http refuses would make every request fail, with an error
// that quotes a part of it.
func TestInvalidHeaders(t *testing.T) {
	for _, tt := range []struct{ name, value, want string }{
		{"Authorization", "Bearer geheim\n", "control character in the value of Authorization"},
		{"Authorization: Bearer geheim", "=", "name with characters that are not allowed"},
		{"X-Tenant", "größe\t1", ""},
	} {
		err := Config{URL: "http://a", Header: http.Header{tt.name: {tt.value}}}.Validate()
		if tt.want == "" && err != nil || tt.want != "" &&
			(err == nil || !strings.Contains(err.Error(), tt.want)) || err != nil &&
			strings.Contains(err.Error(), "geheim") {
			t.Errorf("%q: got %v, want %q", tt.name, err, tt.want)
		}
		file := filepath.Join(t.TempDir(), "headers")
		must.Succeed(t, os.WriteFile(file, []byte("A: b\r\n"+tt.name+"\x01: "+tt.value), 0o600))
		if _, err := ReadHeaders(file); err == nil ||
			!strings.Contains(err.Error(), "line 2 of ") ||
			strings.Contains(err.Error(), "geheim") {
			t.Errorf("got %v, want an error in line 2", err)
		}
	}
}

// TestRequest checks what a request has without and with a Config.Header.
func TestRequest(t *testing.T) {
	var got *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		got = r
	}))
	defer server.Close()
	for _, tt := range []struct {
		header         http.Header
		host, encoding string
	}{
		{nil, strings.TrimPrefix(server.URL, "http://"), "identity"}, // responses are not decoded
		{http.Header{"Host": {"logs.internal"}, "Accept-Encoding": {"x"}}, "logs.internal", "x"},
	} {
		c, err := New(Config{URL: server.URL, Header: tt.header})
		must.Succeed(t, err)
		_, err = c.Post(context.Background(), []byte("x"))
		if err = errors.Join(err, c.Close()); err != nil || got.Host != tt.host ||
			got.Header.Get("Accept-Encoding") != tt.encoding {
			t.Errorf("got %v, %s and %v, want %s and %s", err, got.Host, got.Header, tt.host,
				tt.encoding)
		}
	}
}

// A server that does not support the encoding refuses an empty body, too.
func TestPingHasTheEncoding(t *testing.T) {
	var encoding string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		encoding = r.Header.Get("Content-Encoding")
	}))
	defer server.Close()
	c, err := New(Config{URL: server.URL, Gzip: true})
	must.Succeed(t, err)
	defer c.Close()
	if _, err := c.Ping(context.Background(), nil); err != nil || encoding != "gzip" {
		t.Errorf("got %q and %v", encoding, err)
	}
}

func TestResponsesWithoutALimit(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_,
			_ = io.WriteString(w, "text")
	}))
	defer server.Close()
	c, err := New(Config{URL: server.URL, MaxResponse: math.MaxInt})
	must.Succeed(t, err)
	defer c.Close()
	if r, err := c.Post(context.Background(), []byte("x")); err != nil ||
		string(r.Body) != "text" || r.Truncated {
		t.Errorf("got %q, %v and %v", r.Body, r.Truncated, err)
	}
}
