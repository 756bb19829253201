// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
)

const (
	limitTime = time.Minute // the time after which requests may be twice as long again
	// the size below which requests do not become shorter because of timeouts
	minSlow   = 64 << 10
	tolerance = 5 // requests that fail in a row before requests are divided
)

// A Protocol writes the requests of a [Sender] and reads the responses.
type Protocol interface {
	// Check returns why r has no form in the protocol, and nil if it has one.
	Check(r *nib.Record) error

	// Body returns a request with the first n of the records with the indices
	// in want: as many as fit into limit bytes, but at least one. The request
	// is valid until the next call.
	Body(batch []nib.Record, want []int, limit int) (body []byte, n int)

	// Read reads a response for which OK reports true, and sets the status of
	// each record of the request that was not accepted. An error means that the
	// response does not show what happened to the records. If it is too long,
	// the error wraps delivery.ErrTooLarge.
	Read(resp Response, statuses []RecordStatus) error

	// Error returns an error for any other response.
	Error(resp Response) error
}

// A RecordStatus is what a response reports about one record. The zero value
// means that the record was accepted.
type RecordStatus struct {
	// Err is the reason why the record was not accepted.
	Err error

	// Status is the status of the record, with the meaning of a status of HTTP.
	// 0 means that the record must not be sent again for any reason.
	Status int
}

// A Sender delivers batches in requests of a [Client]. If a server refuses a
// request because of one record in it, the Sender finds this record by sending
// shorter requests, and rejects it.
//
// A status alone does not show whether the server refuses a record or every
// request. So a refusal of a single record counts only if the server has
// accepted another one just before. A record is rejected after two such
// refusals, if the server then accepts another record again. No outage explains
// that, whatever its duration: two would have to begin just after a success.
// The second refusal follows at once after 400, 413 and 422, which concern the
// record, and otherwise after 2 minutes, or 10 minutes if the status is
// temporary or concerns the configuration. In this time the others are
// delivered. If the server accepts no record, all of them wait.
//
// If there is no other record, the Sender sends the last accepted one again,
// which the server accepts once more, or has. It does so for a single record,
// for the second refusal, and after 400, 413 and 422. Several records that are
// refused with other statuses wait, if the server has accepted none of their
// batch.
type Sender struct {
	client *Client
	proto  Protocol
	max    int // maximum size of a request

	limit   int       // size of requests for now, at most max
	limited time.Time // time at which limit was lowered

	states   []state // states of the records of the batch
	want     []int   // indices of the records to send
	statuses []RecordStatus
	waiting  map[identity]state // states of the records that wait for the next call

	request  uint64 // number of the last request
	accepted uint64 // number of the last request with an accepted record
	credit   int    // how many more refusals count because of that request; 0 after a pause

	search                     // in the spool of the batch
	searches map[uint64]search // by Spool

	witness nib.Record // a record of the request accepted last; its Line is nil if there is none
}

// A search finds the record of a spool that makes requests fail. Records of
// other spools may be accepted in the meantime.
type search struct {
	suspects int   // one of this many records is refused: those next in line
	failures int   // requests that failed in a row
	probing  bool  // records are sent alone, until the server accepts a record
	probe    int   // offset of the next one
	holds    bool  // every probe was refused
	doubt    error // why a record was refused; the witness is sent next to compare
}

// NewSender returns a Sender whose requests have at most maxRequest bytes, but
// at least one record.
func NewSender(client *Client, proto Protocol, maxRequest int) *Sender {
	return &Sender{client: client, proto: proto, max: maxRequest, limit: maxRequest,
		waiting: map[identity]state{}, searches: map[uint64]search{}}
}

// finalError is an error after which Deliver returns.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// Deliver implements [delivery.Destination]. It returns when all records are
// accepted or rejected, when a request fails or is refused for a reason that
// may last, after Config.Timeout, or when ctx ends. It sends a record again
// only to find out whether the record is the reason. An error with all records
// accepted comes from Config.ReloadTLS. Calls must not overlap.
func (s *Sender) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	if len(batch) == 0 {
		return delivery.Result{}, nil
	}
	s.begin(batch)
	defer s.keep(batch)
	begin := time.Now()
	var err error
	for s.next() {
		if s.doubt != nil {
			err = cmp.Or(s.compare(ctx, batch), err)
		} else {
			err = cmp.Or(s.send(ctx, batch), err)
		}
		if ctx.Err() != nil || errors.As(err, new(finalError)) || s.late(begin) {
			break
		}
	}
	res, reason := s.result()
	switch {
	case res.Accepted == len(batch):
		err = nil
	case err == nil && reason != nil:
		s.client.failed(reason)
		err = reason
	case err == nil && res.Accepted == 0:
		err = fmt.Errorf("%s: no success within Timeout", s.client.c.Name)
	}
	if fault := s.client.conns.takeFault(); fault != nil {
		err = errors.Join(err, fault)
	}
	return res, err
}

