// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"sync"

	"github.com/nib-log/nib"
)

// A Scope is a sink for the lines of one request or job. It holds back lines
// below the level of its [Backtracer], in a separate ring, until one of these
// happens:
//
//   - a line of level Trigger or above, or Dump: the held lines are written,
//     and no more lines are held back;
//   - Discard: the held lines are dropped, and so are later lines that would be
//     held back, such as lines of a goroutine that outlives the request, until
//     there is a trigger.
//
// Each Scope must be ended by one of the two, which returns its ring to a pool:
//
//	scope := bt.Scope()
//	log := nib.NewSink(scope, nib.WithLevel(nib.LevelTrace))
//	if err := work(log); err != nil || time.Since(start) > slow {
//		scope.Dump()
//	} else {
//		scope.Discard()
//	}
//
// A Scope is safe for concurrent use. It shares the sink, configuration and
// counters of its Backtracer. Creating it takes 1 allocation; writing to it
// takes none once the pool has rings of the required size.
type Scope struct {
	traits
	of *Backtracer

	mu    sync.Mutex // protects the fields below
	ring  *ring      // nil while nothing is held back
	state scopeState
}

type scopeState uint8

const (
	holding   scopeState = iota
	open                 // a trigger was seen, or Dump was called: all lines pass
	forgetful            // Discard was called: lines that would be held back are dropped
)

var _ nib.Sink = (*Scope)(nil)

// Scope returns a new Scope.
func (b *Backtracer) Scope() *Scope { return &Scope{of: b, traits: b.traits} }

// WriteRecord writes r to the sink, holds it back or drops it. A held back or
// dropped record is not an error.
func (s *Scope) WriteRecord(r *nib.Record) error {
	b := s.of
	if r.Level < b.config.Level && s.hold(r) {
		return nil
	}
	var err error
	if r.Level >= b.config.Trigger {
		err = s.Dump()
	}
	b.passed.Add(1)
	return join(err, b.sink.WriteRecord(r))
}

// hold holds back or drops r, and returns false if r must be written.
func (s *Scope) hold(r *nib.Record) bool {
	s.mu.Lock()
	state := s.state
	if state == holding {
		s.of.hold(&s.ring, r)
	}
	s.mu.Unlock()
	if state == forgetful {
		s.of.held.Add(1)
		s.of.discarded.Add(1)
	}
	return state != open
}

// Dump writes the held lines, and later lines are not held back. The error
// reports lines that were lost. Concurrent lines that would have been held back
// wait for Dump, if the sink never logs, so that they stay in order.
func (s *Scope) Dump() error {
	s.mu.Lock()
	g := s.end(open)
	if s.of.neverLogs() {
		defer s.mu.Unlock()
		if g != nil {
			s.of.dumping.Lock()
			defer s.of.dumping.Unlock()
		}
	} else {
		s.mu.Unlock()
	}
	return s.of.dump(g)
}

// Discard drops the held lines. It does nothing after Dump or a trigger.
func (s *Scope) Discard() {
	s.mu.Lock()
	g := s.end(forgetful)
	s.mu.Unlock()
	s.of.forget(g)
}

// end detaches the ring. mu is held.
func (s *Scope) end(state scopeState) *ring {
	g := s.ring
	s.ring = nil
	if s.state != open {
		s.state = state
	}
	return g
}

// Flush flushes the sink. It does not write held lines.
func (s *Scope) Flush(ctx context.Context) error { return s.of.Flush(ctx) }
