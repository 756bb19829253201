// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// notice writes a line that reports a loss into a segment that no other
// goroutine can see yet. mu is held.
func (s *Sink) notice(g *segment.Segment, lost segment.Tally) (ok bool) {
	now := time.Now()
	r := nib.Record{Time: now.UnixNano(), Level: nib.LevelWarn, Line: s.notices.Append(nil, now, "lines lost: the spool dropped them", segment.Reasons[:], lost[:])}
	size := segment.RecordSize(&r, -1)
	at, seq, ok := g.Reserve(size)
	if !ok {
		return false
	}
	if ok, _ = g.Write(at, size, seq, &r, -1); ok {
		s.stats.Notices++
	} else {
		s.retireLocked(g, at, size, seq) // the next segment reports the loss
	}
	return ok
}

// losses returns the counts of lines dropped for any destination, where a line
// dropped for several counts once, and of those that earlier processes have not
// reported. mu is held.
func (s *Sink) losses() segment.Tally {
	var most segment.Tally
	for _, d := range s.deliveries {
		for c := range most {
			for l := range most[c] {
				most[c][l] = max(most[c][l], d.Dropped[c][l])
			}
		}
	}
	most = most.Plus(&s.inherited)
	most = most.Plus(&s.adoptedLoss)
	return most.Plus(&s.dropped)
}
