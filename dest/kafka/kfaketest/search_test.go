// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/nib-log/nib/dest/kafka"
	"github.com/nib-log/nib/internal/must"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// firstFetch returns the lowest offset that is read from now on.
func firstFetch(c *kfake.Cluster) *atomic.Int64 {
	lowest := new(atomic.Int64)
	lowest.Store(-1)
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Observe: true, Count: -1, When: func(req kmsg.Request) bool {
		for _, t := range req.(*kmsg.FetchRequest).Topics {
			for _, p := range t.Partitions {
				if at := lowest.Load(); at < 0 || p.FetchOffset < at {
					lowest.Store(p.FetchOffset)
				}
			}
		}
		return true
	}})
	return lowest
}

// A search begins after the last recorded delivery or, without one, a minute
// before the oldest record: it does not read the whole topic.
func TestWhereASearchBegins(t *testing.T) {
	for name, want := range map[string]int64{"mark": 110, "no mark": 100, "round robin": 100} {
		t.Run(name, func(t *testing.T) {
			c := start(t, 1)
			conf := Config{}
			if name == "round robin" {
				conf.RoundRobin = true
			}
			old := records(8, 1, 100)
			for i := range old {
				old[i].Time -= 2 * int64(time.Minute)
			}
			deliver(t, dial(t, c, Config{}), old)
			before := dial(t, c, conf)
			deliver(t, before, records(7, 1, 10))
			mark := before.Mark()
			if name == "no mark" {
				mark = nil
			}
			deliver(t, before, records(7, 11, 15))
			lowest := firstFetch(c)
			after := dial(t, c, conf)
			if rest := resume(t, after, mark, records(7, 11, 20)); len(rest) != 5 {
				t.Errorf("left: got %d records, want 5", len(rest))
			}
			if got := lowest.Load(); got != want {
				t.Errorf("the search begins at offset %d, want %d", got, want)
			}
		})
	}
}

// Resume searches once, counts the records it finds, and reports an error,
// after which it looks up the leaders again.
func TestResumeCounts(t *testing.T) {
	c := start(t, 1, kfake.NumBrokers(3))
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	deliver(t, before, records(7, 11, 30))
	var reported []error
	after := dial(t, c, Config{OnError: func(err error) { reported = append(reported, err) }})
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: logs, Err: kerr.NotLeaderForPartition})
	if n, err := after.Resume(t.Context(), mark, records(7, 11, 20)); n != 0 || !errors.Is(err, kerr.NotLeaderForPartition) {
		t.Errorf("got %d, %v", n, err)
	}
	must.Succeed(t, c.MoveTopicPartition(logs, 0, (c.LeaderFor(logs, 0)+1)%3))
	if rest := resume(t, after, mark, records(7, 11, 20)); len(rest) > 0 {
		t.Fatalf("left: got %d records, want none", len(rest))
	}
	if rest := resume(t, after, mark, records(7, 21, 40)); len(rest) != 10 {
		t.Errorf("left: got %d records, want 10", len(rest))
	}
	if got := after.Stats(); got.Searches != 2 || got.Failures != 1 || got.Present != 20 || len(reported) != 1 {
		t.Errorf("Stats: got %+v, %d reports; want 2 searches, a failure and its report, and 20 records", got, len(reported))
	}
}

// All partitions are searched once, and again for records that are more than a
// minute older.
func TestSearchForOlderRecords(t *testing.T) {
	d := dial(t, start(t, 3), Config{RoundRobin: true})
	for _, c := range []struct {
		older time.Duration
		want  uint64
	}{{0, 3}, {0, 3}, {time.Minute, 3}, {time.Minute + time.Millisecond, 6}} {
		batch := records(7, 11, 15)
		for i := range batch {
			batch[i].Time -= c.older.Nanoseconds()
		}
		resume(t, d, nil, batch)
		if got := d.Stats().Searches; got != c.want {
			t.Errorf("older by %v: got %d searches, want %d", c.older, got, c.want)
		}
	}
}

// A process that cannot resume leaves the mark as it was.
func TestMarkAfterAFailedResume(t *testing.T) {
	c := start(t, 3)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch, kmsg.ListOffsets}, Topic: logs, Err: kerr.TopicAuthorizationFailed})
	after := dial(t, c, Config{})
	if _, err := after.Resume(t.Context(), mark, records(7, 11, 20)); err == nil {
		t.Error("got no error")
	}
	if got := after.Mark(); !bytes.Equal(got, mark) {
		t.Errorf("got %+v, want %+v", readMark(t, got), readMark(t, mark))
	}
}

