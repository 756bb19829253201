// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"bytes"
	"context"
	"log"
	"log/slog"
	"runtime"
	"time"

	"github.com/nib-log/nib/internal/callsite"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/usercode"
)

// LogAttrs writes a whole line in one call: level, message, the fields of ctx
// as with [Event.Ctx], and attrs, with slog's semantics for groups, empty
// attributes and LogValuers. It never exits or panics. 0 allocs when the
// attributes hold plain values.
//
//go:noinline
func (l *Logger) LogAttrs(ctx context.Context, level Level, msg string, attrs ...slog.Attr) {
	if l.belowMin(level) || !l.passes(level) {
		return
	}
	var pc uintptr
	if l.core.caller {
		if callsite.HasFast() {
			pc = callsite.Fast() // the caller of this function: no helper can call it
		} else {
			pc = callsite.PC(0)[0]
		}
	}
	e := l.begin(level, &beginOptions{pc: pc, msg: &msg})
	e.Ctx(ctx)
	e.attrs(attrs)
	e.finish(msg, withMessage)
}

// AtDepth starts an event for another front end that has already checked the
// level; only the sampler is still consulted. The call site is depth callers
// above the call of AtDepth. It never exits or panics. 0 allocs.
func (l *Logger) AtDepth(level Level, depth int) *Event {
	if l.discards() || !l.isSampled(level) {
		return nil
	}
	var pc uintptr
	if l.core.caller && depth < beyond {
		pc = callsite.PC(max(depth, 0))[0]
	}
	return l.begin(level, &beginOptions{pc: pc})
}

// An Entry is a line that another front end (slog, logrus, a bridge) passes to
// nib.
type Entry struct {
	Time    time.Time // the zero Time leaves the time out
	Level   Level
	PC      uintptr // call site as runtime.Callers returns it; 0 if unknown
	Message string
	Stack   string // stack of the goroutine, if the front end has captured it
}

// Entry starts an event for a line from another front end that has already
// checked the level; only the sampler is still consulted. Finish it with Send,
// which writes en.Message. It never exits or panics. 0 allocs.
func (l *Logger) Entry(en Entry) *Event {
	return beginEntry(l, en.Time, en.Level, en.PC, en.Message, en.Stack)
}

// beginEntry is Entry. Its arguments are passed in registers: a copied Entry
// would be read in wider pieces than it was written in, for which the processor
// waits.
func beginEntry(
	l *Logger, t time.Time, level Level, pc uintptr, message, stack string,
) *Event {
	if l.discards() || !l.isSampled(level) {
		return nil
	}
	e, c := acquire(l), l.core
	e.level, e.message, e.flags = level, message, isEntry
	if !t.IsZero() {
		e.setTime(t)
	}
	zone := t.Location()
	f, last, reusable := c.format, &e.front, stack == "" && c.format.canReuseFront(e, zone)
	if reusable && last.of == ^l.id && last.level == level && last.sec == e.sec {
		e.flags |= timeShown
		e.buf = e.buf[:last.end]
		jsonenc.PutFraction(e.buf[last.fractionAt:], uint32(e.nsec), max(f.fraction, -f.fraction))
	} else if e.writeFront(level, zone, stack); reusable && last.fractionAt != 0 {
		last.of = ^l.id
	}
	if c.splitFront {
		e.addRest(pc, &beginOptions{msg: &message})
	}
	return e
}

// canReuseFront reports whether fronts of Entry without a stack can differ from
// the front of e only in the digits of the fraction: they have a time, in the
// zone of the layout or in time.Local, and all digits of its fraction.
func (f *format) canReuseFront(e *Event, zone *time.Location) bool {
	return e.flags&hasTime != 0 && e.sec > 0 && (f.TimeZone != nil || zone == time.Local) &&
		(f.fraction >= 0 || f.fraction == jsonenc.NineOrFewer && e.nsec%10 != 0)
}

// StdLog returns a standard logger whose lines become lines of l at level, for
// libraries that take a *log.Logger. With [WithCaller] they show the call site
// of log's function. Lines of its Fatal and Panic methods have LevelFatal or
// LevelPanic and are written whatever the level of l; the sink is then flushed.
//
// User code of l, such as a sink, a hook or a clock, may itself print to that
// logger while package log holds its lock. So a line that may run such code is
// written on another goroutine, for which package log waits up to 100 ms (5 s
// for Fatal and Panic). A slower line is written after the call has returned;
// while 64 such lines wait, others are dropped, counted in Stats.Reentrant.
func (l *Logger) StdLog(level Level) *log.Logger { return log.New(stdWriter{l, level}, "", 0) }

// A stdWriter receives messages of package log, one a call.
type stdWriter struct {
	l     *Logger
	level Level
}

func (w stdWriter) Write(p []byte) (int, error) {
	l, level, final := w.l, w.level, false // final: package log ends the process after this line
	pc, ends := callsite.StdLog(ownPrefix)
	switch ends {
	case callsite.Exits:
		level, final = LevelFatal, true
	case callsite.Panics:
		level, final = LevelPanic, true
	}
	if l.discards() || !final && l.belowMin(level) {
		return len(p), nil
	}
	c, msg := l.core, string(bytes.TrimSuffix(p, []byte{'\n'}))
	var stack []uintptr
	if level >= c.stackFrom {
		stack = make([]uintptr, maxStack)
		stack = stack[:runtime.Callers(1, stack)] // write may run on another goroutine
	}
	write := func() {
		if final {
			defer l.flushFinal() // even if user code ends the goroutine
		} else if !l.passes(level) {
			return
		}
		e := l.begin(level, &beginOptions{pc: pc, msg: &msg})
		if stack != nil {
			e.addStack(stack)
		}
		e.finish(msg, withMessage)
	}
	if !l.mayLog(level, pc) {
		write()
	} else if !usercode.Run(write, c.waitLimit(final)) {
		c.state.reentrant.Add(1)
	}
	return len(p), nil
}

// waitLimit returns how long package log waits for a line to be written; final
// marks the last line of the program. If the logger's own io.Writer has printed
// the line, its Write must return first, so waiting is useless.
func (c *core) waitLimit(final bool) time.Duration {
	const short = 100 * time.Millisecond
	inWrite := c.out.isWriting()
	switch {
	case final && !inWrite:
		return finalFlush
	case !final && inWrite:
		return 0
	}
	return short
}

// mayLog reports whether user code runs, which may log, while a line of package
// log is made and written.
func (l *Logger) mayLog(at Level, pc uintptr) bool {
	c, f, o := l.core, l.core.format, &l.core.out
	sinkLogs := !o.neverLogs && o.discard == nil && (o.lines == nil || !o.lines.IsFile())
	_, userLevel := l.leveler.(*userLeveler)
	_, named := level.Index(int(at)) // otherwise Layout.LevelName may be called
	callsCaller := c.caller && f.Caller != nil && f.callers.Get(pc) == nil
	return sinkLogs || userLevel || !named || callsCaller ||
		c.sampler != nil || c.now != nil || len(c.hooks) > 0 || c.onError != nil
}
