// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"slices"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// The count of a dropped line goes through these steps. After a death, Open
// finds it where the last step has left it (inherit, deliver's Recall).
//
// A line that is dropped for all destinations, since the spool is full or
// closed, or the line too large:
//
//	dropped    in counts.dropped, and in the header of the active segment, as
//	           unreported (publish)
//	reported   in a notice, the first record of the next segment, whose header
//	           has the count as reported: it counts if there is no notice
//	           (commission); if all records before are settled, there is no next
//	           segment, and a header stays without records (keepHeader)
//	settled    the segment with the notice is deleted; a destination that has
//	           rejected the notice has lost the lines itself (repeat)
//
// A line that one destination has lost, since it was rejected or damaged:
//
//	lost       in losses.Lost, then in the cursor
//	announced  in a notice for this destination alone, after the one for all
//	reported   one write of the cursor moves its position past the notice, and
//	           subtracts the count
//
// A segment that is dropped to make room, whose lines some destinations have:
//
//	stored     in the cursors, as a loss that is none while the segment exists
//	lost       when the segment is deleted, by deliver.Drop; without a
//	           destination, in counts.dropped

// inherit adds the drops of the process that wrote b, its last segment, that no
// notice has reported.
func (ch *chain) inherit(b []byte, g *segment.Old) {
	if !g.HasNotice(b) {
		ch.carried = g.Counts(b, segment.SectionReported)
	}
	ch.inherited = g.Unreported(b)
}

// counted reports err if a count could not be stored in a header. If the
// process dies before it is stored, the next start uses the previous count. The
// lock is held.
func (ch *chain) counted(err error) {
	if err != nil {
		ch.reports.Fault("count dropped lines in a segment", err)
	}
}

// publish stores the counts that no notice has reported. It is called when any
// of them has changed. It returns the error that it has reported. The lock is
// held.
func (ch *chain) publish() error {
	if ch.dir == nil || ch.unmapped {
		return nil
	}
	losses, stored := ch.losses(), ch.reported.Plus(&ch.carried)
	left := losses.Minus(&stored)
	err := ch.active.Load().SetCounts(segment.SectionUnreported, &left, &ch.published)
	ch.counted(err)
	return err
}

// commission prepares a segment that no other goroutine can see yet, and writes
// notices into it if lines were dropped since the last ones, first the notice
// for all destinations. It reports false if the segment is broken. The lock is
// held.
func (ch *chain) commission(g *segment.Segment, first segment.Start) bool {
	losses := ch.losses()
	lost := losses.Minus(&ch.reported)
	var none, stored segment.Tally
	ch.carried = none // the header of g has them
	ch.counted(g.SetCounts(segment.SectionReported, &lost, &stored))
	ch.counted(g.SetUnsure(first.Unsure))
	if !g.Begin(first) {
		return false
	}
	if lost != none {
		if _, ok := ch.notice(g, &lost, ""); ok {
			ch.reported, g.Reported = losses, lost
		} else {
			ch.counted(g.SetCounts(segment.SectionReported, &none, &stored))
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
	_ = ch.publish()
}

// bears reports whether the header of l, which has left the chain, must stay:
// it has the counts, since there is no other segment yet. The lock is held.
func (ch *chain) bears(l *deliver.Link) bool {
	return ch.HasPlaceholder() && !l.Placeholder && l.Number == ch.active.Load().Number &&
		(!ch.c.DeliverOnly || len(ch.Links) > 1 || ch.hasLosses())
}

// keepHeader replaces the file of l by its header, with the counts, if it bears
// them. A start after a death finds one file or the other. Without, it would
// find no counts, or counts of an earlier segment, which were reported; and
// without any segment, the cursors belong to another spool. If the file cannot
// be replaced, it stays, and still has the counts.
func (m *maker) keepHeader(l *deliver.Link) (kept bool, err error) {
	m.replacing.Lock()
	defer m.replacing.Unlock()
	m.Lock()
	defer m.Unlock()
	if !m.bears(l) {
		return false, nil
	}
	h, dropped, carried := m.active.Load(), m.Links[len(m.Links)-1].Skipped, m.carried
	h.Retain()
	defer h.Release()
	m.Unlock()
	move := func(f vfs.File, isNew bool) (before vfs.File, err error) {
		m.Lock()
		defer m.Unlock()
		before = h.SetFile(f)
		if m.active.Load() != h {
			return before, nil // another segment has the counts
		}
		m.carried, m.published = carried, segment.Tally{}
		if isNew {
			m.carried = segment.Tally{}
		}
		return before, m.publish()
	}
	err = m.dir.KeepHeader(l.Number, l.HeaderOnly(h.Start, dropped), move)
	m.Lock()
	switch {
	case err == nil:
	case m.c.DeliverOnly:
		m.reports.Fault("keep counts of dropped lines", err)
	default: // freeUndeleted tries again
		return true, fmt.Errorf("keep counts of dropped lines: %w", err)
	}
	m.headers = append(m.headers, l)
	if l.Live != nil {
		l.Live.Done(nil)
	}
	return true, nil
}

// deleteHeaders deletes the headers that keepHeader has left, if there is a
// segment with their counts.
func (m *maker) deleteHeaders() {
	m.Lock()
	var list []*deliver.Link
	if !m.HasPlaceholder() && !m.unbegun {
		list, m.headers = m.headers, nil
	}
	m.Unlock()
	for _, l := range list {
		m.deleteEmpty(l.Number, nil)
	}
}

// notice writes a line that reports a loss into a segment that no other
// goroutine can see yet, for the destination called to, or for all if to is "".
// The lock is held.
func (ch *chain) notice(g *segment.Segment, lost *segment.Tally, to string) (seq uint64, ok bool) {
	now, message := time.Now(), -1
	r := nib.Record{Time: now.UnixNano(), Level: nib.LevelWarn, Line: ch.notices.Append(nil, now,
		"lines lost: the spool dropped them", segment.Reasons[:], lost[:])}
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
