// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"errors"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// testLane returns a lane of a destination with the default configuration and
// states for n records.
func testLane(n int) *lane {
	d := &Destination{c: Config{}.withDefaults(), states: make([]state, n)}
	l := newLane(d, "logs", 0)
	d.lanes = []*lane{l}
	return l
}

// queued returns a batch in flight with the numbers first to last of spool 7,
// which are the records from index on.
func queued(first, last uint64, index int) *inFlight {
	p := &inFlight{spool: 7, first: int32(first), frame: make([]byte, 10)}
	for n := first; n <= last; n++ {
		p.numbers, p.index = append(p.numbers, n), append(p.index, index)
		index++
	}
	return p
}

// wantSettled checks which numbers of spool 7 are settled.
func wantSettled(t *testing.T, l *lane, from, to uint64, settled ...uint64) {
	t.Helper()
	for n := from; n <= to; n++ {
		r := nib.Record{Spool: 7, Seq: n}
		if got, want := l.settled(&r), slices.Contains(settled, n); got != want {
			t.Errorf("number %d: got settled %v", n, got)
		}
	}
	if l.settled(&nib.Record{Spool: 9, Seq: from}) || l.settled(&nib.Record{Spool: 7}) {
		t.Error("a record of another spool, or without a number, is settled")
	}
}

// A search begins after the last record known to be in the partition, or at a
// time if none is.
func TestOrigin(t *testing.T) {
	l := testLane(0)
	batch := []nib.Record{{Time: 90_000e9}, {Time: 80_000e9}, {Time: 85_000e9}}
	const begin = (80_000 - 60) * 1000
	for offset, want := range map[int64]int64{-1: -1, 0: 1, 5: 6} {
		l.offset = offset
		if got := l.origin(batch); got != (origin{want, begin}) {
			t.Errorf("offset %d: got %+v", offset, got)
		}
	}
	for _, at := range []int64{math.MinInt64, 0, 59e9, 60e9} {
		if got := earliest([]nib.Record{{Time: at}}); got != 0 {
			t.Errorf("earliest, %d: got %d, want 0", at, got)
		}
	}
}

// Records found by a search are settled. Without Key and RoundRobin so are
// those before the ones that it looks for, and deleted ones, but not those in
// between, which were refused.
func TestFoundRecordsAreSettled(t *testing.T) {
	found := finding{spool: 7, from: 11, through: 15, numbers: []uint64{12, 13, 15},
		producer: producer{5, 1}, next: 15, offset: 0}

	l := testLane(0)
	l.taken = time.Unix(1, 0)
	l.pass(found)
	wantSettled(t, l, 9, 17, 9, 10, 12, 13, 15)
	if l.offset != 0 || l.producer != found.producer || l.next != 15 || !l.known || !l.adopted || !l.taken.IsZero() {
		t.Errorf("got %+v, want the producer and the offset that were found", l)
	}
	if l.pass(found); l.d.Stats().Present != 3 {
		t.Errorf("got %+v, want that each record is counted once", l.d.Stats())
	}
	found.from, found.through, found.numbers, found.offset = 16, 17, []uint64{17}, 9
	l.pass(found)
	wantSettled(t, l, 10, 18, 10, 11, 12, 13, 14, 15, 17)
	found.spool, found.numbers = 8, []uint64{16}
	l.pass(found)
	wantSettled(t, l, 10, 18)
	if got := l.settled(&nib.Record{Spool: 8, Seq: 17}); got {
		t.Error("number 17 of the spool before is one of the next spool")
	}
	l = testLane(0)
	l.pass(finding{spool: 7, from: 11, deleted: true, through: 15, numbers: []uint64{15, 13}})
	wantSettled(t, l, 10, 17, 10, 11, 12, 13, 15)

	for _, mode := range []string{"spread", "round robin"} {
		l := testLane(0)
		l.d.mark.spread = mode == "spread"
		if mode == "round robin" {
			l.d.c.RoundRobin = true
		}
		l.pass(finding{spool: 7, from: 12, through: 15, numbers: []uint64{12, 15}})
		wantSettled(t, l, 10, 17, 12, 15)
	}

	l = testLane(0)
	l.spool, l.through = 7, 11 // acknowledged before
	l.pass(finding{spool: 7, from: 12, through: 12, numbers: []uint64{12}})
	wantSettled(t, l, 11, 14, 11, 12)

	l = testLane(0)
	l.offset = 4
	l.pass(finding{spool: 7, offset: -1})
	if l.offset != 4 || l.known {
		t.Errorf("nothing found: got %+v", l)
	}
	l.pass(finding{spool: 7, offset: 6, producer: producer{5, 1}, next: 3})
	wantSettled(t, l, 1, 10)
	if l.offset != 6 || !l.adopted {
		t.Errorf("records before the batch found: got %+v", l)
	}
}

