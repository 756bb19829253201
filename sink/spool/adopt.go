// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

const (
	adoptPause = time.Second // pause between checks of the slots of other processes
	mostSlots  = 4           // slots of dead processes that are delivered at the same time

	// refusedPasses is the number of checks after which a slot whose
	// destination has refused a notice gets another one.
	refusedPasses = 60
)

// checkForks reports an error if a destination has state of one spool and is
// not a delivery.Forker, or cannot fork.
func (a *sharedDir) checkForks() error {
	for _, d := range a.s.chain.Deliveries {
		_, forks := d.Dest.(delivery.Forker)
		_, resumes := d.Dest.(delivery.Resumer)
		if !forks && (resumes || d.Overlaps) {
			return fmt.Errorf(
				"Config.Shared: the destination %s (%T) is a delivery.Resumer or "+
					"delivery.Overlapper, and must be a delivery.Forker as well", d.Options.Label,
				d.Dest)
		}
		if !forks {
			continue
		}
		_, closer, err := fork(d.Dest)
		if err != nil {
			return fmt.Errorf("Config.Shared: the destination %s: %w", d.Options.Label, err)
		}
		if closer != nil {
			_ = apart(func() { _ = closer.Close() }) // nothing was delivered yet
		}
	}
	return nil
}

// fork returns a destination for another spool, and its closer. A destination
// that is not a delivery.Forker serves several spools.
func fork(dest delivery.Destination) (_ delivery.Destination, c io.Closer, err error) {
	f, ok := dest.(delivery.Forker)
	if !ok {
		return dest, nil, nil
	}
	var other delivery.Destination
	if e := apart(func() { other, err = f.Fork() }); e != nil {
		err = fmt.Errorf("method Fork: %w", e)
	}
	if err == nil && other == nil {
		err = errNoFork
	}
	if err != nil {
		return nil, nil, err
	}
	c, _ = other.(io.Closer)
	return other, c, nil
}

var errNoFork = errors.New("method Fork returned neither a destination nor an error")

// An adopted is the slot of a dead process, and the sink that delivers it.
type adopted struct {
	path   string
	sink   *Sink
	forks  []io.Closer
	passes int // checks to wait before the slot is adopted again, if it is still there
}

// run is the goroutine that adopts slots. It checks the slots of other
// processes periodically until Close.
func (a *sharedDir) run() {
	defer close(a.done)
	ended := make(chan *adopted)
	timer := time.NewTimer(0)
	for {
		select {
		case <-timer.C:
			for path := range a.given {
				if a.given[path]--; a.given[path] <= 0 {
					delete(a.given, path)
				}
			}
			a.look(ended)
			timer.Reset(a.s.c.poll/2 + rand.N(a.s.c.poll))
		case x := <-ended:
			a.end(x)
			a.given[x.path] = x.passes
			a.look(ended) // another slot may wait for this one
		case <-a.ctx.Done():
			a.endAll(ended)
			return
		}
	}
}

// endAll releases all slots at the same time: in each, a call of Deliver may
// hang.
func (a *sharedDir) endAll(ended chan *adopted) {
	a.mu.Lock()
	left := len(a.list)
	a.mu.Unlock()
	var all sync.WaitGroup
	for range left {
		x := <-ended // each is stopped by ctx
		all.Add(1)
		go func() {
			defer all.Done()
			a.end(x)
		}()
	}
	all.Wait()
}

// look adopts slots that no process has locked.
func (a *sharedDir) look(ended chan<- *adopted) {
	paths, empty, err := a.Slots()
	if err != nil {
		a.s.chain.reports.Fault("look for slots of other processes", err)
	}
	for _, path := range empty {
		if err := a.RemoveEmpty(path); err != nil {
			a.s.chain.reports.Fault("delete the empty slot "+path, err)
		}
	}
	for _, path := range paths {
		a.mu.Lock()
		busy := len(a.list) >= mostSlots || slices.ContainsFunc(a.list, func(x *adopted) bool {
			return x.path == path
		})
		a.mu.Unlock()
		if busy || a.given[path] > 0 {
			continue
		}
		o, err := store.LookInto(a.FS, path).Owner()
		if err != nil {
			a.s.chain.reports.Fault("find out whether a process has the slot "+path, err)
		}
		if o != store.OwnedByNone {
			continue
		}
		x, err := a.adopt(path)
		switch {
		case isTaken(err):
		case err != nil:
			a.s.chain.reports.Fault("deliver the slot "+path, err)
		default:
			go func() {
				if x.sink.Flush(a.ctx) == nil { // end checks whether everything is settled
					a.announce(x)
				}
				ended <- x
			}()
		}
	}
}

