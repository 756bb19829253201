// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"maps"
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

// An identity is the number of a record in its spool.
type identity struct{ spool, seq uint64 }

func identityOf(r *nib.Record) identity { return identity{r.Spool, r.Seq} }

// begin continues with the states of the records of a batch that wait, and with
// the search in their spool. Records of the spool before the batch will not
// come again.
func (s *Sender) begin(batch []nib.Record) {
	first := identityOf(&batch[0])
	s.search = s.searches[first.spool]
	maps.DeleteFunc(s.waiting, func(id identity, _ state) bool {
		return id.spool == first.spool && id.seq < first.seq
	})
	if cap(s.states) < len(batch) {
		s.states = make([]state, len(batch))
	}
	s.states = s.states[:len(batch)]
	s.credit = 0
	for i := range batch {
		st := &s.states[i]
		*st = s.waiting[identityOf(&batch[i])]
		st.passed = false
		if st.settled {
			continue
		}
		if err := s.proto.Check(&batch[i]); err != nil {
			*st = state{settled: true, reason: err}
		}
	}
}

// keep keeps what the next call must know: the search, and the states of the
// records that wait. Batches of other spools may come before. Records without a
// number cannot be recognized.
func (s *Sender) keep(batch []nib.Record) {
	spool := batch[0].Spool
	if s.search == (search{}) {
		delete(s.searches, spool)
	} else {
		s.searches[spool] = s.search
	}
	waits := false
	for i := range batch {
		st, id := &s.states[i], identityOf(&batch[i])
		if waits = waits || !st.settled; waits && *st != (state{}) && id.seq != 0 {
			s.waiting[id] = *st
		} else {
			delete(s.waiting, id)
		}
	}
}

// result returns the settled part of the batch, in order, and the reason why
// others wait, nil if it is only the lack of time.
func (s *Sender) result() (res delivery.Result, reason error) {
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
	for _, st := range s.states[res.Accepted:] {
		if !st.settled && reason == nil {
			reason = st.reason
		}
	}
	return res, reason
}
