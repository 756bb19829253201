// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/nib-log/nib/dest/kafka"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// latest is the timestamp that means the end of a partition.
const latest = -1

// controlFetch calls respond with each request to read the topic. If it returns
// false, the cluster responds.
func controlFetch(c *kfake.Cluster, respond func(r *kmsg.FetchRequest, p *kmsg.FetchResponseTopicPartition) bool) {
	c.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		r := req.(*kmsg.FetchRequest)
		part := kmsg.NewFetchResponseTopicPartition()
		if !respond(r, &part) {
			return nil, nil, false
		}
		topic := kmsg.NewFetchResponseTopic()
		topic.Topic, topic.Partitions = logs, []kmsg.FetchResponseTopicPartition{part}
		resp := r.ResponseKind().(*kmsg.FetchResponse)
		resp.Topics = []kmsg.FetchResponseTopic{topic}
		return resp, nil, true
	})
}

// A search reads to the end of the partition, in as many responses as it takes,
// and fails if the end cannot be read.
func TestSearchToTheEnd(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	for n := uint64(1); n <= 30; n++ {
		deliver(t, before, records(7, n, n)) // a batch each
	}
	requests := 0
	controlFetch(c, func(r *kmsg.FetchRequest, _ *kmsg.FetchResponseTopicPartition) bool {
		r.MaxBytes, r.Topics[0].Partitions[0].PartitionMaxBytes = 1, 1 // one batch
		requests++
		return requests%3 > 0 // two of three are empty
	})
	if n, err := dial(t, c, Config{}).Resume(t.Context(), nil, records(7, 1, 40)); n != 30 || err != nil {
		t.Errorf("got %d, %v; want 30", n, err)
	}
	if requests != 90 {
		t.Errorf("%d requests, want 90", requests)
	}

	c, requests = start(t, 1), 0
	deliver(t, dial(t, c, Config{}), records(7, 1, 5))
	controlFetch(c, func(*kmsg.FetchRequest, *kmsg.FetchResponseTopicPartition) bool { requests++; return true })
	if n, err := dial(t, c, Config{}).Resume(t.Context(), nil, records(7, 1, 10)); n != 0 || err == nil {
		t.Errorf("empty responses: got %d, %v; want an error", n, err)
	}
}

// offsetsFail returns a fault of the next request for an offset, for any time
// in place of 1.
func offsetsFail(ms int64, replica int32) kfake.Fault {
	return kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Err: kerr.TopicAuthorizationFailed, When: func(req kmsg.Request) bool {
		r := req.(*kmsg.ListOffsetsRequest)
		at := r.Topics[0].Partitions[0].Timestamp
		return r.ReplicaID == replica && (at == ms || ms > 0 && at > 0)
	}}
}

// If any request of a search fails, or its response is damaged, Resume fails,
// and settles nothing. The next one finds the records.
func TestSearchFails(t *testing.T) {
	for name, fault := range map[string]func(c *kfake.Cluster){
		"end":   func(c *kfake.Cluster) { c.Fault(offsetsFail(latest, -2)) },
		"begin": func(c *kfake.Cluster) { c.Fault(offsetsFail(1, -1)) },
		"read": func(c *kfake.Cluster) {
			c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.TopicAuthorizationFailed})
		},
		"connection": func(c *kfake.Cluster) { closeOn(c, kmsg.Fetch) },
		"offsets":    func(c *kfake.Cluster) { closeOn(c, kmsg.ListOffsets) },
		"no partition": func(c *kfake.Cluster) {
			c.ControlKey(int16(kmsg.ListOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
				return req.ResponseKind(), nil, true
			})
		},
		"top level": func(c *kfake.Cluster) {
			c.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
				resp := req.ResponseKind().(*kmsg.FetchResponse)
				resp.ErrorCode = kerr.TopicAuthorizationFailed.Code
				return resp, nil, true
			})
		},
		"damaged": func(c *kfake.Cluster) {
			once := true
			controlFetch(c, func(_ *kmsg.FetchRequest, p *kmsg.FetchResponseTopicPartition) bool {
				p.RecordBatches = make([]byte, 100)
				p.RecordBatches[11] = 80
				damaged := once
				once = false
				return damaged
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, 1)
			deliver(t, dial(t, c, Config{}), records(7, 1, 5))
			fault(c)
			after := dial(t, c, Config{})
			if n, err := after.Resume(t.Context(), nil, records(7, 1, 10)); n != 0 || err == nil {
				t.Errorf("got %d, %v; want an error", n, err)
			}
			n, err := after.Resume(t.Context(), nil, records(7, 1, 10))
			for kgo.IsRetryableBrokerErr(err) { // the client may still have the closed connection
				n, err = after.Resume(t.Context(), nil, records(7, 1, 10))
			}
			if n != 5 || err != nil {
				t.Errorf("again: got %d, %v; want 5", n, err)
			}
		})
	}
}

