// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// recover locks the directory and determines which numbers to deliver and where
// the new ones begin. It reads the headers of all segments and the records of
// the last one, and changes none of them, so it may be interrupted at any point
// and repeated.
func (s *Sink) recover(path string) (first segment.Start, err error) {
	dir, old, err := store.OpenDir(path, s.c.options())
	if err != nil {
		return segment.Start{}, err
	}
	s.dir, s.number = dir, dir.Last
	if s.c.Sync != SyncNever {
		s.copier, s.waits = newCopier(s), s.c.Sync == SyncErrors
		dir.OnRemoved(func() { poke(s.copier.removed) })
	}
	s.stream = dir.Stream
	next, err := s.ends(old)
	if err != nil {
		s.release()
		return segment.Start{}, err
	}
	first = segment.Start{First: next}
	for _, d := range s.deliveries {
		settled, err := d.OpenCursor(dir, s.copier != nil)
		if err != nil {
			s.release()
			return segment.Start{}, err
		}
		first.First = max(first.First, settled)
	}
	if len(old) == 0 {
		first.First += dir.Unused // the segments before them were deleted, so the cursors are past those
	}
	if n := len(old); n > 0 && (old[n-1].Boot != dir.Boot || dir.Boot == 0 || dir.Unknown) {
		// The machine was restarted, or a segment cannot be read. Delivered
		// records may be gone, and their numbers must not be used again.
		first.First = max(first.First, old[n-1].First+uint64(old[n-1].Size/segment.RecordHead)+dir.Unused)
	}
	if n := len(old); n > 0 {
		first.Skipped, first.Unsure = first.First-next, next-old[n-1].Sure
	}
	if err := dir.Tidy(); err != nil {
		s.reports.Fault("remove or quarantine a file", err) // the next start repeats it
	}
	s.stats.Bad = dir.Bad
	for _, d := range s.deliveries {
		d.Expect(old, first.First)
		if err := d.Recall(old); err != nil {
			s.release()
			return segment.Start{}, err
		}
	}
	for _, g := range old {
		s.segments, s.bytes = s.segments+1, s.bytes+g.Size
		s.chain = append(s.chain, &deliver.Link{Old: g, Waiting: len(s.deliveries)})
	}
	return first, nil
}

// ends determines where the segments end, and returns the number after all of
// them.
func (s *Sink) ends(old []segment.Old) (next uint64, err error) {
	for i := range old {
		g := &old[i]
		if i+1 < len(old) {
			next := &old[i+1]
			g.End = max(next.First-next.Skipped, g.First)
			g.Sure = max(g.End-min(next.Unsure, g.End), g.First)
			g.Damaged = next.Number != g.Number+1 && !next.Dropped
			continue
		}
		if g.Sure, g.End, err = s.lastNumber(g); err != nil {
			return 0, err
		}
		return g.End, nil
	}
	return 1, nil
}

// lastNumber returns the number after the last record of the last segment.
// Claims after that record were not committed; their numbers are used again. If
// a part of the segment cannot be read, end is the highest number that could be
// there instead.
func (s *Sink) lastNumber(g *segment.Old) (sure, end uint64, err error) {
	if head, next, used, label, ok := s.dir.QuickEnd(g); ok {
		s.inherit(head, g)
		if !g.HasCounts(head) {
			g.Used, g.Label = used, label
		}
		return next, next, nil
	}
	b, err := s.dir.Read(g)
	if err != nil && !store.IsPartial(err) {
		return 0, 0, err
	}
	s.inherit(b, g)
	sc := segment.NewScanner(b, g.Identity, g.First)
	for {
		if _, _, ok := sc.Next(); !ok {
			break
		}
	}
	if err == nil {
		return sc.Want, sc.Want, nil
	}
	s.reports.Fault("read a segment", err)
	return sc.Want, max(sc.Want, g.First+uint64(g.Size/segment.RecordHead)), nil
}

// removeUnused deletes the only segment of a new spool if no line was logged,
// and reports whether none was.
func (s *Sink) removeUnused() bool {
	if len(s.chain) == 0 {
		return true // the first segment could not be made
	}
	_, next, _ := s.active.Load().Claimed()
	l := s.chain[0]
	if len(s.chain) > 1 || next != s.opened || l.Placeholder || s.dropped != (segment.Tally{}) {
		return false
	}
	if err := s.dir.Remove(l.Number, nil); err != nil {
		s.reports.Fault("delete a segment", err)
	}
	return true
}

// release releases the resources that recover has acquired.
func (s *Sink) release() {
	if s.copier != nil && s.active.Load() != nil {
		close(s.copier.stop)
		<-s.copier.done
	}
	for _, d := range s.deliveries {
		if d.Cursor != nil {
			s.dir.Close("the cursor", d.Cursor.File)
		}
	}
	if s.dir != nil {
		s.peers.beforeUnlock()
		s.reportNoted()
		_ = s.dir.Unlock() // the contents of the lock file are only informative
	}
}

// retireDir deletes the directory of an empty spool; see store.Dir.Retire.
func (s *Sink) retireDir(isHome bool) {
	if err := s.dir.Retire(isHome); err != nil {
		s.reports.Fault("delete the empty slot "+s.dir.Path, err)
	}
}

// forget undoes the effects of a failed recover.
func (s *Sink) forget() {
	s.dir, s.copier, s.stats = nil, nil, Stats{}
	s.inherited, s.carried = segment.Tally{}, segment.Tally{}
	for _, d := range s.deliveries {
		d.CloseCursor()
	}
}

// reportNoted counts and reports the errors that the directory has noted.
func (s *Sink) reportNoted() {
	if s.dir == nil {
		return
	}
	for _, e := range s.dir.TakeNoted() {
		s.reports.Fault(e.Op, e.Err)
	}
}
