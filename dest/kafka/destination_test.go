// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Deliver returns the settled records before the first unsettled one, and the
// reasons for rejected records.
func TestResultIsTheSettledBeginning(t *testing.T) {
	d := &Destination{states: []state{{settled: true}, {settled: true, reason: errDenied}, {settled: true}, {sent: true}, {settled: true, reason: errDenied}}}
	res := d.result()
	if res.Accepted != 3 || len(res.Rejected) != 1 || res.Rejected[0].Index != 1 || res.Rejected[0].Reason != errDenied {
		t.Errorf("got %+v, want 3 with the second one rejected", res)
	}
	d.states = d.states[:3]
	if res := d.result(); res.Accepted != 3 {
		t.Errorf("all settled: got %+v", res)
	}
}

// No two batches share states, and batches in flight are matched with the
// records of a new call.
func TestStatesOfABatch(t *testing.T) {
	d := testLanes(2, 0)
	for _, n := range []int{3, 2, 3, 5} {
		d.begin(make([]nib.Record, n))
		if len(d.states) != n {
			t.Fatalf("%d records have %d states", n, len(d.states))
		}
		for i := range d.states {
			if d.states[i] != (state{}) {
				t.Errorf("record %d of %d: got %+v", i, n, d.states[i])
			}
			d.states[i] = state{true, true, errDenied, true}
		}
	}
	before := &d.states[0]
	if d.begin(make([]nib.Record, 5)); &d.states[0] != before {
		t.Error("the memory of a batch of the same size is not used again")
	}
	d.lanes[1].queue = []*inFlight{queued(1, 2, 0), queued(3, 4, 2)}
	d.begin(make([]nib.Record, 4))
	if &d.states[0] != before {
		t.Error("the memory of a larger batch is not used again")
	}
	for _, p := range d.lanes[1].queue {
		if p.index[0] != -1 || p.index[1] != -1 {
			t.Errorf("got %v, want no record of the batch", p.index)
		}
	}
}

// A call ends with its context and with Close.
func TestEndOfACall(t *testing.T) {
	d := &Destination{}
	d.ctx, d.stop = context.WithCancel(context.Background())
	ctx, end := d.within(t.Context())
	if ctx.Err() != nil {
		t.Errorf("before the end: %v", context.Cause(ctx))
	}
	if end(); ctx.Err() == nil {
		t.Error("the context goes on after the call")
	}
	outer, cancel := context.WithCancelCause(t.Context())
	ctx, end = d.within(outer)
	defer end()
	if cancel(errors.ErrUnsupported); context.Cause(ctx) != errors.ErrUnsupported {
		t.Errorf("after the end of the caller's context: %v", context.Cause(ctx))
	}
	ctx, end = d.within(t.Context())
	defer end()
	d.stop()
	if <-ctx.Done(); context.Cause(ctx) != errClosed {
		t.Errorf("after Close: %v", context.Cause(ctx))
	}
}

// Deliver tries once: the caller repeats.
func TestOneAttempt(t *testing.T) {
	failed := 0
	d, err := New([]string{"127.0.0.1:1"}, "logs", Config{OnError: func(error) { failed++ }})
	must.Succeed(t, err)
	defer d.Close()
	d.cluster.client.Close() // so that each request fails at once
	for n := range 3 {
		res, err := d.Deliver(t.Context(), records(7, 1, 1))
		if err == nil || res.Accepted > 0 || failed != n+1 {
			t.Fatalf("got %+v, %v, %d failures; want %d", res, err, failed, n+1)
		}
	}
}

// Failures are counted with and without OnError.
func TestFailuresAreCounted(t *testing.T) {
	var got error
	d := &Destination{}
	d.failed(errDenied)
	d.c.OnError = func(err error) { got = err }
	d.failed(errClosed)
	if !errors.Is(got, errClosed) || d.Stats().Failures != 2 {
		t.Errorf("got %v, %+v", got, d.Stats())
	}
}

// Milliseconds are rounded down, and none are before 1970.
func TestMilliseconds(t *testing.T) {
	for ns, want := range map[int64]int64{0: 0, 1: 0, 999_999: 0, 1e6: 1, 1_999_999: 1, -1: 0, -1e6: 0, math.MinInt64: 0, math.MaxInt64: 9_223_372_036_854} {
		if got := floorMilli(ns); got != want {
			t.Errorf("%d ns: got %d, want %d", ns, got, want)
		}
	}
}

// A batch names its codec, and is not compressed if compression makes it
// larger.
func TestCodecOfABatch(t *testing.T) {
	line := append(bytes.Repeat([]byte("abc"), 500), '\n')
	for c, want := range map[string]kgo.CompressionCodecType{
		"lz4": kgo.CodecLz4, "none": kgo.CodecNone, "snappy": kgo.CodecSnappy, "zstd": kgo.CodecZstd, "gzip": kgo.CodecGzip,
	} {
		compress, err := kgo.DefaultCompressor(codecs[c])
		must.Succeed(t, err)
		for _, transactional := range []bool{false, true} {
			e := encoder{compressor: compress, transactional: transactional}
			e.add(&nib.Record{Line: line}, nil, "")
			frame := e.frame(producer{3, 4}, 5)
			attributes := binary.BigEndian.Uint16(frame[frameAttributes:])
			if got := kgo.CompressionCodecType(attributes & 7); got != want || (attributes&attributeTransactional != 0) != transactional {
				t.Errorf("%s: got attributes %b", c, attributes)
			}
			e.reset()
			e.add(&nib.Record{Line: []byte("x")}, nil, "")
			frame = e.frame(producer{3, 4}, 5)
			if got := binary.BigEndian.Uint16(frame[frameAttributes:]) & 7; got != 0 {
				t.Errorf("%s: a short batch has codec %d", c, got)
			}
		}
	}
}
