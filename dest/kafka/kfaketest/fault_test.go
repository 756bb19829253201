// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/nib-log/nib/delivery"
	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func produce() []kmsg.Key { return []kmsg.Key{kmsg.Produce} }

// Errors that do not concern a record itself are retried, and the record is
// there once in the end, even if the broker had appended it when it returned
// the error.
func TestRetriedErrors(t *testing.T) {
	selected := seed.Sample(t, 1, 4)
	for _, e := range []*kerr.Error{
		kerr.UnknownServerError, kerr.CorruptMessage, kerr.UnknownTopicOrPartition, kerr.LeaderNotAvailable,
		kerr.NotLeaderForPartition, kerr.RequestTimedOut, kerr.BrokerNotAvailable, kerr.ReplicaNotAvailable,
		kerr.NetworkException, kerr.CoordinatorLoadInProgress, kerr.InvalidTopicException, kerr.NotEnoughReplicas,
		kerr.NotEnoughReplicasAfterAppend, kerr.InvalidRequiredAcks, kerr.TopicAuthorizationFailed,
		kerr.ClusterAuthorizationFailed, kerr.UnsupportedVersion, kerr.PolicyViolation,
		kerr.OutOfOrderSequenceNumber, kerr.DuplicateSequenceNumber, kerr.InvalidProducerEpoch, kerr.UnknownProducerID,
		kerr.InvalidProducerIDMapping, kerr.KafkaStorageError, kerr.UnsupportedCompressionType, kerr.FencedLeaderEpoch,
		kerr.UnknownLeaderEpoch, kerr.ThrottlingQuotaExceeded, kerr.UnknownTopicID, kerr.InvalidTxnState,
	} {
		for _, size := range []int{0, 2000} { // one request for all, and about fifteen
			if !selected() {
				continue
			}
			t.Run(fmt.Sprintf("%s %d", e.Message, size), func(t *testing.T) {
				c := start(t, 1)
				d := dial(t, c, Config{MaxBatch: size})
				deliver(t, d, records(7, 1, 10))
				for _, count := range []int{1, 3} {
					first := d.Stats().Records + 1
					c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: e, Count: count})
					if got := deliver(t, d, records(7, first, first+99)); len(got) > 0 {
						t.Errorf("rejected: %v", got)
					}
				}
				wantExactly(t, c, 1, 210)
				if got := d.Stats(); got.Records != 210 || got.Failures == 0 && size == 0 {
					t.Errorf("Stats: got %+v", got)
				}
			})
		}
	}
}

// The same holds for requests other than Produce.
func TestRetriedRequests(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.Metadata, kmsg.InitProducerID} {
		c := start(t, 1)
		c.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: kerr.CoordinatorNotAvailable, Count: 3, TopLevel: key == kmsg.InitProducerID})
		deliver(t, dial(t, c, Config{}), records(7, 1, 10))
		wantExactly(t, c, 1, 10)
	}
}

// A missing topic is reported, with a remedy, and waited for. It is not
// created, although the brokers would, unless Config.CreateTopic is set.
func TestUnknownTopicIsWaitedFor(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.AllowAutoTopicCreation())
	must.Succeed(t, err)
	defer c.Close()
	asking, err := New(c.ListenAddrs(), "asked-for", Config{CreateTopic: true})
	must.Succeed(t, err)
	defer asking.Close()
	deliver(t, asking, records(7, 1, 10))
	if got := len(read(t, c, "asked-for")); got != 10 {
		t.Errorf("with CreateTopic: got %d records", got)
	}
	missing := make(chan struct{}, 6)
	d := dial(t, c, Config{OnError: func(err error) {
		if errors.Is(err, kerr.UnknownTopicOrPartition) && strings.Contains(err.Error(), "Config.CreateTopic") {
			select {
			case missing <- struct{}{}:
			default: // there are many attempts until the topic exists
			}
		}
	}})
	done := make(chan struct{})
	go func() {
		defer close(done)
		deliver(t, d, records(7, 1, 10))
	}()
	for range 6 { // more often than franz-go's producer would try
		<-missing
	}
	create(t, c, logs)
	<-done
	wantExactly(t, c, 1, 10)
}

