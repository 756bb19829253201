// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/delivery/httpsend"
)

// A Destination sends records to an OTLP/HTTP receiver. It is created by [New].
// Deliver must not be called concurrently; Ping, Stats and Close may be called
// at any time.
type Destination struct {
	c      Config
	url    string
	client *httpsend.Client

	work    sync.Mutex // held by Deliver
	enc     *encoder
	limit   int       // maximum size of a request, at most MaxRequest
	limited time.Time // time at which limit was lowered

	records, rejected, partial atomic.Uint64
}

var (
	_ delivery.Destination = (*Destination)(nil)
	_ delivery.Pinger      = (*Destination)(nil)
	_ delivery.Batcher     = (*Destination)(nil)
)

// Stats counts the records and requests of a Destination.
type Stats struct {
	Records         uint64 // accepted by the server, including PartialRejected
	Rejected        uint64 // rejected records, with the reason
	PartialRejected uint64 // records that the server counted as rejected in a partial success, without identifying them
	Requests        uint64 // attempts
	Failures        uint64 // failed attempts, which were repeated
	Bytes           uint64 // size of the requests, compressed
}

// New returns a Destination for the receiver at a URL, such as
// http://collector:4318/v1/logs. New does not connect, and fails only if the
// configuration is invalid. It does not read the environment; [FromEnv] does.
func New(url string, c Config) (*Destination, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	d := &Destination{c: c, url: url, enc: newEncoder(&c), limit: c.MaxRequest}
	encoding, compress, err := compressor(c.Compression)
	if err != nil {
		return nil, fmt.Errorf("nib/otlp: %w", err)
	}
	header := c.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", contentType)
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", "nib-otlp")
	}
	d.client, err = httpsend.New(httpsend.Config{
		Name: "nib/otlp", URL: url, Header: header, TLS: c.TLS, Encoding: encoding, Compress: compress,
		Timeout: c.Timeout, DeliverTimeout: c.DeliverTimeout, MaxResponse: maxResponse, OnError: c.OnError, Dial: c.Dial,
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

const (
	contentType = "application/x-protobuf"
	maxResponse = 64 << 10
)

// BatchSize implements [delivery.Batcher].
func (d *Destination) BatchSize() (records, bytes int) { return batchRecords, d.c.MaxRequest / 2 }

// Ping sends an empty request, which receivers accept and ignore.
func (d *Destination) Ping(ctx context.Context) error {
	resp, err := d.client.Ping(ctx, nil)
	if err != nil {
		return err
	}
	if !resp.OK() {
		return responseError(resp)
	}
	return nil
}

// Stats returns the counts so far. It is safe for concurrent use.
func (d *Destination) Stats() Stats {
	st := d.client.Stats()
	return Stats{
		Records: d.records.Load(), Rejected: d.rejected.Load(), PartialRejected: d.partial.Load(),
		Requests: st.Requests, Failures: st.Retries, Bytes: st.Bytes,
	}
}

// Close interrupts a running call of Deliver, and closes the connections. There
// is nothing to flush. Closing again does nothing.
func (d *Destination) Close() error { return d.client.Close() }

// Deliver sends batch in one request, or in several if it is too long for one,
// and returns when the receiver has accepted or rejected all of it, when
// Config.DeliverTimeout is over, or when ctx ends.
//
// A request that fails before its response is complete, or gets status 429,
// 502, 503 or 504, is sent again, after the pause that the server requests. A
// request that gets 400 or 413 is split; a single record that the server
// refuses is rejected, if the server accepts an empty request. All other
// statuses are errors of the configuration, such as a wrong password, and the
// records wait.
//
// Deliver does not retain batch. It allocates per request, not per record.
func (d *Destination) Deliver(ctx context.Context, batch []nib.Record) (res delivery.Result, err error) {
	d.work.Lock()
	defer d.work.Unlock()
	suspects := 0 // among this many of the next records is one that the server refuses
	for err == nil && res.Accepted < len(batch) {
		rest := batch[res.Accepted:]
		most := len(rest)
		if suspects > 0 {
			most = max(suspects/2, 1)
		}
		var n int
		var reason error
		n, reason, err = d.send(ctx, rest[:most])
		switch {
		case err != nil:
		case reason == nil:
			res.Accepted += n
			suspects = max(suspects-n, 0)
		case errors.As(reason, new(refusedAll)):
			res = reject(res, n, reason)
			suspects = 0
		case n > 1 && errors.Is(reason, delivery.ErrTooLarge):
		case n > 1:
			suspects = n
		default:
			if err = d.confirm(ctx, reason); err == nil {
				res = reject(res, 1, reason)
				suspects = max(suspects-1, 0)
			}
			if err == nil && len(res.Rejected) == maxUnproven {
				err = d.prove(ctx, batch[len(batch)-1:], reason)
			}
			if err != nil && d.records.Load() == 0 {
				res = delivery.Result{} // earlier refused records wait as well
			}
		}
	}
	d.rejected.Add(uint64(len(res.Rejected)))
	return res, err
}

// reject settles the next n records as rejected.
func reject(res delivery.Result, n int, reason error) delivery.Result {
	for range n {
		res.Rejected = append(res.Rejected, delivery.Rejection{Index: res.Accepted, Reason: reason})
		res.Accepted++
	}
	return res
}

// send sends one request with the first n records of batch. reason is set if
// the server refuses them, err if they must wait.
func (d *Destination) send(ctx context.Context, batch []nib.Record) (n int, reason, err error) {
	if d.limit < d.c.MaxRequest && time.Since(d.limited) > limitTime {
		d.limit, d.limited = min(2*d.limit, d.c.MaxRequest), time.Now()
	}
	d.enc.begin()
	for n < len(batch) && d.enc.add(&batch[n], d.limit) {
		n++
	}
	body := d.enc.end()
	resp, err := d.client.Post(ctx, body)
	switch {
	case err != nil:
		if n > 1 && errors.Is(err, os.ErrDeadlineExceeded) {
			d.shorten(max(len(body)/2, minSlow))
		}
		return n, nil, err
	case resp.OK():
		return n, d.accepted(resp, n), nil
	case resp.Status == http.StatusRequestEntityTooLarge:
		if n > 1 {
			d.shorten(len(body) / 2)
		}
		return n, fmt.Errorf("%w: %w", responseError(resp), delivery.ErrTooLarge), nil
	case resp.Status == http.StatusBadRequest || resp.Status == http.StatusUnprocessableEntity:
		return n, responseError(resp), nil
	}
	err = responseError(resp)
	d.client.Delay(err)
	return n, nil, err
}

// shorten makes requests shorter, after the server has rejected one as too long
// or has not responded to it in time.
func (d *Destination) shorten(limit int) { d.limit, d.limited = min(d.limit, limit), time.Now() }

const (
	limitTime = time.Minute // the time after which requests may be twice as long again
	minSlow   = 64 << 10    // the size below which requests do not become shorter because of timeouts
)

// maxUnproven is the maximum number of records of a batch that are rejected by
// a receiver that has never accepted one.
const maxUnproven = 16

// prove checks that the receiver accepts any record, if it has not accepted one
// yet. A receiver that refuses everything is misconfigured, and the records
// wait. If it accepts last, which is sent before others, the batch continues,
// and last arrives twice.
func (d *Destination) prove(ctx context.Context, last []nib.Record, reason error) error {
	if d.records.Load() > 0 {
		return nil
	}
	_, refused, err := d.send(ctx, last)
	if refused != nil {
		err = reason
		d.client.Delay(err)
	}
	return err
}

// confirm checks that the server refuses the record, and not every request: a
// wrong path gets status 400, too. A refusal because of size always concerns
// the record.
func (d *Destination) confirm(ctx context.Context, reason error) error {
	if errors.Is(reason, delivery.ErrTooLarge) {
		return nil
	}
	if d.Ping(ctx) == nil {
		return nil
	}
	d.client.Delay(reason)
	return reason
}
