// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"fmt"
	"time"

	"github.com/nib-log/nib/delivery"
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
	f.retry = l.errors.mono() + f.pause
	f.pause = min(max(2*f.pause, firstPause), longestPause)
	return f.err
}

// again reports whether to retry the operation that has just failed: only the
// first time, and not if the disk is full. A file that another system has
// replaced, for example, works after it is reopened.
func (l *liveFile) again() bool {
	f := &l.failing
	return f.cause == failed && f.pause == firstPause
}

// recovered ends the state of failure.
func (l *liveFile) recovered() {
	if l.failing.err != nil {
		l.failing = failure{}
	}
}
