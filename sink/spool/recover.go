// SPDX-License-Identifier: Apache-2.0

package spool

import "math/rand/v2"

func newSpoolID() uint64 { return rand.Uint64() | 1 }

// recover takes the directory and finds out what is in it: which numbers are
// to be delivered, and where the new ones begin. It reads the headers of all
// segments and the records of the last one, and changes none of them. So it may
// be interrupted at any point and be done again.
func (s *Sink) recover(path string, d *delivery) (first start, err error) {
	dir, old, err := openDir(s.c.fs, path, s.c.Access, s.c.boot)
	if err != nil {
		return start{}, err
	}
	s.dir, s.id, s.number = dir, dir.spool, dir.last
	if s.c.Sync != SyncNever {
		s.copier, s.waits = newCopier(s), s.c.Sync == SyncErrors
		dir.removed = func() { poke(s.copier.hurry) }
	}
	s.stats.Bad = dir.bad
	cur, settled, ok, err := openCursor(dir, s.c.Name)
	if err != nil {
		s.release(d)
		return start{}, err
	}
	d.cursor = cur
	for i := range old {
		g := &old[i]
		s.segments, s.bytes = s.segments+1, s.bytes+g.size
		if i+1 < len(old) {
			next := &old[i+1]
			g.end = max(next.first-next.skipped, g.first)
			g.damaged = next.number != g.number+1
			continue
		}
		g.end = s.lastNumber(g)
	}
	next := uint64(1)
	if n := len(old); n > 0 {
		next = old[n-1].end
		if !ok {
			settled = old[0].first
		}
	}
	if !ok && len(old) == 0 {
		settled = 1
	}
	first = start{first: max(next, settled, 1)}
	if n := len(old); n > 0 && (old[n-1].boot != dir.boot || dir.boot == 0 || dir.unknown) {
		// The machine was off meanwhile, or a segment cannot be read. Records may be gone that were delivered,
		// and their numbers must not be given again.
		highest := old[n-1].first + uint64(old[n-1].size/recordHead) + dir.unused
		if highest > first.first {
			first.skipped = highest - first.first
			first.first = highest
		}
	}
	d.old = old
	s.expect(old, settled, first)
	return first, nil
}

// lastNumber returns the number behind the last record of the last segment. What
// was claimed behind that was not committed: its numbers are given again.
func (s *Sink) lastNumber(g *oldSegment) uint64 {
	b, err := s.dir.read(g)
	if err != nil {
		s.stats.Errors++ // delivery tries it again, and counts what is missing
	}
	sc := newScanner(b, g.identity, g.first)
	for {
		if _, _, ok := sc.next(); !ok {
			return sc.want
		}
	}
}

// expect counts what is to be delivered.
func (s *Sink) expect(old []oldSegment, settled uint64, first start) {
	s.settled = settled
	for i, g := range old {
		s.stats.Recovered += g.end - min(max(g.first, settled), g.end)
		if i == 0 && settled < g.first {
			s.settled = g.first // what was before is gone with its segment
		} else if g.first > settled {
			s.skips += g.skipped
		}
	}
	if len(old) == 0 {
		s.settled = first.first
		return
	}
	s.skips += first.skipped
}

// release gives back what recover has taken.
func (s *Sink) release(d *delivery) {
	if s.copier != nil && s.active.Load() != nil {
		close(s.copier.stop)
		<-s.copier.done
	}
	if d.cursor != nil {
		_ = d.cursor.file.Close() // each write was checked
	}
	if s.dir != nil {
		_ = s.dir.lock.Close() // nothing is written to it
	}
}
