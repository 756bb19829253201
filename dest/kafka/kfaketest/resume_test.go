// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nib-log/nib"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// resume starts a destination as a spool with pending records does.
func resume(t testing.TB, d *Destination, mark []byte, batch []nib.Record) (rest []nib.Record) {
	t.Helper()
	for len(batch) > 0 {
		n, err := d.Resume(t.Context(), mark, batch)
		if err != nil {
			t.Fatalf("Resume: %v", err)
		}
		batch = batch[n:]
		if n == 0 {
			break
		}
	}
	return batch
}

// A process delivers 1 to 10, stores the mark, delivers more and dies before it
// has stored the next mark.
func TestResume(t *testing.T) {
	for _, c := range []struct {
		name       string
		partitions int32
		conf       Config
		keep       bool // the mark
		sent       uint64
	}{
		{"nothing was sent", 1, Config{}, true, 10},
		{"a part of the batch", 1, Config{}, true, 15},
		{"all of the batch", 1, Config{}, true, 20},
		{"more than the batch", 1, Config{}, true, 30},
		{"the mark is lost", 1, Config{}, false, 15},
		{"several partitions", 5, Config{}, true, 15},
		{"several partitions, no mark", 5, Config{}, false, 15},
		{"transactional", 1, Config{TransactionalID: "tx"}, true, 15},
		{"transactional, no mark", 3, Config{TransactionalID: "tx"}, false, 15},
		{"round robin", 5, Config{RoundRobin: true}, true, 15},
		{"keyed", 5, Config{Key: firstBytes}, true, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := start(t, c.partitions)
			before := dial(t, cluster, c.conf)
			deliver(t, before, records(7, 1, 10))
			mark := before.Mark()
			if len(mark) > 40 || len(mark) == 0 && isPerSpool(c.conf) {
				t.Fatalf("mark has %d bytes", len(mark))
			}
			if !c.keep {
				mark = nil
			}
			if c.sent > 10 {
				deliver(t, before, records(7, 11, c.sent))
			}
			other := dial(t, cluster, Config{})
			deliver(t, other, records(8, 1, 10)) // another spool also writes there

			after := dial(t, cluster, c.conf)
			rest := resume(t, after, mark, records(7, 11, 20))
			if got, want := len(rest), max(0, 20-int(c.sent)); got != want {
				t.Errorf("left: got %d records, want %d", got, want)
			}
			if len(rest) > 0 {
				deliver(t, after, rest)
			}
			if c.sent < 30 { // otherwise they are there already
				deliver(t, after, records(7, 21, 30))
			}
			wantSpool(t, cluster, 7, 30, isPerSpool(c.conf))
		})
	}
}

// TestResumeAfterTheClockWasSetBack has a process that dies after two batches,
// between which its clock was set back: both are found.
func TestResumeAfterTheClockWasSetBack(t *testing.T) {
	for _, conf := range []Config{{RoundRobin: true}, {Key: firstBytes}} {
		cluster := start(t, 40)
		before := dial(t, cluster, conf)
		deliver(t, before, records(7, 1, 10))
		mark, late := before.Mark(), records(7, 21, 30)
		for i := range late {
			late[i].Time -= (5 * time.Minute).Nanoseconds()
		}
		deliver(t, before, records(7, 11, 20))
		deliver(t, before, late)
		after := dial(t, cluster, conf)
		for _, batch := range [][]nib.Record{records(7, 11, 20), late} {
			if rest := resume(t, after, mark, batch); len(rest) > 0 {
				t.Errorf("%d records from %d on are not found", len(rest), rest[0].Seq)
			}
		}
		deliver(t, after, records(7, 31, 40))
		wantSpool(t, cluster, 7, 40, false)
	}
}

func firstBytes(r *nib.Record) []byte { return r.Line[:len(r.Line)-25] }

