// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/stdio"
)

const (
	// turnTimeout is the time for which a call waits for the turn while the reader
	// is stalled: its holder then only checks whether the reader has resumed.
	turnTimeout = time.Millisecond

	// overdueFraction is the fraction of Stall, 1/overdueFraction, after which a
	// waiting call may no longer be overtaken.
	overdueFraction = 20

	// slice is the interval at which a wait checks whether it was canceled.
	slice = 10 * time.Millisecond

	// pace is the number of bytes that a reader must read within Stall for a call
	// to continue waiting.
	pace = 64 << 10
)

// writeSlowly writes a line that WriteRecord could not write at once, or only
// in part. 0 allocs.
func (s *Sink) writeSlowly(r *nib.Record) error {
	from := time.Now()
	if err := s.queue(r, from); err != nil {
		return err
	}
	defer s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.await(r, from)
}

// queue takes the turn for r, whose call began at from, or drops it.
func (s *Sink) queue(r *nib.Record, from time.Time) error {
	s.mu.Lock()
	if s.closed {
		defer s.mu.Unlock()
		return s.drop(r, closed, errClosed)
	}
	l := limit{until: from.Add(s.stall)}
	if s.stalled {
		l.until = from.Add(min(turnTimeout, s.stall))
	}
	before := s.moved
	s.waiting++
	s.mu.Unlock()

	got := s.acquire(l)

	s.mu.Lock()
	s.waiting--
	if got {
		s.setOverdue(time.Since(from) > s.stall/overdueFraction)
		s.mu.Unlock()
		return nil
	}
	s.mu.Unlock()
	return s.dropStalled(r, before)
}

// setOverdue records whether the holder of the turn has waited so long that new
// calls must not overtake it. Otherwise they would, since they are running
// already, while the holder must be woken. (sync.Mutex does the same.) mu is
// held.
func (s *Sink) setOverdue(is bool) {
	s.overdue = is
	s.trouble = s.trouble || is
}

// dropStalled drops the line of r after its wait has timed out. before is the
// value of moved when the wait began: if it has not changed, the reader has
// stalled. No lock is held.
func (s *Sink) dropStalled(r *nib.Record, before uint64) error {
	s.mu.Lock()
	if s.moved == before {
		s.setStalled()
	}
	err := s.drop(r, stalled, errStalled)
	s.mu.Unlock()
	s.callOnStall()
	return err
}

// await writes the line of r, whose call began at from, waiting for the reader.
// The turn and mu are held; mu is released while it waits.
func (s *Sink) await(r *nib.Record, from time.Time) error {
	rest, taken := r.Line, 0
	l := limit{until: from.Add(s.stall)}
	before, waited := uint64(0), false
	for {
		n, err := s.try(rest, len(rest) < len(r.Line))
		rest, taken = rest[n:], taken+n
		out := len(r.Line) - len(rest)
		switch {
		case err == nil:
			s.written.Add(int(r.Level), len(r.Line))
			s.busy = false
			s.overdue = s.overdue && s.waiting > 0
			s.settle()
			return nil
		case err != stdio.ErrFull:
			return s.giveUp(r, out, err)
		case s.stalled:
			return s.giveUp(r, out, stdio.ErrFull)
		}
		if !waited {
			before, waited = s.moved, true
		}
		if taken >= pace {
			l.until, taken = time.Now().Add(s.stall), 0
			before = s.moved
		}
		s.busy = out > 0
		s.trouble = s.trouble || s.busy
		s.setOverdue(s.overdue || time.Since(from) > s.stall/overdueFraction)
		s.mu.Unlock()
		ready := s.wait(&l)
		s.mu.Lock()
		if !ready {
			if s.moved == before {
				s.setStalled()
			}
			return s.giveUp(r, out, stdio.ErrFull)
		}
	}
}

// try writes rest and, if rest is the beginning of a line, the head before it.
// mu and the turn are held.
func (s *Sink) try(rest []byte, begun bool) (n int, err error) {
	if s.closed && !begun {
		return 0, errClosed
	}
	if s.stalled || s.broken {
		// This check costs less than making a notice that cannot be written, and does
		// not raise SIGPIPE, for which the program may have a handler.
		if err := s.port.State(); err != nil {
			return 0, err
		}
	}
	if !begun {
		s.prepare()
	}
	n, err = s.send(rest)
	s.confirm()
	if n > 0 {
		s.moved += uint64(n)
		s.stalled = false
	}
	return n, err
}

