// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"os"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A process begins with one of three segments, so that disk use stays within
// Config.Size over any number of starts:
//
//   - the last one of the previous process, after its last record, if the
//     system was not restarted since and no record there is unfinished;
//   - a new one, if there is room;
//   - none, represented by a sealed segment without a file. The first line
//     finds it full, and Config.OnFull applies.

// firstSegment makes the segment that a process begins with the active one, and
// the last of the chain.
func (m *maker) firstSegment(first segment.Start) error {
	if m.continueLast(first) {
		return nil
	}
	if !m.hasRoom() {
		m.beginFull(first)
		return nil
	}
	g, err := (*segment.Segment)(nil), error(nil)
	if m.dir == nil {
		g, err = m.create(m.number + 1)
	} else {
		g, m.finish, err = m.dir.CreateFirst(m.number+1, m.c.SegmentSize)
	}
	if err == nil && !m.commission(g, first) {
		// Otherwise a start could not determine whether it was used.
		err = errors.Join(g.Fault(), m.dir.Remove(g.Number, g))
	}
	if err != nil {
		return err
	}
	m.number++
	m.segments, m.bytes = m.segments+1, m.bytes+m.c.SegmentSize
	m.activate(g)
	m.enqueue(g)
	return nil
}

// hasRoom reports whether another segment fits into the size of the spool. The
// lock is held, or no other goroutine is running yet.
func (ch *chain) hasRoom() bool {
	return !ch.c.DeliverOnly && ch.bytes+ch.c.SegmentSize <= ch.limit
}

// fits reports whether all segments fit into the size of the spool.
func (ch *chain) fits() bool {
	ch.Lock()
	defer ch.Unlock()
	return ch.bytes <= ch.limit
}

// isCrowded reports whether there is no room for another segment, but would be
// without the segments of other processes.
func (ch *chain) isCrowded() bool {
	ch.Lock()
	defer ch.Unlock()
	return ch.next == nil && !ch.hasRoom() && !ch.c.DeliverOnly &&
		ch.bytes+ch.c.SegmentSize <= ch.c.Size
}

// isFreeing reports whether there will be room for a segment soon: a segment
// has left the chain and is being deleted, a kept file can be deleted, or all
// destinations have settled the oldest segment, of the previous process. The
// lock is held.
func (ch *chain) isFreeing() bool {
	l := ch.Links[0]
	return ch.Unlinked > 0 || len(ch.undeleted) > ch.kept() ||
		!ch.noDestination && l.Live == nil && ch.SettledAll(l.End)
}

// continueLast continues the last segment of the previous process. If it
// cannot, it changes nothing. It does not continue a segment from before a
// restart of the system, since numbers were skipped after it.
func (m *maker) continueLast(first segment.Start) bool {
	n := len(m.Links)
	if n == 0 || m.c.DeliverOnly {
		return false
	}
	l := m.Links[n-1]
	if !l.CanContinue(m.stream) || l.End != first.First || l.Size != m.c.SegmentSize {
		return false
	}
	g, finish, err := m.dir.Reopen(&l.Old)
	if err != nil {
		if err != store.ErrNotWhole {
			m.reports.Fault("continue a segment", err)
		}
		return false
	}
	l.Live, l.Copied = g, l.Copied || m.copier != nil
	m.finish = finish
	m.activate(g)
	m.copyLater(g)
	return true
}

// beginFull begins without a segment. Until there is one, the counts of dropped
// lines are stored in the header of the last segment of the previous process,
// if any.
func (m *maker) beginFull(first segment.Start) {
	var last segment.Identity
	var f vfs.File
	if n := len(m.Links); n > 0 {
		last = m.Links[n-1].Identity
		var err error
		f, err = m.dir.FS.Open(m.dir.Name(store.SegmentName(last.Number)), os.O_RDWR, 0)
		if err != nil {
			f = nil
			m.reports.Fault("open a segment for counts", err)
		}
	}
	if err := m.dir.SyncNames(); err != nil {
		m.reports.Fault("sync the directory", err)
	}
	m.beginHeader(last, first, f)
}

// beginHeader makes a segment without room the active one, and the last of the
// chain. Its counts are stored in f, the file of the segment last, unless f is
// nil. The lock is held, or no other goroutine is running yet.
func (m *maker) beginHeader(last segment.Identity, first segment.Start, f vfs.File) {
	g := segment.NewHeader(last, first, f, func(f vfs.File) {
		if f != nil {
			m.dir.Close("a segment", f)
		}
	})
	m.AppendPlaceholder(g)
	m.activate(g)
}