// wantSpool checks that the topic has the numbers 1 to last of a spool once,
// and in order if so.
func wantSpool(t testing.TB, c *kfake.Cluster, spool, last uint64, ordered bool) {
	t.Helper()
	seen, before := map[uint64]bool{}, uint64(0)
	all := read(t, c, logs)
	seqs := numbers(t, all)
	for i, m := range all {
		if m.Headers["spool"] != "0000000000000007" || spool != 7 {
			continue
		}
		n := seqs[i]
		if seen[n] {
			t.Errorf("number %d is there twice", n)
		}
		if ordered && n != before+1 {
			t.Errorf("number %d comes after %d", n, before)
		}
		seen[n], before = true, n
	}
	if uint64(len(seen)) != last {
		t.Errorf("got %d records, want %d", len(seen), last)
	}
}

// hold holds the next produce request to logs until release is called; then it
// is executed, although its sender is gone.
func hold(c *kfake.Cluster) (arrived <-chan struct{}, release func()) {
	held, gate := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		if once.CompareAndSwap(false, true) {
			c.SleepControl(func() { close(held); <-gate })
		}
		return nil, nil, false
	})
	return held, sync.OnceFunc(func() { close(gate) })
}

// dieDuring ends d as the death of its process would, while the broker holds
// its first request with a batch, until release.
func dieDuring(t testing.TB, c *kfake.Cluster, d *Destination, batch []nib.Record) (release func()) {
	t.Helper()
	arrived, release := hold(c)
	ctx, cancel := context.WithCancel(t.Context())
	died := make(chan struct{})
	go func() {
		defer close(died)
		_, _ = d.Deliver(ctx, batch)
	}()
	<-arrived
	cancel()
	<-died
	return release
}

// A request of a dead process that is executed after the next process has
// searched the topic does no harm, in either order, and even if both have the
// same sequence numbers for different records.
func TestLateRequest(t *testing.T) {
	for _, c := range []struct {
		name        string
		conf        Config
		first, last uint64 // delivered by the next process
		lateFirst   bool   // the request of the dead process is executed first
	}{
		{"first", Config{}, 11, 30, true},
		{"last", Config{}, 11, 30, false},
		{"first, the same batch", Config{}, 11, 20, true},
		{"last, the same batch", Config{}, 11, 20, false},
		{"transactional, first", Config{TransactionalID: "tx"}, 11, 30, true},
		{"transactional, last", Config{TransactionalID: "tx"}, 11, 30, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := start(t, 1)
			before := dial(t, cluster, c.conf)
			deliver(t, before, records(7, 1, 10))
			mark := before.Mark()
			release := dieDuring(t, cluster, before, records(7, 11, 20))
			defer release()

			after := dial(t, cluster, c.conf)
			rest := resume(t, after, mark, records(7, 11, 20))
			if len(rest) != 10 {
				t.Fatalf("left: got %d records, want 10", len(rest))
			}
			if c.lateFirst {
				release()
				awaitEnd(t, cluster, c.conf)
			}
			deliver(t, after, records(7, c.first, c.last))
			release()
			deliver(t, after, records(7, c.last+1, c.last+10))
			wantExactly(t, cluster, 1, c.last+10)
		})
	}
}

// A process dies when its spool has stored a part of the search's results. The
// next one finds the rest.
func TestMarkWaitsForTheSpool(t *testing.T) {
	cluster := start(t, 1)
	before := dial(t, cluster, Config{})
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	deliver(t, before, records(7, 11, 30))

	second := dial(t, cluster, Config{})
	if rest := resume(t, second, mark, records(7, 11, 15)); len(rest) > 0 {
		t.Fatalf("left: got %d records, want none", len(rest))
	}
	third := dial(t, cluster, Config{})
	if rest := resume(t, third, second.Mark(), records(7, 16, 30)); len(rest) > 0 {
		t.Errorf("left for the third: got %d records, want none", len(rest))
	}
	if again := third.Mark(); bytes.Equal(again, mark) {
		t.Error("the mark does not move when the spool knows of everything")
	}
}

