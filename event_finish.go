// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"context"
	"math"
	"os"
	"time"

	"github.com/nib-log/nib/internal/invariants"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/lastresort"
)

// finalFlush is how long Panic and Fatal wait for sinks to flush.
const finalFlush = 5 * time.Second

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

// exitIf is deferred while Fatal runs user code: if that ends the goroutine,
// the process exits nevertheless.
func (l *Logger) exitIf(then flags, ended *bool) {
	if *ended && then&thenExit != 0 {
		l.act(then, "")
	}
}

// finishable reports whether the line may be written now: not if the event is
// finished, and not inside a callback that only adds fields.
func (e *Event) finishable() bool {
	if e.nest == 0 {
		return true
	}
	if e.nest < 0 {
		e.misused("Msg or Send was called on a finished event")
	} else {
		e.misused("Msg or Send was called inside a function that only adds fields")
	}
	return false
}

const noMessage, plainMessage = false, true // whether finish adds its message

// finish completes a line, writes it, and then panics or exits for Panic and
// Fatal. It contains the steps of the usual line instead of calling addMessage,
// core.write, complete and release: four calls fewer save a fifth of a bare
// line.
func (e *Event) finish(msg string, message bool) {
	if e.nest != 0 && !e.finishable() {
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
	if e.flags&(thenPanic|thenExit|muted) != 0 || c.needsEdit || len(buf) == 0 {
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
	e.nest, e.watched, e.flags, e.log = idle, math.MaxUint64, 0, idleLogger
	eventPool.Put(e)
}

// finishEncoded is finish for a message field that is encoded already, with the
// end of the line. Lines that are not the usual one cannot use it.
func (e *Event) finishEncoded(msg, encoded string) {
	c := e.log.core
	if e.log.hasEpilogue || e.flags&muted != 0 || c.needsEdit || encoded == "" {
		e.finish(msg, plainMessage)
		return
	}
	from := len(e.buf) + len(c.format.messageKey)
	e.buf = append(e.buf, encoded...)
	e.buf[0] = '{'
	e.flags |= hasMessage
	e.messageAt, e.messageEnd = from+1, len(e.buf)-len(`"}`+"\n")
	c.write(e)
	e.release()
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
	if e.log.open+e.log.waiting > 0 {
		e.closeGroups()
	}
	if e.level >= c.stackFrom {
		e.Stack() // at the top, not in a group
	}
}

// addMessage appends the message field.
func (e *Event) addMessage(msg string) {
	key := e.log.core.format.messageKey
	if key == "" {
		return
	}
	from := len(e.buf) + len(key)
	e.buf = jsonenc.AppendKeyString(e.buf, e.log.core.format.MessageKey, msg)
	e.markMessage(from)
}

// markMessage records the position of the quoted message.
func (e *Event) markMessage(from int) {
	e.flags |= hasMessage
	e.messageAt, e.messageEnd = from+1, len(e.buf)-1
}

// closeGroups closes the groups of Logger.WithGroup and removes those without
// fields.
func (e *Event) closeGroups() {
	l := e.log
	open := l.open
	if l.waiting > 0 {
		if len(e.buf) == e.body {
			e.buf = e.buf[:e.body-len(l.pending)]
		} else {
			e.buf[e.body] = '{'
			open += l.waiting
		}
	}
	for range open {
		e.buf = append(e.buf, '}')
	}
	if e.carried != nil {
		e.watched = l.core.format.watched // the fields are at the top level again
		e.addCarried()
	}
}

// complete closes the object, edits and writes the line, and gives the event
// back.
func (e *Event) complete() {
	c := e.log.core
	if c.format.MessageFirst && e.flags&(hasMessage|messageFirst) == hasMessage {
		e.moveMessage(len(c.format.messageKey))
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

// moveMessage moves the message field in front of the fields.
func (e *Event) moveMessage(key int) {
	from := e.messageAt - 1 - key
	fields, size := from-e.head, len(e.buf)-from
	e.buf = append(e.buf, e.buf[e.head:from]...)
	copy(e.buf[e.head:], e.buf[from:])
	e.buf = e.buf[:e.head+size+fields]
	e.messageAt, e.messageEnd = e.messageAt-fields, e.messageEnd-fields
}

// completeAndAct is complete, followed by what Panic and Fatal do.
func (e *Event) completeAndAct(msg string) {
	l, then := e.log, e.flags
	if then&(thenPanic|thenExit) == 0 {
		e.complete()
		return
	}
	ended := true
	defer l.exitIf(then, &ended)
	e.complete()
	ended = false
	l.act(then, msg)
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

// flushFinal flushes before the program may end.
func (l *Logger) flushFinal() {
	ctx, cancel := context.WithTimeout(context.Background(), finalFlush)
	defer cancel()
	if err := l.Flush(ctx); err != nil {
		l.core.report(err)
	}
}

// fill fills the Record of the finished line.
func (e *Event) fill() *Record {
	sec, nsec := e.time()
	r := &e.record
	r.Time, r.Level, r.PC, r.Logger = unixNano(sec, nsec), e.level, 0, e.log.name
	r.Line, r.Message = e.buf, nil
	if e.flags&hasCaller != 0 {
		r.PC = e.pc
	}
	if e.flags&hasMessage != 0 {
		r.Message = e.buf[e.messageAt:e.messageEnd]
	}
	return r
}

// unixNano saturates outside the range of an int64.
func unixNano(sec int64, nsec int32) int64 {
	const last = math.MaxInt64 / 1_000_000_000
	switch {
	case sec >= last:
		return math.MaxInt64
	case sec <= -last:
		return math.MinInt64
	}
	return sec*1_000_000_000 + int64(nsec)
}

// edits are what a logger changes in a finished line.
type edits struct {
	duplicates jsonread.Policy
	redact     *jsonread.Keys // made of keys
	keys       []string
	max        int
}

func (x *edits) any() bool { return x.duplicates != jsonread.KeepAll || x.redact != nil || x.max > 0 }

// edit edits the finished line; each step writes from one of the event's two
// buffers into the other.
func (e *Event) edit() {
	c := e.log.core
	x := &c.edits
	if e.edited == nil {
		e.edited = new(jsonread.Scratch)
	}
	if x.redact != nil {
		e.replace(jsonread.Redact(e.scratch[:0], e.buf, x.redact))
	}
	if x.duplicates != jsonread.KeepAll {
		e.replace(jsonread.Duplicates(e.scratch[:0], e.buf, x.duplicates, e.edited))
	}
	if x.max > 0 && len(e.buf) > x.max {
		e.replace(jsonread.Shorten(e.scratch[:0], e.buf, x.max, c.format.class, e.edited))
	}
	if e.edited.Size() > keepSize {
		e.edited = nil
	}
	if e.flags&hasMessage != 0 {
		e.findMessage()
	}
}

// replace swaps the buffers: line, written into scratch, becomes the line. The
// next line cannot reuse its front.
func (e *Event) replace(line []byte) {
	e.scratch, e.buf, e.front.of = e.buf, line, 0
	if cap(e.scratch) > keepSize {
		e.scratch = nil
	}
}

// findMessage finds the message in the edited line, if it is still there.
func (e *Event) findMessage() {
	from, end, ok := jsonread.Locate(e.buf, e.log.core.format.MessageKey)
	if !ok {
		e.flags &^= hasMessage
		return
	}
	e.messageAt, e.messageEnd = from+1, end-1
}

// class returns the truncation priority of a top-level field.
func (f *format) class(key []byte) jsonread.Class {
	switch string(key) {
	case f.TimeKey, f.LevelKey, f.LoggerKey, f.CallerKey:
		return jsonread.Never
	case f.MessageKey:
		return jsonread.Late
	}
	if f.siteKeys.has(string(key)) {
		return jsonread.Never
	}
	return jsonread.Free
}
