// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"unsafe"
)

// A pointer points to a value whose type is in the plan that it is used with.
// The name keeps package unsafe out of the other files: they read with load and
// add offsets with add, which are safe because offsets, sizes and types all
// come from reflect.
type pointer = unsafe.Pointer

// load reads the T at p. In bounds because according to the plan a T, or a type
// with the same layout, is there.
func load[T any](p pointer) T { return *(*T)(p) }

// add returns the address n bytes after p. In bounds because n is the offset
// of a field of the struct at p, or of an element of the array at p.
func add(p pointer, n uintptr) pointer { return unsafe.Add(p, n) }

// loadSlice returns the address and length of the slice at p, whatever its
// elements. All slices have the same layout.
func loadSlice(p pointer) (data pointer, n int) {
	s := *(*[]byte)(p)
	return unsafe.Pointer(unsafe.SliceData(s)), len(s)
}

// An eface is the layout of an interface without methods. Its second word,
// which interfaces with methods have as well, is a pointer to the value, or the
// value itself if the value is a pointer (see goType.direct).
type eface struct{ typ, word unsafe.Pointer }

// unpack returns the words of v.
func unpack(v any) (typ, word pointer) {
	e := (*eface)(unsafe.Pointer(&v))
	return e.typ, e.word
}

// pack is the reverse of unpack. The type word comes from unpack or identity.
func pack(typ, word pointer) (v any) {
	e := (*eface)(unsafe.Pointer(&v))
	e.typ, e.word = typ, word
	return v
}

// identity returns the type word of values of type t: a reflect.Type is an
// interface that holds a pointer to that descriptor.
func identity(t reflect.Type) pointer {
	return (*eface)(unsafe.Pointer(&t)).word
}

// loadInterface reads an interface that has methods. The layout does not depend
// on the methods; the conversion to any finds the type.
func loadInterface(p pointer) any {
	return *(*interface{ Method() })(p)
}

// hide returns p in a way that escape analysis does not follow, so that the
// value at p may stay on the stack. That is sound because a Plan that is
// Hideable keeps no copy of p outside of the stack: when the stack is moved,
// all copies are adjusted. x is read back at once; nothing can move the stack
// in between: the checks of -race, which are calls, are left out for this.
//
//go:nocheckptr
func hide(p unsafe.Pointer) unsafe.Pointer {
	x := uintptr(p)
	return *(*unsafe.Pointer)(unsafe.Pointer(&x))
}

// viewString returns b as a string without a copy. It is valid as long as b
// does not change; callers do not keep it.
func viewString(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// viewBytes returns s as bytes without a copy. They must not be written to.
func viewBytes(s string) []byte {
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// Append appends v, of the plan's type, as JSON. st.Depth is the number of
// containers that may still nest. If Hideable reports true, v need not be on
// the heap, and the caller may hide it.
//
// It allocates to grow dst, for errors, and where the methods of values do. Any
// number of goroutines may call it. The error is an *Error, and dst is then
// returned at its old length, but the bytes after it may have changed.
func (p *Plan) Append(dst []byte, v unsafe.Pointer, st State) ([]byte, error) {
	if p.err != nil {
		return dst, p.err
	}
	var out []byte
	var err *Error
	if p.code == codeStruct {
		out, err = p.object(dst, v, st)
	} else {
		out, err = p.value(dst, v, st)
	}
	if err != nil {
		return dst, err.of(p.typ.Type)
	}
	return out, nil
}

// AppendFields is Append for a struct whose members become members of an object
// that is open already: each is written after a comma, without braces around
// them. st.Depth counts from within that object.
func (p *Plan) AppendFields(dst []byte, v unsafe.Pointer, st State) ([]byte, error) {
	if p.err != nil {
		return dst, p.err
	}
	if p.code == codeLine && p.typ.kind == reflect.Struct {
		p = p.elem
	}
	if p.code != codeStruct {
		return dst, failure(errNotStruct).of(p.typ.Type)
	}
	if st.Depth < p.inner {
		return dst, failure(ErrDepth).of(p.typ.Type)
	}
	if out, err := p.members(dst, v, st); err == nil {
		return out, nil
	} else {
		return dst, err.of(p.typ.Type)
	}
}

// AppendValue appends v with p, a plan of T. It allocates no more than Append,
// and one copy of v if T is not Hideable.
func AppendValue[T any](p *Plan, dst []byte, v T, st State) ([]byte, error) {
	if p.Hideable() {
		return p.Append(dst, hide(unsafe.Pointer(&v)), st)
	}
	kept := new(T)
	*kept = v
	return p.Append(dst, unsafe.Pointer(kept), st)
}

// AppendPointer appends *v with p, the plan of T; nil is null.
func AppendPointer[T any](p *Plan, dst []byte, v *T, st State) ([]byte, error) {
	if v == nil {
		return append(dst, "null"...), nil
	}
	return p.Append(dst, unsafe.Pointer(v), st)
}

// hideWord is hide for a variable on the stack that holds a value stored
// directly in an interface.
func hideWord(word *pointer) pointer { return hide(unsafe.Pointer(word)) }

// AppendFieldsOf is AppendFields for v, a struct or a pointer to one, with p,
// the plan of T; nil has no members. It allocates as much as AppendValue.
func AppendFieldsOf[T any](p *Plan, dst []byte, v T, st State) ([]byte, error) {
	if p.typ.kind != reflect.Pointer {
		return AppendFieldsAt(p, dst, &v, st)
	}
	if to := *(*unsafe.Pointer)(unsafe.Pointer(&v)); to != nil { // a T is a pointer
		return p.elem.AppendFields(dst, to, st)
	}
	return dst, nil
}

// AppendFieldsAt is AppendFields for the struct at v, which may be on the
// stack. p is the plan of T. It allocates as much as AppendValue.
func AppendFieldsAt[T any](p *Plan, dst []byte, v *T, st State) ([]byte, error) {
	if p.Hideable() {
		return p.AppendFields(dst, hide(unsafe.Pointer(v)), st)
	}
	kept := new(T)
	*kept = *v
	return p.AppendFields(dst, unsafe.Pointer(kept), st)
}

// next returns the operation after o. In bounds because o is not the last one,
// which has codeEnd.
func (o *op) next() *op { return (*op)(unsafe.Add(unsafe.Pointer(o), unsafe.Sizeof(op{}))) }

// stepOf returns the path of o, one of p's operations.
func (p *Plan) stepOf(o *op) string {
	return p.steps[(uintptr(unsafe.Pointer(o))-uintptr(unsafe.Pointer(&p.ops[0])))/unsafe.Sizeof(
		op{})]
}