// awaitEnd waits until a held request is executed: kfake executes all requests
// one after the other.
func awaitEnd(t testing.TB, c *kfake.Cluster, conf Config) {
	t.Helper()
	if conf.TransactionalID != "" {
		return // the request is refused
	}
	for end(t, c) != 20 {
	}
}

// The dead process had sent records 11 to 20, which have the sequence numbers
// 10 to 19. The spool has dropped them in the meantime, so the next process
// uses these sequence numbers for 21 to 30: the broker then acknowledges the
// old batch.
func TestSameSequenceOtherRecords(t *testing.T) {
	cluster := start(t, 1)
	before := dial(t, cluster, Config{})
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	release := dieDuring(t, cluster, before, records(7, 11, 20))
	defer release()
	after := dial(t, cluster, Config{})
	resume(t, after, mark, records(7, 21, 30))
	release()
	awaitEnd(t, cluster, Config{})
	deliver(t, after, records(7, 21, 30))
	deliver(t, after, records(7, 31, 40))
	wantExactly(t, cluster, 1, 40)
}

// A topic that was recreated after the mark was stored has none of the records.
func TestResumeNewTopic(t *testing.T) {
	old := start(t, 1)
	before := dial(t, old, Config{})
	deliver(t, before, records(7, 1, 10))
	cluster := start(t, 1)
	after := dial(t, cluster, Config{})
	deliver(t, after, resume(t, after, before.Mark(), records(7, 11, 20)))
	wantExactly(t, cluster, 11, 20)
}

// Brokers before 2.8 do not identify topics. Records that a process has sent to
// a topic that was recreated after the mark was stored is found, even if others
// have written beyond the place in the mark.
func TestResumeNewTopicWithoutID(t *testing.T) {
	c := start(t, 1, kfake.MaxVersions(kversion.V2_7_0()))
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	must.Succeed(t, errors.Join(c.DeleteTopic(logs), c.CreateTopic(logs, 1, nil)))
	deliver(t, before, records(7, 11, 15))
	deliver(t, dial(t, c, Config{}), records(8, 1, 20))
	after := dial(t, c, Config{})
	rest := resume(t, after, mark, records(7, 11, 20))
	if len(rest) != 5 {
		t.Errorf("left: got %d records, want 5", len(rest))
	}
	deliver(t, after, rest)
	if got := numbers(t, read(t, c, logs)); len(got) != 30 {
		t.Errorf("got %v", got)
	}
}

// Retention or DeleteRecords may pass the mark. Then a broker does not report
// the start of the log.
func TestResumeAfterRetention(t *testing.T) {
	for _, c := range []struct {
		name  string
		start int64 // of the remaining records
		want  int   // records that are sent again
	}{
		{"the mark", 15, 2},
		{"all records", 18, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := start(t, 1)
			before := dial(t, cluster, Config{})
			deliver(t, before, records(7, 1, 10))
			mark := before.Mark()
			deliver(t, before, records(7, 11, 15))
			deliver(t, before, records(7, 16, 18))
			deleteBefore(t, cluster, c.start)
			after := dial(t, cluster, Config{})
			rest := resume(t, after, mark, records(7, 11, 20))
			if len(rest) != c.want {
				t.Errorf("left: got %d records, want %d", len(rest), c.want)
			}
			deliver(t, after, rest)
			deliver(t, after, records(7, 21, 30))
			got := numbers(t, read(t, cluster, logs))
			if len(got) == 0 || got[len(got)-1] != 30 {
				t.Errorf("delivered: got %v, want to 30", got)
			}
		})
	}
}

