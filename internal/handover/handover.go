// SPDX-License-Identifier: Apache-2.0

// Package handover runs work for a caller that holds a lock which the work may
// want as well.
//
// Package log holds the lock of a log.Logger while it writes a line. When its
// lines go to nib and the user's own sink, hook or error handler prints through
// the same log.Logger, this happens: log.Print takes the lock and calls nib; nib
// calls the sink; the sink calls log.Print and waits for a lock that its own
// goroutine holds. Nothing in that second call runs that could notice. So the
// sink is called on another goroutine, and the first call stops waiting for it
// after a while: then log lets go of its lock, and the sink goes on.
package handover

import (
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/internal/reentry"
)

const (
	maxDepth   = 4  // work that led to work that led to work
	maxRunning = 64 // goroutines at once
)

var running atomic.Int32

// Run calls f on another goroutine and returns when f has, but not later than
// wait from now. Called by f itself, directly or not, it does not wait at all.
// It returns false, and f is never called, when such calls are nested too deep
// or too many functions have not returned yet. It may be called concurrently
// and allocates.
func Run(f func(), wait time.Duration) bool {
	depth := reentry.Frames(nest)
	if depth > maxDepth {
		return false
	}
	if running.Add(1) > maxRunning {
		running.Add(-1)
		return false
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer running.Add(-1)
		nest(depth, f)
	}()
	if depth > 0 {
		return true
	}
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	select {
	case <-done:
	case <-timeout.C:
	}
	return true
}

// nest calls f with depth+1 frames of its own on the stack. That is how a Run
// within f knows how deep it is: no table of goroutines is needed, and several
// chains at once cannot be mixed up.
//
//go:noinline
func nest(depth int, f func()) {
	if depth > 0 {
		nest(depth-1, f)
		return
	}
	f()
}
