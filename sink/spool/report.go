// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/sink/spool/internal/deliver"
)

// A reporter calls OnError on a separate goroutine, which runs while there is
// something to report. OnError may be slow, panic, log into this spool or end
// its goroutine; neither logging calls nor deliveries wait for it. Its lock is
// taken after all others.
type reporter struct {
	onError func(error)   // if nil, nothing is reported
	failed  atomic.Uint64 // failed file operations

	mu      sync.Mutex
	last    map[string]time.Time // time of the last report of each reason
	queue   []error
	running bool
	idle    chan struct{} // closed when running ends; nil if there is no waiter
}

const (
	reportPause = time.Minute // minimum interval between two reports of the same reason
	// Maximum length of the queue; further errors are omitted, and reported
	// when they occur again.
	mostReports = 100
)

// Fault counts and reports a failed file operation.
func (r *reporter) Fault(op string, err error) {
	r.failed.Add(1)
	r.Report(op, err)
}

// Report queues an error for OnError, unless it was reported within the last
// minute.
func (r *reporter) Report(op string, err error) {
	if r.onError == nil {
		return
	}
	e := opError{op, err, deliver.TextOf(err)}
	r.mu.Lock()
	defer r.mu.Unlock()
	now, key := time.Now(), e.op+e.text
	if now.Sub(r.last[key]) < reportPause || len(r.queue) == mostReports {
		return
	}
	if r.last == nil || len(r.last) > 100 {
		r.last = map[string]time.Time{}
	}
	r.last[key] = now
	r.queue = append(r.queue, e)
	if !r.running {
		r.running = true
		go r.run()
	}
}

// run is the goroutine of the reporter.
func (r *reporter) run() {
	ended := false
	defer func() {
		if !ended {
			go r.run() // OnError has ended the goroutine
		}
	}()
	for {
		r.mu.Lock()
		if len(r.queue) == 0 {
			r.running, ended = false, true
			if r.idle != nil {
				close(r.idle)
				r.idle = nil
			}
			r.mu.Unlock()
			return
		}
		e := r.queue[0]
		r.queue = r.queue[1:]
		r.mu.Unlock()
		r.call(e)
	}
}

func (r *reporter) call(e error) {
	defer func() { _ = recover() }() // there is nowhere left to report to
	r.onError(e)
}

// await waits until OnError was called for everything that was reported, up to
// a limit.
func (r *reporter) await(limit time.Duration) {
	r.mu.Lock()
	if !r.running {
		r.mu.Unlock()
		return
	}
	if r.idle == nil {
		r.idle = make(chan struct{})
	}
	idle := r.idle
	r.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(limit):
	}
}

// An opError is an error and the operation that failed.
type opError struct {
	op   string
	err  error
	text string // text of err
}

func (e opError) Error() string { return "nib/spool: " + e.op + ": " + e.text }

func (e opError) Unwrap() error { return e.err }
