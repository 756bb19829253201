// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"log/slog"
	"math"
	"reflect"
)

// A State tells where a value stands.
type State struct {
	Depth int // how many containers may still nest
	Line  *Line
}

// Outermost returns the state of a value that is appended to dst outside of any
// line. MaxDepth limits it, and MaxSize or up to twice that.
func Outermost(dst []byte) State {
	i := 0
	for i < len(limits)-1 && len(dst)+MaxSize > limits[i].Max {
		i++
	}
	return State{MaxDepth, &limits[i]}
}

// limits are for Outermost. No limit is needed behind data that is as large.
var limits = [...]Line{
	{Max: 2 * MaxSize}, {Max: 4 * MaxSize}, {Max: 8 * MaxSize}, {Max: math.MaxInt},
}

// within returns the state inside of n containers.
func (st State) within(n int) State { return State{st.Depth - n, st.Line} }

// full reports whether no more containers and elements may be appended to dst.
func (st State) full(dst []byte) bool { return len(dst) > st.Line.Max }

// cut ends a value that has become too large: it appends a text in place of the
// rest.
func (st State) cut(dst []byte) ([]byte, *Error) {
	if st.Line.Event == nil {
		return dst, failure(ErrSize)
	}
	st.Line.Event.Cut()
	return append(dst, `"!ERROR: too large"`...), nil
}

// A Line is what a value is part of: a line of package nib, or only a limit.
type Line struct {
	Max int // no container or element begins beyond so many bytes

	// Event writes the values that have a form of their own in lines, wherever
	// they stand: the types of package log/slog, Style.Marshaler, slog.LogValuer,
	// and errors that do not write themselves as JSON.
	Event interface {
		// AppendPart appends v, a part of the value that is being encoded. If v
		// cannot be encoded, the error becomes its text.
		AppendPart(dst []byte, v any, depth int) []byte
		Cut() // a value is cut, because the line has Max bytes
	}
}

// slogType reports whether t is one of slog's types.
func slogType(t reflect.Type) bool {
	return t == reflect.TypeFor[slog.Value]() || t == reflect.TypeFor[slog.Attr]() ||
		t == reflect.TypeFor[[]slog.Attr]()
}

// fillMembers gives p, whose values are written by the line, the plan of its
// fields, for those who add the fields alone.
func (m *maker) fillMembers(p *Plan, addr bool) {
	p.elem = &Plan{set: p.set, typ: p.typ, code: codeStruct}
	m.parts = append(m.parts, p.elem)
	m.fillStruct(p.elem, addr)
	p.table = p.elem.table
}

// appendPart appends the value at v, which the line writes.
func (st State) appendPart(dst []byte, p *Plan, v pointer) ([]byte, *Error) {
	r := p.typ.receiver(v)
	if p.boxes {
		r = p.typ.boxed(v)
	}
	switch {
	case r == nil:
		return append(dst, "null"...), nil
	case p.hides(r):
		return p.set.appendAny(dst, r, st)
	}
	return st.Line.Event.AppendPart(dst, r, st.Depth), nil
}
