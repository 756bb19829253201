// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/stdio"
)

// A sink with a buffer has two batches. Callers append to fill under mu. The
// holder of the turn swaps the two and writes out, without mu. When fill is
// full, the caller that finds it full writes; when the delay is over, the
// goroutine writes. It sleeps until a line wakes it, then enforces the delay
// until there is nothing to write, so there is no timer and no wake-up per
// line.

// collect puts the line of r into the buffer, or writes or drops it.
func (s *Sink) collect(r *nib.Record) error {
	s.mu.Lock()
	switch {
	case s.closed:
		defer s.mu.Unlock()
		return s.drop(r, closed, errClosed)
	case s.fits(r):
		s.add(r)
		flush := r.Level >= nib.LevelError && !s.stalled
		s.mu.Unlock()
		if flush {
			_ = s.flushFor(limit{until: time.Now().Add(s.stall)}) // r is in the buffer anyway
		}
		return nil
	case s.stalled && len(r.Line) <= s.size:
		before := s.moved
		s.mu.Unlock()
		return s.dropStalled(r, before)
	}
	s.mu.Unlock()
	return s.collectSlowly(r)
}

// fits reports whether r may be added to fill. While the reader is stalled the
// last eighth is reserved for errors. While writing fails no line may be added,
// so that calls return the error. mu is held.
func (s *Sink) fits(r *nib.Record) bool {
	room := s.size - s.fill.Size()
	if s.stalled && r.Level < nib.LevelError {
		room -= s.size / 8
	}
	return len(r.Line) <= room && !s.broken
}

// add adds r to fill. mu is held.
func (s *Sink) add(r *nib.Record) {
	s.fill.Add(r.Line, int(r.Level))
	if !s.awake {
		s.awake = true
		s.wake <- struct{}{} // never blocks: the channel is empty while the goroutine sleeps
	}
}

// collectSlowly makes room for r or, if r is too long or writing fails, writes
// the buffer and then r.
func (s *Sink) collectSlowly(r *nib.Record) error {
	from := time.Now()
	if err := s.queue(r, from); err != nil {
		return err
	}
	defer s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	l := limit{until: from.Add(s.stall)}
	switch {
	case s.closed:
		return s.drop(r, closed, errClosed)
	case s.fits(r): // another call has made room in the meantime
		s.add(r)
	default:
		added, err := s.flush(l, r)
		switch {
		case added:
		case err == errStalled:
			return s.drop(r, stalled, errStalled)
		default:
			return s.await(r, from)
		}
	}
	if r.Level >= nib.LevelError && !s.stalled {
		_, _ = s.flush(l, nil)
	}
	return nil
}

// flushFor takes the turn and flushes. Lines that cannot be written stay in the
// buffer.
func (s *Sink) flushFor(l limit) error {
	if !s.acquire(l) {
		return errStalled
	}
	defer s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.flush(l, nil)
	return err
}

// flush writes the lines that were in the buffer when it began. If the reader
// has stopped it returns delivery.ErrStalled, and the rest stays. Any other
// error means that the lines of a batch are lost. It adds r, if it is not nil,
// to the buffer as soon as it fits, before any other call can. The turn and mu
// are held; mu is released while it writes or waits.
func (s *Sink) flush(l limit, r *nib.Record) (added bool, err error) {
	swapped, waited := false, false
	var before uint64
	for {
		if s.out.Lines() == 0 {
			s.out.Reset()
			if swapped || s.fill.Lines() == 0 {
				return added, nil
			}
			s.fill, s.out = s.out, s.fill
			swapped = true
			if r != nil && s.fits(r) {
				s.add(r)
				added = true
			}
		}
		n, err := s.writeOut()
		switch {
		case err == nil:
			s.settle()
			continue
		case err != stdio.ErrFull:
			return added, s.dropOut(err)
		}
		if n > 0 {
			s.stalled = false
		}
		if !waited {
			before, waited = s.moved, true
		}
		s.mu.Unlock()
		ready := s.wait(&l)
		s.mu.Lock()
		if !ready {
			if s.moved == before && !time.Now().Before(l.until) {
				s.setStalled()
			}
			return added, errStalled
		}
	}
}

// writeOut writes the buffer. mu and the turn are held; mu is released during
// the write.
func (s *Sink) writeOut() (n int, err error) {
	if s.broken {
		if err := s.port.State(); err != nil {
			return 0, err
		}
	}
	if !s.out.Begun() {
		s.prepare()
	}
	s.mu.Unlock()
	n, err = s.send(s.out.Rest())
	s.mu.Lock()
	s.confirm()
	s.moved += uint64(n)
	s.out.Advance(n, &s.written)
	return n, err
}

// dropOut counts the rest of out as lost because of err. mu and the turn are
// held.
func (s *Sink) dropOut(err error) error {
	s.torn = s.torn || s.out.IsTorn()
	s.out.Drop(&s.dropped[causeOf(err)])
	s.broken, s.stalled, s.trouble = true, false, true
	if s.late == nil {
		s.late = err
	}
	return err
}

// dropHeld counts all lines in the buffer as lost because of a stalled reader,
// when the sink closes. It returns the first error that lost lines. mu is held.
func (s *Sink) dropHeld() error {
	if s.late == nil && s.out.Lines()+s.fill.Lines() > 0 {
		s.late = errStalled
	}
	if s.out.IsTorn() {
		s.torn = true
		if s.out.Next() == len("\n") {
			s.out.Advance(len("\n"), &s.written) // as in giveUp
		}
	}
	s.out.Drop(&s.dropped[stalled])
	s.fill.Drop(&s.dropped[stalled])
	err := s.late
	s.late = nil
	return err
}

// run enforces the delay until Close. awake reports that it does so already.
func (s *Sink) run(awake bool) {
	ended := false
	defer func() {
		if !ended { // OnStall has called runtime.Goexit
			go s.run(true)
			return
		}
		close(s.done)
	}()
	delay := time.NewTimer(0)
	<-delay.C
	defer delay.Stop()
	for {
		if !awake {
			select {
			case <-s.wake:
			case <-s.quit:
				ended = true
				return
			}
		}
		for awake = true; awake; awake = s.held() {
			delay.Reset(s.delay)
			select {
			case <-delay.C:
			case <-s.quit:
				ended = true
				return
			}
			_ = s.flushFor(limit{until: time.Now().Add(s.stall), quit: s.quit})
		}
	}
}

// held reports whether there is anything in the buffer. If not, the goroutine
// goes to sleep.
func (s *Sink) held() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.awake = s.out.Lines()+s.fill.Lines() > 0
	return s.awake
}
