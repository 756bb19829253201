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
	minRefusals = 8 // of a record, before it is rejected for a status that does not concern records

	// The time for which a record must be refused, if the status does not
	// concern records.
	lastingTime   = 2 * time.Minute
	temporaryTime = 10 * time.Minute
)

// A state is the state of a record of the batch.
type state struct {
	settled bool
	reason  error // why it was rejected, if it is settled; otherwise the last refusal

	status   int       // status of the last refusal, of the record or of a request with it
	first    uint64    // number of the first request that was refused with this status
	begun    uint64    // number of the first request that was refused because of this record alone
	last     uint64    // number of the last one
	refusals int       // number of these requests
	since    time.Time // time of the first one
	alone    bool      // the record must be sent alone: with it, the request is refused
	passed   bool      // refused alone in this call
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
func (s *Sender) refuse(st *state, err error, alone bool) {
	if st.refusals == 0 {
		st.since = time.Now()
	}
	if st.begun == 0 {
		st.begun = s.request
	}
	st.last, st.reason, st.alone, st.passed = s.request, err, alone, alone
	st.refusals++
	switch {
	case s.strong(st):
	case s.sole == 0:
		s.sole = st.begun
	case s.sole != st.begun:
		s.others = true
	}
}

// strong reports whether the server has accepted another record between two
// refusals of this one, or in the same request.
func (s *Sender) strong(st *state) bool {
	return st.begun > 0 && st.begun <= s.accepted && s.accepted <= st.last
}

// proven reports whether the record is the reason why it is refused. If the
// proof is not strong, the server has accepted another record between refusals
// of a request with this one and of this one. This may also mean that the
// server works no longer, so it is no proof if other records are refused, too,
// and for a status that concerns records only for some of them.
func (s *Sender) proven(st *state) bool {
	weak := st.first > 0 && st.first <= s.accepted && s.accepted <= st.last
	if ofRecord(st.status) {
		return s.strong(st) || weak && s.unproven < maxUnproven
	}
	return !s.others && (s.strong(st) || weak && s.sole == st.begun)
}

// forgive makes the refusals of records count from now on: until now the server
// has refused every record.
func (s *Sender) forgive() {
	for i := range s.states {
		if st := &s.states[i]; !st.settled && st.refusals > 0 {
			st.refusals, st.since = 1, time.Now()
		}
	}
}

// lone reports whether a record can be rejected although there is no other one
// to compare it with, because the server accepted the previous request.
func (s *Sender) lone(st *state) bool {
	return s.credit && s.accepted < st.last && ofRecord(st.status) && s.unsettled() == 1
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

// settle rejects the records that the server will not accept.
func (s *Sender) settle() {
	for i := range s.states {
		st := &s.states[i]
		if st.settled || st.refusals == 0 {
			continue
		}
		lone := s.lone(st)
		wait := patience(st.status)
		if !s.proven(st) && !lone || wait > 0 &&
			(st.refusals < minRefusals || time.Since(st.since) < wait) {
			continue
		}
		if lone {
			s.credit = false
		} else if !s.strong(st) {
			s.unproven++
		}
		*st = state{settled: true, reason: st.reason}
	}
}

// begin sets the states of the records of a batch.
func (s *Sender) begin(batch []nib.Record) {
	if cap(s.states) < len(batch) {
		s.states = make([]state, len(batch))
	}
	s.states = s.states[:len(batch)]
	clear(s.states)
	s.memory.restore(batch, s.states)
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
