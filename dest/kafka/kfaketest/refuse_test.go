// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/seed"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// refuseAll responds to each Produce for a topic with an error for the batch,
// or for each record in it, until heal is called.
func refuseAll(c *kfake.Cluster, name string, code int16, named bool) (heal func()) {
	var healed atomic.Bool
	c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		r := req.(*kmsg.ProduceRequest)
		if healed.Load() || r.Topics[0].Topic != name {
			return nil, nil, false
		}
		p := kmsg.NewProduceResponseTopicPartition()
		p.Partition, p.ErrorCode = r.Topics[0].Partitions[0].Partition, code
		if named {
			var b kmsg.RecordBatch
			if err := b.ReadFrom(r.Topics[0].Partitions[0].Records); err != nil {
				panic(err)
			}
			for n := range b.NumRecords {
				e := kmsg.NewProduceResponseTopicPartitionErrorRecord()
				e.RelativeOffset = n
				p.ErrorRecords = append(p.ErrorRecords, e)
			}
		}
		topic := kmsg.NewProduceResponseTopic()
		topic.Topic, topic.Partitions = name, []kmsg.ProduceResponseTopicPartition{p}
		resp := r.ResponseKind().(*kmsg.ProduceResponse)
		resp.Topics = append(resp.Topics, topic)
		return resp, nil, true
	})
	return func() { healed.Store(true) }
}

// While everything is refused, the reason can be fixed: it is reported, nothing
// is rejected, and when it is fixed everything arrives.
func TestAllRefusedIsHeld(t *testing.T) {
	selected := seed.Sample(t, 3, 6)
	for _, code := range []*kerr.Error{kerr.InvalidTimestamp, kerr.InvalidRecord, kerr.MessageTooLarge, kerr.RecordListTooLarge} {
		for _, named := range []bool{true, false} {
			for _, n := range []uint64{1, 2, 15, 100, 3000} {
				for _, conf := range []Config{{}, {RoundRobin: true}, {TransactionalID: "tx"}} {
					if testing.Short() && n > 15 || !selected() {
						continue
					}
					t.Run(fmt.Sprint(code.Message, named, n, conf.RoundRobin, conf.TransactionalID), func(t *testing.T) {
						c := start(t, 3)
						heal := refuseAll(c, logs, code.Code, named)
						reports := 0
						conf.OnError = func(err error) {
							if !errors.Is(err, code) || !strings.Contains(err.Error(), "fixed") {
								t.Errorf("OnError: got %v", err)
							}
							if reports++; reports == 3 {
								heal() // between two attempts
							}
						}
						d := dial(t, c, conf)
						if got := deliver(t, d, records(7, 1, n)); len(got) > 0 {
							t.Errorf("rejected: %v", got)
						}
						wantSpool(t, c, 7, n, false)
						if got := d.Stats(); got.Rejected != 0 {
							t.Errorf("Stats: got %+v", got)
						}
					})
				}
			}
		}
	}
}

// A topic is fixed between two requests of an attempt, after a whole batch was
// refused, or some of its records one by one: they are accepted then, and not
// rejected.
func TestFixedWithinAnAttempt(t *testing.T) {
	selected := seed.Sample(t, 1, 1)
	for at := 2; at < 20; at++ { // the request at which it is fixed
		if !selected() {
			continue
		}
		named := at == 3 // the others are not
		c := start(t, 1)
		sent, heal := 0, func() {}
		c.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			if sent++; sent == at {
				heal()
			}
			return nil, nil, false
		})
		heal = refuseAll(c, logs, kerr.InvalidRecord.Code, named)
		d := dial(t, c, Config{})
		if got := deliver(t, d, records(7, 1, 10)); len(got) > 0 {
			t.Errorf("fixed at request %d, named %v: rejected %v", at, named, got)
		}
		wantSpool(t, c, 7, 10, at < 4) // later, records that were refused come after others
	}
}

// A record that is refused alone waits until another accepted record shows that
// the refused one is the cause.
func TestLastRecordRefused(t *testing.T) {
	c := start(t, 1)
	refuse(c, false, 10)
	d := dial(t, c, Config{})
	deliver(t, d, records(7, 1, 9))
	res, err := d.Deliver(t.Context(), records(7, 10, 10))
	if res.Accepted != 0 || !errors.Is(err, kerr.InvalidRecord) {
		t.Errorf("alone: got %+v, %v", res, err)
	}
	if got := deliver(t, d, records(7, 10, 11)); len(got) != 1 || got[0].Index != 0 {
		t.Errorf("with another one: rejected %v, want the first", got)
	}
	if seqs := numbers(t, read(t, c, logs)); len(seqs) != 10 || seqs[9] != 11 {
		t.Errorf("got %v", seqs)
	}
}

