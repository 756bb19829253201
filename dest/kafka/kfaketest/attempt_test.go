// SPDX-License-Identifier: Apache-2.0

package kfaketest

import (
	"errors"
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

// The leader of a partition is looked up again after an error, and only then.
func TestLeaderIsLookedUpAgain(t *testing.T) {
	c := start(t, 1, kfake.NumBrokers(3))
	d := dial(t, c, Config{})
	lookups := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Metadata}, Topic: logs, Observe: true, Count: -1})
	_ = d.Mark()
	if _, err := d.Deliver(t.Context(), records(7, 1, 5)); err != nil { // the mark must be stored first
		t.Fatal(err)
	}
	before := lookups.Hits()
	deliver(t, d, records(7, 1, 5))
	deliver(t, d, records(7, 6, 10))
	if n := lookups.Hits(); n != before {
		t.Errorf("%d lookups without an error", n-before)
	}
	must.Succeed(t, c.MoveTopicPartition(logs, 0, (c.LeaderFor(logs, 0)+1)%3))
	deliver(t, d, records(7, 11, 20))
	wantExactly(t, c, 1, 20)
}

// The first transaction of a process succeeds at once.
func TestFirstTransaction(t *testing.T) {
	c := start(t, 1)
	d := dial(t, c, Config{TransactionalID: "tx"})
	joins := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.AddPartitionsToTxn}, Observe: true, Count: -1})
	ids := c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.InitProducerID}, TopLevel: true, Observe: true, Count: -1})
	_ = d.Mark() // so that the mark is stored before anything is sent
	deliver(t, d, records(7, 1, 5))
	deliver(t, d, records(7, 6, 10))
	if s := d.Stats(); s.Failures > 0 || s.Searches > 0 || joins.Hits() == 0 || ids.Hits() != 1 {
		t.Errorf("got %+v, %d ids", s, ids.Hits())
	}
	c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Err: kerr.NotEnoughReplicas, Count: 1})
	deliver(t, d, records(7, 11, 20))
	if s := d.Stats(); s.Failures != 1 || s.Searches > 0 {
		t.Errorf("got %+v, want no search if the commit was not sent", s)
	}
	wantExactly(t, c, 1, 20)
}

// Nothing is sent before a transaction has begun. Deliver waits for the end of
// the transaction before, and reports a long wait.
func TestBeginOfATransaction(t *testing.T) {
	const tries, pause = 100, time.Millisecond // of a transaction, at least
	for _, test := range []struct {
		err    *kerr.Error // nil: the connection is closed
		count  int32
		failed uint64
	}{
		{nil, 2, 1}, // franz-go repeats it
		{kerr.TopicAuthorizationFailed, 1, 1},
		{kerr.ConcurrentTransactions, tries, 0},
		{kerr.ConcurrentTransactions, tries + 1, 1},
	} {
		c := start(t, 1)
		sent := c.Fault(kfake.Fault{Keys: produce(), Topic: logs, Observe: true, Count: -1})
		d := dial(t, c, Config{TransactionalID: "tx", OnError: func(err error) {
			if n := sent.Hits(); n > 0 || test.err != nil && !errors.Is(err, test.err) {
				t.Errorf("%v: got %v, %d requests", test.err, err, n)
			}
		}})
		var requests atomic.Int32
		if test.err != nil {
			c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.AddPartitionsToTxn}, Topic: logs, Err: test.err, Count: int(test.count)})
		} else {
			c.ControlKey(int16(kmsg.AddPartitionsToTxn), func(kmsg.Request) (kmsg.Response, error, bool) {
				c.KeepControl()
				return nil, errors.New("closed"), requests.Add(1) <= test.count
			})
		}
		began := time.Now()
		deliver(t, d, records(7, 1, 5))
		if took := time.Since(began); d.Stats().Failures != test.failed || test.count >= tries && took < tries*pause {
			t.Errorf("%v: got %+v, after %v", test.err, d.Stats(), took)
		}
		wantExactly(t, c, 1, 5)
	}
}

// With several partitions, but records for one of them, Deliver need not wait
// either.
func TestOverlapWithOtherPartitions(t *testing.T) {
	c := start(t, 3)
	d := overlapping(t, c, Config{})
	release := holdFrom(c, 5)
	defer release()
	if res, err := d.Deliver(t.Context(), records(7, 1, 8)); err != nil || res.Accepted == 0 || res.Accepted == 8 {
		t.Fatalf("got %+v, %v; want a part of 8 records", res, err)
	}
	release()
}

// A commit is executed, and its response is lost: the next attempt finds the
// records, also if the first search fails, and does not send them again. A
// refused one is not among them.
func TestCommitWithoutAResponse(t *testing.T) {
	c := start(t, 1)
	refuse(c, true, 21)
	d := dial(t, c, Config{TransactionalID: "tx"})
	deliver(t, d, records(7, 1, 10))
	client, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...))
	must.Succeed(t, err)
	defer client.Close()
	var requests atomic.Int32
	c.ControlKey(int16(kmsg.EndTxn), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		switch requests.Add(1) {
		case 1:
			again := *req.(*kmsg.EndTxnRequest)
			c.SleepControl(func() { // in which the request below is not the first one
				if _, err := client.Request(t.Context(), &again); err != nil {
					t.Error(err)
				}
			})
		case 3: // franz-go repeats it
		default:
			return nil, nil, false
		}
		return nil, errors.New("closed"), true
	})
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.ListOffsets}, Topic: logs, Err: kerr.TopicAuthorizationFailed, Count: 1})
	deliver(t, d, records(7, 11, 20))
	if s := d.Stats(); s.Failures != 2 || s.Searches != 2 || s.Present != 10 {
		t.Errorf("got %+v, want a failed commit, a failed search and another one", s)
	}
	requests.Store(0)
	if res := deliverUntil(t, d, records(7, 21, 30), kerr.InvalidRecord); res.Accepted != 0 {
		t.Errorf("got %+v, want that number 21 waits", res)
	}
	if got := deliver(t, d, records(7, 21, 40)); len(got) != 1 || got[0].Index != 0 {
		t.Errorf("rejected: got %v, want number 21", got)
	}
	got, want := numbers(t, read(t, c, logs)), uint64(1)
	for _, n := range got {
		if want == 21 {
			want++
		}
		if n != want {
			t.Fatalf("got %v", got)
		}
		want++
	}
	if len(got) != 39 {
		t.Errorf("got %v", got)
	}
}

// A transaction is aborted that had a record which a search has not found,
// between others: all of it is sent again.
func TestAbortAfterASearch(t *testing.T) {
	c := start(t, 1)
	conf := Config{TransactionalID: "tx"}
	before := dial(t, c, conf)
	deliver(t, before, records(7, 1, 10))
	mark := before.Mark()
	deliver(t, before, append(records(7, 11, 14), records(7, 16, 20)...)) // 15 was refused
	after := dial(t, c, conf)
	rest := resume(t, after, mark, records(7, 11, 30))
	if len(rest) != 16 {
		t.Fatalf("left: got %d records, want 16", len(rest))
	}
	c.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.EndTxn}, TopLevel: true, Err: kerr.UnknownServerError})
	deliver(t, after, rest)
	wantSpool(t, c, 7, 30, false)
}
