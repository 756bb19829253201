// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/internal/usercode"
)

// User code runs in this file and in addObject, addArray and marshal, each time
// under a deferred function that distinguishes a panic from runtime.Goexit:
// recover returns nil for the latter, and the flag done is still false. What
// user code returns may run user code as well: an error's text is taken under
// the same guard as the method that returned it.

const (
	panicKey = "panic" // the field that reports that a callback has panicked
	depthKey = "depth" // the field in place of those embedded too deep
)

// maxUser is how many lines may be open on one stack because user code logs
// while its own line is built. A Stringer that logs itself would otherwise do
// so until the stack is full, which ends the process.
const maxUser = 4

// enterUserCode records that user code begins, or returns why it must not. Each
// time the limit is reached, it is lowered for the rest of the field: a value
// that contains itself twice would otherwise be followed 2 to the 32 times.
func (e *Event) enterUserCode(limit int32) (why string) {
	if e.nest+e.tooDeep >= limit && e.nest > 0 {
		e.tooDeep++
		return "!ERROR: nested deeper than 32"
	}
	if e.nest == 0 {
		e.tooDeep = 0
		s, n := usercode.Enter()
		if n > maxUser && usercode.FramesNamed(ownPrefix+"(*Event).",
			"run", "addObject", "addArray", "callText", "format", "marshal", "callLogValue") > maxUser {
			s.Leave()
			e.log.core.state.reentrant.Add(1)
			return "!ERROR: logging leads to itself"
		}
		e.user = s
	}
	e.nest++
	return ""
}

// leaveUserCode records that user code has ended, unless the goroutine is
// ending with it.
func (e *Event) leaveUserCode() {
	if e.nest > 0 {
		if e.nest--; e.nest == 0 {
			e.user.Leave()
		}
	}
}

// panicked turns a recovered panic into text. If value is nil, the goroutine is
// ending with runtime.Goexit: the line is lost, is counted, and the event goes
// to the garbage collector, since outer callbacks of the same event will still
// return.
func (e *Event) panicked(value any) (text string, alive bool) {
	if e.nest < 0 {
		return "", false
	}
	if value != nil {
		defer func() {
			if !alive { // a method of the panic's value has ended the goroutine
				e.abort()
			}
		}()
		return "!PANIC: " + usercode.PanicText(value), true
	}
	e.abort()
	return "", false
}

// abort counts the line as lost and makes the event idle for good.
func (e *Event) abort() {
	e.log.core.state.aborted.Add(1)
	e.user.Leave()
	e.nest, e.watched = idle, math.MaxUint64
}

// run lets f add fields at this level.
func (e *Event) run(f func(*Event)) {
	if !e.isOpen() {
		return
	}
	if why := e.enterUserCode(maxDepth); why != "" { // a Marshaler that embeds itself, say
		e.str(depthKey, why)
		return
	}
	done := false
	defer func() {
		if !done {
			e.fieldFailed(recover())
		}
	}()
	f(e)
	done = true
	e.leaveUserCode()
}

// fieldFailed adds a field that reports a panic in a callback that adds fields.
func (e *Event) fieldFailed(panicked any) {
	if text, ok := e.panicked(panicked); ok {
		e.leaveUserCode()
		e.str(panicKey, text)
	}
}

// callText runs a method that gives text.
func (e *Event) callText(f func() string) (text string) {
	done := false
	s, why := e.suspend()
	if why != "" {
		return why
	}
	defer func() {
		if !done {
			text, _ = e.panicked(recover())
		}
		e.resume(s)
	}()
	text = f()
	done = true
	return text
}

// format formats a message, which may run methods of the arguments. Package fmt
// catches a panic in one of these, but not in a method of the panic's value.
func (e *Event) format(dst []byte, format string, args []any) (text []byte) {
	done := false
	s, why := e.suspend()
	if why != "" {
		return append(dst, why...)
	}
	defer func() {
		if !done {
			what, _ := e.panicked(recover())
			text = append(dst, what...)
		}
		e.resume(s)
	}()
	text = fmt.Appendf(dst, format, args...)
	done = true
	return text
}

