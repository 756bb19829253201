// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/dest/kafka/topic"
	"github.com/nib-log/nib/internal/must"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const logs = "logs"

// testTimeout is how long a test waits for an event that must occur. It is not
// a limit on latency.
const testTimeout = 2 * time.Minute

// start starts a cluster with the topic logs.
func start(t testing.TB, partitions int32, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	opts = append([]kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(partitions, logs)}, opts...)
	c, err := kfake.NewCluster(opts...)
	must.Succeed(t, err)
	t.Cleanup(c.Close)
	return c
}

// dial makes a destination that takes over without a pause.
func dial(t testing.TB, c *kfake.Cluster, conf Config) *Destination {
	t.Helper()
	if conf.TakeoverDelay == 0 {
		conf.TakeoverDelay = time.Millisecond
	}
	d, err := New(c.ListenAddrs(), logs, conf)
	must.Succeed(t, err)
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// records makes lines with the numbers first to last of a spool.
func records(spool, first, last uint64) []nib.Record {
	var batch []nib.Record
	for n := first; n <= last; n++ {
		batch = append(batch, nib.Record{
			Time: 1_700_000_000_000_000_000 + int64(n)*1_000_000, Level: nib.LevelInfo, Logger: "db",
			Line: fmt.Appendf(nil, `{"level":"info","n":%d,"message":"hello"}`+"\n", n), Spool: spool, Seq: n,
		})
	}
	return batch
}

// deliverUntil repeats Deliver, as a spool does, until its error is want.
func deliverUntil(
	t testing.TB, d delivery.Destination, batch []nib.Record, want error,
) (res delivery.Result) {
	t.Helper()
	for late := time.Now().Add(testTimeout); ; {
		res, err := d.Deliver(t.Context(), batch)
		switch {
		case errors.Is(err, want):
			return res
		case res.Accepted > 0 || time.Now().After(late):
			t.Fatalf("Deliver: got %+v, %v; want %v", res, err, want)
		}
	}
}

// deliver delivers all of batch, or fails the test.
func deliver(t testing.TB, d delivery.Destination, batch []nib.Record) (rejected []delivery.Rejection) {
	t.Helper()
	for done := 0; done < len(batch); {
		res := deliverUntil(t, d, batch[done:], nil)
		for _, r := range res.Rejected {
			rejected = append(rejected, delivery.Rejection{Index: r.Index + done, Reason: r.Reason})
		}
		done += res.Accepted
	}
	return rejected
}

// read returns the messages of the topic.
func read(t testing.TB, c *kfake.Cluster, name string) (all []topic.Message) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	err := topic.Read(ctx, c.ListenAddrs(), name, func(m topic.Message) bool {
		all = append(all, m)
		return true
	})
	must.Succeed(t, err)
	return all
}

// numbers returns the seq headers of messages.
func numbers(t testing.TB, all []topic.Message) (seqs []uint64) {
	t.Helper()
	for _, m := range all {
		n, err := strconv.ParseUint(m.Headers["seq"], 10, 64)
		if err != nil {
			t.Fatalf("headers of %s: %v", m.Value, m.Headers)
		}
		seqs = append(seqs, n)
	}
	return seqs
}

// wantExactly checks that the topic has the numbers from first to last, once
// and in order.
func wantExactly(t testing.TB, c *kfake.Cluster, first, last uint64) {
	t.Helper()
	got := numbers(t, read(t, c, logs))
	want := first
	for i, n := range got {
		if n != want {
			t.Fatalf("message %d: got number %d, want %d (of %d)", i, n, want, len(got))
		}
		want++
	}
	if want != last+1 {
		t.Fatalf("got numbers to %d, want to %d", want-1, last)
	}
}

func create(t testing.TB, c *kfake.Cluster, name string) {
	t.Helper()
	must.Succeed(t, topic.Create(t.Context(), c.ListenAddrs(), name, 1, 1))
}

// find returns the places of records with the given numbers in a record batch.
func find(frame []byte, wanted []uint64) (places []int32) {
	var b kmsg.RecordBatch
	if err := b.ReadFrom(frame); err != nil {
		panic(err)
	}
	plain, err := kgo.DefaultDecompressor().Decompress(b.Records, kgo.CompressionCodecType(b.Attributes&7))
	if err != nil {
		panic(err)
	}
	for i := range b.NumRecords {
		size, n := binary.Varint(plain)
		var r kmsg.Record
		if err := r.ReadFrom(plain[:n+int(size)]); err != nil {
			panic(err)
		}
		plain = plain[n+int(size):]
		for _, h := range r.Headers {
			if seq, err := strconv.ParseUint(string(h.Value), 10, 64); h.Key == "seq" && err == nil && slices.Contains(wanted, seq) {
				places = append(places, i)
			}
		}
	}
	return places
}

// end returns how many records partition 0 has.
func end(t testing.TB, c *kfake.Cluster) int64 {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	must.Succeed(t, err)
	defer client.Close()
	req := kmsg.NewPtrListOffsetsRequest()
	topic, partition := kmsg.NewListOffsetsRequestTopic(), kmsg.NewListOffsetsRequestTopicPartition()
	topic.Topic, partition.Timestamp = logs, -1
	topic.Partitions = append(topic.Partitions, partition)
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(t.Context(), client)
	must.Succeed(t, err)
	return resp.Topics[0].Partitions[0].Offset
}
