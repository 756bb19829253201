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
	if s.reader.stalled {
		l.until = from.Add(min(turnTimeout, s.stall))
	}
	before := s.reader.moved
	s.turn.waiting++
	s.mu.Unlock()

	got := s.turn.acquire(l)

	s.mu.Lock()
	s.turn.waiting--
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
	s.turn.overdue = is
	s.trouble = s.trouble || is
}

// dropStalled drops the line of r after its wait has timed out. before is the
// value of moved when the wait began: if it has not changed, the reader has
// stalled. No lock is held.
func (s *Sink) dropStalled(r *nib.Record, before uint64) error {
	s.mu.Lock()
	s.reader.timedOut(before)
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
			s.turn.overdue = s.turn.overdue && s.turn.waiting > 0
			s.settle()
			return nil
		case err != stdio.ErrFull:
			return s.giveUp(r, out, err)
		case s.reader.stalled:
			return s.giveUp(r, out, stdio.ErrFull)
		}
		if !waited {
			before, waited = s.reader.moved, true
		}
		if taken >= pace {
			l.until, taken = time.Now().Add(s.stall), 0
			before = s.reader.moved
		}
		s.busy = out > 0
		s.trouble = s.trouble || s.busy
		s.setOverdue(s.turn.overdue || time.Since(from) > s.stall/overdueFraction)
		s.mu.Unlock()
		ready := s.wait(&l)
		s.mu.Lock()
		if !ready {
			s.reader.timedOut(before)
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
	if s.reader.stalled || s.broken {
		// This check costs less than making a notice that cannot be written, and does
		// not raise SIGPIPE, for which the program may have a handler.
		if err := s.port.State(); err != nil {
			return 0, err
		}
	}
	if !begun {
		s.head.prepare()
	}
	n, err = s.send(rest)
	s.confirm(n)
	return n, err
}

// send writes the head, then p. It returns the number of bytes of p that are
// written. It is called by the goroutine that owns the stream: the holder of mu
// in a sink without a buffer, the holder of the turn in one with a buffer.
func (s *Sink) send(p []byte) (n int, err error) {
	if err := s.head.send(&s.port); err != nil {
		return 0, err
	}
	return s.port.Write(p)
}

// confirm records that send has written n bytes, after the head. mu is held.
func (s *Sink) confirm(n int) { s.reader.took(s.head.confirm() + n) }

// writeHead writes notices of all losses, unless a line of the buffer is half
// written. It waits for the reader if l allows it. The turn and mu are held; mu
// is released while it waits.
func (s *Sink) writeHead(l limit) {
	for s.head.isDue() && !s.buffer.out.IsTorn() {
		err := s.port.State()
		if err == nil {
			s.head.prepare()
			_, err = s.send(nil)
			s.confirm(0)
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

// settle notes a successful write. mu is held.
func (s *Sink) settle() {
	s.reader.stalled, s.broken = false, false
	s.trouble = s.closed || s.busy || s.turn.overdue || s.head.isDue()
}

// giveUp drops the line of r, whose first out bytes are already written. mu is
// held.
func (s *Sink) giveUp(r *nib.Record, out int, err error) error {
	s.busy = false
	s.head.torn = s.head.torn || out > 0
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
	s.broken, s.reader.stalled = true, false
	return s.drop(r, causeOf(err), err)
}

// drop counts the line of r as dropped. mu is held.
func (s *Sink) drop(r *nib.Record, c cause, err error) error {
	s.head.dropped[c][level.Row(int(r.Level))]++
	s.trouble = true
	return err
}

// release releases the turn.
func (s *Sink) release() {
	s.turn.release()
	s.callOnStall()
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