// closeOn closes the connection on the next request of a kind.
func closeOn(c *kfake.Cluster, key kmsg.Key) {
	c.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) { return nil, errors.New("closed"), true })
}

// The offset of a mark is beyond the end of the partition, and records that the
// spool has not settled are in it: they are found by their time.
func TestMarkBeyondTheEnd(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 15))
	m := readMark(t, before.Mark())
	m.offset = 1000
	after := dial(t, c, Config{})
	rest := resume(t, after, m.encode(), records(7, 11, 20))
	if len(rest) != 5 {
		t.Fatalf("left: got %d records, want 5", len(rest))
	}
	deliver(t, after, rest)
	wantExactly(t, c, 1, 20)
}

// A search asks a leader for the end of its log, and otherwise for the high
// watermark; only a transactional process asks for committed records.
func TestRequestsOfASearch(t *testing.T) {
	for _, conf := range []Config{{}, {TransactionalID: "tx"}} {
		c := start(t, 1)
		deliver(t, dial(t, c, conf), records(7, 1, 5))
		var mu sync.Mutex
		var got []string
		c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch, kmsg.ListOffsets}, Observe: true, Count: -1, When: func(req kmsg.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			switch r := req.(type) {
			case *kmsg.ListOffsetsRequest:
				got = append(got, fmt.Sprint("offsets ", r.ReplicaID, r.IsolationLevel))
			case *kmsg.FetchRequest:
				got = append(got, fmt.Sprint("fetch ", r.ReplicaID, r.IsolationLevel, r.SessionEpoch, r.MaxWaitMillis, r.MinBytes, r.MaxBytes, r.Topics[0].Partitions[0].PartitionMaxBytes))
			}
			return true
		}})
		if n, err := dial(t, c, conf).Resume(t.Context(), nil, records(7, 1, 10)); n != 5 || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
		level := 0
		if conf.TransactionalID != "" {
			level = 1
		}
		want := fmt.Sprintf("[offsets -2 %d offsets -1 %[1]d fetch -1 %[1]d -1 100 1 8388608 8388608]", level)
		mu.Lock()
		if fmt.Sprint(slices.Compact(got)) != want {
			t.Errorf("got  %v\nwant %s", got, want)
		}
		mu.Unlock()
	}
}

// Records of a transaction that was not committed when its process ended are
// not found, although they are in the topic.
func TestResumeAfterAnAbortedTransaction(t *testing.T) {
	c := start(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	conf := Config{TransactionalID: "tx"}
	before := dial(t, c, Config{TransactionalID: "tx", OnError: func(error) { cancel() }})
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	commits := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.EndTxn}, Err: kerr.ClusterAuthorizationFailed, TopLevel: true, Count: -1})
	if res, err := before.Deliver(ctx, records(7, 11, 15)); res.Accepted != 0 || err == nil {
		t.Fatalf("got %+v, %v; want that nothing is committed", res, err)
	}
	commits.Remove()
	after := dial(t, c, conf)
	rest := resume(t, after, mark, records(7, 11, 20))
	if len(rest) != 10 {
		t.Errorf("left: got %d records, want 10", len(rest))
	}
	deliver(t, after, rest)
	wantExactly(t, c, 1, 20)
}

