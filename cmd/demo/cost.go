// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/nibhttp"
	"github.com/nib-log/nib/sink/spool"
)

// A cost is the cost of logging, measured when the load is over: one goroutine
// writes the access line of the run again, with the same fields.
type cost struct {
	spooled    contestant // into a spool whose destination is down
	written    contestant // writes to a file, one write(2) per line
	encoded    contestant // writes to io.Discard
	middleware contestant // all that nibhttp does for a request, into the spool
}

// A contestant is one way to spend time, measured in turn with the others.
type contestant struct {
	run     func()
	spool   *spool.Sink // that the calls fill, or nil
	to      *away       // its destination
	ns      float64     // per call, in the fastest round
	mallocs float64     // per call, in the round with the fewest
}

const (
	rounds        = 7
	callsPerRound = 10_000
	warmUp        = 100
	replaySize    = 16 << 20 // of the spool: room for several rounds, and not for all
)

// away is a destination that is down during a round, so that only calls are
// measured.
type away struct{ called, accept chan struct{} }

func (a *away) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	for called := a.called; ; called = nil {
		select {
		case called <- struct{}{}:
		case <-a.accept:
			return delivery.Result{Accepted: len(batch)}, nil
		case <-ctx.Done():
			return delivery.Result{}, context.Cause(ctx)
		}
	}
}

// empty accepts all lines of a spool, which then needs room for one round only.
func (a *away) empty(s *spool.Sink) error {
	flushed := make(chan error, 1)
	go func() { flushed <- s.Flush(context.Background()) }()
	for {
		select {
		case a.accept <- struct{}{}:
		case err := <-flushed:
			return err
		}
	}
}

// measure measures rounds of calls calls each. It uses dir for temporary files.
func measure(dir string, calls int) (c cost, err error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	to := &away{make(chan struct{}), make(chan struct{})}
	s, err := spool.Open(filepath.Join(dir, spoolName), to, spool.Config{
		Drain: time.Millisecond, OnFull: waitForDisk, Size: replaySize,
		OnError: func(error) {}, // nothing is delivered by design
	})
	if err != nil {
		return c, err
	}
	defer s.Close()
	f, err := os.OpenFile(filepath.Join(dir, logName), os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return c, err
	}
	defer f.Close()
	toSpool, toFile, toNothing := nib.NewSink(s), nib.New(f), nib.New(io.Discard)
	handler := nibhttp.Middleware(toSpool)(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	req := &http.Request{
		Method:     http.MethodGet,
		URL:        &url.URL{Path: itemPath(4711)},
		Header:     http.Header{"X-Request-Id": {requestID(3, 4711)}},
		RemoteAddr: "127.0.0.1:54321",
	}
	c.spooled, c.middleware = contestant{spool: s, to: to}, contestant{spool: s, to: to}
	c.spooled.run = func() { replay(toSpool) }
	c.written.run = func() { replay(toFile) }
	c.encoded.run = func() { replay(toNothing) }
	c.middleware.run = func() { handler.ServeHTTP(nowhere{}, req) }
	err = compete(calls, &c.spooled, &c.written, &c.encoded, &c.middleware)
	return c, err
}

// replay writes a line with the fields of an access line.
func replay(log *nib.Logger) {
	log.Info().
		Str("method", http.MethodGet).
		Str("path", "/items/4711").
		Int("status", 200).
		Int64("bytes", 240).
		Dur("took", 23_456*time.Nanosecond).
		Str("remote", "127.0.0.1:54321").
		Str("request_id", "c3-4711").
		Msg(accessMessage)
}

// compete measures contestants in turn, so that a disturbance of the machine
// affects all of them. The garbage collector is off during a round, since its
// own mallocs would be counted, and runs before it, so that memory can be
// reused; the calls of the warm-up fill the pools that it has emptied.
func compete(calls int, all ...*contestant) error {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for round := range rounds {
		for _, c := range all {
			if c.spool != nil {
				if err := c.to.empty(c.spool); err != nil {
					return err
				}
			}
			runtime.GC()
			for range warmUp {
				c.run()
			}
			if c.spool != nil {
				<-c.to.called // nothing else runs in the round
			}
			ns, mallocs := c.once(calls)
			if round == 0 {
				c.ns, c.mallocs = ns, mallocs
			}
			c.ns, c.mallocs = min(c.ns, ns), min(c.mallocs, mallocs)
		}
	}
	return nil
}

// once returns time and mallocs per call.
func (c *contestant) once(calls int) (ns, mallocs float64) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range calls {
		c.run()
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	n := float64(calls)
	return float64(took.Nanoseconds()) / n, float64(after.Mallocs-before.Mallocs) / n
}

// nowhere is a ResponseWriter that discards the response.
type nowhere struct{}

func (nowhere) Header() http.Header         { return nil }
func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) WriteHeader(int)             {}
