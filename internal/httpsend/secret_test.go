// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
)

// echo answers each request with a text on its connection.
func echo(answer func(*http.Request) string) func(context.Context, string, string) (net.Conn,
	error) {
	return func(context.Context, string, string) (net.Conn, error) {
		server, client := net.Pipe()
		go func() {
			defer server.Close()
			if q, err := http.ReadRequest(bufio.NewReader(server)); err == nil {
				_, _ = fmt.Fprint(server, answer(q))
			}
		}()
		return client, nil
	}
}

func zip(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text))
	_ = w.Close()
	return b.String()
}

// No error and no response has a secret of the request or of a Location,
// wherever the server quotes it.
func TestSecretsStandInNoError(t *testing.T) {
	header := http.Header{"Authorization": {"Basic dXNlcjpnZWhlaW0="}, "X-Api-Key": {"geheim-2"},
		"Cookie": {"session=geheim-3"}}
	body := func(status int, kind, text string) func(*http.Request) string {
		return func(*http.Request) string {
			return fmt.Sprintf("HTTP/1.1 %d x\r\n%s\r\nContent-Length: %d\r\n\r\n%s", status, kind,
				len(text), text)
		}
	}
	everything := "Basic dXNlcjpnZWhlaW0= geheim geheim-2 session=geheim-3 k%2Fgeheim-4 k/geheim-4"
	for name, answer := range map[string]func(*http.Request) string{
		"a body":            body(400, "A: b", everything),
		"a compressed body": body(400, "Content-Encoding: gzip", zip(everything)),
		"a Location":        body(302, "Location: https://u:geheim@login/?token=geheim-5#geheim-6", ""),
		"a bad Location":    body(302, "Location: ://geheim", ""),
		"no HTTP":           func(*http.Request) string { return everything + "\r\n\r\n" },
		"an echo": func(q *http.Request) string {
			return fmt.Sprintf("%s %s HTTP/1.1\r\n%v\r\n\r\n", q.Method, q.RequestURI, q.Header)
		},
		"an echo in a response": func(q *http.Request) string {
			text := fmt.Sprint(q.RequestURI, q.Header)
			return fmt.Sprintf("HTTP/1.1 503 x\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
		},
		"an end": func(*http.Request) string { return "" },
	} {
		c, err := New(Config{URL: "http://server/v1?api_key=k%2Fgeheim-4&x=1", Header: header,
			Dial: echo(answer)})
		must.Succeed(t, err)
		post, postErr := c.Post(context.Background(), []byte("x"))
		ping, pingErr := c.Ping(context.Background(), []byte("x"))
		for _, text := range []string{fmt.Sprint(postErr), fmt.Sprint(pingErr), post.Err().Error(),
			ping.Err().Error(), string(post.Body)} {
			for _, secret := range []string{"geheim", "dXNlcjpnZWhlaW0", "api_key=k"} {
				if strings.Contains(text, secret) {
					t.Errorf("%s: %q is in %q", name, secret, text)
				}
			}
		}
		if text := fmt.Sprint(postErr, post.Err()); !strings.Contains(text, "http://server/v1") {
			t.Errorf("%s: the server is not in %q", name, text)
		}
		_ = c.Close()
	}
	if err := (Config{URL: "ftp://server/?api_key=geheim"}).Validate(); err == nil ||
		strings.Contains(err.Error(), "geheim") {
		t.Errorf("got %v", err)
	}
}

// Masking keeps the length of a text, and everything that is not a secret.
func TestMaskKeepsTheRest(t *testing.T) {
	u := &url.URL{RawQuery: "filter_path=items&pipeline=orders&abc"}
	s := secretsOf(http.Header{"Content-Type": {"application/json"},
		"Authorization": {"Bearer abcdef"}, "X-Token": {"abc"}}, u)
	text := []byte(`{"a":"Bearer abcdef","b":"abcdefabcdef","c":"items orders application/json abc"}`)
	s.mask(text)
	if want := `{"a":"*************","b":"************","c":"items orders application/json abc"}`; string(text) != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

// A secret may consist of asterisks, for example as a placeholder.
func TestMaskOfAsterisks(t *testing.T) {
	s := secretsOf(http.Header{"X-Token": {"****"}}, &url.URL{})
	text := []byte("no such token: ******")
	if s.mask(text); string(text) != "no such token: ******" {
		t.Errorf("got %s", text)
	}
}
