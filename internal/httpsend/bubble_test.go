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
)

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
