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
	if e != nil && e.beginField(key) {
		e.addObject(f)
	}
	return e
}

// Array adds an array whose elements f adds.
func (e *Event) Array(key string, f func(*Array)) *Event {
	if e != nil && e.beginField(key) {
		e.addArray(f)
	}
	return e
}

// Object adds an object whose fields m adds; nil is null.
func (e *Event) Object(key string, m Marshaler) *Event {
	if e != nil && e.beginField(key) {
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

// An Array adds the elements of an array. It must not be used after the
// function given to [Event.Array] has returned. A nil or zero Array adds
// nothing.
type Array Event

// element begins an element, or reports false if the array is closed.
func (a *Array) element() (*Event, bool) {
	e := (*Event)(a)
	if e == nil || e.log == nil {
		return nil, false
	}
	if e.depth < 0 || e.flags&(inArray|inValue) != inArray {
		// An Array that was kept runs outside of any guard.
		orLost(e.abort, func() { e.misused("an element was added to an array that is closed") })
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
