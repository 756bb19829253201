// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/retry"
)

// The pauses between attempts without Retry-After, and the longest Retry-After
// that is honoured.
const (
	firstPause = 100 * time.Millisecond
	lastPause  = 5 * time.Second
	maxAfter   = 10 * time.Minute
)

var (
	errTimeout = errors.New("no response within Timeout")
	errDeliver = errors.New("no success within DeliverTimeout")
	endless    = time.Duration(1<<63 - 1)
)

// A sentError is an error after the server may have received a part of the
// request.
type sentError struct{ error }

func (e sentError) Unwrap() error { return e.error }

func (e sentError) Is(target error) bool {
	return target == os.ErrDeadlineExceeded && e.error == errTimeout
}

// A Client sends requests, one at a time. It is created by [New]. Ping, Stats
// and Close may be called at any time, also during Post.
type Client struct {
	c    Config
	url  *url.URL
	mask secrets
	ctx  context.Context // ends with Close
	stop context.CancelCauseFunc

	packing chan struct{} // taken during Compress, which Ping and Post may need at the same time
	packed  []byte        // a compressed body

	conns connections

	pause retry.Pause
	after time.Time // no request before this time, as requested by the server
	last  error     // error of the last attempt

	begun  bool // the server may have received a part of the last attempt of Post
	status int  // status of its response, 0 if there was none

	delay   retry.Pause // pause after the last Delay
	delayed bool        // Delay was called since the last Post

	requests, retries, sent atomic.Uint64
}

// Stats counts the requests of a Client.
type Stats struct {
	Requests uint64 // requests that were attempted
	Retries  uint64 // attempts that failed and were repeated
	Bytes    uint64 // bytes of the bodies of all attempts, compressed
}

// New returns a Client. It does not connect; errors come from
// [Config.Validate].
func New(c Config) (*Client, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	if c.Header = c.Header.Clone(); c.Header == nil {
		c.Header = http.Header{}
	}
	if c.Header.Get("Accept-Encoding") == "" {
		c.Header.Set("Accept-Encoding", "identity") // without it the server may choose
	}
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, err
	}
	cl := &Client{c: c, url: u, mask: secretsOf(c.Header, u), packing: make(chan struct{}, 1)}
	cl.conns = connections{c: &cl.c, http: newHTTP(&c, c.TLS), tls: c.TLS}
	cl.ctx, cl.stop = context.WithCancelCause(context.Background())
	return cl, nil
}

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	return Stats{Requests: c.requests.Load(), Retries: c.retries.Load(), Bytes: c.sent.Load()}
}

// Close interrupts running requests and closes the connections. Closing again
// does nothing.
func (c *Client) Close() error {
	c.stop(delivery.ErrClosed)
	c.conns.closeIdle()
	return nil
}

// Ping sends body once, and returns the response.
func (c *Client) Ping(ctx context.Context, body []byte) (Response, error) {
	ctx, end := c.within(ctx)
	defer end()
	body, err := c.pack(nil, body)
	if err != nil {
		return Response{}, err
	}
	return c.once(ctx, body)
}

// pack returns body, compressed to dst if Config.Compress is set.
func (c *Client) pack(dst, body []byte) ([]byte, error) {
	if c.c.Compress == nil {
		return body, nil
	}
	c.packing <- struct{}{}
	defer func() { <-c.packing }()
	body, err := c.c.Compress(dst, body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.c.Name, err)
	}
	return body, nil
}

// Post sends body, repeats failed attempts with pauses, and returns the first
// response that needs no repetition. It returns the error of the last attempt
// if it fails after Config.DeliverTimeout, or when ctx ends. If the server
// requests a longer pause than that, the next call waits for the rest of it.
// The error wraps os.ErrDeadlineExceeded if there was a connection and no
// response within Config.Timeout: a shorter body may succeed. body is not used
// after Post has returned.
func (c *Client) Post(ctx context.Context, body []byte) (Response, error) {
	ctx, end := c.within(ctx)
	defer end()
	body, err := c.pack(c.packed[:0], body)
	if err != nil {
		return Response{}, err
	}
	if c.c.Compress != nil {
		c.packed = body
	}
	if !c.delayed {
		c.delay = 0
	}
	c.delayed = false
	c.begun, c.status = false, 0
	begin, repeated := time.Now(), false
	for {
		if err := c.wait(ctx, begin); err != nil {
			return Response{}, err
		}
		resp, err := c.once(ctx, body)
		c.begun, c.status = err == nil || errors.As(err, new(sentError)), resp.Status
		if err == nil && !resp.again() {
			c.pause, c.last, resp.Repeated = 0, nil, repeated
			return resp, nil
		}
		repeated = repeated || c.begun
		if err == nil {
			err = resp.Err()
		} else if ctx.Err() != nil {
			return Response{}, c.ended(ctx)
		}
		pause := c.pause.Next(firstPause, lastPause)
		if resp.after > 0 {
			pause = resp.after
		}
		c.failed(err, pause)
	}
}

