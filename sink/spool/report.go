// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"time"

	"github.com/nib-log/nib/sink/spool/internal/deliver"
)

// A reporter calls OnError on a separate goroutine, which runs while there is
// something to report. OnError may be slow, panic, log into this spool or end
// its goroutine; neither logging calls nor deliveries wait for it.
type reporter struct {
	last    map[string]time.Time // time of the last report of each reason
	queue   []error
	running bool
	idle    chan struct{} // closed when running ends; nil if there is no waiter
}

const (
	reportPause = time.Minute // minimum interval between two reports of the same reason
	mostReports = 100         // maximum length of the queue; further errors are omitted, and reported when they occur again
)

// report queues an error for OnError, unless it was reported within the last
// minute.
func (s *Sink) report(op string, err error) {
	if s.parent != nil {
		s.parent.report(op, err)
		return
	}
	if s.c.OnError == nil {
		return
	}
	e := opError{op, err, deliver.TextOf(err)}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queueReport(e)
}

// queueReport is report under mu.
func (s *Sink) queueReport(e opError) {
	if s.c.OnError == nil {
		return
	}
	r := &s.reports
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
		go s.callOnError()
	}
}

// callOnError is the goroutine of the reporter.
func (s *Sink) callOnError() {
	ended := false
	defer func() {
		if !ended {
			go s.callOnError() // OnError has ended the goroutine
		}
	}()
	r := &s.reports
	for {
		s.mu.Lock()
		if len(r.queue) == 0 {
			r.running, ended = false, true
			if r.idle != nil {
				close(r.idle)
				r.idle = nil
			}
			s.mu.Unlock()
			return
		}
		e := r.queue[0]
		r.queue = r.queue[1:]
		s.mu.Unlock()
		s.callOnErrorWith(e)
	}
}

func (s *Sink) callOnErrorWith(e error) {
	defer func() { _ = recover() }() // there is nowhere left to report to
	s.c.OnError(e)
}

// awaitReports waits until OnError was called for everything that was reported,
// up to Config.hang.
func (s *Sink) awaitReports() {
	s.mu.Lock()
	r := &s.reports
	if !r.running {
		s.mu.Unlock()
		return
	}
	if r.idle == nil {
		r.idle = make(chan struct{})
	}
	idle := r.idle
	s.mu.Unlock()
	select {
	case <-idle:
	case <-time.After(s.c.hang):
	}
}

// reportNoted counts and reports the errors that the directory has noted.
func (s *Sink) reportNoted() {
	if s.dir == nil {
		return
	}
	for _, e := range s.dir.TakeNoted() {
		s.fault(e.Op, e.Err)
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
