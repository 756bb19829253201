// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// maxRaces is the number of times that another process may lock a missing slot
// before this one does. It is far above the number of processes that start at
// the same moment.
const maxRaces = 200

var (
	errNoLocks = errors.New("Config.Shared needs locks, which are not reliable " +
		"on this file system: use a local file system, or a directory for each process")
	errCrowded = fmt.Errorf("all slots are in use: %w", ErrInUse)
)

// A sharedDir is a directory that several processes share ([Config.Shared]), as
// seen by one of them. The process has a Sink in a slot, and delivers the slots
// of dead processes with one more Sink for each (adopt.go). A Sink has no other
// connection to this layer than its peers.
type sharedDir struct {
	*store.Home
	s        *Sink // in the slot of this process
	madeSlot bool  // this process has made the slot

	// mu protects list and past. Lock order: s, then mu, then an adopted Sink.
	mu   sync.Mutex
	list []*adopted
	past Stats // counts of adopted slots that have ended

	given map[string]int // slots that were released and may still have segments: checks to wait

	ctx  context.Context
	stop context.CancelFunc
	done chan struct{} // closed when all adopted slots are closed
}

// openShared opens a Sink in a slot. It begins to adopt the slots of dead
// processes, unless there is no destination.
func openShared(s *Sink) error {
	a := &sharedDir{
		Home: store.NewHome(s.c.fs, s.path), s: s,
		done: make(chan struct{}), given: map[string]int{},
	}
	a.ctx, a.stop = context.WithCancel(context.Background())
	s.chain.peers = a
	if err := a.checkForks(); err != nil {
		return err
	}
	first, err := a.takeSlot()
	if err == nil {
		err = s.begin(first)
	}
	if err != nil {
		return err
	}
	for _, d := range s.chain.Deliveries {
		if _, ok := d.Dest.(delivery.Forker); !ok {
			d.Turn = make(chan struct{}, 1)
		}
	}
	s.start()
	if s.chain.noDestination {
		close(a.done)
	} else {
		go a.run()
	}
	return nil
}

// takeSlot recovers the first slot that no process has locked, and makes one if
// there is none. If an existing slot cannot be opened for another reason, it is
// delivered later; if a new one cannot be, takeSlot returns the error.
func (a *sharedDir) takeSlot() (first segment.Start, err error) {
	s := a.s
	switch err := a.Check(); {
	case err != nil:
		return segment.Start{}, err
	case s.c.volume.Remote:
		return segment.Start{}, errNoLocks
	}
	var left []error
	defer func() {
		for _, err := range left {
			s.chain.reports.Fault("take a slot", err)
		}
	}()
	for n, races := 1, 0; n <= store.MaxSlots && races < maxRaces; n++ {
		path, missing := a.Choose(n)
		if missing != nil && !errors.Is(missing, fs.ErrNotExist) {
			return segment.Start{}, missing
		}
		if first, err = s.recover(path); err != nil {
			s.forget()
		}
		switch passed := isTaken(err); {
		case err == nil:
			a.madeSlot = missing != nil
			if s.chain.limit, err = a.limit(); err != nil {
				s.release()
			}
			return first, err
		case errors.Is(err, errors.ErrUnsupported):
			return segment.Start{}, errNoLocks
		case missing != nil && !passed:
			return segment.Start{}, err
		case !passed:
			left = append(left, fmt.Errorf("%s: %w", path, err))
		case missing != nil:
			races++
		}
	}
	return segment.Start{}, errCrowded
}

// isTaken reports whether err means that another process was faster to lock a
// slot.
func isTaken(err error) bool {
	return errors.Is(err, ErrInUse) || errors.Is(err, store.ErrReplaced) ||
		errors.Is(err, fs.ErrNotExist)
}

// limit is the size that the segments of other processes leave.
func (a *sharedDir) limit() (int64, error) {
	others, err := a.BytesOfOthers()
	return a.s.c.Size - others, err
}

// requestDrop asks for the oldest segment of an adopted slot to be dropped.
func (a *sharedDir) requestDrop() bool { return a.anyOpen((*chain).requestDrop) }

func (a *sharedDir) isDropping() bool { return a.anyOpen((*chain).isDropping) }

// anyOpen calls f for the Sinks of adopted slots until f returns true, and
// reports whether it did.
func (a *sharedDir) anyOpen(f func(*chain) bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.list, func(x *adopted) bool {
		x.sink.chain.Lock()
		defer x.sink.chain.Unlock()
		return !x.sink.chain.Closed && f(&x.sink.chain)
	})
}

func (a *sharedDir) dropped(int64) {} // the Sink waits for itself

// addStats adds the counts of adopted slots.
func (a *sharedDir) addStats(st *Stats) {
	a.mu.Lock()
	defer a.mu.Unlock()
	st.add(a.past)
	for _, x := range a.list {
		st.add(x.sink.ownStats())
	}
}

func (a *sharedDir) close() <-chan struct{} {
	a.stop()
	return a.done
}

// beforeUnlock deletes the slot if this process has made it and has not used
// it.
func (a *sharedDir) beforeUnlock() {
	if a.madeSlot && a.s.removeUnused() {
		a.s.retireDir(false)
	}
}
