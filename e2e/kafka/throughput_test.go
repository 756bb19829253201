// SPDX-License-Identifier: Apache-2.0

package kafka_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/kafka/embedded"
	"github.com/nib-log/nib/e2e/kafka/cluster"
	"github.com/nib-log/nib/sink/spool"
	"github.com/twmb/franz-go/pkg/kgo"
)

// gated is a destination that begins to deliver when gate is closed.
type gated struct {
	*kafka.Destination
	gate <-chan struct{}
}

func (g gated) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	select {
	case <-g.gate:
		return g.Destination.Deliver(ctx, batch)
	case <-ctx.Done():
		return delivery.Result{}, ctx.Err()
	}
}

// line makes a line of about 200 bytes.
func line(n int) []byte {
	return fmt.Appendf(nil, `{"time":"2026-11-21T10:00:00.%09dZ","level":"info","service":"orders","message":"order accepted",`+
		`"order":%d,"customer":"%x","amount":%d.%02d,"currency":"EUR","path":"/v1/orders/%d"}`+"\n", n, n, n*2654435761, n%900, n%100, n)
}

// fromSpool measures how long a spool that is full takes to deliver n lines.
func fromSpool(t *testing.T, addrs []string, n int) time.Duration {
	t.Helper()
	d, err := kafka.New(addrs, "logs", kafka.Config{})
	must(t, err)
	defer d.Close()
	gate := make(chan struct{})
	s, err := spool.Open(t.TempDir(), gated{d, gate}, spool.Config{OnFull: patient})
	must(t, err)
	for i := range n {
		must(t, s.WriteRecord(&nib.Record{Time: time.Now().UnixNano(), Level: nib.LevelInfo,
			Line: line(i)}))
	}
	began := time.Now()
	close(gate)
	must(t, s.Flush(t.Context()))
	took := time.Since(began)
	must(t, s.Close())
	return took
}

// bare measures how long franz-go's own producer takes for the same records.
func bare(t *testing.T, addrs []string, n int) time.Duration {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addrs...), kgo.DefaultProduceTopic("logs"),
		kgo.ProducerBatchCompression(kgo.Lz4Compression()), kgo.MaxBufferedRecords(n+1))
	must(t, err)
	defer cl.Close()
	spool := []byte(hex.EncodeToString([]byte("spool id")))
	lines := make([][]byte, n)
	for i := range lines {
		lines[i] = line(i)
	}
	began := time.Now()
	var failed error
	for i, l := range lines {
		now := time.Now()
		r := &kgo.Record{Value: l[:len(l)-1], Timestamp: now, Headers: []kgo.RecordHeader{
			{Key: "level", Value: []byte("info")},
			{Key: "time", Value: strconv.AppendInt(nil, now.UnixNano(), 10)},
			{Key: "spool", Value: spool},
			{Key: "seq", Value: strconv.AppendInt(nil, int64(i), 10)},
		}}
		cl.Produce(t.Context(), r, func(_ *kgo.Record, err error) {
			if err != nil {
				failed = err
			}
		})
	}
	must(t, cl.Flush(t.Context()))
	if failed != nil {
		t.Fatal(failed)
	}
	return time.Since(began)
}

// compare prints how fast a spool is beside franz-go's own producer: the
// fastest of some rounds each, in turns.
func compare(t *testing.T, addrs []string, what string) {
	n, rounds := 100_000, 5
	if full() {
		n, rounds = 400_000, 7
	}
	best := [2]time.Duration{1 << 62, 1 << 62}
	for range rounds {
		best[0] = min(best[0], fromSpool(t, addrs, n))
		best[1] = min(best[1], bare(t, addrs, n))
	}
	rate := func(d time.Duration) float64 { return float64(n) / d.Seconds() / 1000 }
	t.Logf("%s: from a spool %.0f k/s, franz-go's producer %.0f k/s, ratio %.2f",
		what, rate(best[0]), rate(best[1]), best[1].Seconds()/best[0].Seconds())
}

func TestThroughput(t *testing.T) {
	if testing.Short() {
		t.Skip("in short mode, kfaketest has this case with a broker in memory")
	}
	if !json.Valid(line(1)) {
		t.Fatal("not JSON")
	}
	t.Run("embedded", func(t *testing.T) {
		c, err := embedded.Start(embedded.Config{Topic: "logs"})
		must(t, err)
		defer c.Close()
		compare(t, c.Addrs(), "kfake")
	})
	t.Run("broker", func(t *testing.T) {
		c := cluster.Start(t, 1)
		c.Create("logs", 1)
		compare(t, c.Addrs(), "one broker")
	})
	t.Run("three brokers", func(t *testing.T) {
		c := cluster.Start(t, 3)
		c.Create("logs", 1)
		compare(t, c.Addrs(), "three brokers")
	})
}
