// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package httpsend

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
)

// endlessServer answers a request with a status and a body that never ends, or
// has some bytes and is then silent. It counts the bytes that were read.
func endlessServer(status int, silent bool, read *int) func(context.Context, string,
	string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		server, client := net.Pipe()
		go func() {
			defer server.Close()
			if _, err := http.ReadRequest(bufio.NewReader(server)); err != nil {
				return
			}
			_, err := fmt.Fprintf(server, "HTTP/1.1 %d x\r\nUpgrade: y\r\nConnection: Upgrade\r\n\r\n", status)
			for text := strings.Repeat("x", 1000); err == nil; {
				var n int
				n, err = server.Write([]byte(text))
				if *read += n; silent && err == nil {
					_, err = server.Read(make([]byte, 1000)) // until the client ends the connection
				}
			}
		}()
		return client, nil
	}
}

// No response keeps a call from returning within Timeout, or Close from ending
// it, whatever the status is, and only MaxResponse bytes of it are read.
func TestResponsesThatNeverEnd(t *testing.T) {
	calls := map[string]func(c *Client) error{
		"Post": func(c *Client) error { _, err := c.Post(context.Background(), []byte("x")); return err },
		"Ping": func(c *Client) error { _, err := c.Ping(context.Background(), []byte("x")); return err },
	}
	const timeout, most = time.Minute, 10_000
	run := seed.Sample(t, 3, 3)
	for _, status := range statuses(t) {
		for name, call := range calls {
			for _, silent := range []bool{false, true} {
				for _, closes := range []bool{false, true} {
					if !run() {
						continue
					}
					synctest.Test(t, func(t *testing.T) {
						read := 0
						c, err := New(Config{URL: "http://server/",
							Dial: endlessServer(status, silent, &read), Timeout: timeout,
							MaxResponse: most})
						must.Succeed(t, err)
						defer c.Close()
						limit := timeout
						if closes {
							limit = time.Second
							time.AfterFunc(limit, func() { _ = c.Close() })
						}
						begin := time.Now()
						err = call(c)
						took := time.Since(begin)
						if took > limit || closes && took == limit &&
							!errors.Is(err, delivery.ErrClosed) {
							t.Errorf("status %d, %s, silent %v, closed %v: returned %v after %v",
								status, name, silent, closes, err, took)
						}
						_ = c.Close()
						synctest.Wait()
						// and the transport's buffer
						if read > most+10_000 &&
							(status >= 200 || status == http.StatusSwitchingProtocols) {
							t.Errorf("status %d, %s: %d bytes were read", status, name, read)
						}
					})
				}
			}
		}
	}
}
