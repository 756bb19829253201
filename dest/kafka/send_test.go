// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// sendingLane returns a lane without a leader, whose requests fail at once, and
// with n records to be sent, each in a batch by itself.
func sendingLane(n int) (*lane, []nib.Record) {
	l := testLane(n)
	l.d.ctx, l.d.cluster.wrote = context.Background(), make(chan struct{}, 1)
	l.known, l.taken, l.limit = true, time.Now(), 1
	for i := range n {
		l.todo = append(l.todo, i)
	}
	return l, records(7, 1, uint64(n))
}

// Several requests are in flight only while that is safe.
func TestRequestsInFlight(t *testing.T) {
	for name, c := range map[string]struct {
		records, atOnce int
		change          func(*lane)
		want            int
	}{
		"all":                  {8, depth, func(*lane) {}, depth},
		"fewer records":        {3, depth, func(*lane) {}, 3},
		"one by one":           {8, 1, func(*lane) {}, 1},
		"nothing accepted yet": {8, depth, func(l *lane) { l.taken = time.Time{} }, 1},
		"accepted long ago":    {8, depth, func(l *lane) { l.taken = time.Now().Add(-2 * remembered) }, 1},
		"accepted a while ago": {8, depth, func(l *lane) { l.taken = time.Now().Add(-remembered / 2) }, depth},
		"adopted":              {8, depth, func(l *lane) { l.adopt(producer{5, 1}, 3) }, 1},
		"after a failure":      {8, depth, func(l *lane) { l.careful = true; l.queue = []*inFlight{queued(90, 91, -1)} }, 1},
		"after that":           {8, depth, func(l *lane) { l.careful = true }, depth},
		"one in the queue":     {8, depth, func(l *lane) { l.queue = []*inFlight{queued(90, 91, -1)} }, depth},
	} {
		l, batch := sendingLane(c.records)
		c.change(l)
		l.launch(t.Context(), batch, c.atOnce)
		sent := 0
		for i, p := range l.queue {
			if p.underway != nil {
				sent++
			}
			if p.ahead != (i > 0) {
				t.Errorf("%s: batch %d: got ahead %v", name, i, p.ahead)
			}
		}
		l.await(t.Context())
		if sent != c.want || len(l.queue) != c.want {
			t.Errorf("%s: %d of %d batches were sent, want %d", name, sent, len(l.queue), c.want)
		}
		for i, p := range l.queue {
			if p.underway != nil || p.err != errNoLeader {
				t.Errorf("%s: batch %d is in flight, or its error is %v", name, i, p.err)
			}
		}
	}

	l, batch := sendingLane(8)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l.launch(ctx, batch, depth); len(l.queue) != 1 {
		t.Errorf("context over: got %d batches", len(l.queue))
	}
	l.await(t.Context())

	l, batch = sendingLane(8)
	if err := l.drain(t.Context(), batch, depth, depth-1); err != errNoLeader || !l.careful || len(l.queue) != depth {
		t.Errorf("drain: got %v, careful %v, %d batches", err, l.careful, len(l.queue))
	}
	for i, p := range l.queue {
		if p.underway != nil {
			t.Errorf("batch %d is in flight after an error", i)
		}
	}
}

// After a response that is not an acknowledgement, drain waits for the others
// and goes on until its queue is empty. Records that an earlier call has held
// are not its concern.
func TestQueueAfterAFailure(t *testing.T) {
	for _, code := range []int16{kerr.NotEnoughReplicas.Code, 0} {
		l, batch := sendingLane(2)
		l.todo = nil
		l.queue = []*inFlight{queued(1, 1, 0), queued(2, 2, 1)}
		for _, p := range l.queue {
			p.underway, p.answer = make(chan struct{}), &kmsg.ProduceResponseTopicPartition{ErrorCode: code}
			close(p.underway)
		}
		last := l.queue[1]
		switch err := l.drain(t.Context(), batch, depth, 1); code {
		case 0:
			if err != nil || len(l.queue) != 1 || last.underway == nil {
				t.Errorf("acknowledged: got %v, %d in the queue; want that the last one is left", err, len(l.queue))
			}
		default:
			if !errors.Is(err, kerr.NotEnoughReplicas) || last.underway != nil || !l.careful {
				t.Errorf("refused: got %v, in flight %v", err, last.underway != nil)
			}
		}
	}
	l, batch := sendingLane(1)
	l.todo, l.careful, l.d.states[0].settled = nil, true, true
	l.queue = []*inFlight{queued(1, 1, 0)}
	if err := l.drain(t.Context(), batch, depth, 1); err != errNoLeader {
		t.Errorf("careful: got %v, want that the batch is sent", err)
	}
	l.queue, l.held = nil, []heldRecord{{0, errDenied}}
	if err := l.drain(t.Context(), batch, depth, 0); err != nil {
		t.Errorf("held by another call: got %v", err)
	}
}

