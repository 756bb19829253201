// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/deliver"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// A maker is the goroutine that makes the segments of a chain in advance, and
// frees and drops others. It touches files without the lock of the chain.
type maker struct {
	*chain
	spare  chan []byte   // in memory: the mapping of a segment that was delivered
	made   chan struct{} // closed when the goroutine has ended
	finish func() error  // syncs the first segment and its name; nil if both are on the disk
	safe   chan struct{} // closed when finish is done: only then are records delivered

	replacing sync.Mutex // held by keepHeader; taken before the lock of the chain
}

// create makes a segment: on the heap, or in a file.
func (m *maker) create(number uint64) (*segment.Segment, error) {
	if m.dir == nil {
		id := segment.Identity{
			Spool: m.stream, Number: number, Gen: 1, Stream: m.stream, Size: m.c.SegmentSize,
		}
		return segment.New(m.zeros(), id, nil), nil
	}
	return m.dir.Create(number, m.c.SegmentSize, m.rest)
}

// zeros returns memory for a segment. It reuses the memory of a delivered
// segment if there is one, because new memory costs a page fault every 4096
// bytes and additional garbage collections.
func (m *maker) zeros() []byte {
	select {
	case b := <-m.spare:
		for part := range slices.Chunk(b, segment.Window) {
			clear(part)
			m.rest()
		}
		return b
	default:
		return make([]byte, m.c.SegmentSize)
	}
}

// rest pauses while a segment is created or freed, unless another one is needed
// soon, or a call waits for one with a long line.
func (m *maker) rest() {
	g := m.active.Load()
	if end, _, _ := g.Claimed(); end < len(g.Bytes())/2 && !m.IsAwaited() {
		time.Sleep(100 * time.Microsecond)
	}
}

// completeFirst does the work on the first segment that Open does not wait for.
// Lines may be delivered once the segment is synced.
func (m *maker) completeFirst() {
	if m.finish == nil {
		close(m.safe)
		return
	}
	g := m.active.Load()
	used, _, _ := g.Claimed()
	g.Retain() // delivered segments may be unmapped
	defer g.Release()
	if err := m.finish(); err != nil {
		m.reports.Fault("sync the first segment", err)
	}
	close(m.safe)
	if !g.IsWritten() {
		// The used part is read when it is delivered.
		segment.Prefault(g.Bytes()[used&^(segment.PageSize-1):], m.rest)
	}
}

// makeSegments keeps one segment ready and frees deleted segments, until Close.
// One goroutine does both, so that only one of these tasks runs at a time.
func (m *maker) makeSegments() {
	defer close(m.made)
	m.completeFirst()
	var spent <-chan struct{} // never, in memory
	var touch <-chan time.Time
	if m.dir != nil {
		ticker := time.NewTicker(touchPause)
		defer ticker.Stop()
		touch = ticker.C
		m.dir.Sweeper.Start()
		defer m.dir.Sweeper.Stop()
		spent = m.dir.Sweeper.Due
		m.dir.Spares.Allow(true)
	}
	retry := time.NewTimer(makePause)
	defer retry.Stop()
	for {
		m.reportNoted()
		switch wanted, open := m.work(retry.C, spent, touch); {
		case !open:
			m.patch()
			m.discardNext()
			if m.dir != nil {
				m.dir.Spares.Allow(false)
			}
			return
		case !wanted:
			m.freeDeleted()
		default:
			err := m.makeNext()
			m.endDropRequest()
			if err == nil && m.isCrowded() {
				// Other processes do not signal when they have made room.
				retry.Reset(makePause/2 + rand.N(makePause))
			}
			if left := m.patch(); left || err != nil {
				retry.Reset(makePause)
			}
			if m.dir != nil {
				m.dir.Spares.Clear(m.c.SegmentSize, m.rest)
			}
		}
	}
}

// work waits until there is something to do, and reports whether a segment may
// be wanted; making one precedes freeing. open is false after Close.
func (m *maker) work(
	retry <-chan time.Time, spent <-chan struct{}, touch <-chan time.Time,
) (wanted, open bool) {
	select {
	case _, open = <-m.more:
		return true, open
	default:
	}
	select {
	case _, open = <-m.more:
		return true, open
	case <-retry:
		return true, true
	case <-touch:
		if err := m.dir.Touch(); err != nil {
			m.reports.Report("touch the lock file", err)
		}
	case <-spent:
	}
	return false, true
}

