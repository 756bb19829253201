// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/delivery"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/nibtest"
)

func TestConformance(t *testing.T) {
	nibtest.TestDestination(t, func(t testing.TB) (delivery.Destination, func() [][]byte) {
		c := start(t, 1)
		return dial(t, c, Config{}), func() (lines [][]byte) {
			for _, m := range read(t, c, logs) {
				lines = append(lines, append(m.Value, '\n'))
			}
			return lines
		}
	})
}

func TestDeliver(t *testing.T) {
	c := start(t, 1)
	d := dial(t, c, Config{})
	deliver(t, d, records(7, 1, 3000))
	deliver(t, d, records(7, 3001, 3100))
	wantExactly(t, c, 1, 3100)
	if got := d.Stats(); got.Records != 3100 || got.Failures != 0 {
		t.Errorf("Stats: got %+v", got)
	}
}

func TestMessage(t *testing.T) {
	for _, compression := range []string{"lz4", "none", "snappy", "zstd", "gzip"} {
		c := start(t, 1)
		d := dial(t, c, Config{Compression: compression})
		batch := records(0xabc, 5, 104)
		batch[1].Level, batch[1].Logger = nib.LevelError+1, ""
		batch[2].Time = -5
		deliver(t, d, batch)
		all := read(t, c, logs)
		if len(all) != 100 {
			t.Fatalf("compression %s: got %d messages", compression, len(all))
		}
		for i, m := range all {
			r := batch[i]
			if got, want := string(m.Value), strings.TrimSuffix(string(r.Line), "\n"); got != want {
				t.Errorf("value: got %s, want %s", got, want)
			}
			if got, want := m.Time, time.UnixMilli(max(r.Time, 0)/1e6); !got.Equal(want) {
				t.Errorf("time: got %v, want %v", got, want)
			}
		}
		if got := all[0].Headers; len(got) != 5 || got["level"] != "info" || got["logger"] != "db" ||
			got["spool"] != "0000000000000abc" || got["seq"] != "5" || got["time"] != "1700000000005000000" {
			t.Errorf("headers: got %v", got)
		}
		if got := all[1].Headers; len(got) != 4 || got["level"] != "error+1" {
			t.Errorf("headers: got %v", got)
		}
	}
}

// A whole delivery, with the broker in the same process, makes far fewer
// allocations than there are records.
func TestDeliverAllocations(t *testing.T) {
	c := start(t, 1)
	d := dial(t, c, Config{})
	const size = 1000
	next := uint64(1)
	batches := make([][]nib.Record, 12) // one for each call of Count
	for i := range batches {
		batches[i] = records(7, next, next+size-1)
		next += size
	}
	i := 0
	got, _ := alloctest.Count(func() {
		deliver(t, d, batches[i])
		i++
	}, 2)
	t.Logf("%v allocations for %d records, the broker's included", got, size)
	if got > size/4 {
		t.Errorf("got %v allocations for %d records", got, size)
	}
}

func TestPing(t *testing.T) {
	d := dial(t, start(t, 1), Config{})
	if err := d.Ping(t.Context()); err != nil {
		t.Errorf("got %v, want nil", err)
	}
	if res, err := d.Deliver(t.Context(), records(7, 1, 2)); err != nil || res.Accepted != 2 {
		t.Errorf("Deliver after Ping: got %+v, %v", res, err)
	}
}

func TestPingWithoutTopic(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	must.Succeed(t, err)
	t.Cleanup(c.Close)
	if err := dial(t, c, Config{}).Ping(t.Context()); !errors.Is(err,
		kerr.UnknownTopicOrPartition) {
		t.Errorf("got %v, want %v", err, kerr.UnknownTopicOrPartition)
	}
}

func TestPingWithoutBroker(t *testing.T) {
	d, err := New([]string{"127.0.0.1:1"}, logs, Config{})
	must.Succeed(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	if err := d.Ping(t.Context()); !errors.Is(err, delivery.ErrClosed) {
		t.Errorf("after Close: got %v, want %v", err, delivery.ErrClosed)
	}
}
