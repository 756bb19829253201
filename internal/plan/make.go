// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding"
	"encoding/json"
	"log/slog"
	"reflect"
	"time"
)

var (
	typeJSON     = reflect.TypeFor[json.Marshaler]()
	typeText     = reflect.TypeFor[encoding.TextMarshaler]()
	typeSecret   = reflect.TypeFor[interface{ IsSecret() }]()
	typeLocker   = reflect.TypeFor[interface{ Lock() }]()
	typeTime     = reflect.TypeFor[time.Time]()
	typeDuration = reflect.TypeFor[time.Duration]()
	typeNumber   = reflect.TypeFor[json.Number]()
	typeRaw      = reflect.TypeFor[json.RawMessage]()
)

const wordSize = 4 << (^uintptr(0) >> 63) // bytes in a pointer

// A node is a type for which a plan is made, with or without an address.
type node struct {
	typ  reflect.Type
	addr bool
}

// A maker makes the plans of one type and of those that it refers to. They may
// refer to each other, so a plan is visible here before it is complete, and to
// others only when all are.
type maker struct {
	set   *Set
	plans map[node]*Plan
	made  [2][]*Plan // the plans without and with an address
	parts []*Plan    // plans that are used at one place only, and in no table
}

// plan returns the plan of t, which may not be complete yet if t leads to
// itself by way of a pointer, slice or map.
func (m *maker) plan(t reflect.Type, addr bool) *Plan {
	tab, i := &m.set.values, 0
	if addr {
		tab, i = &m.set.addressed, 1
	}
	if p := tab.find(uintptr(identity(t))); p != nil {
		return p
	}
	if p := m.plans[node{t, addr}]; p != nil {
		return p
	}
	p := &Plan{set: m.set, typ: goTypeOf(t)}
	m.plans[node{t, addr}] = p
	m.made[i] = append(m.made[i], p)
	if p.typ.kind == reflect.Pointer {
		p.elem = m.plan(t.Elem(), true)
	}
	m.fill(p, addr)
	return p
}

// fill decides how values of p's type are written. The order is as in
// encoding/json, and types whose methods this package replaces come before the
// methods themselves. The types that lines write come where the method Any of
// an event has them.
func (m *maker) fill(p *Plan, addr bool) {
	t := p.typ.Type
	lines := m.set.marshaler != nil
	valuer, fault := reflect.TypeFor[slog.LogValuer](), reflect.TypeFor[error]()
	byPointer := p.typ.kind != reflect.Pointer && p.typ.kind != reflect.Interface
	has := func(method reflect.Type) bool {
		return t.Implements(method) || byPointer && addr && reflect.PointerTo(t).Implements(method)
	}
	switch {
	case secret(t):
		p.code = codeMask
	case t == typeTime && m.set.times:
		p.code = codeInstant
	case t == typeTime:
		p.code = codeTime
	case t == typeDuration:
		p.code = m.set.duration
	case t == typeNumber:
		p.code = codeNumber
	case t == typeRaw:
		p.code = codeRaw
	case isAddress(t):
		p.code = codeAddress
	case p.typ.kind == reflect.Pointer && known(t.Elem()):
		m.fillKind(p, addr)
	case lines && slogType(t):
		p.code, p.boxes, p.props.calls, p.props.shows = codeLine, true, true, true
	case lines && has(m.set.marshaler):
		m.fillMethod(p, codeLine, m.set.marshaler, byPointer)
	case lines && has(valuer):
		m.fillMethod(p, codeLine, valuer, byPointer)
	case has(typeJSON):
		m.fillMethod(p, codeJSON, typeJSON, byPointer)
	case lines && has(fault):
		m.fillMethod(p, codeLine, fault, byPointer)
	case has(typeText):
		m.fillMethod(p, codeText, typeText, byPointer)
	default:
		m.fillKind(p, addr)
	}
	if p.code == codeLine && p.typ.kind == reflect.Struct {
		m.fillMembers(p, addr)
	}
}

// known reports whether this package encodes values of t itself although they
// have methods.
func known(t reflect.Type) bool {
	return t == typeTime || t == typeRaw || isAddress(t) || secret(t)
}

// secret reports whether values of t are hidden because t, or a pointer to it,
// has a method IsSecret. Whether the value in an interface is hidden depends on
// that value.
func secret(t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface &&
		reflect.PointerTo(t).Implements(typeSecret)
}

// fillMethod is fill for types that write themselves.
func (m *maker) fillMethod(p *Plan, c code, method reflect.Type, byPointer bool) {
	p.code, p.props.calls, p.props.shows = c, true, byPointer
	p.boxes = byPointer && p.typ.Type.Implements(method)
	p.props.locked = !p.typ.Type.Implements(method) && holdsLock(p.typ.Type)
}

// holdsLock reports whether copying a value of t copies the state of a lock.
func holdsLock(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && holdsLock(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsLock(t.Field(i).Type) {
				return true
			}
		}
	case reflect.Interface, reflect.Pointer:
		return false
	}
	return t.Size() > 0 && !t.Implements(typeLocker) && reflect.PointerTo(t).Implements(typeLocker)
}

// fillKind is fill for types without relevant methods.
func (m *maker) fillKind(p *Plan, addr bool) {
	t := p.typ.Type
	p.code = codeOf(t)
	switch p.code {
	case codeStruct:
		m.fillStruct(p, addr)
	case codePointer:
		k := t.Elem().Kind()
		p.link = k == reflect.Pointer || k == reflect.Interface
	case codeAny, codeInterface:
		p.props.calls = true
	case codeSlice:
		p.elem, p.size = m.plan(t.Elem(), true), t.Elem().Size()
		switch p.elem.code {
		case codeUint8:
			p.code = codeBytes
		case codeString:
			p.code = codeStrings
		}
	case codeArray:
		p.elem, p.size, p.n = m.plan(t.Elem(), addr), t.Elem().Size(), t.Len()
	case codeMap:
		m.fillMap(p)
	case codeNone:
		p.props.bad = failure(&json.UnsupportedTypeError{Type: t})
	}
}

// finish completes plans that refer to each other: it propagates properties
// from plan to plan until nothing changes.
func (m *maker) finish() {
	all := append(append(m.made[0][:len(m.made[0]):len(m.made[0])], m.made[1]...), m.parts...)
	for changed := true; changed; {
		changed = false
		for _, p := range all {
			before := p.props
			p.addParts()
			changed = changed || p.props != before
		}
	}
	for _, p := range all {
		if p.props.bad != nil {
			p.err = p.fault().of(p.typ.Type)
		}
	}
}