// An acknowledged batch is settled, together with the records found before it.
// A record in between, which was refused, is not.
func TestAcknowledgedRecordsAreSettled(t *testing.T) {
	l := testLane(2)
	l.pass(finding{spool: 7, from: 12, through: 15, numbers: []uint64{12, 15}})
	l.queue = []*inFlight{queued(14, 14, 1), queued(16, 17, -1)}
	for _, n := range []uint64{10, 13, 14} {
		l.refuse(7, n) // 14 is accepted below
	}
	l.acknowledge(l.queue[0], 20)
	wantSettled(t, l, 9, 17, 9, 11, 12, 14, 15)
	l.d.reported(records(7, 9, 10))
	if want := (map[identity]struct{}{{7, 13}: {}}); !maps.Equal(l.refused, want) {
		t.Errorf("refused: got %v, want %v", l.refused, want)
	}
	if l.d.states[0].settled || !l.d.states[1].settled || l.offset != 20 || len(l.queue) != 1 {
		t.Errorf("got %+v, offset %d", l.d.states, l.offset)
	}
	if l.adopted || l.taken.IsZero() {
		t.Error("the producer is not confirmed")
	}
	l.queue[0].index = []int{-1, 0}
	l.acknowledge(l.queue[0], 21)
	wantSettled(t, l, 10, 18, 10, 11, 12, 14, 15, 16, 17)
	if !l.d.states[0].settled || l.offset != 22 {
		t.Errorf("got %+v, offset %d", l.d.states, l.offset)
	}
	if got := l.d.Stats(); got.Records != 3 || got.Batches != 2 || got.Bytes != 20 {
		t.Errorf("Stats: got %+v", got)
	}
	l.queue = []*inFlight{queued(18, 18, -1)}
	l.acknowledge(l.queue[0], -1) // the broker does not return an offset
	if l.offset != 22 {
		t.Errorf("got offset %d, want 22 as before", l.offset)
	}
	l.queue = []*inFlight{queued(16, 16, -1)} // which was sent again after the others
	l.acknowledge(l.queue[0], 22)
	wantSettled(t, l, 10, 18, 10, 11, 12, 14, 15, 16, 17, 18)
	if len(l.present) != 3 {
		t.Errorf("%d numbers are kept, want only 12, 14 and 15", len(l.present))
	}
	p := queued(3, 4, -1)
	p.spool = 8
	l.queue = []*inFlight{p}
	l.acknowledge(p, 23)
	if r := (nib.Record{Spool: 8, Seq: 12}); l.settled(&r) || l.has(&r) || l.exactTo != 0 {
		t.Error("what was found of the spool before counts for the next one")
	}
	none := &inFlight{numbers: []uint64{0}, index: []int{0}} // a record without a number
	l.queue = []*inFlight{none}
	if l.acknowledge(none, 24); l.offset != 24 {
		t.Errorf("got offset %d, want 24", l.offset)
	}
}

// Batches that the broker refuses are sent again, in order and with their
// sequence numbers, except for records that the caller has not passed again.
func TestRefusedBatchesAreSentAgain(t *testing.T) {
	l := testLane(5)
	for i := range l.d.states {
		l.d.states[i].sent = true
	}
	l.queue, l.todo, l.next = []*inFlight{queued(4, 5, 0), queued(6, 7, 2)}, []int{4}, 8
	l.queue[0].index[0] = -1
	l.unsend()
	if !slices.Equal(l.todo, []int{1, 2, 3, 4}) || l.next != 4 || len(l.queue) > 0 {
		t.Errorf("got %v, sequence %d, %d in flight", l.todo, l.next, len(l.queue))
	}
	for i, want := range []bool{true, false, false, false, true} {
		if got := l.d.states[i].sent; got != want {
			t.Errorf("record %d: got sent %v", i, got)
		}
	}
}

// The response to a batch that was refused because of the one before it changes
// nothing, nor does one in a transaction, which is begun again.
func TestResponseOutOfSequence(t *testing.T) {
	code := kerr.OutOfOrderSequenceNumber.Code
	respond := func(l *lane, p *inFlight) error {
		p.answer = &kmsg.ProduceResponseTopicPartition{ErrorCode: code}
		l.queue = []*inFlight{p}
		return l.receive(t.Context(), p, make([]nib.Record, len(l.d.states)))
	}
	l, p := testLane(1), queued(1, 1, 0)
	p.ahead = true
	if err := respond(l, p); err != nil || len(l.queue) != 1 {
		t.Errorf("ahead: got %v, %d in flight", err, len(l.queue))
	}
	l = testLane(1)
	l.d.c.TransactionalID = "tx"
	if err := respond(l, queued(1, 1, 0)); !errors.Is(err, kerr.OutOfOrderSequenceNumber) || l.d.Stats().Searches > 0 || len(l.todo) != 1 {
		t.Errorf("transactional: got %v, %+v", err, l.d.Stats())
	}
	l = testLane(0)
	if err := respond(l, queued(1, 1, -1)); !errors.Is(err, kerr.OutOfOrderSequenceNumber) || l.d.Stats().Searches > 0 {
		t.Errorf("without records to send again: got %v, %+v", err, l.d.Stats())
	}
	l, p = testLane(1), queued(1, 1, 0)
	p.err, l.queue = errDenied, []*inFlight{p}
	if err := l.receive(t.Context(), p, nil); err != errDenied || len(l.queue) != 1 {
		t.Errorf("no response: got %v, %d in flight", err, len(l.queue))
	}
}
