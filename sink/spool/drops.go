// SPDX-License-Identifier: Apache-2.0

package spool

import "github.com/nib-log/nib/sink/spool/internal/segment"

// inherit adds the drops of the process that wrote b, its last segment, that no
// notice has reported.
func (ch *chain) inherit(b []byte, g *segment.Old) {
	if !g.HasNotice(b) {
		ch.carried = g.Counts(b, segment.SectionReported)
	}
	ch.inherited = g.Unreported(b)
}

// counted reports err if a count could not be stored in a header. The next
// start then uses the previous count. The lock is held.
func (ch *chain) counted(err error) {
	if err != nil {
		ch.reports.Fault("count dropped lines in a segment", err)
	}
}

// publish stores the counts that no notice has reported. It is called when any
// of them has changed. The lock is held.
func (ch *chain) publish() {
	if ch.dir == nil || ch.unmapped {
		return
	}
	losses, g := ch.losses(), ch.active.Load()
	for c := range losses {
		for l := range losses[c] {
			n := losses[c][l] - min(losses[c][l], ch.reported[c][l]+ch.carried[c][l])
			if n != ch.published[c][l] {
				ch.published[c][l] = n
				ch.counted(g.SetCount(segment.SectionUnreported, segment.Cause(c), l, n))
			}
		}
	}
}

// commission prepares a segment that no other goroutine can see yet, and writes
// notices into it if lines were dropped since the last ones, first the notice
// for all destinations. It reports false if the segment is broken. The lock is
// held.
func (ch *chain) commission(g *segment.Segment, first segment.Start) bool {
	losses := ch.losses()
	lost := losses.Minus(&ch.reported)
	ch.carried = segment.Tally{} // the header of g has them
	carry := func(t *segment.Tally) {
		for c := range t {
			for l := range t[c] {
				if lost[c][l] != 0 {
					ch.counted(g.SetCount(segment.SectionReported, segment.Cause(c), l, t[c][l]))
				}
			}
		}
	}
	carry(&lost)
	ch.counted(g.SetUnsure(first.Unsure))
	if !g.Begin(first) {
		return false
	}
	if lost != (segment.Tally{}) {
		if _, ok := ch.notice(g, &lost, ""); ok {
			ch.reported, g.Reported = losses, lost
		} else {
			carry(&segment.Tally{})
		}
	}
	ch.announce(g)
	return true
}

// activate makes a commissioned segment the active one. The lock is held, or no
// other goroutine is running yet.
func (ch *chain) activate(g *segment.Segment) {
	ch.active.Store(g)
	ch.published = segment.Tally{}
	ch.publish()
}
