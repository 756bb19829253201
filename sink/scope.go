// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"sync"

	"github.com/nib-log/nib"
)

// A Scope is a sink for the lines of one request or job. It holds back those below
// the level of its [Backtracer], in a ring of its own, until one of these comes:
//
//   - a line of level Trigger or above, or Dump: what is held back is written, and
//     from then on nothing is held back any more;
//   - Discard: what is held back is forgotten, and so is what would have to be held
//     back later, by a goroutine that outlives the request, until there is a
//     trigger.
//
// One of the two must end each Scope, since the ring goes back to a pool with it:
//
//	scope := bt.Scope()
//	log := nib.NewSink(scope, nib.WithLevel(nib.LevelTrace))
//	if err := work(log); err != nil || time.Since(start) > slow {
//		scope.Dump()
//	} else {
//		scope.Discard()
//	}
//
// A Scope is safe for concurrent use. It shares sink, configuration and counters
// with its Backtracer. 1 alloc for itself, and none per line once the pool has
// rings of the size that is needed.
type Scope struct {
	traits
	of *Backtracer

	mu    sync.Mutex // protects all below
	ring  *ring      // nil while nothing is held back
	state scopeState
}

type scopeState uint8

const (
	holding   scopeState = iota
	open                 // something has gone wrong: all lines pass
	forgetful            // nothing has: lines that would be held back are dropped
)

var _ nib.Sink = (*Scope)(nil)

// Scope makes a scope.
func (b *Backtracer) Scope() *Scope { return &Scope{of: b, traits: b.traits} }

// WriteRecord hands r on, holds it back or drops it. All of that is success.
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

// hold holds back or drops r, unless it is to pass.
func (s *Scope) hold(r *nib.Record) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch s.state {
	case open:
		return false
	case forgetful:
		s.of.held.Add(1)
		s.of.discarded.Add(1)
	default:
		s.of.hold(&s.ring, r)
	}
	return true
}

// Dump writes what is held back. Nothing is held back after it. Its error says
// what was lost. Lines of other goroutines that would have been held back wait for
// it, if the sink never logs, so that they stay in order.
func (s *Scope) Dump() error {
	s.mu.Lock()
	g := s.end(open)
	if s.of.neverLogs() {
		defer s.mu.Unlock()
	} else {
		s.mu.Unlock()
	}
	return s.of.dump(g)
}

// Discard forgets what is held back. It does nothing after Dump or a trigger.
func (s *Scope) Discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of.forget(s.end(forgetful))
}

// end takes the ring away. mu is held.
func (s *Scope) end(state scopeState) *ring {
	g := s.ring
	s.ring = nil
	if s.state != open {
		s.state = state
	}
	return g
}

// Flush flushes the sink; what is held back stays so.
func (s *Scope) Flush(ctx context.Context) error { return s.of.Flush(ctx) }