// writeHead writes notices of all losses, unless a line of the buffer is half
// written. It waits for the reader if l allows it. The turn and mu are held; mu
// is released while it waits.
func (s *Sink) writeHead(l limit) {
	for s.hasHead() && !s.out.IsTorn() {
		err := s.port.State()
		if err == nil {
			s.prepare()
			_, err = s.send(nil)
			s.confirm()
		}
		if err == nil {
			s.settle()
			continue
		}
		if err != stdio.ErrFull {
			return
		}
		s.mu.Unlock()
		ready := s.wait(&l)
		s.mu.Lock()
		if !ready {
			return
		}
	}
}

// hasHead reports whether a head must be written, because there are losses to
// report or a line to end. mu is held.
func (s *Sink) hasHead() bool { return s.torn || s.dropped != s.reported }

// settle notes a successful write. mu is held.
func (s *Sink) settle() {
	s.stalled, s.broken = false, false
	s.trouble = s.closed || s.busy || s.overdue || s.hasHead()
}

// giveUp drops the line of r, whose first out bytes are already written. mu is
// held.
func (s *Sink) giveUp(r *nib.Record, out int, err error) error {
	s.busy = false
	s.torn = s.torn || out > 0
	switch err {
	case stdio.ErrFull:
		if out > 0 && out == len(r.Line)-1 {
			// Only the newline is missing, which is written before the next
			// line: the reader gets the complete line, so it is not lost.
			s.written.Add(int(r.Level), len(r.Line))
			s.trouble = true
			return nil
		}
		return s.drop(r, stalled, errStalled)
	case errClosed:
		return s.drop(r, closed, err)
	}
	s.broken = true
	return s.drop(r, causeOf(err), err)
}

// drop counts the line of r as dropped. mu is held.
func (s *Sink) drop(r *nib.Record, c cause, err error) error {
	s.dropped[c][level.Row(int(r.Level))]++
	s.trouble = true
	return err
}

// setStalled records that the reader has stopped. mu is held.
func (s *Sink) setStalled() {
	if !s.stalled {
		s.stalled, s.trouble, s.stalls = true, true, !s.reporting
	}
}

// A limit bounds a wait. The channels may be nil.
type limit struct {
	until  time.Time
	over   bool // the attempt after until is made, or is the next one
	cancel <-chan struct{}
	quit   <-chan struct{}
}

// acquire takes the turn. It returns false if l ends first. 0 allocs.
func (s *Sink) acquire(l limit) bool {
	select {
	case s.turn <- struct{}{}:
		return true
	default:
	}
	left := time.Until(l.until)
	if left <= 0 {
		return false
	}
	t := s.timers.get(left)
	got := false
	select {
	case s.turn <- struct{}{}:
		got = true
	case <-t.C:
		select { // both may be ready if the process was stopped
		case s.turn <- struct{}{}:
			got = true
		default:
		}
	case <-l.cancel:
	case <-l.quit:
	}
	s.timers.put(t)
	return got
}

// release releases the turn.
func (s *Sink) release() {
	<-s.turn
	s.callOnStall()
}

// callOnStall calls OnStall if a stall was detected. No lock is held.
func (s *Sink) callOnStall() {
	if s.onStall == nil {
		return
	}
	s.mu.Lock()
	if !s.stalls {
		s.mu.Unlock()
		return
	}
	s.stalls, s.reporting = false, true
	st := s.stats()
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.reporting = false
		s.mu.Unlock()
		_ = recover() // a panic of the callback must not end the log call
	}()
	s.onStall(st)
}

// wait waits for the reader. It returns false if l ends first. Once after
// l.until it returns true: if the process was stopped until then, the reader
// may have made room after the last attempt.
func (s *Sink) wait(l *limit) bool {
	for {
		left := time.Until(l.until)
		if left <= 0 {
			last := !l.over
			l.over = true
			return last
		}
		if l.cancel != nil || l.quit != nil {
			left = min(left, slice)
		}
		if s.port.Wait(left) {
			return true
		}
		select {
		case <-l.cancel:
			return false
		case <-l.quit:
			return false
		default:
		}
	}
}
