// SPDX-License-Identifier: Apache-2.0

// Package linewriter writes lines to an io.Writer, one at a time, and handles
// writers that fail, write short, panic, or log themselves.
package linewriter

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/stdio"
	"github.com/nib-log/nib/internal/usercode"
)

// ErrReentrant is returned for a line that the writer itself has logged while
// it was writing, after too many such lines in a row.
var ErrReentrant = errors.New("nib: a sink logs to itself without end")

// A Writer writes one line at a time to an io.Writer, under one lock. It is
// safe for concurrent use.
//
// An io.Writer that is not a file may log to the logger that writes to it, or
// flushes it. Such a line cannot be written at once, since the caller itself
// holds the lock; waiting for it would deadlock. It is queued, and the outer
// call writes it before it releases the lock. A call whose own goroutine holds
// the lock has put or callFlush on its stack. (That may be a method of another
// Writer. Then the line is queued as well, and the holder of the lock writes
// it: later, but in order.)
type Writer struct {
	w      io.Writer
	file   bool          // w is an *os.File, or the stream of one, and cannot log
	stream *stdio.Stream // w, if it is standard output or standard error
	flush  func(context.Context) error

	mu      sync.Mutex // held while a line is written; protects written, torn and timed
	written level.Traffic
	torn    bool // the last line written is incomplete
	timed   bool // a timer will call release

	lastMu sync.Mutex // protects last
	last   level.Traffic

	queueMu sync.Mutex // protects queue
	queue   []queued
	waiting atomic.Int32 // length of queue, and 1 during enqueue: who releases mu looks at it after
	depth   atomic.Int32 // number of lines that led to the one being written

	failed  atomic.Uint64 // lines of the queue that were lost in a call other than Write
	aborted atomic.Uint64 // lines during which the writer ended the goroutine
}

// A queued line was logged while another one was being written.
type queued struct {
	line  []byte
	level int
	depth int32
}

// maxQueue and maxLineDepth limit a writer that logs: the number of waiting
// lines, and the length of a chain of lines that cause each other.
const (
	maxQueue     = 64
	maxLineDepth = 4
)

// standard are the Writers of standard output and standard error. All loggers
// share them: two concurrent Writers could mix parts of long lines, and each
// would need a descriptor.
var standard struct {
	mu      sync.Mutex
	writers map[*os.File]*Writer
}

// New returns a Writer that writes to w. For descriptors 1 and 2 it is a
// [stdio.Stream], and the same one each time.
func New(w io.Writer) *Writer {
	if f, ok := w.(*os.File); ok {
		return ofFile(f)
	}
	l := &Writer{w: w}
	switch f := w.(type) {
	case interface{ Flush(context.Context) error }:
		l.flush = f.Flush
	case interface{ Flush() error }:
		l.flush = func(context.Context) error { return f.Flush() }
	}
	return l
}

func ofFile(f *os.File) *Writer {
	if !stdio.IsStandard(f) {
		return &Writer{w: f, file: true}
	}
	standard.mu.Lock()
	defer standard.mu.Unlock()
	l := standard.writers[f]
	if l == nil {
		l = ofStream(f)
		if standard.writers == nil {
			standard.writers = map[*os.File]*Writer{}
		}
		standard.writers[f] = l
	}
	return l
}

func ofStream(f *os.File) *Writer {
	stream := stdio.NewStream(f)
	return &Writer{w: stream, file: true, stream: stream}
}

// IsFile reports whether lines go to a file, which cannot call back into a
// logger.
func (w *Writer) IsFile() bool { return w.file }

// Flushes reports whether there is anything for Flush to do.
func (w *Writer) Flushes() bool { return w.flush != nil }

// Lost returns the number of lines that were lost while the writer was flushed,
// and during which the writer ended its goroutine. Write returns all others.
func (w *Writer) Lost() (failed, aborted uint64) { return w.failed.Load(), w.aborted.Load() }

// Writing reports whether the caller was called by some Writer's io.Writer.
func Writing() bool {
	return usercode.Frames((*Writer).put) > 0 || usercode.Frames((*Writer).callFlush) > 0
}

// Flush flushes the writer if it has a Flush method, as a bufio.Writer does.
func (w *Writer) Flush(ctx context.Context) error {
	if w.flush == nil || Writing() {
		return nil
	}
	w.mu.Lock()
	defer w.finish()
	return w.callFlush(ctx)
}

// callFlush marks the stack for Writing.
//
//go:noinline
func (w *Writer) callFlush(ctx context.Context) error { return w.flush(ctx) }

// Write writes line, and the lines that the writer itself logs during that. It
// returns the number of lost lines, and the first error. line is not kept.
func (w *Writer) Write(line []byte, level int) (lost int, err error) {
	if w.file {
		if !w.mu.TryLock() {
			w.queueUp()
		}
		lost, err = w.put(line, level)
		if w.stream != nil && !w.timed {
			w.timed = true
			time.AfterFunc(keepOpen, w.release)
		}
		w.mu.Unlock()
		return lost, err
	}
	if !w.mu.TryLock() {
		if !Writing() {
			w.mu.Lock()
		} else if taken, err := w.enqueue(line, level); err != nil {
			return 1, err
		} else if taken {
			return 0, nil
		}
	}
	return w.writeAll(line, level)
}