// A transactional process fences the one before it when it resumes, and needs
// no delay; if it cannot fence, it fails. Others wait for requests of that
// process.
func TestTakeover(t *testing.T) {
	c := start(t, 3)
	conf := Config{TransactionalID: "tx", TakeoverDelay: time.Hour}
	deliver(t, dial(t, c, conf), records(7, 1, 5))
	after := dial(t, c, conf)
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, Err: kerr.ClusterAuthorizationFailed, TopLevel: true})
	if n, err := after.Resume(t.Context(), nil, records(7, 1, 10)); n != 0 || !errors.Is(err, kerr.ClusterAuthorizationFailed) {
		t.Errorf("got %d, %v", n, err)
	}
	if rest := resume(t, after, nil, records(7, 1, 10)); len(rest) != 5 {
		t.Errorf("left: got %d records, want 5", len(rest))
	}
	c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: kerr.OutOfOrderSequenceNumber})
	searches := after.Stats().Searches
	deliver(t, after, records(7, 6, 10))
	if got := after.Stats().Searches; got != searches {
		t.Errorf("%d searches for a transaction that was begun again", got-searches)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if n, err := dial(t, c, Config{TakeoverDelay: time.Hour}).Resume(ctx, nil, records(7, 1, 10)); n != 0 || err == nil {
		t.Errorf("not transactional: got %d, %v; want that it waits", n, err)
	}
}

// partitionsOf returns the partitions with records from a number on.
func partitionsOf(t testing.TB, c *kfake.Cluster, from uint64) (list []int32) {
	t.Helper()
	all := read(t, c, logs)
	for i, n := range numbers(t, all) {
		if p := all[i].Partition; n >= from && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	return list
}

// A topic gets more partitions: the records of a spool stay in theirs, with or
// without a mark. Without records in any partition, the spool's id chooses the
// partition.
func TestPartitionOfASpoolIsKept(t *testing.T) {
	for _, keep := range []bool{true, false} {
		for spool := uint64(7); spool < 12; spool++ {
			c := start(t, 1)
			before := dial(t, c, Config{})
			deliver(t, before, records(spool, 1, 10))
			mark := before.Mark()
			deliver(t, before, records(spool, 11, 15))
			addPartitions(t, c, 6)
			if !keep {
				mark = nil
			}
			after := dial(t, c, Config{})
			deliver(t, after, resume(t, after, mark, records(spool, 11, 20)))
			if got := partitionsOf(t, c, 1); len(got) != 1 || got[0] != 0 {
				t.Errorf("spool %d, with the mark %v: got partitions %v, want 0", spool, keep, got)
			}
			wantExactly(t, c, 1, 20)
		}
	}
	for spool := uint64(7); spool < 12; spool++ {
		a, b := start(t, 6), start(t, 6)
		deliver(t, dial(t, a, Config{}), records(spool, 1, 5))
		after := dial(t, b, Config{})
		deliver(t, after, resume(t, after, nil, records(spool, 1, 5)))
		if got, want := partitionsOf(t, b, 1), partitionsOf(t, a, 1); !slices.Equal(got, want) {
			t.Errorf("spool %d, nothing found: got partitions %v, want %v", spool, got, want)
		}
	}
}

// addPartitions increases the number of partitions to n.
func addPartitions(t testing.TB, c *kfake.Cluster, n int32) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	must.Succeed(t, err)
	defer cl.Close()
	req, topic := kmsg.NewPtrCreatePartitionsRequest(), kmsg.NewCreatePartitionsRequestTopic()
	topic.Topic, topic.Count = logs, n
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(t.Context(), cl)
	if err != nil || len(resp.Topics) != 1 || resp.Topics[0].ErrorCode != 0 {
		t.Fatalf("got %+v, %v", resp, err)
	}
}

// Retention has deleted all records, and the mark has no place or a place that
// does not exist. Delivery continues as a new producer.
func TestPlaceThatIsGone(t *testing.T) {
	for name, change := range map[string]func(*mark){
		"no partition yet":    func(m *mark) { m.partition, m.offset = -1, -1 },
		"no such partition":   func(m *mark) { m.partition = 1 },
		"end of partition":    func(m *mark) { m.offset = 10 },
		"beyond the end":      func(m *mark) { m.offset = 1000 },
		"no current producer": func(m *mark) { m.current = producer{-1, -1} },
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, 1)
			before := dial(t, c, Config{})
			deliver(t, before, records(7, 1, 10))
			m := readMark(t, before.Mark())
			must.Succeed(t, c.DeleteRecords(logs, 0, 10))
			change(&m)
			after := dial(t, c, Config{})
			rest := resume(t, after, m.encode(), records(7, 11, 20))
			if len(rest) != 10 {
				t.Fatalf("left: got %d records, want 10", len(rest))
			}
			_ = after.Mark()
			if res, err := after.Deliver(t.Context(), rest); res.Accepted != 0 || err != nil || !after.SyncMark() {
				t.Errorf("got %+v, %v; want that the mark with the new producer is stored first", res, err)
			}
			if m := readMark(t, after.Mark()); m.current.id < 0 || m.partition != 0 {
				t.Errorf("mark: got %+v", m)
			}
			deliver(t, after, rest)
			wantExactly(t, c, 11, 20)
		})
	}
}

