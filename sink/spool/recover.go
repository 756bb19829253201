// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// recover locks the directory and determines which numbers to deliver and where
// the new ones begin. It reads the headers of all segments and the records of
// the last one, and changes none of them, so it may be interrupted at any point
// and repeated.
func (s *Sink) recover(path string) (first segment.Start, err error) {
	ch := &s.chain
	dir, old, err := store.OpenDir(path, s.c.options())
	if err != nil {
		return segment.Start{}, err
	}
	ch.dir, ch.number = dir, dir.Last
	if s.c.Sync != SyncNever {
		ch.copier, s.waits = newCopier(ch), s.c.Sync == SyncErrors
		dir.Copies.OnRemoved(func() { store.Signal(ch.copier.removed) })
	}
	ch.stream = dir.Stream
	next, err := s.ends(old)
	if err != nil {
		s.release()
		return segment.Start{}, err
	}
	first = segment.Start{First: next}
	for _, d := range ch.Deliveries {
		settled, err := d.OpenCursor(dir)
		if err != nil {
			s.release()
			return segment.Start{}, err
		}
		first.First = max(first.First, settled)
	}
	if len(old) == 0 {
		first.First += dir.Unused // segments before are deleted: the cursors are past their numbers
	}
	if n := len(old); n > 0 && (old[n-1].Boot != dir.Boot || dir.Boot == 0 || dir.Unknown) {
		// The machine was restarted, or a segment cannot be read. Delivered
		// records may be gone, and their numbers must not be used again.
		first.First = max(first.First,
			old[n-1].First+uint64(old[n-1].Size/segment.RecordHead)+dir.Unused)
	}
	if n := len(old); n > 0 {
		first.Skipped, first.Unsure = first.First-next, next-old[n-1].Sure
	}
	for _, d := range ch.Deliveries {
		d.Expect(old, first.First)
		if err := d.Recall(old); err != nil {
			s.release()
			return segment.Start{}, err
		}
	}
	// Nothing above may change a file: it may fail, and the next start has to find
	// the same files.
	if err := dir.Tidy(); err != nil {
		ch.reports.Fault("remove a file", err) // the next start repeats it
	}
	for _, g := range old {
		ch.segments, ch.bytes = ch.segments+1, ch.bytes+g.Size
		ch.AppendOld(g)
	}
	return first, nil
}

// ends determines where the segments end, and returns the number after all of
// them.
func (s *Sink) ends(old []segment.Old) (next uint64, err error) {
	if len(old) == 0 {
		return 1, nil
	}
	last := &old[len(old)-1]
	if last.Sure, last.End, err = s.lastNumber(last); err != nil {
		return 0, err
	}
	for i := len(old) - 2; i >= 0; i-- {
		old[i].EndBefore(&old[i+1])
	}
	return last.End, nil
}

// lastNumber returns the number after the last record of the last segment.
// Claims after that record were not committed; their numbers are used again. If
// a part of the segment cannot be read, end is the highest number that could be
// there instead.
func (s *Sink) lastNumber(g *segment.Old) (sure, end uint64, err error) {
	if head, next, used, label, ok := s.chain.dir.QuickEnd(g); ok {
		s.chain.inherit(head, g)
		if !g.HasCounts(head) {
			g.Used, g.Label = used, label
		}
		return next, next, nil
	}
	b, err := s.chain.dir.Read(g)
	if err != nil && !store.IsPartial(err) {
		return 0, 0, err
	}
	s.chain.inherit(b, g)
	sc := segment.NewScanner(b, g.Identity, g.First)
	for {
		if _, _, ok := sc.Next(); !ok {
			break
		}
	}
	if err == nil {
		return sc.Want, sc.Want, nil
	}
	s.chain.reports.Fault("read a segment", err)
	return sc.Want, max(sc.Want, g.First+uint64(g.Size/segment.RecordHead)), nil
}

// removeUnused deletes the only segment of a new spool if no line was logged,
// and reports whether none was.
func (s *Sink) removeUnused() bool {
	ch := &s.chain
	if len(ch.Links) == 0 {
		return true // the first segment could not be made
	}
	_, next, _ := ch.active.Load().Claimed()
	l := ch.Links[0]
	if len(ch.Links) > 1 || next != ch.opened || l.Placeholder || ch.dropped != (segment.Tally{}) {
		return false
	}
	ch.deleteEmpty(l.Number, nil)
	return true
}

// release releases the resources that recover has acquired.
func (s *Sink) release() {
	ch := &s.chain
	if ch.copier != nil && ch.active.Load() != nil {
		close(ch.copier.stop)
		<-ch.copier.done
	}
	for _, d := range ch.Deliveries {
		if d.Cursor != nil {
			ch.dir.Close("the cursor", d.Cursor.File)
		}
	}
	if ch.dir != nil {
		ch.peers.beforeUnlock()
		ch.reportNoted()
		_ = ch.dir.Unlock() // the contents of the lock file are only informative
	}
}

// retireDir deletes the directory of an empty spool; see store.Dir.Retire.
func (s *Sink) retireDir(isHome bool) {
	if err := s.chain.dir.Retire(isHome); err != nil {
		s.chain.reports.Fault("delete the empty slot "+s.chain.dir.Path, err)
	}
}

// forget undoes the effects of a failed recover.
func (s *Sink) forget() {
	ch := &s.chain
	ch.dir, ch.copier, ch.stats = nil, nil, Stats{}
	ch.inherited, ch.carried = segment.Tally{}, segment.Tally{}
	for _, d := range ch.Deliveries {
		d.CloseCursor()
	}
}

// reportNoted counts and reports the errors that the directory has noted.
func (ch *chain) reportNoted() {
	if ch.dir == nil {
		return
	}
	for _, e := range ch.dir.TakeNoted() {
		ch.reports.Fault(e.Op, e.Err)
	}
}
