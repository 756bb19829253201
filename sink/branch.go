// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"context"
	"errors"
	"fmt"

	"github.com/nib-log/nib"
)

// flusher is the optional ability of a sink to bring what it holds back to its
// promise.
type flusher interface {
	Flush(ctx context.Context) error
}

// branches are the sinks behind a combinator and what was found out about them
// when it was made.
type branches struct {
	flushers   []flusher
	neverLogs  bool
	combinator string // for error texts
}

// newBranches panics on a nil sink: a line would be lost there every time.
func newBranches(combinator string, sinks []nib.Sink) branches {
	b := branches{neverLogs: true, combinator: combinator}
	for _, s := range sinks {
		if s == nil {
			panic("nib/sink: " + combinator + " with a nil Sink")
		}
		if f, ok := s.(flusher); ok {
			b.flushers = append(b.flushers, f)
		}
		quiet, ok := s.(interface{ NeverLogs() bool })
		b.neverLogs = b.neverLogs && ok && quiet.NeverLogs()
	}
	return b
}

// NeverLogs reports whether no branch can call back into a logger.
func (b *branches) NeverLogs() bool { return b.neverLogs }

// Flush flushes all branches at the same time, so that one that fails, panics
// or hangs does not keep the others from it. It waits for them no longer than
// ctx allows and joins their errors.
func (b *branches) Flush(ctx context.Context) error {
	results := make(chan error, len(b.flushers)) // room for all: none is stuck when nobody waits any more
	for _, f := range b.flushers {
		go b.flush(ctx, f, results)
	}
	var errs []error
	for len(errs) < len(b.flushers) {
		select {
		case err := <-results:
			errs = append(errs, err)
			continue
		default: // a result that is there counts, also when ctx has ended meanwhile
		}
		select {
		case err := <-results:
			errs = append(errs, err)
		case <-ctx.Done():
			late := len(b.flushers) - len(errs)
			return errors.Join(append(errs, fmt.Errorf("nib/sink: %s: %d of %d branches are not flushed: %w",
				b.combinator, late, len(b.flushers), context.Cause(ctx)))...)
		}
	}
	return errors.Join(errs...)
}

// flush runs on a goroutine of its own, where a panic would end the process.
func (b *branches) flush(ctx context.Context, f flusher, result chan<- error) {
	err := fmt.Errorf("nib/sink: %s: Flush of a branch ended its goroutine", b.combinator)
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("nib/sink: %s: Flush of a branch panicked: %v", b.combinator, p)
		}
		result <- err
	}()
	err = f.Flush(ctx)
}
