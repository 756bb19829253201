// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/nib-log/nib"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/must"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// wantDead checks which numbers the dead letter topic has.
func wantDead(t testing.TB, c *kfake.Cluster, want ...uint64) {
	t.Helper()
	if got := numbers(t, read(t, c, "dead")); !slices.Equal(got, want) {
		t.Errorf("dead letters: got %v, want %v", got, want)
	}
}

// If any request for a dead letter fails, that is reported, and the record is
// sent again until it is in the topic, once.
func TestDeadLetterIsSentAgain(t *testing.T) {
	dead := func(f kfake.Fault) func(c *kfake.Cluster) {
		return func(c *kfake.Cluster) { c.Fault(f) }
	}
	for name, fail := range map[string]func(c *kfake.Cluster){
		"lookup":    dead(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: "dead", Err: kerr.TopicAuthorizationFailed}),
		"producer":  dead(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, TopLevel: true, Err: kerr.ClusterAuthorizationFailed}),
		"refused":   dead(kfake.Fault{Keys: produce(), Topic: "dead", Err: kerr.TopicAuthorizationFailed}),
		"sequence":  refuseProducer,
		"no answer": func(c *kfake.Cluster) { closeOnDead(c) },
	} {
		for _, batch := range []uint64{1, 9} { // refused alone, or as one of several
			t.Run(name, func(t *testing.T) {
				c := start(t, 1, kfake.SeedTopics(1, "dead"))
				refuse(c, true, 15)
				var reported []error
				d := dial(t, c, Config{DeadLetter: "dead", OnError: func(err error) { reported = append(reported, err) }})
				deliver(t, d, records(7, 1, 14))
				fail(c)
				if got := deliver(t, d, records(7, 15, 14+batch)); len(got) > 0 {
					t.Errorf("rejected: %v", got)
				}
				deliver(t, d, records(7, 15+batch, 30))
				wantDead(t, c, 15)
				more := reported[min(1, len(reported)):]
				more = slices.DeleteFunc(more, kgo.IsRetryableBrokerErr) // see TestSearchFails
				s := d.Stats()
				if len(reported) == 0 || len(more) > 0 || s.DeadLettered != 1 || s.Records != 29 {
					t.Errorf("got %+v and reports %v, want one failure", s, reported)
				}
			})
		}
	}
}

// refuseProducer refuses all dead letters of a producer.
func refuseProducer(c *kfake.Cluster) {
	first := int64(-1)
	c.Fault(kfake.Fault{Keys: produce(), Topic: "dead", Err: kerr.OutOfOrderSequenceNumber, Count: -1, When: func(req kmsg.Request) bool {
		var b kmsg.RecordBatch
		if err := b.ReadFrom(req.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records); err != nil {
			panic(err)
		}
		if first < 0 {
			first = b.ProducerID
		}
		return b.ProducerID == first
	}})
}

// closeOnDead closes the connection on the next dead letter.
func closeOnDead(c *kfake.Cluster) {
	closed := false
	c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		if closed || req.(*kmsg.ProduceRequest).Topics[0].Topic != "dead" {
			return nil, nil, false
		}
		closed = true
		return nil, errors.New("closed"), true
	})
}

// Dead letters have one producer, whose sequence continues after a record that
// the topic refuses.
func TestProducerOfDeadLetters(t *testing.T) {
	c := start(t, 1, kfake.SeedTopics(1, "dead"))
	refuse(c, true, 5, 15, 25, 35)
	d := dial(t, c, Config{DeadLetter: "dead"})
	producers := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, TopLevel: true, Observe: true, Count: -1})
	deliver(t, d, records(7, 1, 14))
	c.Fault(kfake.Fault{Keys: produce(), Topic: "dead", Err: kerr.MessageTooLarge})
	if got := deliver(t, d, records(7, 11, 20)); len(got) != 1 {
		t.Errorf("rejected: got %v, want number 15", got)
	}
	deliver(t, d, records(7, 21, 40))
	wantDead(t, c, 5, 25, 35)
	if n, s := producers.Hits(), d.Stats(); n != 2 || s.Failures > 0 {
		t.Errorf("%d producers, %+v; want 2 and no failure", n, s)
	}
}

// A dead letter is in flight when the context ends, and the caller does not
// pass its record again: the next dead letter is another one.
func TestDeadLetterOfAnotherRecord(t *testing.T) {
	c := start(t, 1, kfake.SeedTopics(1, "dead"))
	refuse(c, true, 4, 5, 6)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d := dial(t, c, Config{DeadLetter: "dead", OnError: func(error) { cancel() }})
	deliver(t, d, records(7, 4, 4))
	c.Fault(kfake.Fault{Keys: produce(), Topic: "dead", Err: kerr.NotEnoughReplicas})
	if res, err := d.Deliver(ctx, records(7, 5, 5)); res.Accepted != 0 || err == nil {
		t.Fatalf("got %+v, %v", res, err)
	}
	deliver(t, d, records(7, 6, 6))
	wantDead(t, c, 4, 6)
	if s := d.Stats(); s.Failures != 1 {
		t.Errorf("got %+v, want one failure", s)
	}
}

// A record without a number is sent to the dead letter topic once.
func TestDeadLetterWithoutANumber(t *testing.T) {
	c := start(t, 1, kfake.SeedTopics(1, "dead"))
	refuseAll(c, logs, kerr.InvalidRecord.Code, false)
	d := dial(t, c, Config{DeadLetter: "dead"})
	deliver(t, d, []nib.Record{{Line: []byte("{}\n")}})
	if got := len(read(t, c, "dead")); got != 1 {
		t.Errorf("got %d dead letters", got)
	}
}

// A dead letter topic that was replaced by one with fewer partitions gets the
// dead letters after that was reported.
func TestDeadLetterTopicWithFewerPartitions(t *testing.T) {
	tried := 0
	for spool := uint64(7); spool < 17; spool++ {
		c := start(t, 1, kfake.SeedTopics(2, "dead"))
		refuse(c, true, 5, 6)
		failures := 0
		d := dial(t, c, Config{DeadLetter: "dead", OnError: func(error) { failures++ }})
		deliver(t, d, records(spool, 5, 5))
		if all := read(t, c, "dead"); len(all) != 1 || all[0].Partition == 0 {
			continue
		}
		tried++
		must.Succeed(t, c.DeleteTopic("dead"))
		must.Succeed(t, c.CreateTopic("dead", 1, nil))
		deliver(t, d, records(spool, 6, 6))
		wantDead(t, c, 6)
		if failures == 0 {
			t.Error("the lost partition is not reported")
		}
	}
	if tried == 0 {
		t.Error("all spools have the first partition")
	}
}
