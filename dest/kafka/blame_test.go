// SPDX-License-Identifier: Apache-2.0

package kafka

import (
	"errors"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/must"
)

// TestSplitBatchIsSettled has a lane that splits a batch: the results of its
// parts determine how the next refused record is handled.
func TestSplitBatchIsSettled(t *testing.T) {
	newLane := func() *lane {
		d := &Destination{states: make([]state, 1)}
		d.c.MaxBatch = 1000
		return &lane{d: d, blame: blame{probes: firstProbes, before: 1000, suspect: 100}, limit: 50}
	}

	t.Run("a part is accepted", func(t *testing.T) {
		l := newLane()
		l.accepted(&inFlight{plain: 60})
		if !l.others || l.suspect != 40 {
			t.Errorf("got others %v and %d bytes suspect, want true and 40", l.others, l.suspect)
		}
	})
	t.Run("all of it is accepted", func(t *testing.T) {
		l := newLane()
		l.accepted(&inFlight{plain: 100})
		if l.others {
			t.Error("a record of the next batch would be rejected at once, for parts of this one were accepted")
		}
	})
	t.Run("one record is refused", func(t *testing.T) {
		l := newLane()
		l.queue = []*inFlight{queued(1, 1, 0)}
		must.Succeed(t, l.refuseAll(t.Context(), make([]nib.Record, 1), errDenied))
		if l.limit != 1000 || l.suspect != 0 || len(l.held) != 1 {
			t.Errorf("got a limit of %d bytes, %d suspect and %d records held, want 1000, 0 and 1", l.limit, l.suspect, len(l.held))
		}
	})
}

var errDenied = errors.New("denied")

// TestForgottenBatchIsSentAgain forgets a topic with records in flight.
func TestForgottenBatchIsSentAgain(t *testing.T) {
	d := &Destination{states: []state{{sent: true}, {settled: true}}}
	d.forget(t.Context())
	if d.states[0].sent || !d.states[1].settled {
		t.Errorf("got %+v, want the first to be sent again", d.states)
	}
}

// TestRefusalsOfABatchAreForgotten delivers after a failed attempt that has
// held records of another batch.
func TestRefusalsOfABatchAreForgotten(t *testing.T) {
	d := dialBroker(t)
	deliverAll(t, d, 1, 5)
	d.lanes[0].held = []heldRecord{{0, errDenied}}
	deliverAll(t, d, 6, 10) // which reports rejected records
	if n := d.Stats().Rejected; n > 0 {
		t.Errorf("%d records were rejected", n)
	}
}

// TestAnotherTopicOfTheSameNameHasLanesOfItsOwn deletes a topic and creates it
// again, with the same number of partitions.
func TestAnotherTopicOfTheSameNameHasLanesOfItsOwn(t *testing.T) {
	d := dialBroker(t)
	deliverAll(t, d, 1, 5)
	before := d.lanes[0]
	d.id[0]++ // as if it were the id of the previous topic
	d.stale = true
	deliverAll(t, d, 6, 10)
	if d.lanes[0] == before {
		t.Error("the lanes have the sequences and offsets of the topic before")
	}
	if d.stale {
		t.Error("the leaders are looked up for each batch")
	}
}

// TestTopicWithFewerPartitions delivers after a topic was replaced by one with
// fewer partitions, at brokers that do not identify topics.
func TestTopicWithFewerPartitions(t *testing.T) {
	d := dialBroker(t)
	deliverAll(t, d, 1, 5)
	n := len(d.lanes)
	d.lanes = append(d.lanes, newLane(d, "logs", int32(n)))
	d.stale = true
	deliverAll(t, d, 6, 10)
	if len(d.lanes) != n {
		t.Errorf("got %d lanes for %d partitions", len(d.lanes), n)
	}
	if err := d.Close(); err != nil || d.cluster.client.Ping(t.Context()) == nil {
		t.Errorf("Close: got %v, or the client goes on", err)
	}
}
