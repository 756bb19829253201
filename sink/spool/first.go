// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A process begins with one of three segments, so that any number of starts
// stays within Config.Size:
//
//   - the last one of the process before it, behind its last record, if it
//     ended in the same run of the system and left nothing unfinished there;
//   - a new one, if there is room for it;
//   - none: a segment without a file that is sealed. The first line finds it
//     full, as it would find any other, and Config.OnFull decides.

var errNotWhole = errors.New("the segment file was truncated")

// firstSegment makes the segment that a process begins with the active one, and
// the last of the chain.
func (s *Sink) firstSegment(first segment.Start) error {
	if s.continueLast(first) {
		return nil
	}
	if !s.hasRoom() {
		s.beginFull(first)
		return nil
	}
	g, err := (*segment.Segment)(nil), error(nil)
	if s.dir == nil {
		g, err = s.create(s.number + 1)
	} else {
		g, s.finish, err = s.dir.begin(s.number+1, s.c.SegmentSize)
	}
	if err == nil && !s.commission(g, first) {
		err = errors.Join(g.Fault(), s.dir.remove(g.Number, g)) // else a start would not know whether it was used
	}
	if err != nil {
		return err
	}
	s.number++
	s.segments, s.bytes = s.segments+1, s.bytes+s.c.SegmentSize
	s.activate(g)
	s.enqueue(g)
	return nil
}

// hasRoom reports whether another segment fits into the size of the spool. mu
// is held, or no other goroutine is running yet.
func (s *Sink) hasRoom() bool {
	return !s.c.DeliverOnly && s.bytes+s.others+s.c.SegmentSize <= s.c.Size
}

// continueLast takes the last segment of the process before into use again. If
// that is not possible, for whatever reason, it has changed nothing. Behind a
// segment of another run of the system, numbers were skipped.
func (s *Sink) continueLast(first segment.Start) bool {
	n := len(s.chain)
	if n == 0 || s.c.DeliverOnly {
		return false
	}
	l := s.chain[n-1]
	if l.Used == 0 || l.End != first.First || l.Size != s.c.SegmentSize {
		return false
	}
	g, finish, err := s.dir.reopen(&l.Old)
	if err != nil {
		if err != errNotWhole {
			s.fault("continue a segment", err)
		}
		return false
	}
	l.live, s.finish = g, finish
	s.activate(g)
	s.copyLater(g)
	return true
}

// beginFull begins without a segment. Until there is one, the counts of dropped
// lines go to the header of the last segment of the process before, if there is
// one.
func (s *Sink) beginFull(first segment.Start) {
	var g *segment.Segment
	if n := len(s.chain); n > 0 {
		last := &s.chain[n-1].Old
		if f, err := s.dir.fs.Open(s.dir.name(segmentName(last.Number)), os.O_RDWR, 0); err == nil {
			g = segment.NewHeader(last.Identity, first, f, func() { s.dir.close("a segment", f) })
		} else {
			g = segment.NewHeader(last.Identity, first, nil, nil)
			s.fault("open a segment for counts", err)
		}
	} else {
		g = segment.NewHeader(segment.Identity{}, first, nil, nil)
	}
	g.Number = s.number
	if err := s.dir.syncNames(); err != nil {
		s.fault("sync the directory", err)
	}
	s.activate(g)
	s.link(g)
	s.chain[len(s.chain)-1].none = true
}

// reopen makes an old segment one of this process, which goes on behind its
// last record. finish is what is left to do before anything in it may be
// delivered.
func (d *dir) reopen(old *segment.Old) (g *segment.Segment, finish func() error, err error) {
	if err := d.held(); err != nil {
		return nil, nil, err
	}
	f, err := d.fs.Open(d.name(segmentName(old.Number)), os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size != old.Size {
		err = errNotWhole
	}
	if err == nil {
		err = f.Preallocate(old.Size) // a file that was copied may have holes
	}
	if err == nil {
		g, err = d.attach(f, old.Identity)
	}
	if err == nil && g.IsWritten() {
		if _, err = f.ReadAt(g.Bytes(), 0); err == io.EOF {
			err = nil
		}
	}
	if err != nil {
		_ = f.Close() // nothing was written to it
		return nil, nil, err
	}
	g.ContinueBehind(old)
	if !g.IsWritten() {
		segment.AdviseRandom(g.Bytes())
	}
	return g, d.finisher(g, f), nil
}

// finisher returns what has to be done before anything of the first segment may
// be delivered: the file and its name are synced.
func (d *dir) finisher(g *segment.Segment, f vfs.File) func() error {
	return func() error {
		defer d.closeMapped(g, f)
		err := f.Sync()
		if err == nil {
			err = d.syncNames()
		}
		return err
	}
}

// syncNames syncs the directory, and those above it that may be as new.
func (d *dir) syncNames() error {
	above := filepath.Dir(d.path)
	err := errors.Join(d.fs.SyncDir(d.path), d.fs.SyncDir(above))
	if isSlot(filepath.Base(d.path)) {
		err = errors.Join(err, d.fs.SyncDir(filepath.Dir(above)))
	}
	return err
}
