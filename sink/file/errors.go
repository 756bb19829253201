// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
)

// Open and the methods of a Sink wrap these, delivery.ErrClosed,
// delivery.ErrFull for a full disk, and the errors of the system.
var (
	// The path is a link, FIFO, device, socket or directory.
	errNotRegular = errors.New("not a regular file")
	// A hard link, perhaps to redirect writes.
	errLinked = errors.New("the file has another name")
	// The file or its directory is owned neither by the user of this process nor
	// by root.
	errOwner = errors.New("owned by another user")
	// Another program holds an exclusive lock on the file or its directory.
	errInUse = errors.New("locked by another program")
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

// A failure is the state of failed writes.
type failure struct {
	err   error // nil if writing works
	raw   error // the error that err wraps
	cause cause
	pause int64
	retry int64 // monotonic time before which no attempt is made
}

// fail records that an operation on the file has failed, and returns the error
// for callers. It allocates if the error differs from the last one.
func (l *liveFile) fail(op string, err error) error {
	f := &l.failing
	l.errors.count.Add(1)
	if f.raw != err {
		f.raw, f.err = err, l.errors.wrap(op, err)
		f.cause = failed
		if vfs.IsFull(err) || errors.Is(err, errLow) {
			f.cause = full
		}
	}
	f.retry = l.c.clock.mono() + f.pause
	f.pause = min(max(2*f.pause, firstPause), longestPause)
	return f.err
}

// mayRetry reports whether to retry the operation that has just failed: only
// the first time, and not if the disk is full. A file that another system has
// replaced, for example, works after it is reopened.
func (l *liveFile) mayRetry() bool {
	f := &l.failing
	return f.cause == failed && f.pause == firstPause
}

// A reporter counts errors, and passes those that no call returns to
// Config.OnError:
//
//	returned    counts an error that a call returns
//	report      counts an error that no call returns, and announces it
//	announce    the same for an error that liveFile.fail has counted
//	take, call  pass it to OnError: Sink.unlock takes it under the lock of the
//	            sink, and calls without
type reporter struct {
	path    string
	mono    func() int64
	onError func(error)
	count   atomic.Uint64 // all errors, including those after which a retry succeeded

	mu        sync.Mutex          // protects the rest; acquired after all other locks
	pending   error               // to be passed to onError
	notBefore map[reportKey]int64 // monotonic time from which each error is reported again
	calling   bool                // onError is running
}

// reportAgain is the minimum interval between reports of the same error.
const reportAgain = int64(time.Minute)

// maxReports bounds the memory for reports: the reason may be a text of user
// code. Beyond it, a reason may be reported again at once.
const maxReports = 64

// A reportKey identifies an error that was passed to OnError.
type reportKey struct{ op, reason string }

// root returns the innermost error that err wraps, following the first of
// several.
func root(err error) error {
	for {
		switch e := err.(type) {
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

// wrap adds the operation to err, with the path once.
func (r *reporter) wrap(op string, err error) error {
	if p, ok := err.(*fs.PathError); ok && p.Path == r.path {
		err = p.Err
	}
	if vfs.IsFull(err) {
		err = fullError{err}
	}
	return fmt.Errorf("nib/file: %s %s: %w", op, r.path, err)
}

// A fullError is an error of the system that means that the disk is full.
type fullError struct{ error }

func (e fullError) Unwrap() error      { return e.error }
func (fullError) Is(target error) bool { return target == delivery.ErrFull }

// returned counts an error and wraps it for a call that returns it.
func (r *reporter) returned(op string, err error) error {
	r.count.Add(1)
	return r.wrap(op, err)
}

// report counts an error that no call returns, and passes it to announce.
func (r *reporter) report(op string, err error) {
	err = r.returned(op, err) // without the lock: it may call methods of a compressor's error
	r.announce(op, err)
}

// reportNow is report for a caller that holds no lock.
func (r *reporter) reportNow(op string, err error) {
	r.report(op, err)
	r.call(r.take())
}

// announce makes err the result of take, unless op has recently failed for the
// same reason.
func (r *reporter) announce(op string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending != nil {
		return
	}
	now, key := r.mono(), reportKey{op, root(err).Error()}
	if now < r.notBefore[key] {
		return
	}
	if r.notBefore == nil || len(r.notBefore) >= maxReports {
		r.notBefore = map[reportKey]int64{}
	}
	r.notBefore[key] = now + reportAgain
	r.pending = err
}

// take returns the error to be passed to call when no lock is held, or nil.
func (r *reporter) take() (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.calling {
		err, r.pending = r.pending, nil
		r.calling = err != nil
	}
	return err
}

// call calls onError with a result of take.
func (r *reporter) call(err error) {
	if err == nil {
		return
	}
	defer func() {
		_ = recover() // a panic of user code; there is nowhere left to report it
		r.mu.Lock()
		r.calling = false
		r.mu.Unlock()
	}()
	r.onError(err)
}