// makeNext makes the next segment if one is wanted. Deleted segments that are
// not freed yet count towards the size of the spool.
func (m *maker) makeNext() error {
	err := m.makeRoom()
	m.Lock()
	if err != nil {
		m.makeErr, m.dropRequested = m.unmade(err), false
		m.reports.Fault("make a segment", err)
		m.Broadcast()
		m.Unlock()
		return err
	}
	m.making = !m.Closed && m.next == nil && m.hasRoom()
	if !m.making {
		if m.makeErr == errSlow {
			m.makeErr = nil // the slow creation has ended
		}
		m.Broadcast() // peers may have taken the room that calls wait for
		m.Unlock()
		return nil
	}
	m.number++
	number := m.number
	m.segments, m.bytes = m.segments+1, m.bytes+m.c.SegmentSize
	tight := m.dir != nil && m.bytes+int64(m.dir.Spares.Unfreed())*m.c.SegmentSize > m.c.Size
	m.Unlock()

	m.deleteHeaders()
	if tight {
		m.dir.Spares.FreeAll(true)
	}
	g, err := m.create(number)
	if vfs.IsFull(err) && m.dir.Spares.FreeAll(false) {
		g, err = m.create(number) // now there is more room
	}

	if err == nil {
		// Another process may have made a segment at the same time.
		if err = m.updateLimit(); err != nil || !m.fits() {
			m.deleteEmpty(number, g)
			g = nil
		}
	}

	m.Lock()
	defer m.Unlock()
	m.making, m.makeErr, m.next = false, m.unmade(err), g
	if g == nil {
		m.segments, m.bytes = m.segments-1, m.bytes-m.c.SegmentSize
		m.number--
	}
	if err != nil {
		m.reports.Fault("make a segment", err)
	}
	if g != nil && !m.Closed && m.HasPlaceholder() && m.hasLosses() {
		m.install() // its notices have the counts from now on
	}
	m.Broadcast()
	return err
}

// unmade is the error of calls for which no segment could be made. It is made
// once, not for each call.
func (m *maker) unmade(err error) error {
	if err == nil {
		return nil
	}
	op := "make a segment"
	if m.dir != nil {
		op += " in " + m.dir.Path
	}
	return opError{op, err, deliver.TextOf(err)}
}

// freeDeleted frees a part of the deleted segments.
func (m *maker) freeDeleted() {
	m.dir.Spares.DropExpired()
	left := m.dir.Sweeper.Part()
	if left == 0 {
		return
	}
	if left < store.ManySpent {
		m.rest()
	}
	store.Signal(m.dir.Sweeper.Due)
}

// discardNext removes the segment that was created in advance and is no longer
// needed.
func (m *maker) discardNext() {
	m.Lock()
	g := m.next
	m.next = nil
	if g != nil {
		m.segments, m.bytes = m.segments-1, m.bytes-m.c.SegmentSize
	}
	m.Unlock()
	if g != nil && m.dir != nil {
		m.deleteEmpty(g.Number, g)
	}
}

// leave releases a segment that stays and is no longer read. It first
// overwrites the bytes that a failed write may have left in the file.
func (m *maker) leave(g *segment.Segment) {
	if g.IsWritten() && g.Patch() {
		g.Retain()
		m.Lock()
		m.unpatched = append(m.unpatched, g)
		m.wantMore()
		m.Unlock()
	}
	g.Done(nil)
}

// patch writes what failed writes have left to do: the counts of dropped lines,
// and the patches of segments. It reports whether anything is left.
func (m *maker) patch() (left bool) {
	m.Lock()
	left = m.publish() != nil
	list, still := m.unpatched, []*segment.Segment(nil)
	unread := len(list)
	for _, l := range m.Links {
		if g := l.Live; g != nil && g.IsWritten() {
			g.Retain()
			list = append(list, g)
		}
	}
	m.unpatched = nil
	m.Unlock()
	for i, g := range list {
		pending := g.Patch()
		left = left || pending
		if pending && i < unread {
			still = append(still, g)
		} else {
			g.Release()
		}
	}
	m.Lock()
	m.unpatched = append(m.unpatched, still...)
	m.Unlock()
	return left
}

