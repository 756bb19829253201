// SPDX-License-Identifier: Apache-2.0

package usercode

import (
	"runtime"
	"sync/atomic"
	"time"
)

const (
	maxRunDepth = 4  // maximum depth of nested calls of Run
	maxRunning  = 64 // maximum number of concurrent goroutines
)

var running atomic.Int32

// Run calls f on another goroutine and returns when f has returned or wait has
// passed. Called by f itself, directly or not, it does not wait at all. If such
// calls are nested too deep, or too many functions have not returned yet, it
// returns false and does not call f. It may be called concurrently and
// allocates.
//
// It is for callers that hold a lock which f may take. Package log holds the
// lock of a log.Logger while it writes a line. When its lines go to nib and the
// user's own sink, hook or error handler prints through the same log.Logger,
// log.Print takes the lock and calls nib; nib calls the sink; the sink calls
// log.Print and waits for a lock that its own goroutine holds. Nothing in that
// second call could detect it. So the sink runs on another goroutine, and the
// first call stops waiting for it: then package log releases its lock, and the
// sink continues.
func Run(f func(), wait time.Duration) bool {
	depth := Frames(nest)
	if depth > maxRunDepth {
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
	Receive(done, wait)
	return true
}

// Receive receives from a goroutine that runs user code, and gives up after
// wait. It waits in parts: a process that does not run for all of wait would
// find a single timer over before the goroutine had a processor.
func Receive[T any](from <-chan T, wait time.Duration) (v T, ok bool) {
	const parts = 10
	for range parts {
		timer := time.NewTimer(wait / parts)
		select {
		case v = <-from:
			timer.Stop()
			return v, true
		case <-timer.C:
		}
	}
	return v, false
}

// Idle waits until no function of Run is in progress. It is for tests: on a
// busy machine Run may return before f has begun.
func Idle() {
	for running.Load() > 0 {
		runtime.Gosched()
	}
}

// nest calls f with depth+1 frames of nest on the stack, from which a Run
// within f gets its depth: it needs no table of goroutines, and concurrent
// chains cannot be confused.
//
//go:noinline
func nest(depth int, f func()) {
	if depth > 0 {
		nest(depth-1, f)
		return
	}
	f()
}
