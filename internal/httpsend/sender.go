// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
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
// request, so a record is rejected for the status of a request only if the
// server accepts another record between two requests with this one, and does
// not refuse all others in this time. It is rejected at once after 400, 413 and
// 422, which concern the record. After other statuses it must be refused
// repeatedly, on its own, for 2 minutes, and for 10 minutes after those that
// are temporary or faults of the configuration. Records that the server accepts
// while another one waits are not sent again. If the server accepts no record,
// all of them wait.
//
// If the server refuses all records of a batch with 400, 413 or 422, there is
// none to compare them with. Then the Sender sends the record again that the
// server has accepted last: if it accepts it once more, or has it, the others
// are rejected.
type Sender struct {
	client *Client
	proto  Protocol
	max    int // maximum size of a request

	limit   int       // size of requests for now, at most max
	limited time.Time // time at which limit was lowered

	states   []state // states of the records of the batch
	want     []int   // indices of the records to send
	statuses []RecordStatus
	memory   memory // states of the records that wait for the next call

	request  uint64 // number of the last request
	accepted uint64 // number of the last request with an accepted record
	sole     uint64 // since accepted: begun of the first refused record without a strong proof
	others   bool   // since accepted: there are others than sole
	unproven int    // since accepted: records that were rejected without a strong proof
	credit   bool   // a record was accepted, and none was rejected on the credit of it

	search                     // in the spool of the batch
	searches map[uint64]search // by Spool

	comparison
}

// A search finds the record of a spool that makes requests fail. Records of
// other spools may be accepted in the meantime.
type search struct {
	suspects int  // one of this many records is refused: those next in line
	failures int  // requests that failed in a row
	probe    int  // offset of the next record that is sent alone; -1 if requests are not probes
	holds    bool // every probe was refused
}

var noSearch = search{probe: -1}

// NewSender returns a Sender whose requests have at most maxRequest bytes, but
// at least one record.
func NewSender(client *Client, proto Protocol, maxRequest int) *Sender {
	return &Sender{client: client, proto: proto, max: maxRequest, limit: maxRequest,
		search: noSearch, searches: map[uint64]search{}}
}

// finalError is an error after which Deliver returns.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// Deliver implements [delivery.Destination]. It returns when all records are
// accepted or rejected, when Config.DeliverTimeout is over, when the server
// refuses a request for a reason that may last, or when ctx ends. An error with
// all records accepted comes from Config.ReloadTLS. Calls must not overlap.
func (s *Sender) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	s.begin(batch)
	if len(batch) > 0 {
		s.beginSearch(batch[0].Spool)
		defer s.endSearch(batch[0].Spool)
	}
	begin := time.Now()
	var err error
	for s.next() {
		err = s.send(ctx, batch)
		if s.doubt != nil {
			err = s.compare(ctx, batch)
		}
		s.settle()
		if ctx.Err() != nil || s.late(begin) || errors.As(err, new(finalError)) {
			break
		}
	}
	res, reason := s.result(batch)
	switch {
	case res.Accepted == len(batch):
		err = nil
	case err == nil && reason != nil:
		s.client.Delay(reason)
		err = reason
	case err == nil && res.Accepted == 0:
		err = fmt.Errorf("%s: %w", s.client.c.Name, errDeliver)
	}
	if fault := s.client.conns.takeFault(); fault != nil {
		err = errors.Join(err, fault)
	}
	return res, err
}

// beginSearch continues the search in a spool, or begins one.
func (s *Sender) beginSearch(spool uint64) {
	var ok bool
	if s.search, ok = s.searches[spool]; !ok {
		s.search = noSearch
	}
}

// endSearch keeps the search in a spool for the next batch of it.
func (s *Sender) endSearch(spool uint64) {
	if s.search == noSearch {
		delete(s.searches, spool)
	} else {
		s.searches[spool] = s.search
	}
}

// late reports whether Deliver has tried for long enough.
func (s *Sender) late(begin time.Time) bool {
	limit := s.client.c.DeliverTimeout
	return limit > 0 && time.Since(begin) >= limit
}

