// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"time"
)

// An omission is a condition on which a field is left out.
type omission uint8

const (
	omitNever omission = iota
	omitZero8          // an integer or bool of 8 bits is 0
	omitZero16
	omitZero32
	omitZero64
	omitFloat32
	omitFloat64
	omitNil        // the first word is nil: pointer, map, slice, interface
	omitLen        // string or slice of length 0
	omitMapLen     // map of length 0
	omitZero       // the zero value according to reflect
	omitTime       // time.Time
	omitCall       // omitted if a method IsZero returns true
	omitCallOfCopy // omitCall with a pointer receiver, for a value that is not addressable
	omitCallPtr    // omitCall of a pointer or an interface, or it is nil
	omitEither     // one of two of the above, which are in op.either
)

var (
	typeZeroer = reflect.TypeFor[interface{ IsZero() bool }]()
)

// whenBits returns the condition for a scalar that is not a string.
func whenBits(t reflect.Type) omission {
	switch t.Kind() {
	case reflect.Float32:
		return omitFloat32
	case reflect.Float64:
		return omitFloat64
	}
	return [...]omission{1: omitZero8, 2: omitZero16, 4: omitZero32, 8: omitZero64}[t.Size()]
}

// setOmission decides when o is left out, and reports whether it always is.
func (p *Plan) setOmission(o *op, f Field, addr bool) (always bool) {
	var empty, zero omission
	if f.OmitEmpty {
		if f.Type.Kind() == reflect.Array && f.Type.Len() == 0 {
			return true
		}
		empty = whenEmpty(f.Type)
	}
	if f.OmitZero {
		zero = whenZero(f.Type, addr)
	}
	if zero >= omitCall && f.Type != typeTimePointer {
		p.props.calls = true
		p.props.shows = p.props.shows || zero != omitCallPtr
	}
	switch {
	case empty == omitNever || empty == zero:
		o.omit = zero
	case zero == omitNever:
		o.omit = empty
	default:
		o.omit, o.either = omitEither, uint8(empty)<<4|uint8(zero)
	}
	return false
}

var typeTimePointer = reflect.TypeFor[*time.Time]()

// whenEmpty returns the condition of omitempty.
func whenEmpty(t reflect.Type) omission {
	switch k := t.Kind(); {
	case k == reflect.String || k == reflect.Slice:
		return omitLen
	case scalar(k):
		return whenBits(t)
	case k == reflect.Map:
		return omitMapLen
	case k == reflect.Pointer || k == reflect.Interface:
		return omitNil
	}
	return omitNever
}

// whenZero returns the condition of omitzero.
func whenZero(t reflect.Type, addr bool) omission {
	k := t.Kind()
	if k != reflect.Pointer && k != reflect.Interface {
		switch {
		case t == typeTime:
			return omitTime
		case t.Implements(typeZeroer) || addr && reflect.PointerTo(t).Implements(typeZeroer):
			return omitCall
		case reflect.PointerTo(t).Implements(typeZeroer):
			return omitCallOfCopy
		}
	} else if t.Implements(typeZeroer) {
		return omitCallPtr
	}
	switch {
	case k == reflect.String:
		return omitLen
	case scalar(k):
		return whenBits(t)
	case k == reflect.Struct || k == reflect.Array || k == reflect.Complex64 ||
		k == reflect.Complex128:
		return omitZero
	}
	return omitNil
}

// skips reports whether the value at v is left out.
func (o *op) skips(v pointer) bool {
	t := &o.sub.typ
	if o.omit == omitEither {
		return omission(o.either>>4).holds(t, v) || omission(o.either&15).holds(t, v)
	}
	return o.omit.holds(t, v)
}

// holds reports whether the condition is met by the value at v, of type t.
func (c omission) holds(t *goType, v pointer) bool {
	switch c {
	case omitZero8:
		return load[uint8](v) == 0
	case omitZero16:
		return load[uint16](v) == 0
	case omitZero32:
		return load[uint32](v) == 0
	case omitZero64:
		return load[uint64](v) == 0
	case omitFloat32:
		return load[float32](v) == 0
	case omitFloat64:
		return load[float64](v) == 0
	case omitNil:
		return load[pointer](v) == nil
	case omitLen:
		return len(load[string](v)) == 0
	}
	return c.holdsRarely(t, v)
}

//go:noinline
func (c omission) holdsRarely(t *goType, v pointer) bool {
	switch c {
	case omitMapLen:
		m := load[pointer](v)
		return m == nil || reflect.ValueOf(pack(t.self, m)).Len() == 0
	case omitZero:
		return t.isZero(v)
	case omitTime:
		return load[time.Time](v).IsZero()
	case omitCall:
		return pack(t.toSelf, v).(interface{ IsZero() bool }).IsZero()
	case omitCallOfCopy:
		c := reflect.New(t.Type)
		c.Elem().Set(reflect.ValueOf(t.boxed(v)))
		return c.Interface().(interface{ IsZero() bool }).IsZero()
	case omitCallPtr:
		return t.callIsZero(v)
	}
	return false
}
