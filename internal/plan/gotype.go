// SPDX-License-Identifier: Apache-2.0

package plan

import "reflect"

// A goType is a type of Go. It makes interfaces of values that have only an
// address. Its fields follow from Type.
type goType struct {
	Type    reflect.Type
	kind    reflect.Kind
	direct  bool    // an interface holds the value itself where others hold its address
	methods bool    // the type, or a pointer to it, has methods
	self    pointer // type word of the type
	toSelf  pointer // type word of a pointer to it
}

func goTypeOf(t reflect.Type) goType {
	to := reflect.PointerTo(t)
	return goType{
		Type: t, kind: t.Kind(), direct: direct(t), self: identity(t), toSelf: identity(to),
		methods: t.NumMethod() > 0 || to.NumMethod() > 0,
	}
}

// direct reports whether an interface holds a value of t itself, not its
// address: t is a pointer, or has the size of one and consists of just that.
// The exact rule differs between releases of Go, so direct makes an interface
// and inspects it: the address of a value is never nil.
func direct(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return true
	case reflect.Struct, reflect.Array:
		if t.Size() == wordSize {
			_, word := unpack(reflect.Zero(t).Interface())
			return word == nil
		}
	}
	return false
}

// receiver returns the value at v as the interface that has its methods, nil if
// it is a nil pointer or interface. For other values it is their address, which
// also has the methods with a value receiver and saves a copy.
func (t *goType) receiver(v pointer) any {
	if t.kind == reflect.Pointer || t.kind == reflect.Interface {
		return t.held(v)
	}
	return pack(t.toSelf, v)
}

// isZero reports whether the value at v is the zero value of its type, exactly
// as reflect does.
func (t *goType) isZero(v pointer) bool {
	return reflect.ValueOf(t.boxed(v)).IsZero()
}

// boxed returns the value at v as an interface, without a copy. It is for
// reading, while v is valid.
func (t *goType) boxed(v pointer) any {
	if t.direct {
		v = load[pointer](v)
	}
	return pack(t.self, v)
}

// callIsZero calls IsZero of the pointer or interface at v, unless that is nil.
func (t *goType) callIsZero(v pointer) bool {
	x := t.held(v)
	if x == nil {
		return true
	}
	if t.kind == reflect.Interface {
		if r := reflect.ValueOf(x); r.Kind() == reflect.Pointer && r.IsNil() {
			return true
		}
	}
	return x.(interface{ IsZero() bool }).IsZero()
}

// held returns the pointer, or the value of the interface with methods, at v;
// nil if it is nil.
func (t *goType) held(v pointer) any {
	if t.kind == reflect.Interface {
		return loadInterface(v)
	}
	if word := load[pointer](v); word != nil {
		return pack(t.self, word)
	}
	return nil
}
