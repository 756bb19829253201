// SPDX-License-Identifier: Apache-2.0

package nib

import (
	"reflect"
	"time"

	"github.com/nib-log/nib/internal/contract"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/plan"
)

// Val adds a value of any type, as [Event.Any] does but without the box: a
// scalar, string, time, struct, slice or array is encoded where it is, and when
// the level is off nothing happens at all. Structs are encoded by a plan that
// is made when their type is first seen; package schema documents the supported
// tags and the differences from encoding/json. 0 allocs, or 1 for a value with
// methods that take part in the encoding (a [Marshaler], json.Marshaler, error,
// …) or with something in it that may have such methods.
func Val[T any](e *Event, key string, v T) *Event {
	if e == nil || !e.beginField(key) {
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

// addValue appends a value whose type has no case of its own in Val. A plain
// plan calls no methods; addAny calls the methods of nib's interfaces and of
// errors.
func addValue[T any](e *Event, v T) {
	switch p := plan.ForIn[T](e.log.core.format.plans); {
	case p.Plain() && !hasOwnText[T](p):
		buf, err := plan.AppendValue(p, e.buf, v, (*parts)(e).state())
		e.setValue(buf, err)
	case p.Locked():
		e.setValue(e.buf, lockedError(p))
	case p.Type().Kind() == reflect.Struct: // a pointer has all methods of its type
		boxed := new(T)
		*boxed = v
		e.addAny(boxed)
	default:
		e.addAny(v)
	}
}

// lockedError refuses a value of a type whose copies must not be encoded.
func lockedError(p *plan.Plan) error {
	const hint = " has a lock, which its copy shares: use Object, or a pointer"
	return userError("!ERROR: " + p.Type().String() + hint)
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
	if e == nil || e.isClosed() {
		return e
	}
	from, st := len(e.buf), (*parts)(e).state()
	p := plan.ForIn[T](e.log.core.format.plans)
	if p.Plain() {
		buf, err := plan.AppendFieldsOf(p, e.buf, v, st)
		e.setFields(buf, err)
	} else if p.Locked() {
		e.setFields(e.buf, lockedError(p))
	} else {
		e.setFields(e.marshal(func(dst []byte) ([]byte, error) {
			return plan.AppendFieldsOf(p, dst, v, st)
		}))
	}
	if e.reservedBits != noneReserved {
		if c := e.log.core.format.clashes(p.Pointee()); c != 0 {
			e.renameReserved(from, c)
		}
	}
	return e
}

// A clash says in which sets of reserved keys a struct has keys.
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
		if f.errorKeys.has(field.Name) {
			c |= clashError
		}
	}
	return *f.clashing.Put(p.ID(), c)
}

// renameReserved renames the fields in buf[from:] that have reserved keys. c
// has the sets in which there are such keys.
func (e *Event) renameReserved(from int, c clash) {
	f := e.log.core.format
	if c&clashOwn != 0 {
		e.buf = append(e.buf[:from], f.reserved.rename(string(e.buf[from:]), "")...)
	}
	if c&clashError != 0 && e.hasError() && e.flags&inError == 0 {
		e.buf = append(e.buf[:from], f.errorKeys.rename(string(e.buf[from:]), "")...)
	} else if c&clashError != 0 {
		e.flags |= hasErrorKey
	}
}

// A Secret holds a value that must not get into a log: package fmt under every
// verb, JSON, slog and nib show *** in its place, even where it is part of
// another value. It holds the value behind two pointers, so that even code that
// reads memory sees only an address: of an unexported field, fmt follows one
// pointer to a struct, map or slice if the verb does not suit pointers.
type Secret[T any] struct {
	mask
	value **T
}

type mask = contract.SecretMask

// NewSecret keeps v secret.
func NewSecret[T any](v T) Secret[T] {
	p := &v
	return Secret[T]{value: &p}
}

// Reveal returns the value, the zero T for the zero Secret.
func (s Secret[T]) Reveal() (v T) {
	if s.value != nil {
		v = **s.value
	}
	return v
}
