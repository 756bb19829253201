// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"sync"
	"time"
)

// A turn is the lock of calls that wait for the reader. Waiting for it can be
// limited, which a sync.Mutex does not allow.
type turn struct {
	taken  chan struct{} // full while the turn is taken
	timers timers

	// Sink.mu protects the rest.
	waiting int  // calls that wait for the turn
	overdue bool // a call has waited for a while: no overtaking
}

// A limit bounds a wait. The channels may be nil.
type limit struct {
	until  time.Time
	over   bool // the attempt after until is made, or is the next one
	cancel <-chan struct{}
	quit   <-chan struct{}
}

// acquire takes the turn. It returns false if l ends first. 0 allocs.
func (t *turn) acquire(l limit) bool {
	select {
	case t.taken <- struct{}{}:
		return true
	default:
	}
	left := time.Until(l.until)
	if left <= 0 {
		return false
	}
	timer := t.timers.get(left)
	defer t.timers.put(timer)
	select {
	case t.taken <- struct{}{}:
		return true
	case <-timer.C:
		select { // both may be ready if the process was stopped
		case t.taken <- struct{}{}:
			return true
		default:
		}
	case <-l.cancel:
	case <-l.quit:
	}
	return false
}

func (t *turn) release() { <-t.taken }

// maxTimers is the maximum number of idle timers that are kept: usually fewer
// callers wait at once.
const maxTimers = 1024

// timers holds timers for callers that wait for the turn. A sync.Pool would
// miss when a goroutine returns on another processor, and allocate.
type timers struct {
	mu   sync.Mutex
	idle []*time.Timer
}

// get returns a timer that fires after d.
func (ts *timers) get(d time.Duration) *time.Timer {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	last := len(ts.idle) - 1
	if last < 0 {
		return time.NewTimer(d)
	}
	t := ts.idle[last]
	ts.idle = ts.idle[:last]
	t.Reset(d)
	return t
}

// put stops t and keeps it.
func (ts *timers) put(t *time.Timer) {
	if !t.Stop() {
		select {
		case <-t.C: // only with GODEBUG=asynctimerchan=1
		default:
		}
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if len(ts.idle) < maxTimers {
		ts.idle = append(ts.idle, t)
	}
}
