// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/vfs"
)

// Open and the methods of a Sink wrap these, [delivery.ErrClosed],
// [delivery.ErrFull] for a full disk, and the errors of the system.
var (
	ErrNotRegular = errors.New("not a regular file")        // the path is a link, FIFO, device, socket or directory
	ErrLinked     = errors.New("the file has another name") // a hard link, which may have been placed there to redirect writes to another file
	ErrOwner      = errors.New("owned by another user")     // the file or its directory is owned neither by the user of this process nor by root
	ErrInUse      = errors.New("locked by another program") // another program holds an exclusive lock on the file or its directory
)

var (
	errClosed = fmt.Errorf("nib/file: %w", delivery.ErrClosed)
	errLow    = fmt.Errorf("%w above Config.MinFree", delivery.ErrFull)
)

// A failed write is retried at once, then after a pause that doubles from
// firstPause to longestPause. So a single fault loses few lines, and a disk
// that stays full takes few system calls.
const (
	firstPause   = int64(time.Millisecond)
	longestPause = int64(250 * time.Millisecond)
)

// reportAgain is the minimum interval between reports of the same error.
const reportAgain = int64(time.Minute)

// maxReports bounds the memory for reports: the reason may be a text of user
// code. Beyond it, a reason may be reported again at once.
const maxReports = 64

// A failure is the state of failed writes.
type failure struct {
	err   error // nil if writing works
	raw   error // the error that err wraps
	cause cause
	pause int64
	retry int64 // monotonic time before which no attempt is made
}

// fail records that an operation on the file has failed, and returns the error
// for callers. It allocates if the error differs from the last one. The lock is
// held.
func (s *Sink) fail(op string, err error) error {
	f := &s.failing
	s.stats.Errors++
	if f.raw != err {
		f.raw, f.err = err, s.wrap(op, err)
		f.cause = failed
		if vfs.IsFull(err) || errors.Is(err, errLow) {
			f.cause = full
		}
	}
	f.retry = s.clock.mono() + f.pause
	f.pause = min(max(2*f.pause, firstPause), longestPause)
	return f.err
}

// wrap adds the operation to err, with the path once.
func (s *Sink) wrap(op string, err error) error {
	if p, ok := err.(*fs.PathError); ok && p.Path == s.path {
		err = p.Err
	}
	if vfs.IsFull(err) {
		err = fullError{err}
	}
	return fmt.Errorf("nib/file: %s %s: %w", op, s.path, err)
}

// A fullError is an error of the system that means that the disk is full.
type fullError struct{ error }

func (e fullError) Unwrap() error      { return e.error }
func (fullError) Is(target error) bool { return target == delivery.ErrFull }

// returned counts an error and wraps it for a call that returns it. The lock is
// held.
func (s *Sink) returned(op string, err error) error {
	s.stats.Errors++
	return s.wrap(op, err)
}

// again reports whether to retry the operation that has just failed: only the
// first time, and not if the disk is full. A file that another system has
// replaced, for example, works after it is reopened. The lock is held.
func (s *Sink) again() bool {
	f := &s.failing
	return f.cause == failed && f.pause == firstPause
}

// recovered ends the state of failure. The lock is held.
func (s *Sink) recovered() {
	if s.failing.err != nil {
		s.failing = failure{}
	}
}

// drop counts the line of r as lost because of err, which it returns. The lock
// is held.
func (s *Sink) drop(r *nib.Record, err error) error {
	s.dropped[s.causeOf(err)][level.Row(int(r.Level))]++
	return err
}

// causeOf returns the cause under which a lost line is counted.
func (s *Sink) causeOf(err error) cause {
	if err == errClosed {
		return closed
	}
	return s.failing.cause
}

// report counts an error that no call returns, and passes it to announce. The
// lock is held.
func (s *Sink) report(op string, err error) {
	s.stats.Errors++
	s.announce(op, s.wrap(op, err))
}

// announce queues err, which unlock reports to OnError, unless op has recently
// failed for the same reason. The lock is held.
func (s *Sink) announce(op string, err error) {
	if s.unreported != nil {
		return
	}
	now, key := s.clock.mono(), reportKey{op, root(err).Error()}
	if now < s.reports[key] {
		return
	}
	if s.reports == nil || len(s.reports) >= maxReports {
		s.reports = map[reportKey]int64{}
	}
	s.reports[key] = now + reportAgain
	s.unreported = err
}

// A reportKey identifies an error that was passed to OnError.
type reportKey struct{ op, reason string }

// root returns the innermost error that err wraps, following the first of
// several.
func root(err error) error {
	for {
		switch e := err.(type) {
		case *compressorError:
			return err
		case interface{ Unwrap() []error }:
			err = e.Unwrap()[0] // the result of errors.Join wraps at least one error
		case interface{ Unwrap() error }:
			inner := e.Unwrap()
			if inner == nil {
				return err
			}
			err = inner
		default:
			return err
		}
	}
}

// unlock releases the lock and calls OnError with the pending errors. The fast
// path of a write does not use it.
func (s *Sink) unlock() {
	s.assess()
	err := s.unreported
	call := err != nil && !s.reporting
	if call {
		s.unreported, s.reporting = nil, true
	}
	s.mu.Unlock()
	if call {
		s.callOnError(err)
	}
}

func (s *Sink) callOnError(err error) {
	defer func() {
		_ = recover() // a panic of user code; there is nowhere left to report it
		s.mu.Lock()
		s.reporting = false
		s.mu.Unlock()
	}()
	s.c.OnError(err)
}
