// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"log/slog"
	"reflect"
)

// A State tells where a value stands.
type State struct {
	Depth int   // how many containers may still nest
	Line  *Line // the line that the value is part of; nil in package schema
}

// within returns the state inside of n containers.
func (st State) within(n int) State { return State{st.Depth - n, st.Line} }

// A Line is a line of package nib. It writes the values that have a form of
// their own in lines, wherever they stand: the types of package log/slog,
// Style.Marshaler, slog.LogValuer, and errors that do not write themselves as
// JSON.
type Line struct {
	Event interface {
		// AppendPart appends v, a part of the value that is being encoded. If v
		// cannot be encoded, the error becomes its text.
		AppendPart(dst []byte, v any, depth int) []byte
	}
}

var (
	typeValue     = reflect.TypeFor[slog.Value]()
	typeAttr      = reflect.TypeFor[slog.Attr]()
	typeAttrs     = reflect.TypeFor[[]slog.Attr]()
	typeLogValuer = reflect.TypeFor[slog.LogValuer]()
	typeError     = reflect.TypeFor[error]()
)

// slogType reports whether t is one of slog's types.
func slogType(t reflect.Type) bool { return t == typeValue || t == typeAttr || t == typeAttrs }

// fillMembers gives p, whose values are written by the line, the plan of its
// fields, for those who add the fields alone.
func (m *maker) fillMembers(p *Plan, addr bool) {
	p.elem = &Plan{set: p.set, typ: p.typ, kind: p.kind, code: codeStruct}
	m.parts = append(m.parts, p.elem)
	m.fillStruct(p.elem, addr)
	p.table = p.elem.table
}

// appendPart appends the value at v, which the line writes.
func (st State) appendPart(dst []byte, p *Plan, v pointer) ([]byte, *Error) {
	r := p.receiver(v)
	if slogType(p.typ) {
		r = pack(p.self, v)
	}
	switch {
	case r == nil:
		return append(dst, "null"...), nil
	case p.hides(r):
		return p.set.appendAny(dst, r, st)
	}
	return st.Line.Event.AppendPart(dst, r, st.Depth), nil
}
