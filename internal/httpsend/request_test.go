// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestRequest checks what a request has without and with a Config.Header.
func TestRequest(t *testing.T) {
	var got *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r }))
	defer server.Close()
	for _, tt := range []struct {
		header         http.Header
		host, encoding string
	}{
		{nil, strings.TrimPrefix(server.URL, "http://"), "identity"}, // responses are not decoded
		{http.Header{"Host": {"logs.internal"}, "Accept-Encoding": {"x"}}, "logs.internal", "x"},
	} {
		c, err := New(Config{URL: server.URL, Header: tt.header})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Post(context.Background(), []byte("x"))
		if err = errors.Join(err, c.Close()); err != nil || got.Host != tt.host || got.Header.Get("Accept-Encoding") != tt.encoding {
			t.Errorf("got %v, %s and %v, want %s and %s", err, got.Host, got.Header, tt.host, tt.encoding)
		}
	}
}

// A server that does not support the encoding refuses an empty body, too.
func TestPingHasTheEncoding(t *testing.T) {
	var encoding string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { encoding = r.Header.Get("Content-Encoding") }))
	defer server.Close()
	c, err := New(Config{URL: server.URL, Gzip: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Ping(context.Background(), nil); err != nil || encoding != "gzip" {
		t.Errorf("got %q and %v", encoding, err)
	}
}

func TestResponsesWithoutALimit(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "text") }))
	defer server.Close()
	c, err := New(Config{URL: server.URL, MaxResponse: math.MaxInt})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if r, err := c.Post(context.Background(), []byte("x")); err != nil || string(r.Body) != "text" || r.Truncated {
		t.Errorf("got %q, %v and %v", r.Body, r.Truncated, err)
	}
}
