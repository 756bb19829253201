// SPDX-License-Identifier: Apache-2.0

package stdout

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/stdio"
)

// A Sink writes lines to standard output. It is created by [New] and safe for
// concurrent use.
type Sink struct {
	// Two locks bound how long callers wait. mu protects the state and, without
	// a buffer, each write that does not wait; no call waits for the reader
	// under mu. A call that has to wait takes the turn first, with a deadline.
	// Only the holder of the turn starts a line that a write may cut short
	// (busy). With a buffer, the holder of the turn makes all writes, and mu is
	// free during them.

	traits
	port  stdio.Port
	name  string // name of Config.File, for metrics
	stall time.Duration
	turn  turn
	ended chan struct{} // closed when Close has ended

	mu sync.Mutex
	// Without a buffer, trouble is set if closed, broken, busy, reader.stalled,
	// turn.overdue or head.isDue() is: WriteRecord must take the turn.
	trouble bool
	closed  bool
	broken  bool // the last write failed, but not for lack of room
	busy    bool // a line is partly written, and its caller is writing it
	written level.Traffic
	reader  reader
	head    head
	buffer  buffer
}

type traits = contract.TraitSet

var _ nib.Sink = (*Sink)(nil)

// New returns a Sink that writes to c.File. It starts a goroutine only if
// c.Buffer is set; Close stops it. It panics if c is invalid. If no descriptor
// can be allocated, the one of File is used if it is 1 or 2; otherwise every
// line is dropped as [delivery.ReasonFailed].
func New(c Config) *Sink {
	if err := c.Validate(); err != nil {
		panic(err)
	}
	c = c.withDefaults()
	s := &Sink{
		port:   stdio.Open(c.File),
		name:   nameOf(c.File),
		stall:  c.Stall,
		turn:   turn{taken: make(chan struct{}, 1)},
		ended:  make(chan struct{}),
		reader: reader{onStall: c.OnStall},
		head:   newHead(c),
	}
	// OnStall may log; the recursion ends because it never runs concurrently.
	s.traits = contract.TraitsFor(s, contract.NeverLogs|contract.IgnoresTime)
	if c.Buffer > 0 {
		s.buffer = newBuffer(c)
		go s.buffer.flusher.run(false, s.flushHeld)
	}
	return s
}

// nameOf returns the name of f, which is nil if os.Stdout is.
func nameOf(f *os.File) string {
	if f == nil {
		return "none"
	}
	return f.Name()
}

// WriteRecord writes the line of r, or drops and counts it and returns the
// reason: [delivery.ErrStalled], [delivery.ErrClosed], that there is no reader,
// or an error of the system. If it returns nil, the line is in the pipe or
// file, or with a buffer at least in the buffer. It waits at most Config.Stall
// for the reader. It does not retain r and does not allocate.
func (s *Sink) WriteRecord(r *nib.Record) error {
	if s.buffer.size > 0 {
		return s.collect(r)
	}
	if len(r.Line) > s.port.Whole {
		return s.writeSlowly(r)
	}
	s.mu.Lock()
	if s.trouble {
		s.mu.Unlock()
		return s.writeSlowly(r)
	}
	n, err := s.port.Write(r.Line)
	if err == nil {
		s.written.Add(int(r.Level), n)
		s.reader.took(n)
		s.mu.Unlock()
		return nil
	}
	if err == stdio.ErrFull && n == 0 {
		s.mu.Unlock()
		return s.writeSlowly(r)
	}
	err = s.giveUp(r, n, err)
	s.mu.Unlock()
	return err
}

// Flush writes the buffered lines and returns when they are in the pipe or
// file. If the reader has stalled, it waits as long as ctx allows, or
// Config.Stall if ctx has no deadline; lines that could not be written stay in
// the buffer. It returns that error, or the first loss since the last Flush of
// lines whose calls had returned nil. Without a buffer it only tries once to
// report earlier losses.
func (s *Sink) Flush(ctx context.Context) error {
	s.mu.Lock()
	idle := s.buffer.size == 0 && !s.head.isDue()
	s.mu.Unlock()
	if idle {
		return nil
	}
	l := limit{cancel: ctx.Done(), quit: s.buffer.flusher.quit}
	var ok bool
	if l.until, ok = ctx.Deadline(); !ok {
		l.until = time.Now().Add(s.stall)
	}
	if !s.turn.acquire(l) {
		return flushError(ctx, errStalled)
	}
	defer s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.flush(l, nil)
	s.writeHead(limit{})
	if late := s.buffer.takeLate(); late != nil {
		err = late
	}
	return flushError(ctx, err)
}

// flushError returns the cause of ctx instead of delivery.ErrStalled, if ctx
// has ended.
func flushError(ctx context.Context, err error) error {
	if err == errStalled && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// Close flushes, drops the lines that are then still in the buffer, reports the
// losses, stops the goroutine and closes the sink's own descriptor. It waits
// for the reader for up to Config.Stall. It does not close Config.File. Later
// lines are dropped. Closing again only waits for the first Close.
func (s *Sink) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		<-s.ended
		return nil
	}
	defer close(s.ended)
	s.closed, s.trouble = true, true
	s.mu.Unlock()
	if s.buffer.size > 0 {
		s.buffer.flusher.stop()
	}
	// Calls hold the turn for at most Config.Stall, and a Flush gives up when
	// the flusher has stopped.
	s.turn.taken <- struct{}{}
	defer s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	l := limit{until: time.Now().Add(s.stall)}
	_, _ = s.flush(l, nil)
	err := s.dropHeld()
	s.writeHead(l)
	s.port.Close()
	return err
}