// A missing permission is reported, and waited for.
func TestAuthorizationIsNotRejected(t *testing.T) {
	c := start(t, 1)
	var reported []error
	d := dial(t, c, Config{OnError: func(err error) { reported = append(reported, err) }})
	c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: kerr.TopicAuthorizationFailed, Count: 4})
	if got := deliver(t, d, records(7, 1, 10)); len(got) > 0 {
		t.Errorf("rejected: %v", got)
	}
	wantExactly(t, c, 1, 10)
	if len(reported) != 4 || !errors.Is(reported[0], kerr.TopicAuthorizationFailed) || !strings.Contains(reported[0].Error(), logs) {
		t.Errorf("OnError: got %v, want the authorization error 4 times", reported)
	}
}

// If some records of a batch are too large for the topic, the others arrive.
func TestTooLarge(t *testing.T) {
	c := start(t, 1, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "5000"}))
	d := dial(t, c, Config{Compression: "none"})
	batch := records(7, 1, 300)
	for _, i := range []int{0, 57, 58, 299} {
		batch[i].Line = []byte(`{"message":"` + strings.Repeat("x", 6000) + `"}` + "\n")
	}
	var got []int
	for _, r := range deliver(t, d, batch) {
		got = append(got, r.Index)
		if !errors.Is(r.Reason, kerr.MessageTooLarge) {
			t.Errorf("reason: got %v", r.Reason)
		}
	}
	if len(got) != 4 || got[0] != 0 || got[1] != 57 || got[2] != 58 || got[3] != 299 {
		t.Errorf("rejected: got %v", got)
	}
	seqs := numbers(t, read(t, c, logs))
	if len(seqs) != 296 || seqs[0] != 2 || seqs[295] != 299 {
		t.Errorf("got %d records, %v", len(seqs), seqs)
	}
	for i := 1; i < len(seqs); i++ {
		if seqs[i] <= seqs[i-1] {
			t.Errorf("%d after %d", seqs[i], seqs[i-1])
		}
	}
	if got := d.Stats(); got.Rejected != 4 || got.Records != 296 {
		t.Errorf("Stats: got %+v", got)
	}
}

// refuse answers Produce for the topic with INVALID_RECORD while one of the
// given numbers is in the batch; named identifies these records in the
// response.
func refuse(c *kfake.Cluster, named bool, bad ...uint64) {
	c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		r := req.(*kmsg.ProduceRequest)
		if r.Topics[0].Topic != logs {
			return nil, nil, false
		}
		offsets := find(r.Topics[0].Partitions[0].Records, bad)
		if len(offsets) == 0 {
			return nil, nil, false
		}
		resp := r.ResponseKind().(*kmsg.ProduceResponse)
		p := kmsg.NewProduceResponseTopicPartition()
		p.Partition, p.ErrorCode = r.Topics[0].Partitions[0].Partition, kerr.InvalidRecord.Code
		for _, o := range offsets {
			if named {
				e := kmsg.NewProduceResponseTopicPartitionErrorRecord()
				e.RelativeOffset, e.ErrorMessage = o, kmsg.StringPtr("no key")
				p.ErrorRecords = append(p.ErrorRecords, e)
			}
		}
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.Partitions = logs, []kmsg.ProduceResponseTopicPartition{p}
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
}

func TestInvalidRecords(t *testing.T) {
	for _, named := range []bool{true, false} {
		c := start(t, 1)
		refuse(c, named, 5, 6, 90)
		d := dial(t, c, Config{})
		got := deliver(t, d, records(7, 1, 100))
		if len(got) != 3 || got[0].Index != 4 || got[1].Index != 5 || got[2].Index != 89 {
			t.Errorf("named %v: rejected: got %v", named, got)
		}
		for _, r := range got {
			if !errors.Is(r.Reason, kerr.InvalidRecord) || named && !strings.Contains(r.Reason.Error(), "no key") {
				t.Errorf("named %v: reason: got %v", named, r.Reason)
			}
		}
		if seqs := numbers(t, read(t, c, logs)); len(seqs) != 97 {
			t.Errorf("named %v: got %d records", named, len(seqs))
		}
	}
}

