// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A call that finds the spool full, and whose level has [ActionDropOld], asks
// for the oldest segment to be dropped, and waits for that as for any other
// segment that is being made: no longer than Config.slow. The goroutine that
// makes segments drops it, and reads, writes and deletes files without the
// lock: a slow disk holds up that goroutine only. The steps:
//
//	roll              requestDrop      a call asks, and waits
//	serveDropRequest  dropOldest       until there is room: the steps of deliver.Drop
//	endDropRequest                     waiting calls continue

// requestDrop asks for the oldest segment to be dropped, of this spool or of
// its peers, and reports whether there is one. It does not ask if making a
// segment failed for another reason than a full disk. The lock is held.
func (ch *chain) requestDrop() bool {
	if ch.makeErr != nil && !vfs.IsFull(ch.makeErr) {
		return false
	}
	if ch.oldest() == nil {
		return ch.peers.requestDrop()
	}
	ch.dropRequested = true
	ch.wantMore()
	return true
}

// isDropping reports whether a segment is being dropped, or will be. The
// lock is held.
func (ch *chain) isDropping() bool {
	return ch.dropRequested || ch.dropping || ch.peers.isDropping()
}

// makeRoom makes room for another segment if there is none.
func (m *maker) makeRoom() error {
	err := m.updateLimit()
	if err == nil {
		err = m.freeUndeleted()
	}
	if err == nil {
		m.serveDropRequest()
	}
	return err
}

// updateLimit finds out the maximum size of all segments: again if a peer has
// dropped a segment in between, which may have been counted or not. A call that
// waits for this drop would find the spool full.
func (m *maker) updateLimit() error {
	m.Lock()
	defer m.Unlock()
	for {
		drops := m.peerDrops
		m.Unlock()
		limit, err := m.peers.limit()
		m.Lock()
		if err != nil {
			return err
		}
		if m.peerDrops == drops {
			m.limit = limit
			return nil
		}
	}
}

// serveDropRequest drops the oldest segments if a call has asked for it, until
// there is room for another one. It drops only one if the disk is full, or if
// the room is not for this spool.
func (m *maker) serveDropRequest() {
	m.Lock()
	defer m.Unlock()
	m.dropping, m.dropRequested = m.dropRequested, false
	one := vfs.IsFull(m.makeErr) || m.c.DeliverOnly
	for m.dropping && !m.Closed && m.next == nil && (one || !m.hasRoom()) {
		if !m.dropOldest() || one {
			return
		}
	}
}

// endDropRequest ends the operation that serveDropRequest has begun, and lets
// the waiting calls continue.
func (m *maker) endDropRequest() {
	m.Lock()
	was := m.dropping
	m.dropping = false
	m.Unlock()
	if !was {
		return
	}
	m.peers.dropped(0)
	m.retry(0)
}

// retry lets the waiting calls continue, since so many bytes are free.
func (ch *chain) retry(freed int64) {
	ch.Lock()
	defer ch.Unlock()
	if freed > 0 {
		ch.limit += freed
		ch.peerDrops++
		if vfs.IsFull(ch.makeErr) {
			ch.makeErr = nil // the next attempt may succeed
		}
	}
	ch.wantMore()
	ch.Broadcast()
}

// oldest returns the oldest segment that no destination is reading, without
// those that could not be read or dropped a moment ago, or nil if there is
// none. The lock is held.
func (ch *chain) oldest() *deliver.Link {
	i := slices.IndexFunc(ch.Links, func(l *deliver.Link) bool {
		return !l.Placeholder && time.Since(l.UnreadSince) >= makePause && !ch.IsRead(l)
	})
	if i < 0 || i == len(ch.Links)-1 {
		return nil
	}
	return ch.Links[i]
}

// dropOldest drops the oldest segment that no destination is reading. A segment
// stays, and the next one is dropped, if it cannot be read, or if it lacks a
// record that a call may still be writing, since a damaged length hides which
// calls have ended. It returns false if there is none, or if it cannot be
// deleted. The lock is held, but not while files are accessed.
func (m *maker) dropOldest() bool {
	for range len(m.Links) {
		l := m.oldest()
		if l == nil {
			return false
		}
		x, err := m.ReadDrop(l, m.dir)
		switch {
		case m.oldest() != l: // a destination has reached it
		case err != nil:
			l.UnreadSince = time.Now()
			m.reports.Fault("read the oldest segment, to drop it", err)
		case x.Unfinished:
			l.UnreadSince = time.Now()
		default:
			ok := x.Store() && m.oldest() == l
			gone := ok && m.dropLink(x)
			if x.End(ok); ok {
				return gone
			}
		}
	}
	return false
}

// dropLink deletes a segment that is dropped, and counts its lines. The lock is
// held, but not while files are accessed.
func (m *maker) dropLink(x *deliver.Drop) bool {
	lines := x.Count()
	switch {
	case m.noDestination && x.Own: // lost for whatever destination comes later
		m.dropped, m.reported = m.dropped.Plus(&lines), m.reported.Minus(&x.Notice)
	case m.noDestination:
		m.dropped, m.inherited = m.dropped.Plus(&lines), m.inherited.Plus(&x.Notice)
	}
	_ = m.publish()
	l := x.Link
	i := slices.Index(m.Links, l)
	next := m.Links[i+1]
	if next.Placeholder && i+2 < len(m.Links) {
		next = m.Links[i+2]
	}
	write := m.recordDropped(next, next.First-(l.First-l.Skipped))
	old := next.Old
	l.KeepFile = false // even if a cursor could not be synced
	m.Unlink(l)
	m.Unlock()
	defer m.Lock()
	if write {
		m.writeDropped(&old)
	}
	ok := m.remove(l)
	if ok {
		m.peers.dropped(l.Size)
	}
	return ok
}

// recordDropped records that the numbers before a link were in dropped
// segments, and stores it in the header of the link. Otherwise the next start
// would count them as damaged. It returns true if the caller must call
// writeDropped. The lock is held.
func (ch *chain) recordDropped(l *deliver.Link, numbers uint64) (write bool) {
	if ch.dir == nil {
		return false
	}
	l.Skipped, l.Dropped = numbers, true
	switch {
	case l.Placeholder: // the next segment stores the number
	case l.Live != nil:
		ch.counted(l.Live.SetDropped(numbers))
	default:
		return true
	}
	return false
}

// writeDropped stores the numbers that recordDropped has recorded in the file
// of the segment.
func (m *maker) writeDropped(g *segment.Old) {
	f, err := m.dir.FS.Open(m.dir.Name(store.SegmentName(g.Number)), os.O_RDWR, 0)
	if err == nil {
		if err = g.WriteDropped(f, g.Skipped); err != nil {
			_ = f.Close() // the write has failed already
		} else {
			err = f.Close()
		}
	}
	if store.Ignore(err, fs.ErrNotExist) != nil { // the segment may be settled and deleted by now
		m.reports.Fault("note dropped segments", err)
	}
}
