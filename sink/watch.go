// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/pool"
)

// tickLength is the interval at which a watch scans. A call is overdue once a
// scan finds that it has lasted a whole tick, that is, after one to two ticks;
// its branch is hopeless after hopelessAfter more.
const (
	tickLength    = 100 * time.Millisecond
	hopelessAfter = 10
)

// A watch finds the lines that are blocked by a branch of a Tee, and ensures
// that the other branches get them.
//
// Each line in progress has a turn, which records its current branch and since
// when it is there. While there are any, a timer scans all turns once per tick.
// If a turn is overdue, the scan moves it to the next branch with a
// compare-and-swap, and starts a goroutine that writes the line to the
// remaining branches. When the blocked call returns, the compare-and-swap of
// its goroutine fails; the goroutine then waits until no other one has the
// record, and returns. If the helper is blocked as well, the next scan finds
// that too.
//
// Without lines no timer runs, and while all branches return in time there is
// no goroutine.
type watch struct {
	tee   *tee
	turns *pool.Pool[*turn]
	timer *time.Timer
	armed atomic.Bool   // the timer runs
	tick  atomic.Uint32 // scans so far

	mu  sync.Mutex // protects all
	all []*turn    // all turns ever made: as many as there were concurrent lines
}

// A turn is one line in progress.
type turn struct {
	record *nib.Record
	state  atomicState

	mu      sync.Mutex // protects the following fields, which only blocked lines use
	free    sync.Cond  // signals that helpers is 0
	helpers int        // goroutines that have the record, without the caller
	err     error      // the joined errors of the helpers
}

// A turnState is the tick at which a turn reached its branch, the index of the
// branch, and the bit taken if the watch has taken it over.
type turnState uint64

const (
	idle  turnState = 1 << 31 // no line
	taken turnState = 1 << 30
	index turnState = taken - 1
)

func (s turnState) branch() int  { return int(s & index) }
func (s turnState) tick() uint32 { return uint32(s >> 32) }

// next returns the state at the following branch.
func (s turnState) next(tick uint32) turnState {
	return s&(taken|index) + 1 | turnState(tick)<<32
}

type atomicState struct{ v atomic.Uint64 }

func (a *atomicState) Load() turnState   { return turnState(a.v.Load()) }
func (a *atomicState) Store(s turnState) { a.v.Store(uint64(s)) }
func (a *atomicState) CompareAndSwap(old, next turnState) bool {
	return a.v.CompareAndSwap(uint64(old), uint64(next))
}

func (w *watch) start(t *tee) {
	w.tee = t
	w.turns = pool.New(w.newTurn)
	w.timer = time.AfterFunc(tickLength, w.look)
	w.timer.Stop() // armed by the first line
}

func (w *watch) newTurn() *turn {
	n := new(turn)
	n.free.L = &n.mu
	n.state.Store(idle)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, n)
	return n
}

// begin returns a turn for a line, at its first branch.
func (w *watch) begin(r *nib.Record) *turn {
	n := w.turns.Get()
	n.record = r
	n.state.Store(turnState(w.tick.Load()) << 32)
	if !w.armed.Load() && w.armed.CompareAndSwap(false, true) {
		w.timer.Reset(tickLength)
	}
	return n
}

// next moves n to the branch after one whose call has returned. If the watch
// has already moved it, next returns false and decrements the late calls of b.
func (w *watch) next(n *turn, from turnState, b *teeBranch) (turnState, bool) {
	to := from.next(w.tick.Load())
	if n.state.CompareAndSwap(from, to) {
		return to, true
	}
	b.late.Add(-1)
	return 0, false
}

// end releases the turn when goroutines no longer use the record, and joins the
// errors of the helpers to err.
func (w *watch) end(n *turn, err *error) {
	if n.state.Load()&taken != 0 {
		n.mu.Lock()
		for n.helpers > 0 {
			n.free.Wait()
		}
		*err = join(*err, n.err)
		n.err = nil
		n.mu.Unlock()
	}
	n.record = nil
	n.state.Store(idle)
	w.turns.Put(n)
}

// hopeless reports whether a branch with late calls must be skipped.
func (w *watch) hopeless(b *teeBranch) bool {
	return w.tick.Load()-b.lateSince.Load() >= hopelessAfter
}

// look runs on the goroutine of the timer, never concurrently.
func (w *watch) look() {
	now := w.tick.Add(1)
	if !w.scan(now) {
		w.armed.Store(false)
		// A line that began before this point saw the timer armed, and has not
		// armed it.
		if !w.scan(now) || !w.armed.CompareAndSwap(false, true) {
			return
		}
	}
	w.timer.Reset(tickLength)
}

// scan takes over the overdue turns and reports whether there are lines.
func (w *watch) scan(now uint32) (busy bool) {
	w.mu.Lock()
	all := w.all
	w.mu.Unlock()
	for _, n := range all {
		s := n.state.Load()
		if s&idle != 0 {
			continue
		}
		busy = true
		if i := s.branch(); i < len(w.tee.to) && now-s.tick() >= 2 {
			w.takeOver(n, s, &w.tee.to[i], now)
		}
	}
	return busy
}

// takeOver writes the line of n to the branches after b, where it is blocked.
func (w *watch) takeOver(n *turn, s turnState, b *teeBranch, now uint32) {
	n.mu.Lock() // ensures that end sees the helper once it sees taken
	defer n.mu.Unlock()
	if b.late.Load() == 0 {
		b.lateSince.Store(now)
	}
	b.late.Add(1) // count before the call can return and decrement it
	to := s.next(now) | taken
	if !n.state.CompareAndSwap(s, to) {
		b.late.Add(-1)
		return
	}
	n.helpers++
	go w.help(n, to)
}

// help writes a line to the remaining branches.
func (w *watch) help(n *turn, s turnState) {
	var err error
	defer func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.err = join(n.err, err)
		if n.helpers--; n.helpers == 0 {
			n.free.Broadcast()
		}
	}()
	err = w.tee.deliver(n, s)
}