// suspend keeps user code that returns the value of a field from adding fields
// to the same event: they would end up inside that value.
func (e *Event) suspend() (s scope, why string) {
	if why = e.enterUserCode(maxDepth + 1); why == "" {
		s = scope{watched: e.watched, outer: e.flags & inValue}
		e.watched, e.flags = ^uint64(0), e.flags|inValue
	}
	return s, why
}

func (e *Event) resume(s scope) {
	if e.nest > 0 { // otherwise the goroutine is ending
		e.watched, e.flags = s.watched, e.flags&^inValue|s.outer
		e.leaveUserCode()
	}
}

// runHooks runs the hooks; one that panics does not keep the others from
// running.
func (e *Event) runHooks(msg string) {
	for _, h := range e.log.core.hooks {
		e.run(func(e *Event) { h.Run(e, e.level, msg) })
	}
}

// callUser runs user code that adds nothing to an event, and reports whether it
// has returned. It has not if it panicked, which err describes, or if it calls
// itself without end by logging. A goroutine that it ends is counted.
//
//go:noinline
func callUser(what string, aborted *atomic.Uint64, f func()) (done bool, err error) {
	under, n := usercode.Enter()
	ended := true
	defer func() {
		under.Leave()
		if ended && err == nil {
			aborted.Add(1)
		}
	}()
	defer func() {
		if !done && ended {
			if p := recover(); p != nil {
				err = fmt.Errorf("nib: %s panicked: %s", what, usercode.PanicText(p))
			}
		}
	}()
	if n > maxUser && usercode.FramesNamed(ownPrefix, "callUser") > maxUser {
		ended = false
		return false, nil
	}
	f()
	done, ended = true, false
	return true, nil
}

// readClock reads the clock of WithClock, and the system's if that one fails.
func (c *core) readClock() (t time.Time) {
	done, err := callUser("the clock", &c.state.aborted, func() { t = c.now() })
	if !done {
		t = time.Now()
	}
	if err != nil {
		c.report(err)
	}
	return t
}

// A userLeveler guards a Leveler that is not one of nib's or slog's. While it
// fails, every level is on.
type userLeveler struct {
	core *core
	of   slog.Leveler
}

// Level returns the level of the guarded Leveler.
func (u *userLeveler) Level() (level slog.Level) {
	level = slog.Level(minLevel)
	_, err := callUser("the leveler", &u.core.state.aborted, func() { level = u.of.Level() })
	if err != nil {
		u.core.report(err)
	}
	return level
}

// guardLeveler puts a userLeveler around a Leveler that may fail.
func (l *Logger) guardLeveler() {
	switch v := l.leveler.(type) {
	case nil, *LevelVar, *slog.LevelVar:
	case *userLeveler:
		l.leveler = &userLeveler{l.core, v.of}
	default:
		l.leveler = &userLeveler{l.core, v}
	}
}

// isReentrant reports whether a sink's error is or wraps ErrReentrant.
func (c *core) isReentrant(err error) (is bool) {
	_, _ = callUser("the error of a sink", &c.state.aborted, func() { is = errors.Is(err, ErrReentrant) })
	return is
}

// sample calls the sampler. If it panics, the event passes and the panic is
// reported.
func (l *Logger) sample(s Sampler, level Level) (keep bool) {
	done := false
	under, n := usercode.Enter()
	defer func() {
		under.Leave()
		if !done {
			if r := recover(); r != nil {
				keep = true
				l.core.report(fmt.Errorf("nib: the sampler panicked: %s", usercode.PanicText(r)))
			}
		}
	}()
	if n > maxUser && usercode.Frames((*Logger).sample) > maxUser { // it logs itself
		done = true
		return true
	}
	keep = s.Sample(level)
	done = true
	return keep
}

// callSink passes a record to the sink, which may be user code.
func (c *core) callSink(r *Record) (err error) {
	done := false
	defer func() {
		if !done {
			if p := recover(); p != nil {
				err = fmt.Errorf("nib: the sink panicked: %s", usercode.PanicText(p))
			} else {
				c.state.aborted.Add(1)
			}
		}
	}()
	err = c.out.sink.WriteRecord(r)
	done = true
	return err
}
