// SPDX-License-Identifier: Apache-2.0

package spool

import "github.com/nib-log/nib/sink/spool/internal/segment"

// inherit adds the drops of the process that wrote b, its last segment, that no
// notice has reported.
func (s *Sink) inherit(b []byte, g *segment.Old) {
	if !g.HasNotice(b) {
		s.carried = g.Counts(b, segment.SectionReported)
	}
	s.inherited = g.Unreported(b)
}

// counted reports err if a count could not be stored in a header. The next
// start then uses the previous count. mu is held.
func (s *Sink) counted(err error) {
	if err != nil {
		s.reports.Fault("count dropped lines in a segment", err)
	}
}

// publish stores the counts that no notice has reported. It is called when any
// of them has changed. mu is held.
func (s *Sink) publish() {
	if s.dir == nil || s.unmapped {
		return
	}
	losses, g := s.losses(), s.active.Load()
	for c := range losses {
		for l := range losses[c] {
			n := losses[c][l] - min(losses[c][l], s.reported[c][l]+s.carried[c][l])
			if n != s.published[c][l] {
				s.published[c][l] = n
				s.counted(g.SetCount(segment.SectionUnreported, segment.Cause(c), l, n))
			}
		}
	}
}

// commission prepares a segment that no other goroutine can see yet, and writes
// notices into it if lines were dropped since the last ones, first the notice
// for all destinations. It reports false if the segment is broken. mu is held.
func (s *Sink) commission(g *segment.Segment, first segment.Start) bool {
	losses := s.losses()
	lost := losses.Minus(&s.reported)
	s.carried = segment.Tally{} // the header of g has them
	carry := func(t *segment.Tally) {
		for c := range t {
			for l := range t[c] {
				if lost[c][l] != 0 {
					s.counted(g.SetCount(segment.SectionReported, segment.Cause(c), l, t[c][l]))
				}
			}
		}
	}
	carry(&lost)
	s.counted(g.SetUnsure(first.Unsure))
	if !g.Begin(first) {
		return false
	}
	if lost != (segment.Tally{}) {
		if _, ok := s.notice(g, &lost, ""); ok {
			s.reported, g.Reported = losses, lost
		} else {
			carry(&segment.Tally{})
		}
	}
	s.announce(g)
	return true
}

// activate makes a commissioned segment the active one. mu is held, or no other
// goroutine is running yet.
func (s *Sink) activate(g *segment.Segment) {
	s.active.Store(g)
	s.published = segment.Tally{}
	s.publish()
}
