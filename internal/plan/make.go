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
	p := &Plan{set: m.set, typ: t, kind: t.Kind(), self: identity(t), toSelf: identity(reflect.PointerTo(t)), direct: direct(t)}
	p.method = t.NumMethod() > 0 || reflect.PointerTo(t).NumMethod() > 0
	m.plans[node{t, addr}] = p
	m.made[i] = append(m.made[i], p)
	if p.kind == reflect.Pointer {
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
	t := p.typ
	lines := m.set.marshaler != nil
	valuer, fault := reflect.TypeFor[slog.LogValuer](), reflect.TypeFor[error]()
	byPointer := p.kind != reflect.Pointer && p.kind != reflect.Interface
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
	case p.kind == reflect.Pointer && known(t.Elem()):
		m.fillKind(p, addr)
	case lines && slogType(t):
		p.code, p.calls, p.shows = codeLine, true, true
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
	if p.code == codeLine && p.kind == reflect.Struct {
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
	return t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(typeSecret)
}

// fillMethod is fill for types that write themselves.
func (m *maker) fillMethod(p *Plan, c code, method reflect.Type, byPointer bool) {
	p.code, p.calls, p.shows = c, true, byPointer
	p.locked = !p.typ.Implements(method) && holdsLock(p.typ)
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
	t := p.typ
	p.code = codeOf(t)
	switch p.code {
	case codeStruct:
		m.fillStruct(p, addr)
	case codePointer:
		k := t.Elem().Kind()
		p.link = k == reflect.Pointer || k == reflect.Interface
	case codeAny, codeInterface:
		p.calls = true
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
		p.bad = failure(&json.UnsupportedTypeError{Type: t})
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

// finish completes plans that refer to each other: it propagates each fact from
// plan to plan until nothing changes.
func (m *maker) finish() {
	all := append(append(m.made[0][:len(m.made[0]):len(m.made[0])], m.made[1]...), m.parts...)
	for changed := true; changed; {
		changed = false
		for _, p := range all {
			before := *p
			p.learn()
			changed = changed || p.calls != before.calls || p.shows != before.shows ||
				p.locked != before.locked || (p.bad == nil) != (before.bad == nil)
		}
	}
	for _, p := range all {
		if p.bad != nil {
			p.err = (&Error{Path: p.bad.Path, Err: p.bad.Err}).of(p.typ)
		}
	}
}

// learn sets the facts of p that follow from the plans that p uses.
func (p *Plan) learn() {
	switch p.code {
	case codeStruct:
		for i := range p.ops {
			p.learnOp(i)
		}
	case codeArray, codeQuoted:
		p.learnFrom(p.elem, "[]", p.n > 0 || p.code == codeQuoted, true)
	case codePointer:
		p.learnFrom(p.elem, "", false, false)
	case codeSlice, codeMap, codeMapAny:
		p.learnFrom(p.elem, "[]", false, false)
	}
}

func (p *Plan) learnOp(i int) {
	f := &p.ops[i]
	if f.sub == nil {
		return
	}
	if f.code == codeEmbed {
		p.learnFrom(f.sub, "", false, false)
	} else if f.code != codeConst {
		p.learnFrom(f.sub, p.steps[i], f.omit == omitNever, true)
	}
}

// learnFrom adds the facts of part. always means that each value of p has one,
// within that it is inside the value itself.
func (p *Plan) learnFrom(part *Plan, step string, always, within bool) {
	p.calls = p.calls || part.calls
	p.shows = p.shows || within && part.shows
	p.locked = p.locked || within && part.locked
	if p.bad == nil && part.bad != nil && (always || part.bad.tag) {
		p.bad = &Error{Path: step + part.bad.Path, Err: part.bad.Err, tag: part.bad.tag}
	}
}
