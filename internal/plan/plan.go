// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"sync"

	"github.com/nib-log/nib/internal/jsonenc"
)

// MaxDepth is the maximum nesting of containers in nib.
const MaxDepth = 32

// MaxSize ends the encoding of a value. A value in which much is shared may be
// small in memory and without end as text.
const MaxSize = 64 << 20

// A Plan encodes values of one type. Plans are made by [Of] and [For], are
// immutable and kept for the life of the program; they are safe for concurrent
// use.
type Plan struct {
	// Encoding uses the fields in about their order.
	code  code
	link  bool    // the pointer is to a pointer or an interface, so it counts as a container
	boxes bool    // of codeLine: the line gets the value, not its address, which has more methods
	inner int     // maximum nesting of structs in ops
	elem  *Plan   // plan of the element, the quoted value, or the fields of a codeLine
	size  uintptr // size of an element
	n     int     // length of an array
	ops   []op    // operations of a struct

	set   *Set
	typ   goType
	props properties
	err   error // why no value of the type can be encoded: props.bad with its whole path

	steps []string // the path that belongs to each operation
	keyed *mapping // encodes the entries of a map
	table []Field  // fields of a struct
}

// An op is one step of writing a struct: text that is always the same, and the
// value after it. The fields are in the order of use; the whole fills one
// cache line.
type op struct {
	text   jsonenc.Text
	sub    *Plan // plan of the value, or of the part that omit inspects
	off    uint32
	code   code
	omit   omission
	either uint8 // two conditions, each sufficient, in 4 bits each
	nest   uint8 // number of inner structs that are open around the value
}

// making guards the making of plans.
var making sync.Mutex

// Of returns the plan of type t in the style of encoding/json, for an
// addressable value, so that methods with a pointer receiver count. It takes a
// few nanoseconds and allocates nothing, except the first time it sees the
// type. A type that cannot be encoded also has a plan; its Err returns the
// reason.
func Of(t reflect.Type) *Plan {
	if p := standard.addressed.find(uintptr(identity(t))); p != nil {
		return p
	}
	return standard.makePlan(t, true)
}

// For is Of for the type T.
func For[T any]() *Plan {
	typ, _ := unpack((*T)(nil))
	if p := standard.targets.find(uintptr(typ)); p != nil {
		return p
	}
	return standard.makePlan(reflect.TypeFor[T](), true)
}

// makePlan makes the plan of one type and of those that it refers to.
func (s *Set) makePlan(t reflect.Type, addr bool) *Plan {
	making.Lock()
	defer making.Unlock()
	m := maker{set: s, plans: map[node]*Plan{}}
	p := m.plan(t, addr) // perhaps made by another goroutine before the lock
	m.finish()
	s.addressed.add(m.made[1], func(p *Plan) uintptr { return uintptr(p.typ.self) })
	s.targets.add(m.made[1], func(p *Plan) uintptr { return uintptr(p.typ.toSelf) })
	s.values.add(m.made[0], func(p *Plan) uintptr { return uintptr(p.typ.self) })
	return p
}

// Type returns the type that the plan is for.
func (p *Plan) Type() reflect.Type { return p.typ.Type }

// Err returns why no value of the type can be encoded: a channel, function or
// complex number in a field that is always there, or an invalid tag anywhere.
// It is nil for a type with a fault that a value may avoid, such as a pointer
// to a channel; encoding it fails if it does not.
func (p *Plan) Err() error { return p.err }

// Plain reports whether encoding a value runs no user code: no method of the
// value or of any value that it refers to, and no interface whose value might
// have one.
func (p *Plan) Plain() bool { return !p.props.calls }

// ID returns a number that no other plan has.
func (p *Plan) ID() uintptr { return uintptr(p.typ.self) }

// Methods reports whether the type, or a pointer to it, has methods: it may
// implement an interface that this package does not know.
func (p *Plan) Methods() bool { return p.typ.methods }

// Hideable reports whether encoding keeps no copy of the value's address: it is
// passed to no method and is only on the stack. That does not apply to data
// that the value points to. Plain values are hideable, as are those with
// interfaces, and with pointers to types that have methods.
func (p *Plan) Hideable() bool { return !p.props.shows }

// Locked reports whether a copy of a value must not be encoded: the value, or
// one within it, has a method Lock and is encoded by a method, either one with
// a pointer receiver. The method may lock, and a copy of the value may contain
// a locked lock.
func (p *Plan) Locked() bool { return p.props.locked }

// IsStruct reports whether AppendFields can be used.
func (p *Plan) IsStruct() bool { return p.code == codeStruct }

// Pointee returns the plan of the target of a pointer, and any other plan
// unchanged.
func (p *Plan) Pointee() *Plan {
	if p.typ.kind == reflect.Pointer && p.elem != nil {
		return p.elem
	}
	return p
}

// Fields returns the fields of a struct in the order in which they are written.
// They must not be changed.
func (p *Plan) Fields() []Field { return p.table }
