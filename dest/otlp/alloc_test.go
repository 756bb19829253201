// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/must"
)

// lines makes records with a field of each kind.
func lines(n int) []nib.Record {
	batch := make([]nib.Record, n)
	for i := range batch {
		line := fmt.Appendf(nil, `{"time":"2026-01-02T15:04:05.000Z","level":"info","n":%d,"f":1.25,"ok":true,"user":{"name":"a \"b\"","tags":["x","y"]},"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","path":"/a/b","message":"request served"}`+"\n", i)
		batch[i] = nib.Record{Time: 1767366245000000000, Line: line, Message: line[len(line)-17 : len(line)-3], Spool: 7, Seq: uint64(i), Logger: []string{"db", "http"}[i/10%2]}
	}
	return batch
}

func TestEncodeAllocatesNothing(t *testing.T) {
	batch := lines(100)
	c := Config{Resource: map[string]string{"service.name": "test"}}.withDefaults()
	e := newEncoder(&c)
	alloctest.Zero(t, func() {
		e.begin()
		for i := range batch {
			if !e.add(&batch[i], c.MaxRequest) {
				t.Fatal("too long")
			}
		}
		_ = e.end()
	})
}

// Deliver allocates as much for a batch of 1,000 records as for one of 10, so
// nothing per record.
func TestDeliverAllocatesNothingPerRecord(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer server.Close()
	for _, name := range []string{"none", "gzip"} {
		d, err := New(server.URL+"/v1/logs", Config{Compression: name})
		must.Succeed(t, err)
		defer d.Close()
		few, many := mallocsOf(t, d, lines(10)), mallocsOf(t, d, lines(1000))
		t.Logf("%s: %v mallocs for a request, the server included", name, many)
		if many > few+50 {
			t.Errorf("%s: %v mallocs for 1,000 records, %v for 10", name, many, few)
		}
	}
}

// mallocsOf returns the mallocs of a delivery, the server included.
func mallocsOf(t *testing.T, d *Destination, batch []nib.Record) float64 {
	mallocs, _ := alloctest.Count(func() {
		if res, err := d.Deliver(context.Background(), batch); err != nil || res.Accepted != len(batch) {
			t.Fatal(res, err)
		}
	}, 4)
	return mallocs
}

func BenchmarkEncode(b *testing.B) {
	batch := lines(1000)
	c := Config{}.withDefaults()
	e := newEncoder(&c)
	for b.Loop() {
		e.begin()
		for i := range batch {
			e.add(&batch[i], c.MaxRequest)
		}
		b.SetBytes(int64(len(e.end())))
	}
}
