// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/usercode"
)

// A Marshaler writes itself as fields of an event. It only adds fields, keeps
// no copy of e, and may panic: the line then contains the text of the panic. It
// is used for the value given to Any, Object and EmbedObject.
type Marshaler interface {
	MarshalNib(e *Event)
}

// Dict adds an object whose fields f adds. Containers may be nested 32 deep; a
// deeper one is replaced by an error text.
func (e *Event) Dict(key string, f func(*Event)) *Event {
	if e != nil && e.open(key) {
		e.addObject(f)
	}
	return e
}

// Array adds an array whose elements f adds.
func (e *Event) Array(key string, f func(*Array)) *Event {
	if e != nil && e.open(key) {
		e.addArray(f)
	}
	return e
}

// Object adds an object whose fields m adds; nil is null.
func (e *Event) Object(key string, m Marshaler) *Event {
	if e != nil && e.open(key) {
		e.addMarshaler(m)
	}
	return e
}

// EmbedObject adds the fields of m at this level; a nil one has none.
func (e *Event) EmbedObject(m Marshaler) *Event {
	if e != nil && !usercode.IsNil(m) {
		e.run(m.MarshalNib)
	}
	return e
}

// Func calls f, which adds fields, unless the level is off.
func (e *Event) Func(f func(*Event)) *Event {
	if e != nil && f != nil {
		e.run(f)
	}
	return e
}

// A scope is an open container, with the state to restore at its end.
type scope struct {
	from    int // offset of its opening byte
	watched uint64
	outer   flags // inArray and nested of the enclosing container
}

// enter opens a container at the end of the line, unless that is too deep.
func (e *Event) enter(array flags) (s scope, ok bool) {
	if why := e.enterUserCode(maxDepth); why != "" {
		e.buf = jsonenc.AppendString(e.buf, why)
		return s, false
	}
	s = scope{len(e.buf), e.watched, e.flags & (inArray | nested)}
	e.flags = e.flags&^inArray | array | nested
	e.watched = 0
	if array != 0 {
		e.watched = ^e.watched
	}
	return s, true
}

// leave closes the container.
func (e *Event) leave(s scope, brackets string) {
	if len(e.buf) == s.from {
		e.buf = append(e.buf, brackets...)
	} else {
		e.buf[s.from] = brackets[0]
		e.buf = append(e.buf, brackets[1])
	}
	e.restore(s)
}

func (e *Event) restore(s scope) {
	e.leaveUserCode()
	e.watched, e.flags = s.watched, e.flags&^(inArray|nested)|s.outer
}

// fail replaces the container with the text of the panic.
func (e *Event) fail(s scope, panicked any) {
	if text, ok := e.panicked(panicked); ok {
		e.buf = jsonenc.AppendString(e.buf[:s.from], text)
		e.restore(s)
	}
}

// addObject appends the object that f fills.
func (e *Event) addObject(f func(*Event)) {
	if f == nil {
		e.null()
		return
	}
	s, ok := e.enter(0)
	if !ok {
		return
	}
	done := false
	defer func() {
		if !done {
			e.fail(s, recover())
		}
	}()
	f(e)
	done = true
	e.leave(s, "{}")
}

// addMarshaler appends the object that m fills.
func (e *Event) addMarshaler(m Marshaler) {
	if usercode.IsNil(m) {
		e.null()
		return
	}
	e.addObject(m.MarshalNib)
}

// addArray appends the array that f fills.
func (e *Event) addArray(f func(*Array)) {
	if f == nil {
		e.null()
		return
	}
	s, ok := e.enter(inArray)
	if !ok {
		return
	}
	done := false
	defer func() {
		if !done {
			e.fail(s, recover())
		}
	}()
	f((*Array)(e))
	done = true
	e.leave(s, "[]")
}

// An Array adds the elements of an array. It must not be used after the
// function given to [Event.Array] has returned.
type Array Event

// element begins an element, or reports false if the array is closed.
func (a *Array) element() (*Event, bool) {
	e := (*Event)(a)
	if e == nil {
		return nil, false
	}
	if e.nest < 0 || e.flags&(inArray|inValue) != inArray {
		e.misused("an element was added to an array that is closed")
		return nil, false
	}
	e.buf = append(e.buf, ',')
	return e, true
}

// Str adds a string.
func (a *Array) Str(val string) *Array {
	if e, ok := a.element(); ok {
		e.buf = jsonenc.AppendString(e.buf, val)
	}
	return a
}

// Int adds a number.
func (a *Array) Int(val int64) *Array {
	if e, ok := a.element(); ok {
		e.buf = jsonenc.AppendInt(e.buf, val)
	}
	return a
}

// Uint adds a number.
func (a *Array) Uint(val uint64) *Array {
	if e, ok := a.element(); ok {
		e.buf = jsonenc.AppendUint(e.buf, val)
	}
	return a
}

// Float adds a number as Event.Float64 writes it.
func (a *Array) Float(val float64) *Array {
	if e, ok := a.element(); ok {
		e.buf = jsonenc.AppendFloat64(e.buf, val)
	}
	return a
}

// Bool adds a boolean.
func (a *Array) Bool(val bool) *Array {
	if e, ok := a.element(); ok {
		e.buf = jsonenc.AppendBool(e.buf, val)
	}
	return a
}

// Time adds a time.
func (a *Array) Time(val time.Time) *Array {
	if e, ok := a.element(); ok {
		e.addTime(val)
	}
	return a
}

// Dur adds a duration.
func (a *Array) Dur(val time.Duration) *Array {
	if e, ok := a.element(); ok {
		e.buf = e.log.core.format.appendDuration(e.buf, val)
	}
	return a
}

// Err adds the text of an error; nil is null.
func (a *Array) Err(err error) *Array {
	if e, ok := a.element(); ok {
		e.addError(err)
	}
	return a
}

// Any adds any value as Event.Any does.
func (a *Array) Any(val any) *Array {
	if e, ok := a.element(); ok {
		e.addAny(val)
	}
	return a
}

// Object adds an object; nil is null.
func (a *Array) Object(m Marshaler) *Array {
	if e, ok := a.element(); ok {
		e.addMarshaler(m)
	}
	return a
}

// Dict adds an object whose fields f adds.
func (a *Array) Dict(f func(*Event)) *Array {
	if e, ok := a.element(); ok {
		e.addObject(f)
	}
	return a
}

// Array adds an array whose elements f adds.
func (a *Array) Array(f func(*Array)) *Array {
	if e, ok := a.element(); ok {
		e.addArray(f)
	}
	return a
}

// Null adds a null.
func (a *Array) Null() *Array {
	if e, ok := a.element(); ok {
		e.null()
	}
	return a
}
