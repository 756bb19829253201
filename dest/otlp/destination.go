// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/httpsend"
)

// A Destination sends records to an OTLP/HTTP receiver. It is created by [New].
// Deliver must not be called concurrently; Ping, Stats and Close may be called
// at any time.
type Destination struct {
	c      Config
	url    string
	client *httpsend.Client

	work   sync.Mutex // held by Deliver
	enc    *encoder
	sender *httpsend.Sender

	records, rejected, partial atomic.Uint64
}

var (
	_ delivery.Destination = (*Destination)(nil)
	_ delivery.Pinger      = (*Destination)(nil)
	_ delivery.Batcher     = (*Destination)(nil)
)

// Stats counts the records and requests of a Destination.
type Stats struct {
	Records  uint64 // accepted by the server, including PartialRejected
	Rejected uint64 // rejected records, with the reason
	// Records that the server counted as rejected in a partial success, without
	// identifying them.
	PartialRejected uint64
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
	d := &Destination{c: c, enc: newEncoder(&c)}
	header := c.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", contentType)
	if header.Get("User-Agent") == "" {
		header.Set("User-Agent", "nib-otlp")
	}
	var err error
	d.client, err = httpsend.New(httpsend.Config{
		Name: "nib/otlp", URL: url, Header: header, TLS: c.TLS, ReloadTLS: c.reload,
		Timeout: c.Timeout, MaxResponse: maxResponse, OnError: c.OnError, Dial: c.Dial,
		Gzip: c.Compression == "gzip",
	})
	if err != nil {
		return nil, err
	}
	d.url, _, _ = strings.Cut(url, "?") // a query may have a key
	d.sender = httpsend.NewSender(d.client, (*format)(d), c.MaxRequest)
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
	if _, _, ok := partialSuccess(resp); !ok {
		return fmt.Errorf("%w: %w", errNotOTLP, resp.Err())
	}
	return nil
}

// Stats returns the counts so far. It is safe for concurrent use.
func (d *Destination) Stats() Stats {
	st := d.client.Stats()
	return Stats{
		Records: d.records.Load(), Rejected: d.rejected.Load(), PartialRejected: d.partial.Load(),
		Requests: st.Requests, Failures: st.Failures, Bytes: st.Bytes,
	}
}

// Close interrupts a running call of Deliver, and closes the connections. There
// is nothing to flush. Closing again does nothing.
func (d *Destination) Close() error { return d.client.Close() }

// Deliver sends batch in one request, or in several if it is too long for one,
// and returns when the receiver has accepted or rejected all of it, after the
// first failure, after Config.Timeout, or when ctx ends.
//
// If a request fails before its response is complete, or gets a status such as
// 503, its records are sent again by another call, after the pause that the
// server requests. If the receiver refuses a request because of one record,
// this record is found and rejected; see [httpsend.Sender]. If it accepts none,
// that is an error of the configuration, such as a wrong password, and the
// records wait.
//
// Deliver does not retain batch. It allocates per request, not per record.
func (d *Destination) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	d.work.Lock()
	defer d.work.Unlock()
	res, err := d.sender.Deliver(ctx, batch)
	d.rejected.Add(uint64(len(res.Rejected)))
	return res, err
}

// format is the format of requests.
type format Destination

// Check implements [httpsend.Protocol].
func (*format) Check(*nib.Record) error { return nil }

// Body implements [httpsend.Protocol].
func (f *format) Body(batch []nib.Record, want []int, limit int) (body []byte, n int) {
	f.enc.begin()
	for n < len(want) && f.enc.add(&batch[want[n]], limit) {
		n++
	}
	return f.enc.end(), n
}

// Read implements [httpsend.Protocol].
func (f *format) Read(resp httpsend.Response, statuses []httpsend.RecordStatus) error {
	reason, err := (*Destination)(f).accepted(resp, len(statuses))
	if reason != nil {
		for i := range statuses {
			statuses[i].Err = reason
		}
	}
	return err
}

// Error implements [httpsend.Protocol].
func (*format) Error(resp httpsend.Response) error { return responseError(resp) }