func TestDeadLetter(t *testing.T) {
	c := start(t, 1, kfake.SeedTopics(2, "dead"))
	refuse(c, true, 5, 90)
	d := dial(t, c, Config{DeadLetter: "dead"})
	c.Fault(kfake.Fault{Keys: produce(), Topic: "dead", Err: kerr.NotEnoughReplicasAfterAppend, Count: 2})
	if got := deliver(t, d, records(7, 1, 100)); len(got) > 0 {
		t.Errorf("rejected: %v", got)
	}
	dead := read(t, c, "dead")
	if seqs := numbers(t, dead); len(seqs) != 2 || seqs[0] != 5 || seqs[1] != 90 {
		t.Errorf("dead letters: got %v", seqs)
	}
	if got := dead[0].Headers["reason"]; !strings.Contains(got, "INVALID_RECORD") {
		t.Errorf("reason: got %q", got)
	}
	if got := d.Stats(); got.DeadLettered != 2 || got.Rejected != 0 {
		t.Errorf("Stats: got %+v", got)
	}
}

// A record that the dead letter topic refuses too is rejected.
func TestDeadLetterRefused(t *testing.T) {
	c := start(t, 1, kfake.SeedTopics(1, "dead"))
	refuse(c, true, 5)
	d := dial(t, c, Config{DeadLetter: "dead"})
	c.Fault(kfake.Fault{Keys: produce(), Topic: "dead", Err: kerr.MessageTooLarge, Count: -1})
	got := deliver(t, d, records(7, 1, 10))
	if len(got) != 1 || !errors.Is(got[0].Reason, kerr.InvalidRecord) || !errors.Is(got[0].Reason, kerr.MessageTooLarge) {
		t.Errorf("rejected: got %v, want both reasons", got)
	}
}

// A Deliver whose context ends while a request is in flight leaves the request
// to the next Deliver.
func TestContextEndsInFlight(t *testing.T) {
	for _, size := range []int{0, 300} { // one request, and five
		contextEndsInFlight(t, size)
	}
}

func contextEndsInFlight(t *testing.T, size int) {
	t.Helper()
	c := start(t, 1)
	d := dial(t, c, Config{MaxBatch: size})
	deliver(t, d, records(7, 1, 10))
	arrived, gate := make(chan struct{}), make(chan struct{})
	var once atomic.Bool
	c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		if once.CompareAndSwap(false, true) {
			c.SleepControl(func() { close(arrived); <-gate })
		}
		return nil, nil, false
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-arrived; cancel() }()
	res, err := d.Deliver(ctx, records(7, 11, 20))
	if res.Accepted != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v; want nothing and that the context ended", res, err)
	}
	close(gate)
	deliver(t, d, records(7, 11, 15)) // fewer than were sent
	deliver(t, d, records(7, 16, 30))
	wantExactly(t, c, 1, 30)
}

// Close ends a call of Deliver or Resume with ErrClosed, which is no failure of
// a broker.
func TestCloseEndsACall(t *testing.T) {
	for _, x := range []struct {
		name string
		key  kmsg.Key
		call func(d *Destination) error
	}{
		{"Deliver", kmsg.Produce, func(d *Destination) error {
			_, err := d.Deliver(context.Background(), records(7, 1, 10))
			return err
		}},
		{"Resume", kmsg.ListOffsets, func(d *Destination) error {
			_, err := d.Resume(context.Background(), nil, records(7, 1, 10))
			return err
		}},
	} {
		c := start(t, 1)
		d := dial(t, c, Config{
			OnError: func(err error) { t.Errorf("%s: OnError: %v", x.name, err) },
		})
		arrived, gate := make(chan struct{}), make(chan struct{})
		c.ControlKey(int16(x.key), func(kmsg.Request) (kmsg.Response, error, bool) {
			close(arrived)
			c.SleepControl(func() { <-gate })
			return nil, nil, false
		})
		done := make(chan error)
		go func() { done <- x.call(d) }()
		<-arrived
		_ = d.Close()
		if err := <-done; !errors.Is(err, delivery.ErrClosed) {
			t.Errorf("%s: got %v, want %v", x.name, err, delivery.ErrClosed)
		}
		if err := x.call(d); !errors.Is(err, delivery.ErrClosed) {
			t.Errorf("%s after Close: got %v, want %v", x.name, err, delivery.ErrClosed)
		}
		close(gate)
	}
}
