// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"fmt"

	"github.com/nib-log/nib/internal/invariants"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/shortfmt"
)

// Msg writes the line with message msg. The event must not be used afterwards.
// 0 allocs.
func (e *Event) Msg(msg string) {
	if e != nil {
		e.finish(msg, withMessage)
	}
}

// Send writes the line without a message, or with the message of its [Entry].
// The event must not be used afterwards.
func (e *Event) Send() {
	if e == nil {
		return
	}
	if e.flags&isEntry == 0 || e.depth != 0 {
		e.finish("", noMessage)
		return
	}
	msg := e.message
	e.message, e.flags = "", e.flags&^isEntry
	e.finish(msg, withMessage)
}

// Msgf writes the line with a message that package fmt formats. fmt overflows
// the stack on a value that contains itself: use Any for such values. Go boxes
// each argument that is not a constant or a pointer before nib is called, even
// if the level is off; the typed field methods and Msg have no such cost.
func (e *Event) Msgf(format string, args ...any) {
	if false {
		_ = fmt.Sprintf(format, args...) // makes go vet check the formats of callers
	}
	if e == nil || e.depth != 0 && !e.finishable() {
		return
	}
	text, done := shortfmt.Append(e.scratch[:0], format, args)
	if done && e.log.plain && e.flags&(thenPanic|thenExit) == 0 && cap(text) <= keepSize {
		e.scratch = text
		e.finish(jsonenc.View(text), withMessage)
		return
	}
	e.scratch = nil // a nested use of the event must not overwrite text
	if !done {
		text = e.callFormat(text, format, args)
	}
	msg := ""
	if e.flags&(thenPanic|thenExit) != 0 || len(e.log.core.hooks) > 0 {
		// A panic value or a hook may keep the message.
		msg = string(text)
	}
	e.addEpilogue(msg)
	e.addMessage(jsonenc.View(text))
	e.keepScratch(text)
	e.completeAndAct(msg)
}

// MsgFunc writes the line with the message that f returns, if the level is on.
func (e *Event) MsgFunc(f func() string) {
	if e == nil || !e.finishable() {
		return
	}
	msg := ""
	if f != nil {
		msg = e.callText(f)
	}
	e.finish(msg, withMessage)
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

const noMessage, withMessage = false, true // whether finish adds its message

// finish completes a line, writes it, and then panics or exits for Panic and
// Fatal. For a plain line it contains the code of complete, write to
// io.Discard, and release: calling them would cost a tenth of its time.
func (e *Event) finish(msg string, message bool) {
	l := e.log
	if e.depth != 0 || e.flags&notPlain != 0 || !l.plain {
		e.finishRare(msg, message)
		return
	}
	c, buf := l.core, e.buf
	if f := c.format; message && e.flags&hasMessage == 0 && f.messageKey != "" {
		from := len(buf) + len(f.messageKey)
		buf = jsonenc.AppendTextString(buf, &f.messageText, msg)
		e.flags |= hasMessage
		e.messageAt, e.messageEnd = from+1, len(buf)-1
	} else if len(buf) == 0 {
		buf = append(buf, '{')
	}
	e.buf = closeLine(buf)
	if w := c.out.discard; w != nil {
		_, _ = w.Write(e.buf)
	} else {
		c.write(e)
	}
	if invariants.Enabled || cap(e.buf) > keepSize {
		e.release()
	} else {
		e.recycle()
	}
}

// finishRare is finish for a line that is not plain: it is muted, something in
// it changes or moves, or something follows it.
func (e *Event) finishRare(msg string, message bool) {
	if e.depth != 0 && !e.finishable() {
		return
	}
	e.addEpilogue(msg)
	if message {
		e.addMessage(msg)
	}
	e.completeAndAct(msg)
}

// closeLine writes the outer braces and the newline. The opening brace replaces
// buf[0], which is the comma of the first field or the brace of a reused front.
func closeLine(buf []byte) []byte {
	buf = append(buf, "}\n"...)
	buf[0] = '{'
	return buf
}

// complete ends any line, writes it, and releases the event.
func (e *Event) complete() {
	c := e.log.core
	e.moveMessage()
	if len(e.buf) == 0 {
		e.buf = append(e.buf, '{')
	}
	e.buf = closeLine(e.buf)
	if e.flags&muted == 0 {
		if c.edits.any() || e.flags&tooLarge != 0 {
			e.writeEdited()
		} else {
			c.write(e)
		}
	}
	e.release()
}

// completeAndAct is complete, followed by the panic or the exit.
func (e *Event) completeAndAct(msg string) {
	l, how := e.log, e.flags
	if how&thenExit != 0 {
		defer l.act(how, msg) // even if a sink ends the goroutine
		e.flags &^= thenExit  // if the clock ends the goroutine, abort runs as well: exit only once
	}
	e.complete()
	if how&thenPanic != 0 {
		l.act(how, msg)
	}
}

// addEpilogue adds the rare parts between the fields and the message: the
// fields of hooks, the ends of groups, a stack.
func (e *Event) addEpilogue(msg string) {
	c := e.log.core
	if e.flags&muted == 0 {
		for _, h := range c.hooks { // all of them, whichever panics
			e.run(func(e *Event) { h.Run(e, e.level, msg) })
		}
	}
	if e.log.groups.any() {
		e.closeGroups()
		for _, l := range e.carried {
			e.addCarried(l)
		}
		clear(e.carried)
		e.carried = e.carried[:0]
	}
	if e.level >= c.stackFrom {
		e.Stack() // at the top, not in a group
	}
}

// addMessage adds the message, if lines have one.
func (e *Event) addMessage(msg string) {
	if f := e.log.core.format; f.messageKey != "" && e.flags&hasMessage == 0 {
		from := len(e.buf) + len(f.messageKey)
		e.buf = jsonenc.AppendTextString(e.buf, &f.messageText, msg)
		e.markMessage(from)
	}
}

// markMessage records the position of the quoted message.
func (e *Event) markMessage(from int) {
	e.flags |= hasMessage
	e.messageAt, e.messageEnd = from+1, len(e.buf)-1
}
