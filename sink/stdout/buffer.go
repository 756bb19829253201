// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/linebatch"
	"github.com/nib-log/nib/internal/stdio"
)

// A buffer holds lines in two batches. Callers append to fill; the holder of
// the turn swaps the two and writes out, without Sink.mu. When fill is full,
// the caller that finds it full writes; when the delay is over, the flusher
// writes. Sink.mu protects the buffer, except that the bytes of out belong to
// the holder of the turn.
type buffer struct {
	size    int             // 0 if there is no buffer
	fill    linebatch.Batch // lines that are being collected
	out     linebatch.Batch // lines that are being written
	late    error           // first loss of lines whose calls had returned, until takeLate
	flusher flusher
}

func newBuffer(c Config) buffer {
	return buffer{
		size: c.Buffer,
		fill: linebatch.New(c.Buffer),
		out:  linebatch.New(c.Buffer),
		flusher: flusher{
			delay: c.Delay,
			wake:  make(chan struct{}, 1),
			quit:  make(chan struct{}),
			done:  make(chan struct{}),
		},
	}
}

// lines returns the number of lines in the buffer.
func (b *buffer) lines() int { return b.out.Lines() + b.fill.Lines() }

// add adds r to fill, where it fits.
func (b *buffer) add(r *nib.Record) {
	b.fill.Add(r.Line, int(r.Level))
	b.flusher.start()
}

// lose records that lines of the buffer are dropped because of err.
func (b *buffer) lose(err error) {
	if b.late == nil {
		b.late = err
	}
}

// takeLate returns the first loss since the previous call.
func (b *buffer) takeLate() error {
	err := b.late
	b.late = nil
	return err
}

// collect puts the line of r into the buffer, or writes or drops it.
func (s *Sink) collect(r *nib.Record) error {
	s.mu.Lock()
	switch {
	case s.closed:
		defer s.mu.Unlock()
		return s.drop(r, closed, errClosed)
	case s.fits(r):
		s.buffer.add(r)
		flush := r.Level >= nib.LevelError && !s.reader.stalled
		s.mu.Unlock()
		if flush {
			_ = s.flushFor(limit{until: time.Now().Add(s.stall)}) // r is in the buffer anyway
		}
		return nil
	case s.reader.stalled && len(r.Line) <= s.buffer.size:
		before := s.reader.moved
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
	room := s.buffer.size - s.buffer.fill.Size()
	if s.reader.stalled && r.Level < nib.LevelError {
		room -= s.buffer.size / 8
	}
	return len(r.Line) <= room && !s.broken
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
		s.buffer.add(r)
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
	if r.Level >= nib.LevelError && !s.reader.stalled {
		_, _ = s.flush(l, nil)
	}
	return nil
}

// flushFor takes the turn and flushes. Lines that cannot be written stay in the
// buffer.
func (s *Sink) flushFor(l limit) error {
	if !s.turn.acquire(l) {
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
	b, swapped, waited := &s.buffer, false, false
	var before uint64
	for {
		if b.out.Lines() == 0 {
			b.out.Reset()
			if swapped || b.fill.Lines() == 0 {
				return added, nil
			}
			b.fill, b.out = b.out, b.fill
			swapped = true
			if r != nil && s.fits(r) {
				b.add(r)
				added = true
			}
		}
		switch err := s.writeOut(); {
		case err == nil:
			s.settle()
			continue
		case err != stdio.ErrFull:
			return added, s.dropOut(err)
		}
		if !waited {
			before, waited = s.reader.moved, true
		}
		s.mu.Unlock()
		ready := s.wait(&l)
		s.mu.Lock()
		if !ready {
			if !time.Now().Before(l.until) {
				s.reader.timedOut(before)
			}
			return added, errStalled
		}
	}
}

// writeOut writes the buffer. mu and the turn are held; mu is released during
// the write.
func (s *Sink) writeOut() error {
	if s.broken {
		if err := s.port.State(); err != nil {
			return err
		}
	}
	out := &s.buffer.out
	if !out.Begun() {
		s.head.prepare()
	}
	s.mu.Unlock()
	n, err := s.send(out.Rest())
	s.mu.Lock()
	s.confirm(n)
	out.Advance(n, &s.written)
	return err
}

// dropOut counts the rest of out as lost because of err. mu and the turn are
// held.
func (s *Sink) dropOut(err error) error {
	out := &s.buffer.out
	s.head.torn = s.head.torn || out.IsTorn()
	out.Drop(&s.head.dropped[causeOf(err)])
	s.broken, s.reader.stalled = true, false
	s.buffer.lose(err)
	return err
}

// dropHeld counts all lines in the buffer as lost because of a stalled reader,
// when the sink closes. It returns the first error that lost lines. mu is held.
func (s *Sink) dropHeld() error {
	b := &s.buffer
	if b.lines() > 0 {
		b.lose(errStalled)
	}
	if b.out.IsTorn() {
		s.head.torn = true
		if b.out.Next() == len("\n") {
			b.out.Advance(len("\n"), &s.written) // as in giveUp
		}
	}
	b.out.Drop(&s.head.dropped[stalled])
	b.fill.Drop(&s.head.dropped[stalled])
	return b.takeLate()
}

// flushHeld flushes for the flusher. It reports whether there is anything in
// the buffer. If not, the flusher goes to sleep.
func (s *Sink) flushHeld() bool {
	f := &s.buffer.flusher
	_ = s.flushFor(limit{until: time.Now().Add(s.stall), quit: f.quit})
	s.mu.Lock()
	defer s.mu.Unlock()
	f.awake = s.buffer.lines() > 0
	return f.awake
}