// Who deletes a segment, why, and by which function:
//
//	leaveLink, dropLink        settled, or dropped to make room  remove, delete
//	freeUndeleted              kept, and its room is needed      delete
//	makeNext, discardNext      made, and not needed              deleteEmpty
//	deleteHeaders              another segment has its counts    deleteEmpty
//	removeUnused               no line was logged                deleteEmpty
//	firstSegment, makeNotices  it could not be taken into use    Dir.Remove
//	Dir.Tidy                   a dead process had not used it    Dir.Remove
//
// All of them end in Dir.Remove, except that delete may keep the file: as the
// next segment (Spares), as a header (keepHeader), or under another name
// (Quarantine). The process may die between any two of these steps:
//
//  1. The cursors that are past the segment are synced. If it is dropped, the
//     others have it as a loss.
//  2. If it is dropped, the header of the next segment has its numbers. If its
//     header has counts that no other segment has, a header without records
//     takes its place.
//  3. Its file is deleted.
//  4. Its copy is deleted, by the copier if the copier owns it. A start takes a
//     copy without a segment for settled if the cursors are past it.
//  5. Its memory is freed when the last holder has released it, and then the
//     space of its file, both by the sweeper.

// deleteEmpty deletes a segment without records. If it fails, the next start
// deletes it.
func (ch *chain) deleteEmpty(number uint64, g *segment.Segment) {
	if err := ch.dir.Remove(number, g); err != nil {
		ch.reports.Fault("delete a segment", err)
	}
}

// remove deletes a link that is no longer in the chain, and makes room for
// another. It returns false if the file could not be deleted.
func (m *maker) remove(l *deliver.Link) (ok bool) {
	var err error
	m.Lock()
	keep := l.KeepFile && !(m.c.DeliverOnly && m.bears(l)) // makeNotices must be able to delete it
	m.Unlock()
	switch {
	case !l.Placeholder && !keep:
		err = m.delete(l)
	case l.Live != nil:
		l.Live.Done(nil)
	}
	if err != nil {
		m.reports.Fault("delete a segment", err)
	}
	m.Lock()
	m.Unlinked--
	switch {
	case l.Placeholder:
	case keep || err != nil:
		l.Live = nil // it is read no more
		m.undeleted = append(m.undeleted, l)
	default:
		m.segments, m.bytes = m.segments-1, m.bytes-l.Size
	}
	m.wantMore()
	m.Unlock()
	return err == nil
}

// freeUndeleted deletes settled segments whose files were kept, while there is
// no room for another segment: those that could not be deleted before, and
// those behind which a cursor could not be synced. The next start deletes all
// of them.
func (m *maker) freeUndeleted() (err error) {
	m.Lock()
	defer m.Unlock()
	for i := 0; i < len(m.undeleted)-m.kept() && !m.c.DeliverOnly && m.next == nil &&
		!m.hasRoom(); {
		l := m.undeleted[i]
		m.Unlock()
		e := m.delete(l)
		m.Lock()
		if e != nil {
			i, err = i+1, fmt.Errorf("delete a segment: %w", e)
			continue
		}
		m.undeleted = slices.Delete(m.undeleted, i, i+1) // no other goroutine deletes from it
		m.segments, m.bytes = m.segments-1, m.bytes-l.Size
	}
	if m.hasRoom() {
		return nil
	}
	return err
}

// kept returns how many settled segments freeUndeleted keeps: the newest one,
// unless the spool is small or the header may bear counts. After a power
// failure, a start sees there which numbers were used.
func (ch *chain) kept() int {
	if ch.c.Size >= 4*ch.c.SegmentSize && !ch.HasPlaceholder() {
		return 1
	}
	return 0
}

// delete deletes the file of a link, or reuses the memory of one in memory.
func (m *maker) delete(l *deliver.Link) error {
	if m.dir == nil {
		if !l.Live.IsAbandoned() {
			select {
			case m.spare <- l.Live.Bytes(): // no writer has anything left to do there
			default: // there is a spare already
			}
		}
		return nil
	}
	if l.Quarantine {
		m.Lock()
		bears := m.bears(l)
		m.Unlock()
		err := m.dir.Quarantine(store.SegmentName(l.Number), bears)
		if store.Ignore(err, fs.ErrNotExist) != nil { // gone: its copy could not be deleted before
			return err
		}
	}
	switch kept, err := m.keepHeader(l); {
	case kept:
		return err
	case l.Quarantine:
		return m.dir.Remove(l.Number, nil) // its name may be left
	}
	return m.dir.RemoveSettled(l.Number, l.Live)
}
