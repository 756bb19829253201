// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// drive sends all requests of the plan, each connection's one after the other,
// and counts the answered ones in done. It returns how many connections it took
// and the first error; then the others stop too.
func (p plan) drive(ctx context.Context, url string, done *atomic.Int64) (connections int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var dialled atomic.Int64
	var wg sync.WaitGroup
	for c := range p.connections {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := p.driveOne(ctx, url, c, done, &dialled); err != nil {
				cancel(err)
			}
		}()
	}
	wg.Wait()
	return int(dialled.Load()), context.Cause(ctx)
}

// driveOne sends the requests of one connection and checks the answers.
func (p plan) driveOne(ctx context.Context, url string, connection int, done, dialled *atomic.Int64) error {
	var dialer net.Dialer
	transport := &http.Transport{
		MaxConnsPerHost:    1,
		DisableCompression: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			dialled.Add(1)
			return dialer.DialContext(ctx, network, addr)
		},
	}
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport}
	for n := range p.of(connection) {
		want := expect(n)
		req, err := http.NewRequestWithContext(ctx, want.method, url+itemPath(n), nil)
		if err != nil {
			return err
		}
		req.Header.Set("X-Request-Id", requestID(connection, n))
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil {
			return err
		}
		if resp.StatusCode != want.status || string(body) != want.body {
			return fmt.Errorf("demo: request %s was answered with status %d and %q", requestID(connection, n), resp.StatusCode, body)
		}
		done.Add(1)
	}
	return nil
}
