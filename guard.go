// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/plan"
	"github.com/nib-log/nib/internal/usercode"
)

// An event runs user code in guard, and nowhere else. If the code panics, the
// line contains "!PANIC: " and the text of the panic in place of the result; if
// it is nested too deep to be called, "!ERROR: …".
//
//	function      user code returns                 the text becomes
//	run           fields of this level              a field "panic" or "depth"
//	addContainer  the fields of an object or array  the value in its place
//	callText      a text: Error, String, MsgFunc    that text
//	callFormat    the arguments of Msgf             the message
//	callLogValue  a slog.Value                      the value, or null for a nil LogValuer
//	marshal       JSON                              the value, or a field "error"
//
// User code that ends its goroutine, with runtime.Goexit, ends the event too:
// the line is lost and counted, and the event goes to the garbage collector.
// Returned values may run user code as well: an error's text is taken under the
// guard of the method that has returned it.

const (
	panicKey = "panic"
	depthKey = "depth"
)

const (
	maxDepth      = 32           // nested containers and calls of user code
	maxValueDepth = maxDepth + 1 // the innermost container may have a value of user code

	// maxLines limits how many lines are built on one stack because user code logs
	// while its own line is built. A Stringer that logs itself would otherwise do
	// so until the stack is full, which ends the process.
	maxLines = 4
)

// guard calls f, and returns "" or the text of its panic. If the goroutine is
// ending, the event is aborted, and guard does not return either.
func (e *Event) guard(f func(*Event)) (text string) {
	done := false
	defer func() {
		if !done {
			text = e.recovered(recover())
		}
	}()
	f(e)
	done = true
	return ""
}

// recovered returns the text of a panic, or aborts the event if there is none.
func (e *Event) recovered(value any) (text string) {
	if value == nil || e.depth < 0 { // aborted by a guard further in
		e.abort()
	} else {
		orLost(e.abort, func() { text = "!PANIC: " + usercode.PanicText(value) })
	}
	return text
}

// A scope is the state that leave restores at the end of a level.
type scope struct {
	from         int // offset of a container's first byte
	reservedBits uint64
	place        flags
	tooDeep      int32
}

// enter begins a level, which is a container or a call of user code. It returns
// why it must not, if the line is full, e.depth has reached the limit, or, at
// the first level, user code logs while its own line is built (see maxLines).
//
// place says what the level contains (nested, inArray, inValue); 0 keeps what
// the outer level contains.
//
// Each refusal lowers the limit by one (e.tooDeep), until the outermost
// container ends or, outside of containers, the outermost call: without this a
// value with two references to itself would be expanded 2 to the 32 times.
func (e *Event) enter(limit int32, place flags) (s scope, why string) {
	if place&nested != 0 && (*parts)(e).isFull() {
		return s, largeText
	}
	if e.depth+e.tooDeep >= limit && e.depth > 0 {
		e.tooDeep++
		return s, "!ERROR: nested deeper than 32"
	}
	if e.depth == 0 {
		e.tooDeep = 0
		var n int
		e.user, n = usercode.EnterFor(usercode.Fields, e)
		const method = ownPrefix + "(*Event)."
		if n > maxLines && e.user.Correct(usercode.FramesNamed(method, "guard")) >= maxLines {
			e.user.Leave()
			e.log.core.state.reentrant.Add(1)
			return s, "!ERROR: logging leads to itself"
		}
	}
	e.depth++
	s = scope{len(e.buf), e.reservedBits, e.flags & inPlace, e.tooDeep}
	if place != 0 {
		e.reservedBits, e.flags = noneReserved, e.flags&^inArray|place
		if place != nested {
			e.reservedBits = allReserved
		}
	}
	return s, ""
}

// largeText stands in the place of what does not fit into a line.
const largeText = "!ERROR: too large"

// isFull reports whether the line has reached core.sizeLimit, and lets edits
// shorten it then. Without this limit, a value with many references to the same
// parts, which is small in memory, would be expanded without end.
func (p *parts) isFull() bool {
	if len(p.buf) <= p.log.core.sizeLimit {
		return false
	}
	p.Cut()
	return true
}

