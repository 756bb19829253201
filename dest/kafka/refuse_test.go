// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// refusedLane returns a lane with a batch of n records in flight, which were
// refused, and another one behind it.
func refusedLane(n int) (*lane, []nib.Record) {
	l := testLane(n + 1)
	for i := range l.d.states {
		l.d.states[i].sent = true
	}
	l.queue = []*inFlight{queued(1, uint64(n), 0), queued(uint64(n)+1, uint64(n)+1, n)}
	l.queue[0].plain = 100
	return l, records(7, 1, uint64(n)+1)
}

// A batch that is too large is halved. If a part of it is refused in turn, the
// size before is restored when the record that is the cause was found.
func TestBatchIsHalved(t *testing.T) {
	l, _ := refusedLane(4)
	l.limit, l.others = 5000, true
	began := time.Now()
	l.split()
	if l.limit != 50 || l.suspect != 100 || l.before != 5000 || l.others || l.limited.Before(began) {
		t.Errorf("got %+v and a limit of %d, want 50", l.blame, l.limit)
	}
	if !slices.Equal(l.todo, []int{0, 1, 2, 3, 4}) || len(l.queue) > 0 {
		t.Errorf("to be sent: got %v, want all", l.todo)
	}
	l.queue = []*inFlight{queued(1, 2, 0)}
	l.queue[0].plain = 50
	l.others = true
	l.split()
	if l.limit != 25 || l.suspect != 100 || l.before != 5000 || !l.others {
		t.Errorf("again: got %+v and a limit of %d, want 25", l.blame, l.limit)
	}
	l.blamed()
	if l.limit != 5000 || l.suspect != 0 || l.others {
		t.Errorf("blamed: got %+v and a limit of %d, want 5000", l.blame, l.limit)
	}
	l.limit, l.others = 25, true
	l.blamed()
	if l.limit != 25 || !l.others {
		t.Errorf("nothing was split: got %+v and a limit of %d", l.blame, l.limit)
	}
}

// The size of batches doubles, up to the configured one, a minute after one was
// too large.
func TestLimitGrowsAgain(t *testing.T) {
	for _, c := range []struct {
		limit, suspect int
		ago            time.Duration
		want           int
	}{
		{300, 0, 2 * limitKept, 600},
		{600, 0, 2 * limitKept, 1000},
		{1000, 0, 2 * limitKept, 1000},
		{300, 0, limitKept / 2, 300},
		{300, 50, 2 * limitKept, 300},
	} {
		l := testLane(0)
		l.d.c.MaxBatch = 1000
		l.limit, l.suspect, l.limited = c.limit, c.suspect, time.Now().Add(-c.ago)
		l.accepted(&inFlight{plain: 10})
		if l.limit != c.want {
			t.Errorf("%+v: got %d", c, l.limit)
		}
	}
}

// Records that are held are sent again when another one is accepted, before the
// rest, and later if too many are held: then their contents are not the cause.
func TestHeldRecords(t *testing.T) {
	l := testLane(3)
	l.probes, l.todo = 99, []int{1}
	l.held = []heldRecord{{0, errDenied}, {2, errDenied}}
	l.accepted(&inFlight{})
	if want := []state{{retried: true}, {}, {retried: true}}; !slices.Equal(l.d.states, want) || !slices.Equal(l.todo, []int{0, 2, 1}) || len(l.held) > 0 || l.probes != firstProbes {
		t.Errorf("got %+v, %+v, to be sent %v", l.d.states, l.blame, l.todo)
	}
	for _, c := range []struct{ held, probes, next int }{{1, 2, 2}, {2, 2, 4}, {700, 700, mostProbes}} {
		l := testLane(1)
		l.held, l.probes = make([]heldRecord, c.held), c.probes
		l.held[0].why = errDenied
		l.suspect, l.before, l.others = 10, 5000, true
		err := l.holdMany()
		if l.probes != c.next || (err != nil) != (c.held == c.probes) {
			t.Errorf("%d of %d: got %v, %d", c.held, c.probes, err, l.probes)
		}
		if err != nil && (!errors.Is(err, errDenied) || !strings.Contains(err.Error(), "fixed") || len(l.held) > 0 || l.suspect > 0 || l.limit != 5000) {
			t.Errorf("%d of %d: got %v, %+v", c.held, c.probes, err, l.blame)
		}
	}
}

