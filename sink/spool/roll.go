// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

const (
	slowDisk    = 100 * time.Millisecond // how long a call waits for a segment that is being made
	makePause   = 250 * time.Millisecond // before making one is tried again
	firstPause  = 10 * time.Millisecond  // between attempts to deliver
	longerPause = 5 * time.Second
)

var errSlow = errors.New("nib/spool: making a segment takes long")

// roll is called when r does not fit into g. It returns nil when there is another
// active segment, and else has dropped r and says why. A call that is to wait does so
// without the lock.
func (s *Sink) roll(g *segment, size int, r *nib.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var timer *time.Timer
	for {
		making := s.makeErr == nil && (s.making || s.bytes+s.c.SegmentSize <= s.c.Size)
		switch {
		case s.closed:
			return s.drop(r, closed, ErrClosed)
		case !fits(size, s.c.SegmentSize):
			return s.drop(r, tooLarge, ErrTooLarge)
		case s.active.Load() != g:
			return nil
		case s.next != nil:
			s.install()
			return nil
		}
		rule := s.c.rule(r.Level)
		if rule.Do == DropOld && !making && s.dropOldest() {
			continue
		}
		if timer == nil {
			wait := rule.Wait // 0 unless it is to block
			if making {
				wait = max(wait, s.c.slow)
			}
			if wait == 0 {
				return s.dropFull(r)
			}
			timer = time.NewTimer(wait)
			defer timer.Stop()
		} else if !making && rule.Do != Block {
			return s.dropFull(r)
		}
		changed := s.change()
		s.mu.Unlock()
		late := false
		select {
		case <-changed:
		case <-timer.C:
			late = true
		}
		s.mu.Lock()
		if late && s.next == nil && s.active.Load() == g && !s.closed {
			if s.making {
				s.makeErr = errSlow // other calls do not wait as long again
			}
			return s.dropFull(r)
		}
	}
}

// install takes the next segment into use. From the moment on at which the old one is
// sealed its count of records stands, and with it the first number of the new
// one. mu is held.
func (s *Sink) install() {
	old, g := s.active.Load(), s.next
	old.seal()
	_, first, _ := old.claimed()
	if !s.commission(g, start{first: first}) {
		g.seal() // the call that is here comes back
		s.stats.Retired++
	}
	s.enqueue(g)
	s.unload()
	s.next = nil
	s.activate(g)
	s.wantMore()
	s.broadcast()
	s.idle.Store(false) // readers may be asleep at the end of the old one
	s.poke()
}

// enqueue gives a segment to those who read it. mu is held, or nobody else is there yet.
func (s *Sink) enqueue(g *segment) {
	s.link(g)
	if s.copier != nil {
		g.hold()
		s.uncopied = append(s.uncopied, g)
	}
}

// wantMore lets the goroutine that makes segments look. mu is held.
func (s *Sink) wantMore() {
	if s.closed {
		return
	}
	select {
	case s.more <- struct{}{}:
	default: // it has one to come
	}
}

// drop counts r as lost and returns err. mu is held.
func (s *Sink) drop(r *nib.Record, c cause, err error) error {
	s.stats.Logged++
	s.dropped.add(c, r.Level, 1)
	s.publish()
	return err
}

// dropFull drops r because there is no segment for it. mu is held.
func (s *Sink) dropFull(r *nib.Record) error {
	if s.makeErr != nil && !vfs.IsFull(s.makeErr) {
		return s.drop(r, failed, s.makeErr)
	}
	return s.drop(r, full, ErrFull)
}

// create makes a segment: on the heap, or in a file.
func (s *Sink) create(number uint64) (*segment, error) {
	if s.dir == nil {
		return newSegment(make([]byte, s.c.SegmentSize), identity{spool: s.id, number: number, gen: 1, size: s.c.SegmentSize}, nil), nil
	}
	return s.dir.create(number, s.c.SegmentSize, s.rest)
}

// rest gives way to others while a segment is made, unless that is needed soon: for
// restTime in all, since somebody with a long line may wait for it already.
func (s *Sink) rest() {
	g := s.active.Load()
	if end, _, _ := g.claimed(); end < len(g.b)/2 && time.Since(s.began) < restTime {
		time.Sleep(100 * time.Microsecond)
	}
}

const restTime = 20 * time.Millisecond

// firstSegment makes the segment that a process begins with.
func (s *Sink) firstSegment(first start) (g *segment, err error) {
	if s.dir == nil {
		g, err = s.create(s.number + 1)
	} else {
		g, s.finish, err = s.dir.begin(s.number+1, s.c.SegmentSize, s.rest)
	}
	if err == nil && !s.commission(g, first) {
		err = errGone
	}
	return g, err
}

// makeSegments keeps one segment ahead, until Close.
func (s *Sink) makeSegments() {
	s.began = time.Now()
	if s.finish != nil {
		if err := s.finish(); err != nil {
			s.fault("sync the first segment", err)
		}
	}
	close(s.safe)
	retry := time.NewTimer(makePause)
	defer retry.Stop()
	for {
		select {
		case _, ok := <-s.more:
			if !ok {
				s.discardNext()
				return
			}
		case <-retry.C:
		}
		s.mu.Lock()
		s.making = !s.closed && s.next == nil && s.bytes+s.c.SegmentSize <= s.c.Size
		if !s.making {
			s.mu.Unlock()
			continue
		}
		s.number++
		number := s.number
		s.segments, s.bytes = s.segments+1, s.bytes+s.c.SegmentSize
		s.mu.Unlock()

		s.began = time.Now()
		g, err := s.create(number)

		s.mu.Lock()
		s.making, s.makeErr, s.next = false, err, g
		if err != nil {
			s.segments, s.bytes = s.segments-1, s.bytes-s.c.SegmentSize
			s.number--
			s.stats.Errors++
			retry.Reset(makePause)
		}
		s.broadcast()
		s.mu.Unlock()
		if err != nil {
			s.report("make a segment", err)
		}
	}
}

// discardNext removes the segment that was made and is not needed any more.
func (s *Sink) discardNext() {
	s.mu.Lock()
	g := s.next
	s.next = nil
	if g != nil {
		s.segments, s.bytes = s.segments-1, s.bytes-s.c.SegmentSize
	}
	s.mu.Unlock()
	if g != nil && g.drop != nil {
		g.drop()
		_ = s.dir.remove(g.number) // the next start does it otherwise
	}
	close(s.made)
}

// report tells OnError. The same reason is told once a minute.
func (s *Sink) report(op string, err error) {
	if s.c.OnError == nil {
		return
	}
	s.mu.Lock()
	now, key := time.Now(), op+err.Error()
	last, known := s.said[key]
	tell := !known || now.Sub(last) >= time.Minute
	if tell {
		if len(s.said) > 100 {
			clear(s.said)
		}
		s.said[key] = now
	}
	s.mu.Unlock()
	if tell {
		defer func() { _ = recover() }() // the user's, and there is nobody left to tell
		s.c.OnError(opError{op, err})
	}
}

// An opError says what failed.
type opError struct {
	op  string
	err error
}

func (e opError) Error() string { return "nib/spool: " + e.op + ": " + e.err.Error() }
func (e opError) Unwrap() error { return e.err }
