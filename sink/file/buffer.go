// SPDX-License-Identifier: Apache-2.0

package file

import (
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/linebatch"
)

// A buffer collects lines. Callers append to fill under the buffer's lock; a
// caller that finds it full takes the lock of the sink, swaps fill and out and
// writes out, while others continue to fill. The first line after a flush sets
// a timer, which writes the lines when it fires, so an idle sink has neither a
// timer nor a goroutine.
type buffer struct {
	size  int
	delay time.Duration

	mu     sync.Mutex // acquired after the lock of the sink
	fill   linebatch.Batch
	direct bool // lines are written directly, so that calls return the reason of a loss
	armed  bool
	timer  *time.Timer
	firing sync.WaitGroup // timers that are set, and running timer functions
}

func newBuffer(s *Sink, size int, delay time.Duration) *buffer {
	b := &buffer{size: size, delay: delay, fill: linebatch.NewWithoutNewline(size)}
	b.timer = time.AfterFunc(time.Hour, s.flushLate)
	b.timer.Stop()
	return b
}

// collect adds the line of r to the buffer, or writes or drops it.
func (s *Sink) collect(r *nib.Record) error {
	if !s.buffer.add(r) {
		return s.collectSlowly(r)
	}
	if r.Level >= nib.LevelError {
		s.mu.Lock()
		s.flushBuffer(nil)
		s.unlock()
	}
	return nil
}

// add adds the line of r, if it may be collected and fits.
func (b *buffer) add(r *nib.Record) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.direct || len(r.Line) > b.size-b.fill.Size() {
		return false
	}
	b.put(r)
	return true
}

// put adds the line of r and ensures that it is written in time. The lock of
// the buffer is held.
func (b *buffer) put(r *nib.Record) {
	b.fill.Add(r.Line, int(r.Level))
	if !b.armed {
		b.armed = true
		b.firing.Add(1)
		b.timer.Reset(b.delay)
	}
}

// collectSlowly makes room for r. If it is longer than the buffer, or writing
// fails, it is written by itself after the lines before it.
func (s *Sink) collectSlowly(r *nib.Record) error {
	s.mu.Lock()
	defer s.unlock()
	if !s.w.closed && s.w.failing.err == nil && len(r.Line) <= s.buffer.size {
		if !s.buffer.add(r) { // no other call has made room in the meantime
			s.flushBuffer(r)
		}
		if r.Level >= nib.LevelError {
			s.flushBuffer(nil)
		}
		return nil
	}
	s.flushBuffer(nil)
	return s.w.write(r)
}

// flushBuffer writes the buffered lines, and adds r, if it is not nil, to the
// buffer before any other call can. Lines that cannot be written are dropped.
// The lock of the sink is held.
func (s *Sink) flushBuffer(r *nib.Record) {
	b := s.buffer
	if b == nil {
		return
	}
	b.mu.Lock()
	s.w.out, b.fill = b.fill, s.w.out
	if r != nil {
		b.put(r)
	}
	b.mu.Unlock()
	if err := s.w.writeBatch(&s.w.out); err != nil {
		s.w.errors.announce("write", err)
		if s.lateErr == nil {
			s.lateErr = err
		}
	}
}

// flushLate is the function of the timer.
func (s *Sink) flushLate() {
	defer s.buffer.firing.Done()
	s.mu.Lock()
	defer s.unlock()
	s.buffer.mu.Lock()
	s.buffer.armed = false
	s.buffer.mu.Unlock()
	s.flushBuffer(nil)
}

// pending returns the number of lines in the buffer. The lock of the sink is
// held, so none are being written.
func (s *Sink) pending() uint64 {
	if s.buffer == nil {
		return 0
	}
	s.buffer.mu.Lock()
	defer s.buffer.mu.Unlock()
	return uint64(s.buffer.fill.Lines())
}

// setDirect sets whether lines are written directly.
func (b *buffer) setDirect(direct bool) {
	b.mu.Lock()
	b.direct = direct
	b.mu.Unlock()
}

// closeBuffer closes the buffer to new lines and stops the timer. The lock of
// the sink is held.
func (s *Sink) closeBuffer() {
	b := s.buffer
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.direct = true
	if b.timer.Stop() {
		b.firing.Done()
	}
}