// A single record that is refused is held until another one is accepted, or
// rejected if a part of its batch was. If the caller has not passed it again,
// it is left to the next delivery.
func TestSingleRecordIsRefused(t *testing.T) {
	l, batch := refusedLane(1)
	if err := l.refuseAll(t.Context(), batch, errDenied); err != nil || len(l.held) != 1 || l.held[0] != (heldRecord{0, errDenied}) {
		t.Errorf("got %v, %+v", err, l.held)
	}
	if l.d.states[0] != (state{}) || !slices.Equal(l.todo, []int{1}) {
		t.Errorf("got %+v, to be sent %v", l.d.states[0], l.todo)
	}
	l, batch = refusedLane(1)
	l.others, l.suspect = true, 10
	if err := l.refuseAll(t.Context(), batch, errDenied); err != nil || len(l.held) > 0 || l.d.states[0].reason != errDenied || l.suspect > 0 {
		t.Errorf("a part was accepted: got %v, %+v, %+v", err, l.held, l.d.states[0])
	}
	l, batch = refusedLane(1)
	l.d.states[0].retried = true
	if err := l.refuseAll(t.Context(), batch, errDenied); err != nil || len(l.held) > 0 || l.d.states[0].reason != errDenied {
		t.Errorf("again: got %v, %+v, %+v", err, l.held, l.d.states[0])
	}
	l, batch = refusedLane(1)
	l.queue[0].index[0] = -1
	if err := l.refuseAll(t.Context(), batch, errDenied); err != nil || len(l.held) > 0 || rejected(l.d) > 0 || !slices.Equal(l.todo, []int{1}) {
		t.Errorf("not passed again: got %v, %+v", err, l.held)
	}
	l, batch = refusedLane(1)
	l.probes = 1
	if err := l.refuseAll(t.Context(), batch, errDenied); !errors.Is(err, errDenied) {
		t.Errorf("too many: got %v", err)
	}
}

// rejected returns how many records of the batch are rejected.
func rejected(d *Destination) (n int) {
	for _, s := range d.states {
		if s.reason != nil {
			n++
		}
	}
	return n
}

