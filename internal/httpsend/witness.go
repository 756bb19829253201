// SPDX-License-Identifier: Apache-2.0

package httpsend

import (
	"context"
	"errors"

	"github.com/nib-log/nib"
)

// maxWitness is the maximum size of a line that is kept as witness.
const maxWitness = 64 << 10

// A comparison distinguishes refused records from a server that refuses
// everything.
type comparison struct {
	witness nib.Record // the last accepted record
	doubt   error      // every probe was refused, the last one with this error
}

// ErrTaken is the error of a record that the server has not accepted because it
// has a record with the same identity.
var ErrTaken = errors.New("another document has its _id")

// remember keeps the first record of the request that was accepted. Most of
// them are short, so the copy costs less than the request.
func (s *Sender) remember(batch []nib.Record) {
	for k, i := range s.want {
		if r := &batch[i]; s.statuses[k].Err == nil && len(r.Line) <= maxWitness {
			line, message := s.witness.Line, s.witness.Message
			s.witness = *r
			s.witness.Line = append(line[:0], r.Line...)
			if r.Message != nil {
				s.witness.Message = append(message[:0], r.Message...)
			}
			return
		}
	}
}

// compare sends the witness, after the server has refused every record of the
// batch that was probed. If the server refuses it, too, all of them wait.
func (s *Sender) compare(ctx context.Context, batch []nib.Record) error {
	err := s.doubt
	s.doubt = nil
	if s.acceptsWitness(ctx, batch) {
		s.proceed(1)
		return nil
	}
	s.probe, s.holds = 0, true
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
