// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// A shift is the time of one worker.
type shift struct {
	url  string
	over chan struct{} // closed before the worker is killed
}

func (s *shift) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// A gate gives connections the current worker, and makes them wait while there
// is none.
type gate struct {
	mu     sync.Mutex
	now    *shift // nil if there is none
	opened chan struct{}
}

func newGate() *gate { return &gate{opened: make(chan struct{})} }

// open begins a shift.
func (g *gate) open(url string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = &shift{url, make(chan struct{})}
	close(g.opened)
}

// close ends the shift.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.now.over)
	g.now = nil
	g.opened = make(chan struct{})
}

// isOpen reports whether there is a shift.
func (g *gate) isOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now != nil
}

// await returns the shift, as soon as there is one.
func (g *gate) await(ctx context.Context) (*shift, error) {
	for {
		g.mu.Lock()
		now, opened := g.now, g.opened
		g.mu.Unlock()
		if now != nil {
			return now, nil
		}
		select {
		case <-opened:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// A drive sends all the requests.
type drive struct {
	plan    plan
	gate    *gate
	ledger  *ledger      // only its field cut is set
	done    atomic.Int64 // requests that were answered or cut off
	dialled atomic.Int64 // connections
	at      func(done int64)
}

// run sends all requests of the plan, on each connection one after the other.
// It returns the first error, which stops all connections.
func (d *drive) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for c := range d.plan.connections {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := d.connection(ctx, c); err != nil {
				cancel(err)
			}
		}()
	}
	wg.Wait()
	return context.Cause(ctx)
}

// connection sends the requests of one connection. A request whose worker is
// killed is not sent again: it may have been processed.
func (d *drive) connection(ctx context.Context, connection int) error {
	var s *shift
	var client *http.Client
	defer func() {
		if client != nil {
			client.CloseIdleConnections()
		}
	}()
	for n := range d.plan.of(connection) {
		if s == nil || s.isOver() {
			if client != nil {
				client.CloseIdleConnections()
			}
			var err error
			if s, err = d.gate.await(ctx); err != nil {
				return err
			}
			client = d.client()
		}
		err := d.ask(ctx, client, s.url, connection, n)
		switch {
		case err == nil:
		case s.isOver() && ctx.Err() == nil:
			d.ledger.cut[connection][n] = true
		default:
			return err
		}
		d.at(d.done.Add(1))
	}
	return nil
}

// client returns a client with one connection.
func (d *drive) client() *http.Client {
	var dialer net.Dialer
	return &http.Client{Transport: &http.Transport{
		MaxConnsPerHost:    1,
		DisableCompression: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, addr)
			if err == nil {
				d.dialled.Add(1)
			}
			return conn, err
		},
	}}
}

// ask sends one request and checks the answer.
func (d *drive) ask(ctx context.Context, client *http.Client, url string, connection, n int) error {
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
	return nil
}