// Requests that are not part of every search fail: for the end of a partition
// without newer records, and for its beginning after retention.
func TestRareRequestsOfASearchFail(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	deliver(t, before, records(8, 1, 10))
	mark := before.Mark()
	deliver(t, before, records(8, 11, 20))
	later := records(7, 1, 5)
	for i := range later {
		later[i].Time += int64(time.Hour)
	}
	c.Fault(offsetsFail(latest, -1))
	d := dial(t, c, Config{})
	for i, want := range []error{kerr.TopicAuthorizationFailed, nil} {
		if n, err := d.Resume(t.Context(), nil, later); n != 0 || !errors.Is(err, want) {
			t.Errorf("end, %d: got %d, %v; want %v", i, n, err, want)
		}
	}
	deleteBefore(t, c, 15)
	c.Fault(offsetsFail(oldest, -1))
	d = dial(t, c, Config{})
	for i, want := range []error{kerr.TopicAuthorizationFailed, nil} {
		if n, err := d.Resume(t.Context(), mark, records(8, 11, 20)); n != i*10 || !errors.Is(err, want) {
			t.Errorf("beginning, %d: got %d, %v; want %v", i, n, err, want)
		}
	}
}

// Produce requests wait for all in-sync replicas, for as long as the client
// does, and name the transaction that they belong to.
func TestRequestsOfADelivery(t *testing.T) {
	for _, id := range []string{"", "tx"} {
		c := start(t, 1)
		var mu sync.Mutex
		got := map[string]bool{}
		c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce, kmsg.AddPartitionsToTxn}, Observe: true, Count: -1, When: func(req kmsg.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			switch r := req.(type) {
			case *kmsg.ProduceRequest:
				name := ""
				if r.TransactionID != nil {
					name = *r.TransactionID
				}
				got[fmt.Sprint("produce ", r.Acks, r.TimeoutMillis, name)] = true
			case *kmsg.AddPartitionsToTxnRequest:
				got["join "+r.TransactionalID] = true
			}
			return true
		}})
		deliver(t, dial(t, c, Config{TransactionalID: id, Timeout: 7 * time.Second}), records(7, 1, 5))
		want := map[string]bool{fmt.Sprint("produce ", -1, 7000, id): true}
		if id != "" {
			want["join tx"] = true
		}
		mu.Lock()
		if !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		mu.Unlock()
	}
}

// PRODUCER_FENCED in response to the first request of a process is an error
// like others: no later process can have the transactional id. In response to a
// later one it is final, like INVALID_PRODUCER_EPOCH, and the id is not
// requested again.
func TestFencedIsFinal(t *testing.T) {
	for _, e := range []*kerr.Error{kerr.ProducerFenced, kerr.InvalidProducerEpoch} {
		c := start(t, 1)
		fence := kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, Err: e, TopLevel: true}
		first := c.Fault(fence)
		fenced := false
		d := dial(t, c, Config{TransactionalID: "tx", OnError: func(err error) {
			fenced = fenced || errors.Is(err, ErrFenced)
		}})
		deliver(t, d, records(7, 1, 5))
		if first.Hits() != 1 || fenced {
			t.Errorf("%s: the first request has failed %d times, fenced %v", e.Message, first.Hits(), fenced)
		}
		c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: kerr.InvalidTxnState})
		c.Fault(fence)
		for range 2 { // the second one would succeed if the id were requested again
			if res := deliverUntil(t, d, records(7, 6, 10), ErrFenced); res.Accepted != 0 {
				t.Errorf("%s: got %+v", e.Message, res)
			}
		}
	}
}