// keepOpen is the minimum time for which an unused stream stays open, and the
// maximum after the program has closed or redirected it.
const keepOpen = time.Second

// release lets the stream close its descriptor if it need not stay open. The
// timer is a new one each time: one created in a testing/synctest bubble must
// not be set outside of it.
func (w *Writer) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timed = w.stream.Release(); w.timed {
		time.AfterFunc(keepOpen, w.release)
	}
}

// queueUp takes the lock of a file after waiting for it. The time limit for a
// stream's reader includes the time that passed here.
func (w *Writer) queueUp() {
	if w.stream == nil {
		w.mu.Lock()
		return
	}
	from := time.Now()
	w.mu.Lock()
	w.stream.Waited = time.Since(from)
}

// enqueue leaves line to the goroutine that holds the lock. If none holds it
// any longer, it takes the lock instead and returns false.
func (w *Writer) enqueue(line []byte, level int) (taken bool, err error) {
	w.queueMu.Lock()
	defer w.queueMu.Unlock()
	w.waiting.Add(1)
	if w.mu.TryLock() {
		w.waiting.Add(-1)
		return false, nil
	}
	depth := w.depth.Load() + 1
	if depth > maxLineDepth || len(w.queue) >= maxQueue {
		w.waiting.Add(-1)
		return false, ErrReentrant
	}
	w.queue = append(w.queue, queued{bytes.Clone(line), level, depth})
	return true, nil
}

// writeAll writes line and the queue, and releases the lock, also when the
// writer ends the goroutine.
func (w *Writer) writeAll(line []byte, level int) (lost int, err error) {
	defer w.unlock(&lost, &err)
	return w.put(line, level)
}

// finish is unlock at the end of a call that has no line of its own.
func (w *Writer) finish() {
	var lost int
	var err error
	defer func() { w.failed.Add(uint64(lost)) }()
	w.unlock(&lost, &err)
}

// unlock writes the queue and releases the lock. It adds the lost lines to
// lost, and sets err to the first error if it is nil.
func (w *Writer) unlock(lost *int, err *error) {
	released := false
	defer func() {
		if !released { // the writer has ended the goroutine
			w.depth.Store(0)
			w.mu.Unlock()
		}
	}()
	for {
		next, ok := w.dequeue()
		if !ok {
			released = true
			return
		}
		n, putErr := w.put(next.line, next.level)
		*lost += n
		if *err == nil {
			*err = putErr
		}
	}
}

// dequeue removes a line from the queue. If there is none, it releases the
// lock. A line that was queued before is left to the goroutine that has taken
// the lock, if there is one.
func (w *Writer) dequeue() (next queued, ok bool) {
	for {
		if w.waiting.Load() > 0 && w.pop(&next) {
			return next, true
		}
		if w.depth.Load() > 0 {
			w.depth.Store(0)
		}
		w.mu.Unlock()
		if w.waiting.Load() == 0 || !w.mu.TryLock() {
			return next, false
		}
	}
}

func (w *Writer) pop(next *queued) bool {
	w.queueMu.Lock()
	defer w.queueMu.Unlock()
	if len(w.queue) == 0 { // only enqueue was here
		return false
	}
	*next = w.queue[0]
	if w.queue = w.queue[1:]; len(w.queue) == 0 {
		w.queue = nil
	}
	w.waiting.Add(-1)
	w.depth.Store(next.depth)
	return true
}

// put writes one line. The lock is held.
//
//go:noinline
func (w *Writer) put(line []byte, level int) (lost int, err error) {
	done := false
	defer func() {
		if !done {
			w.torn = true // the writer may have written part of the line
			defer func() {
				if lost == 0 { // the goroutine is ending
					w.aborted.Add(1)
				}
			}()
			if p := recover(); p != nil { // getting its text may end the goroutine, too
				text := usercode.PanicText(p)
				lost, err = 1, errors.New("nib: the writer panicked: "+text)
			}
		}
	}()
	if w.torn {
		_, err = w.writeFull(newline)
		w.torn = err != nil
	}
	rest := len(line)
	if err == nil {
		rest, err = w.writeFull(line)
		// After an impossible count, the number of bytes written is unknown.
		w.torn = rest > 0 && (rest < len(line) || err == errWriteCount)
	}
	done = true
	if rest > 0 {
		lost = 1
	} else {
		w.written.Add(level, len(line))
	}
	return lost, err
}

var newline = []byte{'\n'}

var errWriteCount = errors.New("nib: the writer returned an impossible count")

// writeFull writes p and continues after a short write as long as it makes
// progress. It returns the number of bytes of p that are left.
func (w *Writer) writeFull(p []byte) (rest int, err error) {
	for {
		n, err := w.w.Write(p)
		if n < 0 || n > len(p) {
			return len(p), errWriteCount
		}
		p = p[n:]
		switch {
		case len(p) == 0:
			return 0, err
		case n == 0 && err != nil:
			return len(p), err
		case n == 0:
			return len(p), io.ErrShortWrite
		}
	}
}
