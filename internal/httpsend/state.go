// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"hash/maphash"
	"net/http"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

const (
	// The time for which a record must be refused, if the status does not
	// concern records.
	lastingTime   = 2 * time.Minute
	temporaryTime = 10 * time.Minute

	maxCredit = 32 // the number of refusals that count because of one accepted request
)

// A state is the state of a record of the batch.
type state struct {
	settled bool
	reason  error // why it was rejected, if it is settled; otherwise the last refusal

	refusals int       // number of requests that were refused because of this record alone
	last     uint64    // number of the last one
	status   int       // its status
	since    time.Time // time of the first refusal that counted
	twice    bool      // a second refusal counted, long enough after it
	alone    bool      // the record must be sent alone: with it, the request is refused
	passed   bool      // refused in this call
}

// ofRecord reports whether a status concerns the contents of a request, and not
// the state of the server or the configuration.
func ofRecord(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	}
	return false
}

// patience returns for how long a record must be refused before it is rejected.
// Status 0 means that there was no response.
func patience(status int) time.Duration {
	switch {
	case ofRecord(status):
		return 0
	case status == 0 || status/100 == 4 || status == http.StatusBadGateway ||
		status == http.StatusServiceUnavailable || status == http.StatusGatewayTimeout:
		return temporaryTime
	}
	return lastingTime
}

// refuse records that the server has refused a record, and no other one with
// it.
func (s *Sender) refuse(st *state, status int, err error, alone bool) {
	st.status, st.reason, st.alone, st.passed = status, err, alone, true
	switch counts := s.counts(st); {
	case counts && st.since.IsZero():
		st.since = time.Now()
	case counts && st.due():
		st.twice = true
	}
	st.refusals++
	st.last = s.request
}

// counts reports whether the next refusal of a record counts: whether the
// server has accepted another one just now, and after the last refusal.
func (s *Sender) counts(st *state) bool { return s.credit > 0 && st.last < s.accepted }

// due reports whether another refusal may be a reason to reject the record.
func (st *state) due() bool {
	return st.since.IsZero() || time.Since(st.since) >= patience(st.status)
}

// needsWitness reports whether the witness must be sent, before a refusal or
// after it.
func (s *Sender) needsWitness() bool {
	single := s.unsettled() == 1
	for i := range s.states {
		st := &s.states[i]
		if !st.settled && st.refusals > 0 && st.due() && !s.counts(st) && s.witness.Line != nil &&
			(single || ofRecord(st.status) || !st.since.IsZero()) {
			s.doubt = st.reason
			return true
		}
	}
	return false
}

// settle rejects the records that were refused twice, after the server has
// accepted another one.
func (s *Sender) settle() {
	for i := range s.states {
		if st := &s.states[i]; st.twice {
			*st = state{settled: true, reason: st.reason}
		}
	}
}

// void makes refusals no longer count: the server may refuse every record.
func (s *Sender) void() {
	s.credit = 0
	for i := range s.states {
		s.states[i].twice = false
	}
}

// unsettled returns the number of records that are not settled.
func (s *Sender) unsettled() (n int) {
	for i := range s.states {
		if !s.states[i].settled {
			n++
		}
	}
	return n
}

// begin sets the states of the records of a batch.
func (s *Sender) begin(batch []nib.Record) {
	if cap(s.states) < len(batch) {
		s.states = make([]state, len(batch))
	}
	s.states = s.states[:len(batch)]
	clear(s.states)
	s.memory.restore(batch, s.states)
	s.credit = 0
	for i := range batch {
		if st := &s.states[i]; !st.settled {
			if err := s.proto.Check(&batch[i]); err != nil {
				*st = state{settled: true, reason: err}
			}
		}
	}
}

// result returns the settled part of the batch, in order, and the reason why
// others wait, nil if it is only the lack of time.
func (s *Sender) result(batch []nib.Record) (res delivery.Result, reason error) {
	for i := range s.states {
		st := &s.states[i]
		if !st.settled {
			break
		}
		res.Accepted++
		if st.reason != nil {
			res.Rejected = append(res.Rejected, delivery.Rejection{Index: i, Reason: st.reason})
		}
	}
	if len(batch) > 0 {
		s.memory.store(batch[0].Spool, batch[res.Accepted:], s.states[res.Accepted:])
	}
	for i := res.Accepted; i < len(batch) && reason == nil; i++ {
		if !s.states[i].settled {
			reason = s.states[i].reason
		}
	}
	return res, reason
}

// A memory has the states of records that wait. The next batch of their spool
// begins with them, in the same order; batches of other spools may come before.
type memory struct {
	seed  maphash.Seed
	lists map[uint64][]remembered // by Spool, not empty
}

// remembered is a record, identified by its number and a hash of its line.
type remembered struct {
	seq, hash uint64
	state     state
}

// store replaces the memory of a spool. Nothing is stored if all states are
// zero.
func (m *memory) store(spool uint64, batch []nib.Record, states []state) {
	last := len(states) - 1
	for last >= 0 && states[last] == (state{}) {
		last--
	}
	if last < 0 {
		delete(m.lists, spool)
		return
	}
	if m.lists == nil {
		m.seed, m.lists = maphash.MakeSeed(), map[uint64][]remembered{}
	}
	list := m.lists[spool]
	clear(list)
	list = list[:0]
	for i := range last + 1 {
		r := &batch[i]
		list = append(list, remembered{r.Seq, maphash.Bytes(m.seed, r.Line), states[i]})
	}
	m.lists[spool] = list
}

// restore sets the states of the records in memory. Records before the first
// one of the batch are forgotten; so is everything from a difference on.
func (m *memory) restore(batch []nib.Record, states []state) {
	if len(batch) == 0 {
		return
	}
	list := m.lists[batch[0].Spool]
	for len(list) > 0 && !list[0].is(m, &batch[0]) {
		list = list[1:]
	}
	for i := range min(len(list), len(batch)) {
		if !list[i].is(m, &batch[i]) {
			return
		}
		states[i] = list[i].state
		states[i].passed = false
	}
}

func (e *remembered) is(m *memory, r *nib.Record) bool {
	return e.seq == r.Seq && e.hash == maphash.Bytes(m.seed, r.Line)
}
