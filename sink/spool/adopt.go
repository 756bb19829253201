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
)

// checkForks reports an error if a destination has state of one spool and is
// not a delivery.Forker, or cannot fork.
func (a *sharedDir) checkForks() error {
	for _, d := range a.s.chain.Deliveries {
		_, forks := d.Dest.(delivery.Forker)
		_, resumes := d.Dest.(delivery.Resumer)
		if !forks && (resumes || d.Overlaps) {
			return fmt.Errorf("Config.Shared: the destination %s (%T) is a delivery.Resumer or delivery.Overlapper, and must be a delivery.Forker as well", d.Options.Label, d.Dest)
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
	path  string
	sink  *Sink
	forks []io.Closer
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
			clear(a.given)
			a.look(ended)
			timer.Reset(a.s.c.poll/2 + rand.N(a.s.c.poll))
		case x := <-ended:
			a.end(x)
			a.given[x.path] = true
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
		busy := len(a.list) >= mostSlots || slices.ContainsFunc(a.list, func(x *adopted) bool { return x.path == path })
		a.mu.Unlock()
		if busy || a.given[path] {
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
				_ = x.sink.Flush(a.ctx) // end checks whether everything is settled
				ended <- x
			}()
		}
	}
}

// adopt opens the slot of a dead process.
func (a *sharedDir) adopt(path string) (*adopted, error) {
	c := a.s.c
	c.DeliverOnly, c.OnFull, c.Sync, c.Drain = true, nil, SyncNever, time.Nanosecond
	x := &adopted{path: path, sink: newSink(c)}
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
	a.s.inheritFrom(child)
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

// inheritFrom takes over the counts that a dead process has not reported, from
// the header of its slot. It is called before anything there is delivered.
func (s *Sink) inheritFrom(child *Sink) {
	s.chain.Lock()
	s.chain.inherited = s.chain.inherited.Plus(&child.chain.inherited)
	s.chain.publish()
	s.chain.Unlock()
	child.chain.Lock()
	defer child.chain.Unlock()
	carried := child.chain.carried
	child.chain.inherited, child.chain.carried = segment.Tally{}, segment.Tally{}
	child.chain.publish()
	for c := range carried {
		for l, n := range carried[c] {
			if n != 0 {
				child.chain.counted(child.chain.active.Load().SetCount(segment.SectionReported, segment.Cause(c), l, 0))
			}
		}
	}
}

// end releases a slot.
func (a *sharedDir) end(x *adopted) {
	s, settled := a.s, x.sink.isSettled()
	if settled { // otherwise the counts are in the cursors of the slot
		x.sink.c.Drain = s.c.hang // nothing is left but to delete segments
		for i, d := range s.chain.Deliveries {
			d.MoveLosses(x.sink.chain.Deliveries[i])
		}
	}
	x.sink.refuseLines()
	x.sink.shutDown() // pending lines are counted
	a.mu.Lock()
	past := x.sink.ownStats()
	past.Segments = 0 // any that are left are counted when the slot is adopted again
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
	timer := time.NewTimer(s.c.hang)
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
	}
}

func (x *adopted) closeForks() {
	for _, f := range x.forks {
		_ = apart(func() { _ = f.Close() }) // accepted records are safe
	}
	x.forks = nil
}

// isSettled reports whether all destinations have settled all records.
func (s *Sink) isSettled() bool {
	s.chain.Lock()
	defer s.chain.Unlock()
	_, next, _ := s.chain.active.Load().Claimed()
	return s.chain.SettledAll(next)
}
