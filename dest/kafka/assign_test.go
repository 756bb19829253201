// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"context"
	"testing"

	"github.com/nib-log/nib"
)

// testLanes returns a destination with n lanes, and states for the records of a
// batch.
func testLanes(n, states int) *Destination {
	d := &Destination{c: Config{}.withDefaults(), states: make([]state, states)}
	for i := range n {
		d.lanes = append(d.lanes, newLane(d, "logs", int32(i)))
	}
	return d
}

// Records are sent unless they are settled, rejected, or in a batch that the
// broker has not responded to.
func TestWhatIsSent(t *testing.T) {
	d := testLanes(1, 7)
	l := d.lanes[0]
	l.spool, l.through = 7, 2
	l.queue, l.todo = []*inFlight{queued(3, 4, -2), queued(5, 5, -2)}, []int{9}
	d.states[5].sent = true                               // in a batch of an earlier attempt
	d.states[6] = state{settled: true, reason: errDenied} // rejected
	batch := append(records(7, 2, 6), nib.Record{Seq: 0, Spool: 7}, records(7, 8, 8)[0])
	d.assign(batch)
	if len(l.todo) != 1 || l.todo[0] != 4 {
		t.Errorf("to be sent: got %v, want number 6", l.todo)
	}
	if l.queue[0].index[0] != 1 || l.queue[0].index[1] != 2 || l.queue[1].index[0] != 3 {
		t.Errorf("in flight: got %v and %v, want 1, 2 and 3", l.queue[0].index, l.queue[1].index)
	}
	for i, want := range []state{{settled: true}, {sent: true}, {sent: true}, {sent: true}, {}, {sent: true}, {settled: true, reason: errDenied}} {
		if d.states[i] != want {
			t.Errorf("record %d: got %+v, want %+v", i, d.states[i], want)
		}
	}
}

// A batch in flight has records of one spool; there may be gaps between their
// numbers, but records without a number have none.
func TestRecordOfABatch(t *testing.T) {
	p := &inFlight{spool: 7, numbers: []uint64{3, 4, 7, 9}}
	for number, want := range map[uint64]int{2: -1, 3: 0, 4: 1, 5: -1, 6: -1, 7: 2, 8: -1, 9: 3, 10: -1} {
		if got := p.match(&nib.Record{Spool: 7, Seq: number}); got != want {
			t.Errorf("number %d: got %d, want %d", number, got, want)
		}
	}
	if got := p.match(&nib.Record{Spool: 8, Seq: 4}); got >= 0 {
		t.Errorf("another spool: got %d", got)
	}
	p = &inFlight{numbers: []uint64{0, 0}}
	if got := p.match(&nib.Record{}); got >= 0 {
		t.Errorf("without a number: got %d", got)
	}
}

// Records found in any partition are settled, if partitions were chosen in
// another way.
func TestFoundInAnotherPartition(t *testing.T) {
	d := testLanes(3, 0)
	d.c.RoundRobin, d.searches.highest = true, 8
	d.lanes[2].spool, d.lanes[2].present = 7, map[uint64]struct{}{6: {}, 9: {}}
	for number, want := range map[uint64]bool{5: false, 6: true, 7: false, 8: false, 9: false} {
		if got := d.isSettled(&nib.Record{Spool: 7, Seq: number}); got != want {
			t.Errorf("number %d: got %v", number, got)
		}
	}
	if d.isSettled(&nib.Record{Spool: 8, Seq: 6}) {
		t.Error("a record of another spool is settled")
	}
	d.searches.highest = 6
	if !d.isSettled(&nib.Record{Spool: 7, Seq: 6}) {
		t.Error("the highest number is not settled")
	}
}

// Lanes are chosen by the number, in turn without one, and by the spool where
// there is no key; a search may have found the partition of the spool.
func TestLaneOfARecord(t *testing.T) {
	d := testLanes(3, 0)
	d.c.RoundRobin = true
	for seq, want := range map[uint64]int32{3: 0, 4: 1, 5: 2} {
		if got := d.laneOf(&nib.Record{Spool: 7, Seq: seq}).partition; got != want {
			t.Errorf("number %d: got partition %d", seq, got)
		}
	}
	seen := map[int32]int{}
	for range 6 {
		seen[d.laneOf(&nib.Record{}).partition]++
	}
	if seen[0] != 2 || seen[1] != 2 || seen[2] != 2 {
		t.Errorf("without a number: got %v", seen)
	}
	home := func(spool uint64) int32 { return d.homeLane(spool).partition }
	usual := home(7)
	d.searches.spool, d.searches.partition = 7, (usual+1)%3
	if got := home(7); got != d.searches.partition {
		t.Errorf("a partition that was found: got %d, want %d", got, d.searches.partition)
	}
	for spool := range uint64(7) {
		if got, want := home(spool), int32(homeOf(spool, 3)); got != want {
			t.Errorf("spool %d: got partition %d, want %d", spool, got, want)
		}
	}
	for _, missing := range []int32{3, 4} { // partitions that the topic has no more
		d.searches.partition = missing
		if got := home(7); got != usual {
			t.Errorf("partition %d: got %d, want %d", missing, got, usual)
		}
	}
	d.searches.partition, d.c.RoundRobin = (usual+1)%3, false
	d.c.Key = func(*nib.Record) []byte { return nil }
	if got := d.laneOf(&nib.Record{Spool: 7, Seq: 1}).partition; got != d.searches.partition {
		t.Errorf("without a key: got partition %d, want %d", got, d.searches.partition)
	}
}

// Forgetting a topic waits for requests in flight, which read the memory of
// their lane.
func TestForgetWaitsForRequests(t *testing.T) {
	d := testLanes(1, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	canceled, ended := false, make(chan struct{})
	p := &inFlight{underway: ended, cancel: func() { canceled = true; close(ended) }}
	d.lanes[0].queue, d.mark.place = []*inFlight{p}, place{0, 1, 2}
	d.forget(ctx)
	if p.underway != nil || !canceled {
		t.Error("the request is in flight")
	}
	if d.lanes != nil || d.mark.place != nowhere {
		t.Errorf("got %d lanes, %+v", len(d.lanes), d.mark.place)
	}
}
