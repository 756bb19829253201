// SPDX-License-Identifier: Apache-2.0

package elastic

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/httpsend"
)

// A Destination creates documents in an index. It is created by [New]. Deliver
// must not be called concurrently; Ping, Stats and Close may be called at any
// time.
type Destination struct {
	c      Config
	index  string
	client *httpsend.Client

	bulk bulk

	work     sync.Mutex // held by Deliver
	sender   *httpsend.Sender
	rejected atomic.Uint64
}

var (
	_ delivery.Destination = (*Destination)(nil)
	_ delivery.Pinger      = (*Destination)(nil)
	_ delivery.Batcher     = (*Destination)(nil)
	_ delivery.Starter     = (*Destination)(nil)
)

// Stats counts the records and requests of a Destination.
type Stats struct {
	Records  uint64 // created
	Present  uint64 // records that existed already
	Rejected uint64 // rejected, with the reason
	Requests uint64 // attempts
	Failures uint64 // failed attempts, or requests with records to be repeated
	Bytes    uint64 // size of the requests, compressed
}

// New returns a Destination for an index or a data stream of the server at a
// URL, such as http://opensearch:9200, or https://gateway/search for a server
// under a path. New does not connect, and fails only if the configuration is
// invalid.
func New(server, index string, c Config) (*Destination, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if index == "" || strings.ContainsAny(index, "/\\*?\"<>| ,#") {
		return nil, fmt.Errorf("nib/elastic: %q is not the name of an index or a data stream",
			index)
	}
	if strings.ContainsAny(server, "?#") {
		return nil, errors.New(
			"nib/elastic: the URL of the server has a query or a fragment; want http://HOST:PORT " +
				"or http://HOST:PORT/PATH")
	}
	server = strings.TrimSuffix(server, "/")
	c = c.withDefaults()
	d := &Destination{c: c, index: index}
	query := url.Values{"filter_path": {"items.*.status,items.*.error.type,items.*.error.reason"}}
	if c.Pipeline != "" {
		query.Set("pipeline", c.Pipeline)
	}
	header := c.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/x-ndjson")
	var err error
	d.client, err = httpsend.New(httpsend.Config{
		Name: "nib/elastic", URL: server + "/" + url.PathEscape(index) + "/_bulk?" + query.Encode(),
		Header: header, TLS: c.TLS, ReloadTLS: c.reload, Timeout: c.Timeout,
		MaxResponse: maxResponse, OnError: c.OnError, Dial: c.Dial,
		Gzip: c.Compression == "gzip",
	})
	if err != nil {
		return nil, err
	}
	d.sender = httpsend.NewSender(d.client, &d.bulk, c.MaxRequest)
	return d, nil
}

// maxResponse allows for a reason of 1 kB for each record.
const maxResponse = 16 << 20

// BatchSize implements [delivery.Batcher].
func (d *Destination) BatchSize() (records, bytes int) { return batchRecords, d.c.MaxRequest / 2 }

// Start implements [delivery.Starter]. A record with this Spool that was never
// sent is rejected if its document exists: then another one has its _id.
func (d *Destination) Start(spool uint64) { d.bulk.start(spool) }

// Ping sends an empty request to _bulk, which the server refuses as empty. It
// needs no right that Deliver does not need.
func (d *Destination) Ping(ctx context.Context) error {
	resp, err := d.client.Ping(ctx, nil)
	if err != nil {
		return err
	}
	if !resp.OK() && !isEmptyRequest(resp) {
		return resp.Err()
	}
	return nil
}

// Stats returns the counts so far. It is safe for concurrent use.
func (d *Destination) Stats() Stats {
	st := d.client.Stats()
	return Stats{
		Records: d.bulk.created.Load(), Present: d.bulk.present.Load(), Rejected: d.rejected.Load(),
		Requests: st.Requests, Failures: st.Failures, Bytes: st.Bytes,
	}
}

// Close interrupts a running call of Deliver, and closes the connections. There
// is nothing to flush. Closing again does nothing.
func (d *Destination) Close() error { return d.client.Close() }

// Deliver creates a document for each record of batch, and returns when all of
// them exist or are rejected, after the first failure, after Config.Timeout, or
// when ctx ends. Only the records that the server could not accept are sent
// again by another call. A record is rejected if the server refuses it because
// of its contents, for example because of the mapping, or if a request is
// refused because of it; see [httpsend.Sender]. Other refusals, such as a
// missing permission or a closed index, are errors of the configuration, and
// the records wait.
//
// Deliver does not retain batch. It allocates per request, not per record.
func (d *Destination) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	d.work.Lock()
	defer d.work.Unlock()
	res, err := d.sender.Deliver(ctx, batch)
	d.rejected.Add(uint64(len(res.Rejected)))
	return res, err
}
