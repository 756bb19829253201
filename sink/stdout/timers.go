// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"sync"
	"time"
)

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
