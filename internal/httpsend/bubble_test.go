// SPDX-License-Identifier: Apache-2.0

//go:build go1.25

package httpsend

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Compress may reuse its memory, so it is not called for Ping and Post at the
// same time.
func TestCompressIsNotCalledConcurrently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		running := 0
		c, err := New(Config{
			URL: "http://127.0.0.1:1", Encoding: "x",
			Dial: func(context.Context, string, string) (net.Conn, error) { return nil, io.EOF },
			Compress: func(dst, src []byte) ([]byte, error) {
				if running++; running > 1 {
					t.Error("Compress was called during Compress")
				}
				time.Sleep(time.Second) // fake time
				running--
				return append(dst, src...), nil
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		ended := make(chan struct{})
		go func() { defer close(ended); _, _ = c.Post(context.Background(), []byte("x")) }()
		_, _ = c.Ping(context.Background(), []byte("x"))
		<-ended
	})
}

// A timeout is marked if there was a connection.
func TestTimeoutOfARequest(t *testing.T) {
	for _, connects := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			server, client := net.Pipe()
			defer server.Close()
			c, err := New(Config{URL: "http://127.0.0.1:1", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
				if !connects {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return client, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go func() { _, _ = io.Copy(io.Discard, server) }()
			if _, err := c.Post(context.Background(), []byte("x")); errors.Is(err, os.ErrDeadlineExceeded) != connects || !strings.Contains(err.Error(), ": no response within Timeout") {
				t.Errorf("connected %v: got %v", connects, err)
			}
		})
	}
}
