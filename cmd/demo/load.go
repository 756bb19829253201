// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// A shift is the time of one worker.
type shift struct {
	ready chan struct{} // closed when url is set
	url   string
	over  chan struct{} // closed before the worker is killed, when next is set
	next  *shift
}

func newShift() *shift { return &shift{ready: make(chan struct{}), over: make(chan struct{})} }

func (s *shift) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// A drive sends all the requests.
type drive struct {
	first  *shift
	ledger *ledger      // only its field cut is set
	done   atomic.Int64 // requests that were answered or cut off
	at     func(done int)
}

// run sends all requests of the plan, on each connection one after the other.
// It returns the first error, which stops all connections.
func (d *drive) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for c := range d.ledger.plan.connections {
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
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}}
	defer client.CloseIdleConnections()
	s := d.first
	for n := range d.ledger.plan.of(connection) {
		for s.isOver() {
			s = s.next
		}
		select {
		case <-s.ready:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := ask(ctx, client, s.url, connection, n); err != nil {
			if !s.isOver() || ctx.Err() != nil {
				return err
			}
			d.ledger.cutOff(connection, n)
		}
		d.at(int(d.done.Add(1)))
	}
	return nil
}

// ask sends one request and checks the answer.
func ask(ctx context.Context, client *http.Client, url string, connection, n int) error {
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
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != want.status || string(body) != want.body {
		return fmt.Errorf("request %s was answered with status %d and %q",
			requestID(connection, n), resp.StatusCode, body)
	}
	return nil
}
