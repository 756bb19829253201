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
	"github.com/nib-log/nib/internal/linebatch"
	"github.com/nib-log/nib/internal/loss"
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
	port    stdio.Port
	name    string // name of Config.File, for metrics
	stall   time.Duration
	delay   time.Duration
	onStall func(Stats)

	turn   chan struct{} // full while it is taken
	timers timers

	mu        sync.Mutex
	trouble   bool // one of the next six, an unreported loss, or a partly written head
	closed    bool
	stalled   bool // a call has timed out waiting for the reader, and nothing was read since
	broken    bool // the last write failed, but not for lack of room
	overdue   bool // a call has waited for a while: no overtaking
	busy      bool // a line is partly written, and its caller is writing it
	torn      bool // the last line has no end
	stalls    bool // OnStall must be called
	reporting bool // OnStall is running

	waiting  int // calls in the queue for the turn
	written  level.Traffic
	notices  uint64
	moved    uint64 // bytes written, of complete lines or not
	dropped  loss.Tally
	reported loss.Tally // counts that a notice has reported
	head     head       // belongs to the owner of the stream; see send

	// The rest is for a sink with a buffer.
	size  int             // 0 if there is no buffer
	fill  linebatch.Batch // lines that are being collected
	out   linebatch.Batch // lines that are being written; their bytes belong to the holder of the turn
	late  error           // first loss of lines whose calls had returned, until Flush or Close returns it
	awake bool            // the goroutine is enforcing the delay
	wake  chan struct{}
	closing
}

// closing has the channels of Close. Without a buffer only ended is set.
type closing struct {
	quit  chan struct{} // closed by Close
	done  chan struct{} // closed by the goroutine
	ended chan struct{} // closed when Close has ended
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
		port:    stdio.Open(c.File),
		name:    nameOf(c.File),
		stall:   c.Stall,
		delay:   c.Delay,
		onStall: c.OnStall,
		turn:    make(chan struct{}, 1),
		closing: closing{ended: make(chan struct{})},
		head:    head{text: make([]byte, 0, loss.NoticeSize), notices: loss.NewNotices(c.Layout), view: c.View, line: make([]byte, 0, loss.NoticeSize)},
	}
	// OnStall may log; the recursion ends because it never runs concurrently.
	s.traits = contract.TraitsFor(s, contract.NeverLogs|contract.IgnoresTime)
	if c.Buffer > 0 {
		s.size = c.Buffer
		s.fill, s.out = linebatch.New(c.Buffer), linebatch.New(c.Buffer)
		s.wake = make(chan struct{}, 1)
		s.quit, s.done = make(chan struct{}), make(chan struct{})
		go s.run(false)
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
// reason: [delivery.ErrStalled], [ErrGone], [delivery.ErrClosed] or an error of
// the system. If it returns nil, the line is in the pipe or file, or with a
// buffer at least in the buffer. It waits at most Config.Stall for the reader.
// It does not retain r and does not allocate.
func (s *Sink) WriteRecord(r *nib.Record) error {
	if s.size > 0 {
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
		s.moved += uint64(n)
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
	idle := s.size == 0 && !s.hasHead()
	s.mu.Unlock()
	if idle {
		return nil
	}
	l := limit{cancel: ctx.Done(), quit: s.quit}
	var ok bool
	if l.until, ok = ctx.Deadline(); !ok {
		l.until = time.Now().Add(s.stall)
	}
	if !s.acquire(l) {
		return flushError(ctx, errStalled)
	}
	defer s.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.flush(l, nil)
	s.writeHead(limit{})
	if s.late != nil {
		err, s.late = s.late, nil
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
	if s.size > 0 {
		close(s.quit)
		<-s.done
	}
	// Calls hold the turn for at most Config.Stall, and a Flush gives up when
	// quit is closed.
	s.turn <- struct{}{}
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
