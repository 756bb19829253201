// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"context"
	"errors"

	"github.com/nib-log/nib"
)

// ErrTaken is the error of a record that the server has not accepted because it
// has a record with the same identity.
var ErrTaken = errors.New("another document has its _id")

// remember keeps the shortest record of the request that was accepted, so that
// the copy costs less than the request.
func (s *Sender) remember(batch []nib.Record) {
	var r *nib.Record
	for k, i := range s.want {
		if s.statuses[k].Err == nil && (r == nil || len(batch[i].Line) < len(r.Line)) {
			r = &batch[i]
		}
	}
	line, message := s.witness.Line, s.witness.Message
	s.witness = *r
	s.witness.Line = append(line[:0], r.Line...)
	if r.Message != nil {
		s.witness.Message = append(message[:0], r.Message...)
	}
}

// compare sends the witness. If the server refuses it, too, all records wait.
func (s *Sender) compare(ctx context.Context, batch []nib.Record) error {
	err := s.doubt
	s.doubt = nil
	if s.acceptsWitness(ctx, batch) {
		s.proceed()
		s.settle()
		return nil
	}
	s.probing, s.probe, s.holds = true, 0, true
	return s.hold(err)
}

// acceptsWitness reports whether the server accepts the witness, or has it.
func (s *Sender) acceptsWitness(ctx context.Context, batch []nib.Record) bool {
	all := append(batch[:len(batch):len(batch)], s.witness)
	body, _ := s.proto.Body(all, []int{len(batch)}, s.limit)
	s.request++
	resp, err := s.client.Post(ctx, body)
	if err != nil || !resp.OK() {
		return false
	}
	var status [1]RecordStatus
	if err := s.proto.Read(resp, status[:]); err != nil {
		return false
	}
	return status[0].Err == nil || errors.Is(status[0].Err, ErrTaken)
}
