// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"reflect"
	"time"

	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/plan"
	"github.com/nib-log/nib/internal/usercode"
)

// Val adds a value of any type, as [Event.Any] does but without the box: a
// scalar, string, time, struct, slice or array is encoded where it is, and when
// the level is off nothing happens at all. Structs are encoded by a plan that
// is made when their type is first seen; package schema documents the supported
// tags and the differences from encoding/json. 0 allocs, or 1 for a value with
// methods that take part in the encoding (a [Marshaler], json.Marshaler, error,
// …) or with something in it that may have such methods.
func Val[T any](e *Event, key string, v T) *Event {
	if e == nil || !e.open(key) {
		return e
	}
	switch p := any(&v).(type) {
	case *string:
		e.buf = jsonenc.AppendString(e.buf, *p)
	case *bool:
		e.buf = jsonenc.AppendBool(e.buf, *p)
	case *int:
		e.buf = jsonenc.AppendInt(e.buf, int64(*p))
	case *int64:
		e.buf = jsonenc.AppendInt(e.buf, *p)
	case *uint64:
		e.buf = jsonenc.AppendUint(e.buf, *p)
	case *float64:
		e.buf = jsonenc.AppendFloat64(e.buf, *p)
	case *time.Time:
		e.addTime(*p)
	case *time.Duration:
		e.buf = e.log.core.format.appendDuration(e.buf, *p)
	default:
		addValue(e, v)
	}
	return e
}

// addValue appends a value that is not a basic type.
func addValue[T any](e *Event, v T) {
	switch p := plan.ForIn[T](e.log.core.format.plans); {
	case p.Plain() && !hasOwnText[T](p):
		buf, err := plan.AppendValue(p, e.buf, v, maxDepth-int(e.nest))
		e.setValue(buf, err)
	case p.Locked():
		e.buf = jsonenc.AppendString(e.buf, "!ERROR: "+p.Type().String()+" has a lock, which its copy shares: use Object, or a pointer")
	case p.Type().Kind() == reflect.Struct: // methods with a pointer receiver count
		boxed := new(T)
		*boxed = v
		e.addAny(boxed)
	default:
		e.addAny(v)
	}
}

// hasOwnText reports whether T may have methods of nib or an error's, which its
// plan does not call. A pointer or interface may, and needs no box.
func hasOwnText[T any](p *plan.Plan) bool {
	if k := p.Type().Kind(); k == reflect.Pointer || k == reflect.Interface {
		return true
	}
	if p.Methods() {
		switch any((*T)(nil)).(type) {
		case Marshaler, error:
			return true
		}
	}
	return false
}

// Inline adds the fields of a struct, or of the struct that v points to, at
// this level, at the cost of Val; a nil pointer has none. Keys that nib
// reserves are renamed as in any field.
func Inline[T any](e *Event, v T) *Event {
	if !e.isOpen() {
		return e
	}
	if e.flags&(inArray|inValue) != 0 {
		e.checkKey("") // reports the misuse
		return e
	}
	from, depth := len(e.buf), maxDepth-int(e.nest)
	p := plan.ForIn[T](e.log.core.format.plans)
	if p.Plain() {
		buf, err := plan.AppendFieldsOf(p, e.buf, v, depth)
		e.setFields(buf, err)
	} else {
		e.marshal(func(dst []byte) ([]byte, error) { return plan.AppendFieldsOf(p, dst, v, depth) }, (*Event).setFields)
	}
	if e.watched != 0 {
		if c := e.log.core.format.clashes(p.Pointee()); c != 0 {
			e.settle(from, c)
		}
	}
	return e
}

// A clash is the set of keys of a struct that a layout reserves.
type clash uint8

const (
	clashOwn   clash = 1 << iota // keys of nib's own fields
	clashError                   // keys of errors
)

// clashes returns which keys of a struct are reserved.
func (f *format) clashes(p *plan.Plan) (c clash) {
	if known := f.clashing.Get(p.ID()); known != nil {
		return *known
	}
	for _, field := range p.Fields() {
		if f.reserved.has(field.Name) {
			c |= clashOwn
		}
		if f.errors.has(field.Name) {
			c |= clashError
		}
	}
	return *f.clashing.Put(p.ID(), c)
}

// settle renames the fields in buf[from:] that have reserved keys.
func (e *Event) settle(from int, c clash) {
	f := e.log.core.format
	if c&clashOwn != 0 {
		e.buf = append(e.buf[:from], f.reserved.rename(string(e.buf[from:]), "")...)
	}
	if c&clashError != 0 && e.hasError() {
		e.buf = append(e.buf[:from], f.errors.rename(string(e.buf[from:]), "")...)
	} else if c&clashError != 0 {
		e.flags |= earlyError
	}
}

// addOther appends a value that addAny has no case for.
func (e *Event) addOther(v any) {
	depth := maxDepth - int(e.nest)
	plans := e.log.core.format.plans
	if !plans.RunsCode(v) {
		buf, err := plans.AppendAny(e.buf, v, depth)
		if err != nil && usercode.IsNil(v) { // of a func, say
			buf, err = append(buf, "null"...), nil
		}
		e.setValue(buf, err)
		return
	}
	if usercode.IsNil(v) {
		e.null()
		return
	}
	e.marshal(func(dst []byte) ([]byte, error) { return plans.AppendAny(dst, v, depth) }, (*Event).setValue)
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

// A userError is a text that is written to a line unchanged.
type userError string

func (u userError) Error() string { return string(u) }

func errorText(err error) string {
	switch err := err.(type) {
	case userError:
		return string(err)
	case *plan.Error:
		return "!ERROR: " + err.Text()
	}
	return "!ERROR: " + err.Error()
}

// setValue makes buf, which ends in a value, the line. If there is an error,
// its text is the value.
func (e *Event) setValue(buf []byte, err error) {
	if err != nil {
		buf = jsonenc.AppendString(buf, errorText(err))
	}
	e.buf = buf
}

// setFields is setValue for fields: the error becomes a field.
func (e *Event) setFields(buf []byte, err error) {
	if err != nil {
		buf = e.appendErrorField(buf, err)
	}
	e.buf = buf
}

func (e *Event) appendErrorField(buf []byte, err error) []byte {
	key := "error"
	if e.hasError() && e.log.core.format.errors.has(key) {
		key = reservedPrefix + key
	}
	e.flags |= earlyError
	return jsonenc.AppendKeyString(buf, key, errorText(err))
}