// late reports whether Deliver has tried for long enough. A request whose
// refusal would count follows just after the accepted one.
func (s *Sender) late(begin time.Time) bool {
	return time.Since(begin) >= s.client.c.Timeout && (s.credit < maxCredit || !s.again())
}

// next selects the records to send, and reports whether there are any: first
// each record alone whose refusal would count, then those that were never
// refused, then the witness, if it is needed, then each record alone with which
// a request was refused, then the others, each once in a call. A probe is a
// single record.
func (s *Sender) next() bool {
	if s.doubt != nil {
		return true
	}
	if s.probing {
		i := s.target()
		s.want = append(s.want[:0], i)
		return i >= 0
	}
	most := len(s.states)
	if s.suspects > 0 {
		most = max(s.suspects/2, 1)
	}
	return s.again() ||
		s.pick(most, func(st *state) bool { return st.refusals == 0 }) ||
		s.needsWitness() ||
		s.pick(1, func(st *state) bool { return st.alone && !st.passed }) ||
		s.pick(len(s.states), func(st *state) bool {
			return st.refusals > 0 && !st.alone && !st.passed
		})
}

// again selects a record alone whose refusal would count.
func (s *Sender) again() bool {
	return s.pick(1, func(st *state) bool { return st.alone && st.due() && s.counts(st) })
}

// pick selects the first records that are not settled and have the property.
func (s *Sender) pick(most int, has func(*state) bool) bool {
	s.want = s.want[:0]
	for i := range s.states {
		if st := &s.states[i]; !st.settled && has(st) {
			if s.want = append(s.want, i); len(s.want) == most {
				break
			}
		}
	}
	return len(s.want) > 0
}

// target returns the index of the next probe, -1 if there is none in this call.
// Probes are the first record, those at growing distances from it, and the last
// one. Distances are in records that wait: with settled ones in between, the
// last one would not be reached.
func (s *Sender) target() int {
	last, n := -1, 0
	for i := range s.states {
		if st := &s.states[i]; st.settled || st.passed {
			continue
		}
		if last = i; n == s.probe {
			break
		}
		n++
	}
	return last
}

// send sends one request.
func (s *Sender) send(ctx context.Context, batch []nib.Record) error {
	if s.limit < s.max && time.Since(s.limited) > limitTime {
		s.limit, s.limited = min(2*s.limit, s.max), time.Now()
	}
	body, n := s.proto.Body(batch, s.want, s.limit)
	s.want = s.want[:n]
	s.request++
	resp, err := s.client.Post(ctx, body)
	switch {
	case errors.Is(err, delivery.ErrClosed) || err != nil && ctx.Err() != nil:
		s.void()
		return finalError{err}
	case err != nil && !errors.As(err, new(sentError)):
		return s.pause(err) // this is not about the records
	case err != nil:
		if n > 1 && errors.Is(err, os.ErrDeadlineExceeded) {
			s.shorten(max(len(body)/2, minSlow))
		}
		return s.refused(0, err)
	case resp.OK():
		return s.read(resp, batch, len(body))
	case resp.Status == http.StatusRequestEntityTooLarge && n > 1:
		s.shorten(len(body) / 2)
		return nil
	case resp.Status == http.StatusRequestEntityTooLarge:
		return s.refused(resp.Status, fmt.Errorf("%w: %w", s.proto.Error(resp),
			delivery.ErrTooLarge))
	}
	return s.refused(resp.Status, s.proto.Error(resp))
}

// shorten makes requests shorter, after the server has refused one as too long
// or has not responded to it in time.
func (s *Sender) shorten(limit int) { s.limit, s.limited = min(s.limit, limit), time.Now() }