// Of the records that the broker names, those in the batch of this call are
// rejected, and the others sent again. If it names all of them, the attempt
// ends, and if it names none, or others, the batch is halved.
func TestNamedRecordsAreRefused(t *testing.T) {
	response := func(named ...int32) *kmsg.ProduceResponseTopicPartition {
		a := &kmsg.ProduceResponseTopicPartition{ErrorCode: kerr.InvalidRecord.Code}
		for _, n := range named {
			a.ErrorRecords = append(a.ErrorRecords, kmsg.ProduceResponseTopicPartitionErrorRecord{RelativeOffset: n, ErrorMessage: kmsg.StringPtr("no key")})
		}
		return a
	}
	l, batch := refusedLane(4)
	l.queue[0].index[3] = -1
	must.Succeed(t, l.refuseSome(t.Context(), batch, response(0, 2, 3), errDenied))
	for _, i := range []int{0, 2} {
		if s := l.d.states[i]; !s.settled || !errors.Is(s.reason, kerr.InvalidRecord) || !strings.Contains(s.reason.Error(), "no key") {
			t.Errorf("record %d: got %+v", i, s)
		}
	}
	if !slices.Equal(l.todo, []int{1, 4}) || rejected(l.d) != 2 || len(l.held) > 0 {
		t.Errorf("to be sent: got %v, want 1 and 4; %d are rejected", l.todo, rejected(l.d))
	}
	if l.spool, l.through = 7, 4; l.settled(&batch[0]) || l.settled(&batch[2]) {
		t.Error("a refused record is settled by the one after it")
	}

	l, batch = refusedLane(4)
	if err := l.refuseSome(t.Context(), batch, response(0, 1, 2, 3), errDenied); !errors.Is(err, kerr.InvalidRecord) || len(l.held) > 0 || rejected(l.d) > 0 {
		t.Errorf("all: got %v, %d held", err, len(l.held))
	}
	if !slices.Equal(l.todo, []int{0, 1, 2, 3, 4}) {
		t.Errorf("all: to be sent: got %v", l.todo)
	}
	l, batch = refusedLane(4)
	l.held = []heldRecord{{4, errDenied}}
	if err := l.refuseSome(t.Context(), batch, response(0), errDenied); err != nil || len(l.held) != 1 {
		t.Errorf("one, while another is held: got %v, %d held", err, len(l.held))
	}
	l, batch = refusedLane(2)
	l.d.states[1].retried = true
	if err := l.refuseSome(t.Context(), batch, response(0, 1), errDenied); err == nil || l.d.states[0].settled || l.d.states[1].reason == nil {
		t.Errorf("all, one again: got %v, %+v", err, l.d.states)
	}
	for _, named := range [][]int32{{4}, {-1}, {1, 4, -1, 9}, {7, 8, 9, 10, 11}} {
		l, batch = refusedLane(4)
		err := l.refuseSome(t.Context(), batch, response(named...), errDenied)
		if err != nil || l.limit != 50 || len(l.held) > 0 || rejected(l.d) > 0 {
			t.Errorf("%d, beyond the batch: got %v, a limit of %d, %d held and %d rejected",
				named, err, l.limit, len(l.held), rejected(l.d))
		}
	}
	l, batch = refusedLane(4)
	if err := l.refuseSome(t.Context(), batch, response(), errDenied); err != nil || l.limit != 50 || len(l.held) > 0 {
		t.Errorf("none: got %v, a limit of %d, %d held", err, l.limit, len(l.held))
	}
	l, batch = refusedLane(1)
	if err := l.refuseSome(t.Context(), batch, response(0), errDenied); err != nil || len(l.held) != 1 || l.held[0].why != errDenied {
		t.Errorf("a single one: got %v, %+v", err, l.held)
	}
}

// A record in the dead letter topic counts as settled until that was reported,
// with all records before it; one without a number cannot be recognized.
func TestDeadLetteredRecordsAreSettled(t *testing.T) {
	d := testLanes(1, 0)
	if d.dead.has(&nib.Record{Spool: 7, Seq: 5}) {
		t.Error("nothing was dead-lettered")
	}
	d.dead.sent = map[identity]struct{}{{7, 5}: {}, {7, 9}: {}, {8, 6}: {}}
	for number, want := range map[uint64]bool{4: false, 5: true, 6: false, 9: true} {
		if got := d.dead.has(&nib.Record{Spool: 7, Seq: number}); got != want {
			t.Errorf("number %d: got %v", number, got)
		}
	}
	d.reported(nil)
	if len(d.dead.sent) != 3 || d.reached != (identity{}) {
		t.Errorf("nothing was reported: got %v, %+v", d.dead.sent, d.reached)
	}
	d.reported(records(7, 4, 5))
	has := d.dead.has(&nib.Record{Spool: 7, Seq: 9})
	if len(d.dead.sent) != 1 || !has || d.reached != (identity{7, 5}) {
		t.Errorf("reported to 5: got %v, %+v", d.dead.sent, d.reached)
	}
	why, err := d.dead.add(t.Context(), d, &nib.Record{}, errDenied)
	if why != errDenied || err != nil {
		t.Errorf("without a dead letter topic: got %v, %v", why, err)
	}
}