// Delay makes the next Post wait as after a failed attempt, longer each time
// until a Post is not followed by Delay. It is for servers that accept a
// request and refuse a part of it for now. err is the error of that part.
func (c *Client) Delay(err error) {
	c.delayed = true
	c.failed(err, c.delay.Next(firstPause, lastPause))
}

// failed counts a failed attempt. The next one follows after a pause.
func (c *Client) failed(err error, pause time.Duration) {
	c.retries.Add(1)
	c.last = err
	c.after = time.Now().Add(pause)
	if c.c.OnError != nil {
		c.c.OnError(err)
	}
}

// wait waits until the next attempt may be made. A call of Post that began
// DeliverTimeout ago makes no further attempt.
func (c *Client) wait(ctx context.Context, begin time.Time) error {
	left := endless
	if c.c.DeliverTimeout > 0 {
		left = c.c.DeliverTimeout - time.Since(begin)
	}
	pause := time.Until(c.after)
	if d := min(pause, left); d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	switch {
	case ctx.Err() != nil:
		return c.ended(ctx)
	case pause < left:
		return nil
	case c.last != nil:
		return c.last
	}
	return fmt.Errorf("%s: %w", c.c.Name, errDeliver)
}

// ended returns the error if there is no time for another attempt.
func (c *Client) ended(ctx context.Context) error {
	cause := context.Cause(ctx)
	if c.last != nil && !errors.Is(cause, delivery.ErrClosed) {
		return c.last
	}
	return fmt.Errorf("%s: %w", c.c.Name, cause)
}

// within returns a context that ends with ctx and with Close.
func (c *Client) within(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if c.ctx.Err() != nil { // AfterFunc is asynchronous
		cancel(delivery.ErrClosed)
	}
	release := context.AfterFunc(c.ctx, func() { cancel(delivery.ErrClosed) })
	return ctx, func() {
		release()
		cancel(nil)
	}
}

// once makes one attempt.
func (c *Client) once(ctx context.Context, body []byte) (Response, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.c.Timeout, errTimeout)
	defer cancel()
	b := &requestBody{data: body}
	defer b.detach()
	req := (&http.Request{
		Method: http.MethodPost, URL: c.url, Host: cmp.Or(c.c.Header.Get("Host"), c.url.Host),
		Header: c.c.Header.Clone(),
		Proto:  "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: b, ContentLength: int64(len(body)), GetBody: b.again,
	}).WithContext(ctx)
	if len(body) == 0 {
		req.Body, req.GetBody = http.NoBody, nil
	} else if c.c.Encoding != "" {
		req.Header.Set("Content-Encoding", c.c.Encoding)
	}
	c.requests.Add(1)
	c.sent.Add(uint64(len(body)))
	client, fault := c.conns.current()
	if fault != nil && c.c.OnError != nil {
		c.c.OnError(fault)
	}
	resp, err := client.Do(req)
	if err != nil {
		return Response{}, c.fault(ctx, b, err)
	}
	defer resp.Body.Close()
	most := int64(c.c.MaxResponse)
	var text []byte
	// its body is the connection, which ctx does not end
	if resp.StatusCode != http.StatusSwitchingProtocols {
		text, err = io.ReadAll(io.LimitReader(resp.Body, max(most, most+1))) // the sum may overflow
	}
	r := Response{Status: resp.StatusCode, Header: resp.Header, after: retryAfter(resp.Header, time.Now())}
	r.prefix = c.prefix()
	if r.Truncated = len(text) > c.c.MaxResponse; r.Truncated {
		text, err = text[:c.c.MaxResponse], nil
	}
	if r.Body = text; err != nil {
		return Response{}, c.fault(ctx, b, fmt.Errorf("the response %d is not complete: %w",
			r.Status, err))
	}
	c.readable(&r)
	return r, nil
}

// fault adds the server to an error, and replaces it by the cause of a context
// that has ended.
func (c *Client) fault(ctx context.Context, b *requestBody, err error) error {
	var quoted *url.Error
	if errors.As(err, &quoted) {
		err = quoted.Err
	}
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if b.begun() {
		err = sentError{err}
	}
	return fmt.Errorf("%s: %w", c.prefix(), c.mask.maskError(err))
}

// prefix returns the prefix of errors about an attempt.
func (c *Client) prefix() string { return c.c.Name + ": POST " + place(c.url) }