// A lost mark is replaced, after everything has been found, by one without a
// producer: the next process begins as a new one.
func TestMarkWithoutAProducer(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	second := dial(t, c, Config{})
	if rest := resume(t, second, nil, records(7, 1, 10)); len(rest) > 0 {
		t.Fatalf("left: got %d records, want none", len(rest))
	}
	mark := second.Mark()
	deliver(t, before, records(7, 11, 12))
	third := dial(t, c, Config{})
	rest := resume(t, third, mark, records(7, 11, 20))
	if len(rest) != 8 {
		t.Fatalf("left: got %d records, want 8", len(rest))
	}
	deliver(t, third, rest)
	if m := readMark(t, third.Mark()); m.current.id < 0 {
		t.Errorf("mark: got %+v", m)
	}
	wantExactly(t, c, 1, 20)
}

// The first batch of an adopted producer is acknowledged for an older batch.
// Until a search has shown that, it is not settled, even if the search fails.
func TestFailedConfirmation(t *testing.T) {
	for _, key := range []kmsg.Key{kmsg.ListOffsets, kmsg.Fetch} {
		for _, failures := range []int{1, 2} { // in the search that confirms, and in the next one
			t.Run(fmt.Sprint(key.Name(), failures), func(t *testing.T) {
				c := start(t, 1)
				before := dial(t, c, Config{})
				deliver(t, before, records(7, 1, 5))
				deliver(t, before, records(7, 6, 10))
				m := readMark(t, before.Mark())
				m.sequence = 5
				after := dial(t, c, Config{})
				rest := resume(t, after, m.encode(), records(7, 11, 15))
				c.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Topic: logs, Err: kerr.TopicAuthorizationFailed, Count: failures})
				deliver(t, after, rest)
				deliver(t, after, records(7, 16, 20))
				wantExactly(t, c, 1, 20)
			})
		}
	}
}

// A service changes its partitioning: records may be in any partition until all
// of them are settled, which its mark says.
func TestMarkOfAnotherPartitioning(t *testing.T) {
	c := start(t, 3)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	deliver(t, before, records(7, 11, 15))
	after := dial(t, c, Config{RoundRobin: true})
	if rest := resume(t, after, mark, records(7, 11, 20)); len(rest) != 5 {
		t.Errorf("left: got %d records, want 5", len(rest))
	}
	if m := readMark(t, after.Mark()); !m.spread || m.mode != 2 {
		t.Errorf("got %+v, want it spread", m)
	}
}

// The first mark with a producer has the partition that the spool's records go
// to.
func TestPlaceOfAFirstMark(t *testing.T) {
	for _, conf := range []Config{{}, {TransactionalID: "tx"}} {
		for spool := uint64(7); spool < 13; spool++ {
			c := start(t, 3)
			d := dial(t, c, conf)
			_ = d.Mark()
			if res, err := d.Deliver(t.Context(), records(spool, 1, 5)); res.Accepted != 0 || err != nil {
				t.Fatalf("got %+v, %v; want that the mark is stored first", res, err)
			}
			first := readMark(t, d.Mark()).partition
			deliver(t, d, records(spool, 1, 5))
			deliver(t, d, records(spool, 6, 9))
			if got := partitionsOf(t, c, 1); len(got) != 1 || got[0] != first || readMark(t, d.Mark()).partition != first {
				t.Errorf("spool %d: got partition %d in the mark, want %v", spool, first, got)
			}
		}
	}
}

// The partition of a mark has become shorter than its offset. If the first
// batch is refused, the search begins where the records are that follow.
func TestSearchInAShorterPartition(t *testing.T) {
	c := start(t, 1)
	before := dial(t, c, Config{})
	deliver(t, before, records(7, 1, 10))
	m := readMark(t, before.Mark())
	must.Succeed(t, c.DeleteRecords(logs, 0, 10))
	m.offset = 10
	after := dial(t, c, Config{})
	rest := resume(t, after, m.encode(), records(7, 11, 20))
	deliver(t, dial(t, c, Config{}), records(8, 11, 20))
	c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: kerr.UnknownProducerID})
	lowest := firstFetch(c)
	deliver(t, after, rest)
	if got := lowest.Load(); got != 10 {
		t.Errorf("the search begins at offset %d, want 10", got)
	}
}

// A search after a refused batch that fails is an error, and the batch is not
// sent again before one has succeeded.
func TestFailedSearchAfterARefusal(t *testing.T) {
	c := start(t, 1)
	var reported []error
	d := dial(t, c, Config{OnError: func(err error) { reported = append(reported, err) }})
	deliver(t, d, records(7, 1, 10))
	c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: kerr.OutOfOrderSequenceNumber})
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: logs, Err: kerr.TopicAuthorizationFailed})
	deliver(t, d, records(7, 11, 20))
	if len(reported) != 1 || !errors.Is(reported[0], kerr.TopicAuthorizationFailed) {
		t.Errorf("OnError: got %v, want the error of the search", reported)
	}
	wantExactly(t, c, 1, 20)
}