// Cut implements the Event of a plan.Line.
func (p *parts) Cut() { p.flags |= tooLarge }

// leave ends a level, unless the event has been aborted.
func (e *Event) leave(s scope) {
	if e.depth < 0 {
		return
	}
	if e.flags&^s.place&nested != 0 { // the outermost container ends
		e.tooDeep = s.tooDeep
	}
	e.reservedBits, e.flags = s.reservedBits, e.flags&^inPlace|s.place
	if e.depth--; e.depth == 0 {
		e.user.Leave()
	}
}

// run lets f add fields at this level.
func (e *Event) run(f func(*Event)) {
	if !e.isActive() {
		return
	}
	s, why := e.enter(maxDepth, 0)
	if why != "" { // a Marshaler that embeds itself, for example
		e.str(depthKey, why)
		return
	}
	text := e.guard(f)
	e.leave(s)
	if text != "" {
		e.str(panicKey, text)
	}
}

// beginContainer begins a container, unless that is too deep.
func (e *Event) beginContainer(array flags) (s scope, ok bool) {
	s, why := e.enter(maxDepth, array|nested)
	if why != "" {
		e.buf = jsonenc.AppendString(e.buf, why)
	}
	return s, why == ""
}

// addContainer appends the object or array that f fills.
func (e *Event) addContainer(array flags, brackets string, f func(*Event)) {
	s, text := e.enter(maxDepth, array|nested)
	if text != "" {
		e.buf = jsonenc.AppendString(e.buf, text)
		return
	}
	if text = e.guard(f); text == "" {
		e.enclose(s.from, brackets)
	} else {
		e.buf = jsonenc.AppendString(e.buf[:s.from], text)
	}
	e.leave(s)
}

func (e *Event) addObject(f func(*Event)) {
	if f == nil {
		e.null()
		return
	}
	e.addContainer(0, "{}", f)
}

func (e *Event) addArray(f func(*Array)) {
	if f == nil {
		e.null()
		return
	}
	e.addContainer(inArray, "[]", func(e *Event) { f((*Array)(e)) })
}

// addMarshaler appends the object that m fills.
func (e *Event) addMarshaler(m Marshaler) {
	if usercode.IsNil(m) {
		e.null()
		return
	}
	e.addObject(m.MarshalNib)
}

// call calls user code that returns the value of a field, and returns "" or the
// text in its place. The code cannot add fields to e: they would end up inside
// of the value.
func (e *Event) call(f func(*Event)) (text string) {
	s, text := e.enter(maxValueDepth, inValue)
	if text == "" {
		text = e.guard(f)
		e.leave(s)
	}
	return text
}

// callText calls a method that returns a text.
func (e *Event) callText(f func() string) (text string) {
	if instead := e.call(func(*Event) { text = f() }); instead != "" {
		return instead
	}
	return text
}

// callFormat formats a message, which may run methods of the arguments. Package
// fmt catches a panic in one of these, but not in a method of the panic's
// value.
func (e *Event) callFormat(dst []byte, format string, args []any) (text []byte) {
	if instead := e.call(func(*Event) { text = fmt.Appendf(dst, format, args...) }); instead != "" {
		return append(dst, instead...)
	}
	return text
}

// callLogValue calls LogValue, also on nil: some types allow such a receiver.
func (e *Event) callLogValue(lv slog.LogValuer) (v slog.Value) {
	instead := e.call(func(*Event) { v = lv.LogValue() })
	if instead != "" && !usercode.IsNil(lv) {
		return slog.StringValue(instead)
	}
	return v
}

// marshal returns the line with the value that encode appends to it by running
// user code. The error is a userError.
func (e *Event) marshal(encode func(dst []byte) ([]byte, error)) (buf []byte, err error) {
	instead := e.call(func(*Event) {
		if buf, err = encode(e.buf); err != nil {
			if errors.Is(err, plan.ErrDepth) {
				e.tooDeep++ // as enter does
			}
			err = userError(errorText(err)) // here, since it may call a method of the error
		}
	})
	if instead != "" {
		return e.buf, userError(instead)
	}
	return buf, err
}
