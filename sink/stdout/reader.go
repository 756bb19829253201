// SPDX-License-Identifier: Apache-2.0

package stdout

// A reader is the state of the reader of the output. It has stalled if a call
// has timed out and nothing was read in the meantime. Sink.mu protects it.
type reader struct {
	stalled bool
	moved   uint64 // bytes written, of complete lines or not

	onStall func(Stats) // may be nil
	due     bool        // onStall must be called
	running bool        // onStall is running
}

// took records that n bytes were written.
func (r *reader) took(n int) {
	r.moved += uint64(n)
	r.stalled = r.stalled && n == 0
}

// timedOut records the end of a wait that began when moved was before.
func (r *reader) timedOut(before uint64) {
	if r.moved == before && !r.stalled {
		r.stalled, r.due = true, !r.running
	}
}

// callOnStall calls OnStall if a stall was detected. No lock is held.
func (s *Sink) callOnStall() {
	r := &s.reader
	if r.onStall == nil {
		return
	}
	s.mu.Lock()
	if !r.due {
		s.mu.Unlock()
		return
	}
	r.due, r.running = false, true
	st := s.stats()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		r.running = false
		s.mu.Unlock()
		_ = recover() // a panic of the callback must not end the log call
	}()
	r.onStall(st)
}