// Dead letters are accepted for all reasons: they have the current time as
// timestamp, and their own in a header.
func TestDeadLetterTimestamp(t *testing.T) {
	c := start(t, 1, kfake.SeedTopics(1, "dead"))
	heal := refuseAll(c, logs, kerr.InvalidTimestamp.Code, true)
	defer heal()
	d := dial(t, c, Config{DeadLetter: "dead"})
	began := time.Now()
	if got := deliver(t, d, records(7, 1, 200)); len(got) > 0 {
		t.Errorf("rejected: %v", got)
	}
	dead := read(t, c, "dead")
	if seqs := numbers(t, dead); len(seqs) != 200 || seqs[0] != 1 || seqs[199] != 200 {
		t.Errorf("dead letters: got %d", len(seqs))
	}
	for _, m := range dead {
		if m.Time.Before(began.Truncate(time.Millisecond)) || m.Time.After(time.Now()) {
			t.Fatalf("timestamp: got %v, want now", m.Time)
		}
		if m.Headers["time"] != fmt.Sprint(records(7, 1, 200)[m.Offset].Time) {
			t.Fatalf("time: got %s", m.Headers["time"])
		}
	}
}

// A dead-lettered record is not dead-lettered again if the records before it
// are delivered later.
func TestDeadLetterOnce(t *testing.T) {
	c := start(t, 2, kfake.SeedTopics(1, "dead"))
	refuse(c, true, 9)
	fault := c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Partitions: []int32{0}, Err: kerr.NotEnoughReplicas, Count: -1})
	d := dial(t, c, Config{RoundRobin: true, DeadLetter: "dead"}) // 9 is in partition 1
	for d.Stats().DeadLettered == 0 {
		_, _ = d.Deliver(t.Context(), records(7, 1, 10)) // partition 0 accepts nothing
	}
	fault.Remove()
	deliver(t, d, records(7, 1, 20))
	if seqs := numbers(t, read(t, c, "dead")); len(seqs) != 1 {
		t.Errorf("dead letters: got %v, want 9", seqs)
	}
	if seqs := numbers(t, read(t, c, logs)); len(seqs) != 19 {
		t.Errorf("got %v", seqs)
	}
}

// A record that is rejected in several attempts counts when it is reported.
func TestRejectedCountsOnce(t *testing.T) {
	c := start(t, 2)
	refuse(c, true, 9)
	fault := c.Fault(kfake.Fault{
		Keys: produce(), Topic: logs, Partitions: []int32{0},
		Err: kerr.NotEnoughReplicas, Count: -1,
	})
	d := dial(t, c, Config{RoundRobin: true})
	for range 3 {
		// 9 is in partition 1, 2 is in partition 0.
		res, err := d.Deliver(t.Context(), records(7, 1, 10))
		if res.Accepted > 1 || res.Accepted == 0 && err == nil || d.Stats().Rejected > 0 {
			t.Fatalf("got %+v, %v, %+v", res, err, d.Stats())
		}
	}
	fault.Remove()
	rejected := deliver(t, d, records(7, 1, 20))
	if len(rejected) != 1 || d.Stats().Rejected != 1 {
		t.Errorf("got %v, %+v; want one", rejected, d.Stats())
	}
}

// The size that a broker accepts is determined once, and kept; a single
// overlong record does not make all batches after it small.
func TestBatchLimitIsKept(t *testing.T) {
	c := start(t, 1, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "4000"}))
	requests := c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Observe: true, Count: -1})
	d := dial(t, c, Config{Compression: "none"})
	for n := uint64(0); n < 60_000; n += 5000 {
		deliver(t, d, records(7, n+1, n+5000))
	}
	s := d.Stats()
	if refused := uint64(requests.Hits()) - s.Batches; s.Records != 60_000 || refused > 4*16 {
		t.Errorf("%d requests were refused for %+v", refused, s)
	}
	batches := s.Batches
	batch := records(7, 60_001, 62_000)
	batch[100].Line = []byte(`"` + strings.Repeat("x", 5000) + `"` + "\n")
	if got := deliver(t, d, batch); len(got) != 1 || got[0].Index != 100 {
		t.Errorf("rejected: got %v", got)
	}
	if got := d.Stats().Batches - batches; got > 2000/5 {
		t.Errorf("%d batches for 2000 records", got)
	}
}

// A record is refused, and the attempt ends before the one after it is
// acknowledged. If it is acknowledged in a later call, the refused record is
// not settled: it is sent again, and rejected when another one is accepted.
func TestRefusedBeforeOneInFlight(t *testing.T) {
	c := start(t, 1)
	refuse(c, true, 5)
	d := dial(t, c, Config{MaxBatch: 1})
	deliver(t, d, records(7, 1, 4))
	fault := c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: kerr.NotEnoughReplicas, Count: -1, When: func(req kmsg.Request) bool {
		return len(find(req.(*kmsg.ProduceRequest).Topics[0].Partitions[0].Records, []uint64{6})) > 0
	}})
	for _, want := range []*kerr.Error{kerr.NotEnoughReplicas, kerr.InvalidRecord} {
		res, err := d.Deliver(t.Context(), records(7, 5, 6))
		if res.Accepted != 0 || !errors.Is(err, want) {
			t.Errorf("got %+v, %v; want %v", res, err, want)
		}
		fault.Remove()
	}
	if got := deliver(t, d, records(7, 5, 7)); len(got) != 1 || got[0].Index != 0 {
		t.Errorf("rejected: got %v, want the first", got)
	}
	if got := numbers(t, read(t, c, logs)); !slices.Equal(got, []uint64{1, 2, 3, 4, 6, 7}) {
		t.Errorf("got %v", got)
	}
}
