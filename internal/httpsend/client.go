// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/delivery"
)

// maxAfter is the longest Retry-After that is honoured.
const maxAfter = 10 * time.Minute

var errTimeout = errors.New("no response within Timeout")

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

	packed []byte // the last compressed body of Post
	conns  connections

	after time.Time // no request before this time, as requested by the server

	requests, failures, sent atomic.Uint64
}

// Stats counts the requests of a Client.
type Stats struct {
	Requests uint64 // requests that were attempted
	Failures uint64 // attempts that failed
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
	cl := &Client{c: c, url: u, mask: secretsOf(c.Header, u)}
	cl.conns = connections{c: &cl.c, http: newHTTP(&c, c.TLS), tls: c.TLS}
	cl.ctx, cl.stop = context.WithCancelCause(context.Background())
	return cl, nil
}

// Stats returns the counts so far.
func (c *Client) Stats() Stats {
	return Stats{Requests: c.requests.Load(), Failures: c.failures.Load(), Bytes: c.sent.Load()}
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
	if c.c.Gzip {
		body = appendGzip(nil, body)
	}
	return c.once(ctx, body)
}

// gzipWriters are used by any Client: Ping and Post may need one at a time.
var gzipWriters = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is valid
	return w
}}

// appendGzip appends body, compressed, to dst.
func appendGzip(dst, body []byte) []byte {
	w := gzipWriters.Get().(*gzip.Writer)
	defer gzipWriters.Put(w)
	out := bytes.NewBuffer(dst)
	w.Reset(out)
	_, _ = w.Write(body) // a Buffer has no errors
	_ = w.Close()
	return out.Bytes()
}

// Post sends body once, and returns the response. It waits first if the server
// has requested that with Retry-After, for Config.Timeout at most. The error
// wraps os.ErrDeadlineExceeded if there was a connection and no response within
// Config.Timeout: a shorter body may succeed. body is not used after Post has
// returned.
func (c *Client) Post(ctx context.Context, body []byte) (Response, error) {
	ctx, end := c.within(ctx)
	defer end()
	if c.c.Gzip {
		c.packed = appendGzip(c.packed[:0], body)
		body = c.packed
	}
	if err := c.wait(ctx); err != nil {
		return Response{}, err
	}
	resp, err := c.once(ctx, body)
	if resp.after > 0 {
		c.after = time.Now().Add(resp.after)
	}
	return resp, err
}

// failed counts and reports a failed attempt.
func (c *Client) failed(err error) {
	c.failures.Add(1)
	if c.c.OnError != nil {
		c.c.OnError(err)
	}
}

// wait waits until the time that the server has requested.
func (c *Client) wait(ctx context.Context) error {
	pause := time.Until(c.after)
	if pause > 0 {
		timer := time.NewTimer(min(pause, c.c.Timeout))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", c.c.Name, context.Cause(ctx))
	case pause > c.c.Timeout:
		return fmt.Errorf("%s: the server has requested no further request for %v", c.prefix(),
			time.Until(c.after).Round(time.Second))
	}
	return nil
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
		Body: http.NoBody, ContentLength: int64(len(body)),
	}).WithContext(ctx)
	if len(body) > 0 {
		req.Body, _ = b.reader()
		req.GetBody = b.reader
	}
	if c.c.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
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
	r := Response{Status: resp.StatusCode, Header: resp.Header,
		after: retryAfter(resp.Header, time.Now())}
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
	if b.hasBegun() {
		err = sentError{err}
	}
	return fmt.Errorf("%s: %w", c.prefix(), c.mask.maskError(err))
}

// prefix returns the prefix of errors about an attempt.
func (c *Client) prefix() string { return c.c.Name + ": POST " + place(c.url) }