// refused handles a request that was refused as a whole, and returns an error
// if the records must wait.
func (s *Sender) refused(status int, err error) error {
	if s.failures++; !ofRecord(status) && s.suspects == 0 && !s.probing &&
		s.failures < tolerance && !s.states[s.want[0]].alone {
		return s.pause(err)
	}
	if len(s.want) > 1 {
		s.suspects = len(s.want)
		for _, i := range s.want {
			s.states[i].refusals = 0 // of records that were refused one by one before
		}
		if ofRecord(status) {
			return nil
		}
		return s.pause(err)
	}
	st := &s.states[s.want[0]]
	if st.refusals == 0 {
		s.suspects = max(s.suspects-1, 0)
	}
	s.refuse(st, status, err, true)
	s.credit = max(s.credit-1, 0)
	if !s.probing && (s.credit > 0 || !st.since.IsZero()) {
		return nil
	}
	s.suspects = 0
	switch last := s.probe >= s.unsettled()-1; {
	case !s.probing:
		s.probing, s.probe = true, 1
	case last && s.needsWitness():
		return nil
	case last:
		s.probe, s.holds = 0, true
	default:
		s.probe = max(2*s.probe, 1)
	}
	if ofRecord(status) && !s.holds {
		return nil
	}
	return s.hold(err)
}

// hold returns the error if the records must wait.
func (s *Sender) hold(err error) error {
	if s.holds {
		err = fmt.Errorf("%s: the server accepts no record; all of them wait: %w", s.client.c.Name,
			err)
	}
	return s.pause(err)
}

// pause reports an error, after which the caller pauses.
func (s *Sender) pause(err error) error {
	s.void()
	s.client.failed(err)
	return finalError{err}
}

// maxUnproven is the maximum number of records that are rejected together by a
// server that has never accepted one, or has accepted none since.
const maxUnproven = 16

// read reads a response to a request that was not refused as a whole. An error
// means that some of the records must be sent again.
func (s *Sender) read(resp Response, batch []nib.Record, size int) error {
	n := len(s.want)
	if cap(s.statuses) < n {
		s.statuses = make([]RecordStatus, n)
	}
	s.statuses = s.statuses[:n]
	clear(s.statuses)
	switch err := s.proto.Read(resp, s.statuses); {
	case err != nil && n > 1 && errors.Is(err, delivery.ErrTooLarge):
		s.shorten(size / 2)
		return nil
	case err != nil:
		return s.refused(resp.Status, err)
	}
	accepted, ofRecords := 0, 0
	for _, o := range s.statuses {
		if o.Err == nil {
			accepted++
		} else if o.Status != 0 && ofRecord(o.Status) {
			ofRecords++
		}
	}
	if accepted == 0 && s.isOneReason() && s.mayBeOther(&s.states[s.want[0]]) {
		return s.refused(s.statuses[0].Status, s.statuses[0].Err)
	}
	if ofRecords == n && n >= maxUnproven && s.accepted == 0 {
		return s.pause(fmt.Errorf("%s: every record is refused, and none was ever accepted; "+
			"they wait: %w", s.client.c.Name, s.statuses[0].Err))
	}
	if accepted > 0 {
		if s.states[s.want[0]].refusals == 0 {
			s.suspects = max(s.suspects-accepted, 0)
		}
		s.proceed()
		s.remember(batch)
	}
	var waiting error
	for k, i := range s.want {
		o, st := &s.statuses[k], &s.states[i]
		if o.Err == nil || o.Status == 0 || ofRecord(o.Status) {
			*st = state{settled: true, reason: o.Err}
		} else {
			s.refuse(st, o.Status, o.Err, false)
			waiting = o.Err
		}
	}
	if accepted > 0 {
		s.settle()
	}
	if waiting != nil {
		s.credit = 0
		s.client.failed(waiting)
	}
	return waiting
}

// isOneReason reports whether all records of a request are refused for the same
// reason. Then the server does not say which record it refuses: OpenSearch, for
// example, refuses all documents of a pipeline if one cannot be parsed.
func (s *Sender) isOneReason() bool {
	first := s.statuses[0]
	for _, o := range s.statuses {
		if o.Err == nil || o.Status == 0 || o.Status != first.Status ||
			o.Err.Error() != first.Err.Error() {
			return false
		}
	}
	return true
}

// mayBeOther reports whether a record may be refused because of another one in
// its request, or is sent alone to find that out.
func (s *Sender) mayBeOther(st *state) bool {
	return s.suspects > 0 || s.probing || st.alone || len(s.want) > 1 && st.refusals == 0
}

// proceed records that the server accepts records.
func (s *Sender) proceed() {
	if s.holds {
		s.limit = s.max
	}
	if s.probing {
		s.suspects = 0
	}
	s.search = search{suspects: s.suspects}
	s.accepted, s.credit = s.request, maxCredit
}
