// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nib-log/nib/internal/lastresort"
	"github.com/nib-log/nib/internal/usercode"
)

// Close flushes and closes everything that [Open] has opened, and ends the
// goroutine and the process that it may have started. It waits no longer than
// Config.Timeout; it reports lines that could not be flushed by then to
// standard error, and returns that error. Later lines are lost, and reported to
// the loggers' error handlers. Closing again does nothing. While a signal is
// ending the process, Close does not return.
//
// Deferred directly in main (defer log.Close(), not within another function),
// it handles a panic: it writes a line with it and its stack (unless a monitor
// does), flushes and closes as usual, and panics again with the same value. A
// panic on another goroutine and os.Exit cannot be caught.
func (l *Log) Close() error {
	until := time.Now().Add(l.timeout)
	if p := recover(); p != nil {
		_ = l.finish(l.panicLine(p))
		if l.monitor == nil { // a monitor stays: it writes the line, unless a caller recovers
			l.releaseProcess(until)
		}
		panic(p) // the frames of the first are still on the stack
	}
	err := l.finish(nil)
	l.releaseProcess(until)
	return err
}

// Guard is for goroutines other than main's: deferred directly (defer
// log.Guard()), it handles a panic there: it writes a line with the panic and
// its stack (unless there is a monitor), flushes, for no longer than
// Config.Timeout, and panics again with the same value. Nothing is closed,
// since a caller may recover. Without a panic it does nothing.
func (l *Log) Guard() {
	if p := recover(); p != nil {
		ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
		defer cancel()
		if line := l.panicLine(p); line != nil {
			waitFor(ctx, line)
		}
		if err := l.Flush(ctx); err != nil {
			l.report(err)
		}
		panic(p)
	}
}

// finish flushes and closes the outputs, once, and reports errors. Later calls
// wait for the first and return the same error.
func (l *Log) finish(last func()) error {
	l.ended.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
		defer cancel()
		l.restoreDefaults(ctx)
		if last != nil {
			waitFor(ctx, last)
		}
		l.err = closeAll(ctx, l.outputs, l.timeout)
		if l.err != nil {
			l.report(l.err)
		}
		lastresort.Flush()
	})
	return l.err
}

// restoreDefaults waits for a tenth of the time at most: package log may hold
// its lock for a line that an output does not accept.
func (l *Log) restoreDefaults(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, l.timeout/10)
	defer cancel()
	waitFor(ctx, l.restore)
}

// waitFor runs f on another goroutine, and waits for it no longer than ctx.
func waitFor(ctx context.Context, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// closeAll flushes and closes all outputs concurrently, so that a blocked
// output does not use up the time of the others. ctx ends after timeout.
func closeAll(ctx context.Context, outputs []*output, timeout time.Duration) error {
	var mu sync.Mutex // protects errs
	errs := make([]error, len(outputs))
	var wait sync.WaitGroup
	wait.Add(len(outputs))
	for i, o := range outputs {
		errs[i] = fmt.Errorf("nib/setup: output %s: not flushed within %v", o.name, timeout)
		go func() {
			defer wait.Done()
			err := fmt.Errorf("nib/setup: output %s: Flush ended its goroutine", o.name)
			defer func() {
				mu.Lock()
				defer mu.Unlock()
				errs[i] = err
			}()
			err = o.end(ctx)
		}()
	}
	waitFor(ctx, wait.Wait)
	mu.Lock()
	defer mu.Unlock()
	return errors.Join(errs...)
}

// end flushes and closes one output.
func (o *output) end(ctx context.Context) error {
	err := guarded("Flush", func() error {
		if o.flush == nil {
			return nil
		}
		return o.flush(ctx)
	})
	err = errors.Join(err, guarded("Close", func() error {
		if o.close == nil {
			return nil
		}
		return o.close()
	}))
	if err != nil {
		return fmt.Errorf("nib/setup: output %s: %w", o.name, err)
	}
	return nil
}

// guarded runs code of a sink, which may be user code: it must not end the
// process before the others are flushed.
func guarded(what string, f func() error) (err error) {
	ended := false
	defer func() {
		if ended {
			return
		}
		if p := recover(); p != nil {
			err = fmt.Errorf("%s panicked: %s", what, usercode.PanicText(p))
		}
	}()
	err = f()
	ended = true
	return err
}

// writeError writes err to standard error, without waiting for a stopped
// reader.
func writeError(err error) { lastresort.Write(err.Error()) }