// adopt opens the slot of a dead process.
func (a *sharedDir) adopt(path string) (*adopted, error) {
	c := a.s.c
	c.DeliverOnly, c.OnFull, c.Sync, c.Drain = true, nil, SyncNever, time.Nanosecond
	x := &adopted{path: path, sink: newSink(c), passes: 1}
	err := a.open(x)
	if err != nil {
		x.closeForks()
		return nil, err
	}
	a.mu.Lock()
	a.list = append(a.list, x)
	a.mu.Unlock()
	return x, nil
}

// open opens the slot with destinations of its own.
func (a *sharedDir) open(x *adopted) error {
	child := x.sink
	child.chain.peers, child.chain.reports = adoptedPeers{x: x, home: a}, a.s.chain.reports
	for _, d := range a.s.chain.Deliveries {
		dest, closer, err := fork(d.Dest)
		if err != nil {
			return err
		}
		if closer != nil {
			x.forks = append(x.forks, closer)
		}
		own, err := child.newDelivery(d.Options.Name, dest)
		if err != nil {
			return err
		}
		own.Turn = d.Turn
	}
	first, err := child.recover(x.path)
	if err == nil {
		err = child.begin(first)
	}
	if err != nil {
		return err
	}
	child.start()
	return nil
}

// adoptedPeers are the peers of the Sink of an adopted slot: the Sink of this
// process needs the room. The slot gets no more segments.
type adoptedPeers struct {
	alone
	x    *adopted
	home *sharedDir
}

func (p adoptedPeers) dropped(bytes int64) { p.home.s.chain.retry(bytes) }

// beforeUnlock deletes the slot, or the lock file if it is the home itself.
func (p adoptedPeers) beforeUnlock() { p.x.sink.retireDir(p.x.path == p.home.Path) }

// announce reports the losses in a slot whose records are all settled: those
// that the dead process has not reported, and those since. The notices are in
// the slot, and the counts stay there until the notices are settled. So a death
// at any point neither loses a count nor repeats it, as it could if the counts
// moved to the slot of this process.
func (a *sharedDir) announce(x *adopted) {
	m := &x.sink.maker
	if !x.sink.hasLosses() {
		return
	}
	m.startDestinations()
	if err := m.makeNotices(); err != nil {
		m.reports.Fault("make a segment in the slot "+x.path, err)
		return
	}
	if x.sink.Flush(a.ctx) == nil && x.sink.hasLosses() {
		x.passes = refusedPasses
	}
}

// makeNotices makes a segment with the notices that are due, and nothing else.
// A header that was kept is deleted before this one can be settled and deleted:
// on its own, its counts would be announced again.
func (m *maker) makeNotices() error {
	m.Lock()
	number := m.number + 1 // no other goroutine makes a segment; see hasRoom
	m.Unlock()
	g, finish, err := m.dir.CreateFirst(number, segment.MinSize)
	if err != nil {
		return err
	}
	err = finish()
	m.replacing.Lock()
	defer m.replacing.Unlock()
	m.Lock()
	if err == nil && m.Closed {
		err = errClosed
	}
	if err != nil {
		m.Unlock()
		return errors.Join(err, m.dir.Remove(number, g))
	}
	m.number, m.next = number, g
	m.segments, m.bytes = m.segments+1, m.bytes+segment.MinSize
	m.install()
	g.Seal()
	_, end, _ := g.Claimed()
	m.Unlock()
	m.deleteHeaders()
	m.Lock()
	m.beginHeader(g.Identity, segment.Start{First: end}, nil)
	m.poke()
	m.Unlock()
	return nil
}

// end releases a slot.
func (a *sharedDir) end(x *adopted) {
	s := a.s
	if x.sink.isSettled() {
		x.sink.c.Drain = s.c.hang // nothing is left but to delete segments
	}
	x.sink.refuseLines()
	x.sink.shutDown() // pending lines are counted
	a.mu.Lock()
	past := x.sink.ownStats()
	past.Segments = 0 // any that are left are counted when the slot is adopted again
	if x.sink.hasLosses() {
		past.Inherited = nil // as above
	}
	a.past.add(past)
	a.list = slices.DeleteFunc(a.list, func(y *adopted) bool { return x == y })
	a.mu.Unlock()
	closed := make(chan struct{})
	go func() {
		<-x.sink.done
		x.closeForks()
		close(closed)
	}()
	select {
	case <-x.sink.done:
	default: // a call of Deliver hangs
		return
	}
	select {
	case <-closed:
	case <-time.After(s.c.hang):
	}
}

func (x *adopted) closeForks() {
	for _, f := range x.forks {
		_ = apart(func() { _ = f.Close() }) // accepted records are safe
	}
	x.forks = nil
}

// hasLosses reports whether lines were lost that no settled notice reports.
func (s *Sink) hasLosses() bool {
	s.chain.Lock()
	defer s.chain.Unlock()
	return s.chain.hasLosses()
}

// isSettled reports whether all destinations have settled all records.
func (s *Sink) isSettled() bool {
	s.chain.Lock()
	defer s.chain.Unlock()
	_, next, _ := s.chain.active.Load().Claimed()
	return s.chain.SettledAll(next)
}