// next selects the records to send, and reports whether there are any: first
// each record alone that the server refused before it accepted another one, if
// the status concerns records, then those that were never refused, then each
// record alone with which a request was refused, once in a call, then the
// others. A probe is a single record.
func (s *Sender) next() bool {
	s.want = s.want[:0]
	if s.probe >= 0 {
		if i := s.target(); i >= 0 {
			s.want = append(s.want, i)
		}
		return len(s.want) > 0
	}
	most := len(s.states)
	if s.suspects > 0 {
		most = max(s.suspects/2, 1)
	}
	again := func(st *state) bool {
		return st.alone && ofRecord(st.status) && st.last < s.accepted
	}
	return s.pick(1, again) ||
		s.pick(most, func(st *state) bool { return st.refusals == 0 }) ||
		s.pick(1, func(st *state) bool { return st.alone && !st.passed }) ||
		s.pick(len(s.states), func(st *state) bool { return st.refusals > 0 && !st.alone })
}

// pick selects the first records that are not settled and have the property.
func (s *Sender) pick(most int, has func(*state) bool) bool {
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
	case err != nil && (ctx.Err() != nil || !s.client.begun || errors.Is(err, delivery.ErrClosed)):
		return finalError{err} // this is not about the records
	case err != nil:
		if n > 1 && errors.Is(err, os.ErrDeadlineExceeded) {
			s.shorten(max(len(body)/2, minSlow))
		}
		return s.refused(s.client.status, err)
	case resp.OK():
		return s.read(resp, batch, len(body))
	case resp.Status == http.StatusRequestEntityTooLarge && n > 1:
		s.shorten(len(body) / 2)
		s.suspect(resp.Status)
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

// suspect records that the request was refused.
func (s *Sender) suspect(status int) {
	s.others = s.others || len(s.want) > 1
	for _, i := range s.want {
		if st := &s.states[i]; st.first == 0 || st.status != status {
			st.first, st.status = s.request, status
		}
	}
}

// refused handles a request that was refused as a whole, and returns an error
// if the records must wait.
func (s *Sender) refused(status int, err error) error {
	s.suspect(status)
	if s.failures++; !ofRecord(status) && s.suspects == 0 && s.probe < 0 &&
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
	s.refuse(st, err, true)
	if s.probe < 0 && (s.proven(st) || s.lone(st)) {
		return nil
	}
	s.suspects = 0
	switch last := s.probe >= s.unsettled()-1; {
	case s.probe < 0:
		s.probe = 1
	case last && ofRecord(status) && s.witness.Line != nil:
		s.doubt = err
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

// pause reports an error, and makes the next request wait.
func (s *Sender) pause(err error) error {
	if s.client.last == nil { // Post has not failed
		s.client.Delay(err)
	}
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
		err = s.refused(resp.Status, err)
		var final finalError
		if errors.As(err, &final) && !s.holds {
			err = final.error // the next request follows soon
		}
		return err
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
		return s.pause(fmt.Errorf("%s: every record is refused, and none was ever accepted; they wait: %w", s.client.c.Name, s.statuses[0].Err))
	}
	if accepted > 0 {
		s.proceed(accepted)
		s.remember(batch)
	}
	var waiting error
	for k, i := range s.want {
		o, st := &s.statuses[k], &s.states[i]
		switch {
		case o.Err == nil || o.Status == 0 || ofRecord(o.Status):
			*st = state{settled: true, reason: o.Err}
			continue
		case st.first == 0 || st.status != o.Status:
			st.first, st.status = s.request, o.Status
		}
		s.refuse(st, o.Err, false)
		waiting = o.Err
	}
	if waiting != nil {
		s.client.Delay(waiting)
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
	return s.suspects > 0 || s.probe >= 0 || st.alone || len(s.want) > 1 && st.refusals == 0
}

// proceed ends the search in a range of records that the server has accepted.
func (s *Sender) proceed(accepted int) {
	if s.holds {
		s.limit = s.max
	}
	if s.probe >= 0 {
		s.suspects = 0
		s.forgive()
	} else if s.states[s.want[0]].refusals == 0 {
		s.suspects = max(s.suspects-accepted, 0)
	}
	s.accepted, s.failures, s.probe, s.holds, s.credit = s.request, 0, -1, false, true
	s.sole, s.others, s.unproven = 0, false, 0
}