// deleteBefore deletes the records before an offset, and makes the cluster
// respond to requests for them like a broker.
func deleteBefore(t testing.TB, c *kfake.Cluster, offset int64) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	must.Succeed(t, err)
	defer cl.Close()
	req := kmsg.NewPtrDeleteRecordsRequest()
	topic, part := kmsg.NewDeleteRecordsRequestTopic(), kmsg.NewDeleteRecordsRequestTopicPartition()
	topic.Topic, part.Offset = logs, offset
	topic.Partitions = append(topic.Partitions, part)
	req.Topics = append(req.Topics, topic)
	if _, err := cl.Request(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	c.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		r := req.(*kmsg.FetchRequest)
		if len(r.Topics) == 0 || r.Topics[0].Partitions[0].FetchOffset >= offset {
			return nil, nil, false
		}
		topic, part := kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
		part.ErrorCode, part.HighWatermark, part.LastStableOffset, part.LogStartOffset = kerr.OffsetOutOfRange.Code, -1, -1, -1
		topic.Topic, topic.Partitions = logs, []kmsg.FetchResponseTopicPartition{part}
		resp := r.ResponseKind().(*kmsg.FetchResponse)
		resp.Topics = []kmsg.FetchResponseTopic{topic}
		return resp, nil, true
	})
}

// Resume does not guess: it returns an error if it cannot determine the
// records.
func TestResumeFails(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.Metadata, kmsg.ListOffsets, kmsg.Fetch} {
		cluster := start(t, 1)
		before := dial(t, cluster, Config{})
		deliver(t, before, records(7, 1, 15))
		cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Topic: logs, Err: kerr.TopicAuthorizationFailed})
		after := dial(t, cluster, Config{})
		if n, err := after.Resume(t.Context(), nil, records(7, 11, 20)); n != 0 || !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("%s: got %d, %v", key.Name(), n, err)
		}
		if n, err := after.Resume(t.Context(), nil, records(7, 11, 20)); n != 5 || err != nil {
			t.Errorf("%s, again: got %d, %v", key.Name(), n, err)
		}
	}
}

// A later process with the same transactional id fences the earlier one
// permanently.
func TestShutOut(t *testing.T) {
	cluster := start(t, 1)
	conf := Config{TransactionalID: "tx"}
	before := dial(t, cluster, conf)
	deliver(t, before, records(7, 1, 10))
	after := dial(t, cluster, conf)
	deliver(t, after, records(7, 11, 20))
	taken := readMark(t, after.Mark()).current
	cluster.Fault(kfake.Fault{ // as a broker does; kfake accepts an old epoch
		Keys: []kmsg.Key{kmsg.InitProducerID}, Err: kerr.ProducerFenced, TopLevel: true, Count: -1,
		When: func(req kmsg.Request) bool {
			r := req.(*kmsg.InitProducerIDRequest)
			return r.ProducerID == taken.id && r.ProducerEpoch < taken.epoch
		},
	})
	for range 2 {
		if res := deliverUntil(t, before, records(7, 21, 30), ErrFenced); res.Accepted != 0 {
			t.Errorf("got %+v", res)
		}
	}
	deliver(t, after, records(7, 21, 30))
	wantExactly(t, cluster, 1, 30)
}

// Errors of the transaction's requests are retried, and nothing is duplicated,
// whether or not a commit without a response was executed.
func TestTransactionErrors(t *testing.T) {
	selected := seed.Sample(t, 1, 1)
	for _, key := range []kmsg.Key{kmsg.InitProducerID, kmsg.AddPartitionsToTxn, kmsg.EndTxn, kmsg.Produce} {
		for _, e := range []*kerr.Error{kerr.CoordinatorNotAvailable, kerr.NotCoordinator, kerr.ConcurrentTransactions, kerr.RequestTimedOut, kerr.UnknownServerError} {
			if !selected() {
				continue
			}
			cluster := start(t, 1)
			d := dial(t, cluster, Config{TransactionalID: "tx"})
			deliver(t, d, records(7, 1, 10))
			cluster.Fault(
				kfake.Fault{Keys: []kmsg.Key{key}, Err: e, Count: 2, TopLevel: key == kmsg.InitProducerID || key == kmsg.EndTxn},
			)
			deliver(t, d, records(7, 11, 20))
			deliver(t, d, records(7, 21, 30))
			wantExactly(t, cluster, 1, 30)
		}
	}
}