// A batch has records of one spool up to the limit, and at least one.
func TestRecordsOfABatch(t *testing.T) {
	l, batch := sendingLane(6)
	batch[3].Spool, batch[4].Spool, batch[5].Spool = 8, 8, 8
	one := len(batch[0].Line) + len(batch[0].Logger) + recordOverhead // an upper bound
	l.limit = 10 * one
	l.d.c.Key = func(r *nib.Record) []byte {
		if r.Seq == 6 {
			return make([]byte, 10*one)
		}
		return nil
	}
	for i, want := range [][]int{{0, 1, 2}, {3, 4}, {5}} {
		l.encode(batch)
		p := l.queue[i]
		if !slices.Equal(p.index, want) || p.first != int32(want[0]) || p.spool != batch[want[0]].Spool || p.plain != l.enc.size() {
			t.Errorf("batch %d: got %+v, want records %v", i, p, want)
		}
		for k, at := range want {
			if p.numbers[k] != batch[at].Seq || !l.d.states[at].sent {
				t.Errorf("batch %d: record %d is not sent", i, at)
			}
		}
	}
	if len(l.todo) > 0 || l.next != 6 {
		t.Errorf("left: %v, sequence %d", l.todo, l.next)
	}

	l, batch = sendingLane(3)
	l.limit = 1
	if l.encode(batch); len(l.queue[0].index) != 1 || len(l.queue[0].numbers) != 1 {
		t.Errorf("got %+v, want one record", l.queue[0])
	}
	first := l.enc.size()
	l.limit = first + len(batch[1].Line) + len(batch[1].Logger) + recordOverhead
	l.todo = []int{0, 1, 2}
	if l.encode(batch); len(l.queue[1].index) != 2 {
		t.Errorf("got %+v, want two records, which fill the limit", l.queue[1])
	}
}

// A record that is larger than any request is rejected without being sent.
func TestRecordLargerThanARequest(t *testing.T) {
	l, batch := sendingLane(2)
	batch[0].Line = make([]byte, maxFrame)
	l.encode(batch)
	if s := l.d.states[0]; !s.settled || s.sent || !errors.Is(s.reason, delivery.ErrTooLarge) || len(l.queue) > 0 || !slices.Equal(l.todo, []int{1}) {
		t.Errorf("got %+v, %d in flight, to be sent %v", s, len(l.queue), l.todo)
	}
	if l.spool, l.through = 7, 2; l.settled(&batch[0]) {
		t.Error("it is settled by the one after it")
	}
	batch[0].Line = batch[0].Line[:maxFrame-recordOverhead-len(batch[0].Logger)+1]
	l.todo = []int{0}
	l.d.states[0] = state{}
	if l.encode(batch); len(l.queue) > 0 || len(l.d.result().Rejected) != 1 {
		t.Errorf("a record with one byte too many: got %+v", l.d.result())
	}
}

// A sequence continues with 0 after the highest one.
func TestSequencesWrapAround(t *testing.T) {
	for _, c := range []struct{ from, n, want int32 }{{0, 5, 5}, {1<<31 - 2, 1, 1<<31 - 1}, {1<<31 - 1, 1, 0}, {1<<31 - 3, 5, 2}} {
		if got := advance(c.from, int(c.n)); got != c.want {
			t.Errorf("%d and %d: got %d, want %d", c.from, c.n, got, c.want)
		}
	}
}
