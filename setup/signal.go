// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"

	"github.com/nib-log/nib/delivery"
)

// signals handles the signals for a Log: none until start is called.
type signals struct {
	log    *Log
	ends   bool // SIGTERM and SIGINT may be handled
	reopen bool // also handle SIGHUP

	mu     sync.Mutex // protects the fields below
	notify chan os.Signal
	quit   chan struct{}
	done   chan struct{} // closed by the goroutine

	ctx    context.Context
	cancel context.CancelCauseFunc
	asked  atomic.Bool // Context was called: the program ends itself

	hangups atomic.Int32 // counts the signals for which files are being reopened
}

// A signalError is the cause of a context of [Log.Context] that a signal has
// canceled.
type signalError struct{ signal os.Signal }

// Error names the signal.
func (e *signalError) Error() string { return "nib/setup: received signal: " + e.signal.String() }

// Context returns a context that is canceled by the first SIGTERM or SIGINT,
// which the context's cause names, and by Close. From the first call on, a
// signal no longer ends the process: the program should return from main, where
// Close flushes. A second signal ends the process at once. With Config.Signals
// Off, only Close cancels the context.
func (l *Log) Context() context.Context {
	l.signals.asked.Store(true)
	l.signals.start(true)
	return l.signals.ctx
}

// start begins to handle signals, unless they are handled already or handling
// is off. Those that are ignored, as under nohup, stay ignored.
func (s *signals) start(ends bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []os.Signal
	if ends && s.ends {
		list = append(list, endSignals...)
	}
	if s.reopen {
		list = append(list, reopenSignals...)
	}
	for _, sig := range list {
		if signal.Ignored(sig) {
			continue
		}
		if s.notify == nil {
			s.notify = make(chan os.Signal, 4)
			s.quit, s.done = make(chan struct{}), make(chan struct{})
			go s.run(s.notify)
		}
		signal.Notify(s.notify, sig)
	}
}

// stop stops the handling of signals and waits for the goroutine.
func (s *signals) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.notify != nil {
		signal.Stop(s.notify)
		close(s.quit)
		<-s.done // blocks if the process is about to end by a signal
		s.notify = nil
	}
	s.ends, s.reopen = false, false // also reset for Context
	s.cancel(context.Canceled)
}

func (s *signals) run(notify <-chan os.Signal) {
	defer close(s.done)
	for {
		select {
		case sig := <-notify:
			s.handle(sig, notify)
		case <-s.quit:
			select {
			// Arrived before stop: otherwise the program might continue without
			// it.
			case sig := <-notify:
				s.handle(sig, notify)
			default:
				return
			}
		}
	}
}

// handle does not return after a signal that ends the process.
func (s *signals) handle(sig os.Signal, notify <-chan os.Signal) {
	switch {
	case isReopen(sig):
		s.reopenFiles()
	case s.asked.Load() && s.ctx.Err() == nil:
		s.cancel(&signalError{sig})
	case s.asked.Load():
		raise(sig) // a second signal
	default:
		s.end(sig, notify)
	}
}

// reopenFiles runs on another goroutine: a signal must end the process even if
// the file system hangs. A signal that arrives during a call causes another
// one, since the file may have been renamed again.
func (s *signals) reopenFiles() {
	if s.hangups.Add(1) > 1 {
		return
	}
	go func() {
		for again := true; again; {
			n := s.hangups.Load()
			s.log.reopen()
			again = !s.hangups.CompareAndSwap(n, 0)
		}
	}()
}

// reopen opens the files of all outputs again by their names. A file that
// cannot be opened stays in use, and is reported unless the outputs were closed
// in the meantime.
func (l *Log) reopen() {
	for _, o := range l.outputs {
		if o.reopen == nil {
			continue
		}
		if err := o.reopen(); err != nil && !errors.Is(err, delivery.ErrClosed) {
			l.report(fmt.Errorf("nib/setup: output %s: %w", o.name, err))
		}
	}
}

// end flushes and ends the process by the signal, or by a second signal.
func (s *signals) end(sig os.Signal, notify <-chan os.Signal) {
	flushed := make(chan struct{})
	go func() {
		defer close(flushed)
		_ = s.log.finish(nil)
	}()
	for {
		select {
		case <-flushed:
			raise(sig)
		case second := <-notify:
			if !isReopen(second) {
				raise(second)
			}
		}
	}
}
