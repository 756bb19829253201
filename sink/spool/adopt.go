// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
func (s *Sink) checkForks() error {
	for _, d := range s.deliveries {
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

// An adopter delivers the slots of dead processes. Sink.mu protects list and
// past.
type adopter struct {
	*store.Home
	s    *Sink
	list []*adopted
	past Stats // counts of adopted slots that have ended

	given map[string]bool // slots released since the timer last fired; they may still have segments

	ctx  context.Context
	stop context.CancelFunc
	done chan struct{} // closed when all are closed
}

// newAdopter prepares the destinations for several spools.
func newAdopter(s *Sink, h *store.Home) *adopter {
	a := &adopter{Home: h, s: s, done: make(chan struct{}), given: map[string]bool{}}
	a.ctx, a.stop = context.WithCancel(context.Background())
	for _, d := range s.deliveries {
		if _, ok := d.Dest.(delivery.Forker); !ok {
			d.Turn = make(chan struct{}, 1)
		}
	}
	return a
}

// run is the goroutine of the adopter. It checks the slots of other processes
// periodically until Close.
func (a *adopter) run() {
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
func (a *adopter) endAll(ended chan *adopted) {
	a.s.mu.Lock()
	left := len(a.list)
	a.s.mu.Unlock()
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
func (a *adopter) look(ended chan<- *adopted) {
	paths, empty, err := a.Slots()
	if err != nil {
		a.s.fault("look for slots of other processes", err)
	}
	for _, path := range empty {
		if err := a.RemoveEmpty(path); err != nil {
			a.s.fault("delete the empty slot "+path, err)
		}
	}
	for _, path := range paths {
		a.s.mu.Lock()
		busy := len(a.list) >= mostSlots || slices.ContainsFunc(a.list, func(x *adopted) bool { return x.path == path })
		a.s.mu.Unlock()
		if busy || a.given[path] {
			continue
		}
		o, err := store.LookInto(a.FS, path).Owner()
		if err != nil {
			a.s.fault("find out whether a process has the slot "+path, err)
		}
		if o != store.OwnedByNone {
			continue
		}
		x, err := a.adopt(path)
		switch {
		case errors.Is(err, ErrInUse) || errors.Is(err, store.ErrReplaced) || errors.Is(err, fs.ErrNotExist): // another process was faster
		case err != nil:
			a.s.fault("deliver the slot "+path, err)
		default:
			go func() {
				_ = x.sink.Flush(a.ctx) // end checks whether everything is settled
				ended <- x
			}()
		}
	}
}

// adopt opens the slot of a dead process.
func (a *adopter) adopt(path string) (*adopted, error) {
	c := a.s.c
	c.DeliverOnly, c.OnFull, c.Sync, c.Drain = true, nil, SyncNever, time.Nanosecond
	x := &adopted{path: path}
	child := newSink(c)
	child.parent, child.atHome = a.s, path == a.Path
	for _, d := range a.s.deliveries {
		dest, closer, err := fork(d.Dest)
		if err != nil {
			x.closeForks()
			return nil, err
		}
		if closer != nil {
			x.forks = append(x.forks, closer)
		}
		own, err := child.newDelivery(d.Options.Name, dest)
		if err != nil {
			x.closeForks()
			return nil, err
		}
		own.Turn = d.Turn
		child.deliveries = append(child.deliveries, own)
	}
	x.sink = child
	first, err := child.recover(path)
	if err == nil {
		err = child.begin(first)
	}
	if err != nil {
		x.closeForks()
		return nil, err
	}
	a.s.mu.Lock()
	a.list = append(a.list, x)
	a.s.mu.Unlock()
	return x, nil
}

// inheritFrom takes over the counts that a dead process has not reported, from
// the header of its slot. It is called before anything there is delivered.
func (s *Sink) inheritFrom(child *Sink) {
	s.mu.Lock()
	s.inherited = s.inherited.Plus(&child.inherited)
	s.publish()
	s.mu.Unlock()
	child.mu.Lock()
	defer child.mu.Unlock()
	carried := child.carried
	child.inherited, child.carried = segment.Tally{}, segment.Tally{}
	child.publish()
	for c := range carried {
		for l, n := range carried[c] {
			if n != 0 {
				child.counted(child.active.Load().SetCount(segment.SectionReported, segment.Cause(c), l, 0))
			}
		}
	}
}

// end releases a slot.
func (a *adopter) end(x *adopted) {
	s, settled := a.s, x.sink.isSettled()
	if settled { // otherwise the counts are in the cursors of the slot
		x.sink.c.Drain = s.c.hang // nothing is left but to delete segments
		for i, d := range s.deliveries {
			d.AddLoss(x.sink.deliveries[i].Losses())
		}
	}
	_ = x.sink.Close() // pending lines are counted
	past := x.sink.Stats()
	past.Segments = 0 // any that are left are counted when the slot is adopted again
	s.mu.Lock()
	a.past.add(past)
	x.sink.mu.Lock()
	for i, d := range s.deliveries {
		d.Traffic.Plus(&x.sink.deliveries[i].Traffic)
	}
	x.sink.mu.Unlock()
	a.list = slices.DeleteFunc(a.list, func(y *adopted) bool { return x == y })
	s.mu.Unlock()
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

// askDrop asks for the oldest segment of a slot to be dropped, and reports
// whether there is one. mu is held.
func (a *adopter) askDrop() bool {
	return slices.ContainsFunc(a.list, func(x *adopted) bool {
		x.sink.mu.Lock()
		defer x.sink.mu.Unlock()
		return !x.sink.closed && x.sink.askDrop()
	})
}

// isDropping reports whether a segment of a slot is being dropped. mu is held.
func (a *adopter) isDropping() bool {
	return slices.ContainsFunc(a.list, func(x *adopted) bool {
		x.sink.mu.Lock()
		defer x.sink.mu.Unlock()
		return !x.sink.closed && x.sink.isDropping()
	})
}

// isSettled reports whether all destinations have settled all records.
func (s *Sink) isSettled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, next, _ := s.active.Load().Claimed()
	return s.settledAll(next)
}

// stats adds the counts of the slots of others. mu is held.
func (a *adopter) stats(st *Stats) {
	st.add(a.past)
	for _, x := range a.list {
		st.add(x.sink.Stats())
	}
}

// add adds the counts of another spool that was delivered to the same
// destinations.
func (st *Stats) add(o Stats) {
	st.Segments += o.Segments
	st.Bad += o.Bad
	st.Retired += o.Retired
	st.Errors += o.Errors
	for i, d := range o.Destinations {
		if i == len(st.Destinations) {
			st.Destinations = append(st.Destinations, DestinationStats{Name: d.Name})
		}
		t := &st.Destinations[i]
		t.Logged += d.Logged
		t.Recovered += d.Recovered
		t.Delivered += d.Delivered
		t.Pending += d.Pending
		t.Unfinished += d.Unfinished
		t.Dropped = addDrops(t.Dropped, d.Dropped)
		t.Attempts += d.Attempts
		t.Failures += d.Failures
		t.Busy = max(t.Busy, d.Busy)
		t.Unsaved += d.Unsaved
	}
}

// addDrops adds counts by reason and level.
func addDrops(a, b []delivery.Drop) []delivery.Drop {
	if len(b) == 0 {
		return a
	}
	var t segment.Tally
	for _, d := range slices.Concat(a, b) {
		t.Add(segment.Cause(slices.Index(segment.Reasons[:], d.Reason)), d.Level, d.Lines)
	}
	return t.List()
}
