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
		p.calls = true
		p.shows = p.shows || zero != omitCallPtr
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
	case k == reflect.Struct || k == reflect.Array || k == reflect.Complex64 || k == reflect.Complex128:
		return omitZero
	}
	return omitNil
}

// skips reports whether the value at v is left out.
func (o *op) skips(v pointer) bool {
	if o.omit == omitEither {
		return omission(o.either>>4).holds(o.sub, v) || omission(o.either&15).holds(o.sub, v)
	}
	return o.omit.holds(o.sub, v)
}

// holds reports whether the condition is met by the value at v, of p's type.
func (c omission) holds(p *Plan, v pointer) bool {
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
	return c.holdsRarely(p, v)
}

//go:noinline
func (c omission) holdsRarely(p *Plan, v pointer) bool {
	switch c {
	case omitMapLen:
		m := load[pointer](v)
		return m == nil || reflect.ValueOf(pack(p.self, m)).Len() == 0
	case omitZero:
		return p.isZero(v)
	case omitTime:
		return load[time.Time](v).IsZero()
	case omitCall:
		return pack(p.toSelf, v).(interface{ IsZero() bool }).IsZero()
	case omitCallOfCopy:
		c := reflect.New(p.typ)
		c.Elem().Set(reflect.ValueOf(p.boxed(v)))
		return c.Interface().(interface{ IsZero() bool }).IsZero()
	case omitCallPtr:
		return callIsZero(p, v)
	}
	return false
}

// isZero reports whether the value at v is the zero value of its type, exactly
// as reflect does.
func (p *Plan) isZero(v pointer) bool {
	return reflect.ValueOf(p.boxed(v)).IsZero()
}

// boxed returns the value at v as an interface, without a copy. It is for
// reading, while v is valid.
func (p *Plan) boxed(v pointer) any {
	if p.direct {
		v = load[pointer](v)
	}
	return pack(p.self, v)
}

// callIsZero calls IsZero of the pointer or interface at v, unless that is nil.
func callIsZero(p *Plan, v pointer) bool {
	x := p.held(v)
	if x == nil {
		return true
	}
	if p.kind == reflect.Interface {
		if r := reflect.ValueOf(x); r.Kind() == reflect.Pointer && r.IsNil() {
			return true
		}
	}
	return x.(interface{ IsZero() bool }).IsZero()
}

// held returns the pointer or the value of the interface at v; nil if it is
// nil.
func (p *Plan) held(v pointer) any {
	if p.kind == reflect.Interface {
		if p.code == codeAny {
			return load[any](v)
		}
		return loadInterface(v)
	}
	if word := load[pointer](v); word != nil {
		return pack(p.self, word)
	}
	return nil
}
