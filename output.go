// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/linewriter"
	"github.com/nib-log/nib/internal/usercode"
)

// An output is where a logger's lines go: either sink or discard is set, or
// neither in the logger of idle events.
type output struct {
	lines   *linewriter.Writer // of a sink that is a lineSink
	sink    Sink
	discard io.Writer // io.Discard, which needs no lock

	flusher   flusher // nil when nothing is held back
	neverLogs bool    // sink cannot call back into a logger

	textDurations bool // sink is for people, who want units
}

// maxInside is the number of concurrent calls of a sink above which deliver
// counts those on its own stack; it allows maxReentry of these.
const (
	maxInside  = 16
	maxReentry = 8
)

func sinkOutput(s Sink) output {
	if w, ok := s.(lineSink); ok {
		o := output{lines: w.Writer, sink: s}
		if w.Flushes() {
			o.flusher = w
		}
		return o
	}
	t := contract.TraitsOf(s)
	o := output{sink: s, neverLogs: t&contract.NeverLogs != 0, textDurations: t&contract.TextDurations != 0}
	o.flusher, _ = s.(flusher)
	return o
}

// Sink returns the sink that l writes to, so that another one such as
// sink.Backtrace can wrap it. It is nil if l discards its lines.
func (l *Logger) Sink() Sink {
	if l.discards() {
		return nil
	}
	return l.core.out.sink
}

// textDurationsFormat is defaultFormat with units on durations.
var textDurationsFormat = sync.OnceValue(func() *format { return newFormat(Layout{Duration: DurationString}) })

// format returns the format of a logger without a layout.
func (o *output) format() *format {
	if o.textDurations {
		return textDurationsFormat()
	}
	return defaultFormat
}

// write writes the finished line of e.
func (c *core) write(e *Event) {
	var lost int
	var err error
	switch o := &c.out; {
	case o.lines != nil:
		lost, err = o.lines.Write(e.buf, int(e.level))
	case o.sink != nil && o.neverLogs:
		err = c.callSink(e.fill())
	case o.sink != nil:
		err = c.deliver(e)
	case o.discard != nil:
		_, err = o.discard.Write(e.buf)
	}
	if err != nil {
		c.reportLost(max(lost, 1), err)
	}
}

// reportLost counts and reports lines that were not written.
func (c *core) reportLost(n int, err error) {
	if c.isReentrant(err) {
		c.state.reentrant.Add(uint64(n))
	} else {
		c.state.failed.Add(uint64(n))
	}
	c.report(err)
}

// deliver writes the line to a sink that may log itself. There is no lock that
// would detect re-entry, so deliver counts calls, and inspects the stack only
// if more than usual are in progress.
//
//go:noinline
func (c *core) deliver(e *Event) error {
	inside := c.state.inside.Add(1)
	defer c.state.inside.Add(-1)
	if inside > maxInside && usercode.Frames((*core).deliver) > maxReentry {
		return ErrReentrant
	}
	return c.callSink(e.fill())
}

// flush calls the flusher, and waits no longer than ctx allows.
func (o *output) flush(ctx context.Context) error {
	f := o.flusher
	if f == nil {
		return nil
	}
	if o.lines != nil && linewriter.Writing() {
		return nil // the writer itself calls; another goroutine would wait for its lock
	}
	if ctx.Done() == nil {
		return callFlush(ctx, f)
	}
	done := make(chan error, 1)
	go func() {
		err := errors.New("nib: Flush of the sink ended its goroutine")
		defer func() { done <- err }()
		err = callFlush(ctx, f)
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		select {
		case err := <-done: // both were ready: prefer the result of the flush
			return err
		default:
			return fmt.Errorf("nib: flush: %w", context.Cause(ctx))
		}
	}
}

func callFlush(ctx context.Context, f flusher) (err error) {
	done := false
	defer func() {
		if !done {
			if p := recover(); p != nil {
				err = fmt.Errorf("nib: Flush of the sink panicked: %s", usercode.PanicText(p))
			}
		}
	}()
	err = f.Flush(ctx)
	done = true
	return err
}
