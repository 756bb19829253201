// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"slices"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// notice writes a line that reports a loss into a segment that no other
// goroutine can see yet, for the destination called to, or for all if to is "".
// The lock is held.
func (ch *chain) notice(g *segment.Segment, lost *segment.Tally, to string) (seq uint64, ok bool) {
	now, message := time.Now(), -1
	r := nib.Record{Time: now.UnixNano(), Level: nib.LevelWarn, Line: ch.notices.Append(nil, now, "lines lost: the spool dropped them", segment.Reasons[:], lost[:])}
	if to != "" {
		message, r.Logger, r.Message = segment.Addressed, to, segment.AppendCounts(nil, lost)
	}
	size := segment.RecordSize(&r, message)
	at, seq, ok := g.Reserve(size)
	if !ok {
		return 0, false
	}
	if ok, _ = g.Write(at, size, seq, &r, message); ok {
		ch.stats.Notices++
	} else {
		ch.retireLocked(g, at, size, seq) // the next segment reports the loss
	}
	return seq, ok
}

// announce writes a notice for each destination that has lost lines which
// others may have got. The lock is held.
func (ch *chain) announce(g *segment.Segment) {
	for _, d := range ch.Deliveries {
		lost := d.Unannounced()
		if lost == (segment.Tally{}) || ch.noDestination {
			continue
		}
		seq, ok := ch.notice(g, &lost, d.Options.Name)
		if !ok {
			return
		}
		ch.stats.Logged-- // it is not for all destinations
		for _, other := range ch.Deliveries {
			other.Announce(seq, d.Options.Name, lost)
		}
	}
}

// losses returns the counts of lines dropped for all destinations, and of those
// that earlier processes have not reported. The lock is held.
func (c *counts) losses() segment.Tally { return c.dropped.Plus(&c.inherited) }

// hasLosses reports whether a destination has lost lines that no notice which
// it has settled reports, or a notice for all destinations is due. The lock is
// held.
func (ch *chain) hasLosses() bool {
	lost := ch.losses()
	return lost.Minus(&ch.reported) != (segment.Tally{}) ||
		slices.ContainsFunc(ch.Deliveries, func(d *deliver.Delivery) bool {
			return d.Lost.Lines != (segment.Tally{})
		})
}
