// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"math"
	"os"
	"time"

	"github.com/nib-log/nib/internal/invariants"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/lastresort"
)

// Msg writes the line with message msg. The event must not be used afterwards.
// 0 allocs.
func (e *Event) Msg(msg string) {
	if e != nil {
		e.finish(msg, plainMessage)
	}
}

// Send writes the line without a message, or with that of an [Entry]. The event
// must not be used afterwards.
func (e *Event) Send() {
	if e == nil {
		return
	}
	if e.flags&isEntry == 0 {
		e.finish("", noMessage)
		return
	}
	msg := e.message
	e.message = ""
	e.finish(msg, plainMessage)
}

// Msgf writes the line with a message that package fmt formats. fmt overflows
// the stack on a value that contains itself: use Any for such values. Go boxes
// each argument that is not a constant or a pointer before nib is called, even
// if the level is off; the typed field methods and Msg have no such cost.
func (e *Event) Msgf(format string, args ...any) {
	if e == nil || !e.finishable() {
		return
	}
	ended := true
	if e.flags&thenExit != 0 {
		defer e.log.exitIf(thenExit, &ended)
	}
	text := e.scratch[:0]
	e.scratch = nil // a nested use of the event must not reach it
	text = e.format(text, format, args)
	ended = false
	msg := ""
	if e.flags&(thenPanic|thenExit) != 0 || len(e.log.core.hooks) > 0 {
		msg = string(text)
	}
	e.addEpilogue(msg)
	e.addFormatted(text)
	e.completeAndAct(msg)
}

// MsgFunc writes the line with the message that f returns. f does not run when
// the level is off.
func (e *Event) MsgFunc(f func() string) {
	if e == nil || !e.finishable() {
		return
	}
	ended := true
	if e.flags&thenExit != 0 {
		defer e.log.exitIf(thenExit, &ended)
	}
	msg := ""
	if f != nil {
		msg = e.callText(f)
	}
	ended = false
	e.finish(msg, plainMessage)
}

// finishable reports whether the line may be written now: not if the event is
// finished, and not inside a callback that only adds fields.
func (e *Event) finishable() bool {
	if e.depth == 0 {
		return true
	}
	if e.depth < 0 {
		e.misused("Msg or Send was called on a finished event")
	} else {
		e.misused("Msg or Send was called inside a function that only adds fields")
	}
	return false
}

const noMessage, plainMessage = false, true // whether finish adds its message

// finish completes a line, writes it, and then panics or exits for Panic and
// Fatal. For the usual line it contains the steps of complete, core.write and
// release: without these calls a bare line takes a fifth less.
func (e *Event) finish(msg string, message bool) {
	if e.depth != 0 && !e.finishable() {
		return
	}
	if e.log.hasEpilogue {
		e.addEpilogue(msg)
	}
	c, buf := e.log.core, e.buf
	if f := c.format; message && e.flags&hasMessage == 0 && f.messageKey != "" {
		from := len(buf) + len(f.messageKey)
		buf = jsonenc.AppendTextString(buf, &f.messageText, msg)
		e.flags |= hasMessage
		e.messageAt, e.messageEnd = from+1, len(buf)-1
	}
	if e.flags&(thenPanic|thenExit|muted) != 0 || len(buf) == 0 ||
		c.needsEdit && (e.flags&messageFirst == 0 || c.edits.any()) {
		e.buf = buf
		e.completeAndAct(msg)
		return
	}
	buf = append(buf, "}\n"...)
	buf[0] = '{'
	e.buf = buf
	if w := c.out.discard; w != nil {
		_, _ = w.Write(buf)
	} else {
		c.write(e)
	}
	if invariants.Enabled || cap(e.buf) > keepSize {
		e.release()
		return
	}
	e.depth, e.reservedBits, e.flags, e.log = idle, math.MaxUint64, 0, idleLogger
	eventPool.Put(e)
}

// complete is the end of finish for any line.
func (e *Event) complete() {
	c := e.log.core
	if c.needsEdit {
		e.moveMessage()
	}
	if len(e.buf) == 0 {
		e.buf = append(e.buf, '{')
	}
	e.buf = append(e.buf, "}\n"...)
	e.buf[0] = '{'
	if e.flags&muted == 0 {
		if c.edits.any() {
			e.edit()
		}
		c.write(e)
	}
	e.release()
}

// completeAndAct is complete, followed by what Panic and Fatal do.
func (e *Event) completeAndAct(msg string) {
	l, how := e.log, e.flags
	if how&(thenPanic|thenExit) == 0 {
		e.complete()
		return
	}
	ended := true
	defer l.exitIf(how, &ended)
	e.complete()
	ended = false
	l.act(how, msg)
}

// addFormatted adds the message field of a formatted text, and keeps its memory
// for the next one.
func (e *Event) addFormatted(text []byte) {
	if key := e.log.core.format.messageKey; key != "" && e.flags&hasMessage == 0 {
		from := len(e.buf) + len(key)
		e.buf = jsonenc.AppendBytes(append(e.buf, key...), text)
		e.markMessage(from)
	}
	if cap(text) <= keepSize {
		e.scratch = text
	}
}

// addEpilogue adds what few loggers have between the fields and the message:
// the fields of hooks, the ends of groups, a stack.
func (e *Event) addEpilogue(msg string) {
	c := e.log.core
	if len(c.hooks) > 0 && e.flags&muted == 0 {
		ended := true
		defer e.log.exitIf(e.flags, &ended)
		e.runHooks(msg)
		ended = false
	}
	if e.log.groups.any() {
		e.closeGroups()
		if e.carried != nil {
			e.addCarried()
		}
	}
	if e.level >= c.stackFrom {
		e.Stack() // at the top, not in a group
	}
}

// markMessage records the position of the quoted message.
func (e *Event) markMessage(from int) {
	e.flags |= hasMessage
	e.messageAt, e.messageEnd = from+1, len(e.buf)-1
}

// exitIf is deferred while Fatal runs user code: if that ends the goroutine,
// the process exits nevertheless.
func (l *Logger) exitIf(then flags, ended *bool) {
	if *ended && then&thenExit != 0 {
		l.act(then, "")
	}
}

// act flushes, and then panics or ends the process.
func (l *Logger) act(then flags, msg string) {
	l.flushFinal()
	if then&thenPanic != 0 {
		panic(msg)
	}
	lastresort.Flush()
	exit := l.core.exit
	if exit == nil {
		exit = os.Exit
	}
	exit(1)
}

// finalFlush is how long Panic and Fatal wait for sinks to flush.
const finalFlush = 5 * time.Second

// flushFinal flushes before the program may end.
func (l *Logger) flushFinal() {
	ctx, cancel := context.WithTimeout(context.Background(), finalFlush)
	defer cancel()
	if err := l.core.out.flush(ctx); err != nil {
		l.core.report(err)
	}
}
