// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"fmt"
	"log/slog"
	"math"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/shortfmt"
	"github.com/nib-log/nib/internal/usercode"
)

// User code that an event calls runs in this file: in run, addContainer,
// callText, format, callLogValue and marshal, each time under a deferred
// function that distinguishes a panic from runtime.Goexit. recover returns nil
// for the latter, and the flag done is still false. What user code returns may
// run user code as well: an error's text is taken under the same guard as the
// method that returned it.

const (
	panicKey = "panic" // the field that reports that a callback has panicked
	depthKey = "depth" // the field in place of those embedded too deep
)

// maxUser is how many lines may be built on one stack because user code logs
// while its own line is built. A Stringer that logs itself would otherwise do
// so until the stack is full, which ends the process.
const maxUser = 4

// run lets f add fields at this level.
func (e *Event) run(f func(*Event)) {
	if !e.isActive() {
		return
	}
	if why := e.descend(maxDepth); why != "" { // a Marshaler that embeds itself, say
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
	e.ascend()
}

// fieldFailed adds a field that reports a panic in a callback that adds fields.
func (e *Event) fieldFailed(panicked any) {
	if text, ok := e.panicked(panicked); ok {
		e.ascend()
		e.str(panicKey, text)
	}
}

// runHooks runs the hooks; one that panics does not keep the others from
// running.
func (e *Event) runHooks(msg string) {
	for _, h := range e.log.core.hooks {
		e.run(func(e *Event) { h.Run(e, e.level, msg) })
	}
}

// descend begins a level, which is a container or a call of user code, or
// returns why there must be none. Each time the limit is reached, it is lowered
// for the rest of the field: a value that contains itself twice would otherwise
// be followed 2 to the 32 times. The first level counts the lines that are
// being built on this stack.
func (e *Event) descend(limit int32) (why string) {
	if e.depth+e.tooDeep >= limit && e.depth > 0 {
		e.tooDeep++
		return "!ERROR: nested deeper than 32"
	}
	if e.depth == 0 {
		e.tooDeep = 0
		s, n := usercode.Enter()
		if n > maxUser && usercode.FramesNamed(ownPrefix+"(*Event).",
			"run", "addContainer", "callText", "format", "marshal", "callLogValue") > maxUser {
			s.Leave()
			e.log.core.state.reentrant.Add(1)
			return "!ERROR: logging leads to itself"
		}
		e.user = s
	}
	e.depth++
	return ""
}

// ascend ends a level, unless the goroutine is ending with it.
func (e *Event) ascend() {
	if e.depth > 0 {
		if e.depth--; e.depth == 0 {
			e.user.Leave()
		}
	}
}

// panicked turns a recovered panic into text. If value is nil, the goroutine is
// ending with runtime.Goexit: the line is lost, is counted, and the event goes
// to the garbage collector, since outer callbacks of the same event will still
// return.
func (e *Event) panicked(value any) (text string, alive bool) {
	if e.depth < 0 {
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
	e.depth, e.reservedBits = idle, math.MaxUint64
}

// A scope is a level, with the state to restore at its end.
type scope struct {
	from         int // offset of a container's first byte
	reservedBits uint64
	outer        flags // inArray and nested, or inValue, of the enclosing level
}

// beginContainer begins a container at the end of the line, unless that is too deep.
func (e *Event) beginContainer(array flags) (s scope, ok bool) {
	if why := e.descend(maxDepth); why != "" {
		e.buf = jsonenc.AppendString(e.buf, why)
		return s, false
	}
	s = scope{len(e.buf), e.reservedBits, e.flags & (inArray | nested)}
	e.flags = e.flags&^inArray | array | nested
	e.reservedBits = 0
	if array != 0 {
		e.reservedBits = math.MaxUint64
	}
	return s, true
}

// endContainer writes the brackets of the container.
func (e *Event) endContainer(s scope, brackets string) {
	if len(e.buf) == s.from {
		e.buf = append(e.buf, brackets...)
	} else {
		e.buf[s.from] = brackets[0]
		e.buf = append(e.buf, brackets[1])
	}
	e.restore(s)
}

// failContainer replaces the container with the text of the panic.
func (e *Event) failContainer(s scope, panicked any) {
	if text, ok := e.panicked(panicked); ok {
		e.buf = jsonenc.AppendString(e.buf[:s.from], text)
		e.restore(s)
	}
}

func (e *Event) restore(s scope) {
	e.ascend()
	e.reservedBits, e.flags = s.reservedBits, e.flags&^(inArray|nested)|s.outer
}

// addContainer appends the object or array that f fills.
func (e *Event) addContainer(array flags, brackets string, f func(*Event)) {
	s, ok := e.beginContainer(array)
	if !ok {
		return
	}
	done := false
	defer func() {
		if !done {
			e.failContainer(s, recover())
		}
	}()
	f(e)
	done = true
	e.endContainer(s, brackets)
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
	if text, done := shortfmt.Append(dst, format, args); done {
		return text
	}
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

// callLogValue guards LogValue. It also calls LogValue on nil, which is a valid
// receiver of some types. If that panics, the value is null.
func (e *Event) callLogValue(lv slog.LogValuer) (v slog.Value) {
	done := false
	if why := e.descend(maxDepth + 1); why != "" {
		return slog.StringValue(why)
	}
	defer func() {
		if !done {
			text, alive := e.panicked(recover())
			if v = slog.StringValue(text); alive && usercode.IsNil(lv) {
				v = slog.Value{}
			}
		}
		e.ascend()
	}()
	v = lv.LogValue()
	done = true
	return v
}

// marshal calls encode, which runs user code and appends to the line, and
// passes set its result, or the text of a panic as an error.
func (e *Event) marshal(encode func(dst []byte) ([]byte, error), set func(e *Event, buf []byte, err error)) {
	done := false
	s, why := e.suspend()
	if why != "" {
		set(e, e.buf, userError(why))
		return
	}
	defer func() {
		if !done {
			if text, alive := e.panicked(recover()); alive {
				set(e, e.buf, userError(text))
			}
		}
		e.resume(s)
	}()
	buf, err := encode(e.buf)
	if err != nil {
		err = userError(errorText(err)) // here, since it may call a method of what user code returned
	}
	done = true
	set(e, buf, err)
}

// suspend keeps user code that returns the value of a field from adding fields
// to the same event: they would end up inside that value.
func (e *Event) suspend() (s scope, why string) {
	if why = e.descend(maxDepth + 1); why == "" {
		s = scope{reservedBits: e.reservedBits, outer: e.flags & inValue}
		e.reservedBits, e.flags = math.MaxUint64, e.flags|inValue
	}
	return s, why
}

func (e *Event) resume(s scope) {
	if e.depth > 0 { // otherwise the goroutine is ending
		e.reservedBits, e.flags = s.reservedBits, e.flags&^inValue|s.outer
		e.ascend()
	}
}
