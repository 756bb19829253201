// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/dest/kafka/internal/backoff"
	"github.com/nib-log/nib/internal/await"
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

// A call ends with its context, with Close, and after its time if it has one.
func TestEndOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &Destination{}
		d.ctx, d.stop = context.WithCancel(context.Background())
		for _, timeout := range []time.Duration{0, -1} {
			ctx, end := d.within(t.Context(), timeout)
			await.Sleep(time.Hour)
			if ctx.Err() != nil {
				t.Errorf("%v: %v", timeout, context.Cause(ctx))
			}
			end()
			if ctx.Err() == nil {
				t.Error("the context goes on after the call")
			}
		}
		ctx, end := d.within(t.Context(), time.Minute)
		defer end()
		await.Sleep(time.Minute - time.Nanosecond)
		if ctx.Err() != nil {
			t.Errorf("after a minute less 1 ns: %v", context.Cause(ctx))
		}
		await.Sleep(time.Nanosecond)
		if context.Cause(ctx) != errDeliverTimeout {
			t.Errorf("after a minute: %v", context.Cause(ctx))
		}
		ctx, end = d.within(t.Context(), time.Minute)
		defer end()
		d.stop()
		synctest.Wait()
		if context.Cause(ctx) != errClosed {
			t.Errorf("after Close: %v", context.Cause(ctx))
		}
	})
}

// A pause is half of its length at least, and ends with the context.
func TestPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 1000 {
			began := time.Now()
			wait(t.Context(), time.Second)
			if got := time.Since(began); got < time.Second/2 || got > time.Second {
				t.Fatalf("got %v", got)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		if wait(ctx, time.Hour); time.Since(began) > 0 {
			t.Errorf("context over: got %v", time.Since(began))
		}
	})
}

// The pauses between attempts double up to two seconds.
func TestPausesDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed []time.Time
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		d, err := New([]string{"127.0.0.1:1"}, "logs", Config{DeliverTimeout: -1, OnError: func(error) {
			if failed = append(failed, time.Now()); len(failed) == 10 {
				cancel()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		d.client.Close() // so that each request fails at once
		if _, err := d.Deliver(ctx, records(7, 1, 1)); err == nil || len(failed) != 10 {
			t.Fatalf("got %v, %d failures", err, len(failed))
		}
		want := backoff.First
		for i := range len(failed) - 1 {
			if got := failed[i+1].Sub(failed[i]); got < want/2 || got > want {
				t.Errorf("pause %d: got %v, want %v to %v", i, got, want/2, want)
			}
			want = min(2*want, 2*time.Second)
		}
	})
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
	for c, want := range map[Compression]kgo.CompressionCodecType{
		CompressionLZ4: kgo.CodecLz4, CompressionNone: kgo.CodecNone, CompressionSnappy: kgo.CodecSnappy, CompressionZstd: kgo.CodecZstd, CompressionGzip: kgo.CodecGzip,
	} {
		compress, err := compressor(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, transactional := range []bool{false, true} {
			e := encoder{compressor: compress, transactional: transactional}
			e.add(&nib.Record{Line: line}, nil, "")
			frame := e.frame(nil, producer{3, 4}, 5)
			attributes := binary.BigEndian.Uint16(frame[frameAttributes:])
			if got := kgo.CompressionCodecType(attributes & 7); got != want || (attributes&attributeTransactional != 0) != transactional {
				t.Errorf("%d: got attributes %b", c, attributes)
			}
			e.reset()
			e.add(&nib.Record{Line: []byte("x")}, nil, "")
			if got := binary.BigEndian.Uint16(e.frame(nil, producer{3, 4}, 5)[frameAttributes:]) & 7; got != 0 {
				t.Errorf("%d: a short batch has codec %d", c, got)
			}
		}
	}
}

// A key is chosen by its last bytes, too.
func TestHashOfShortKeys(t *testing.T) {
	seen := map[uint32]string{}
	for _, key := range []string{"", "a", "b", "ab", "ac", "abc", "abd", "abcd", "abcda", "abcdb", "abcdab", "abcdac", "abcdabc", "abcdabd"} {
		h := murmur2([]byte(key))
		if other, ok := seen[h]; ok {
			t.Errorf("%q and %q have one hash", key, other)
		}
		seen[h] = key
	}
}
