// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package pool

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"

	"github.com/nib-log/nib/internal/invariants"
)

// tracking reports whether this build checks the values that are put and taken.
// Builds with -race alone do not: the mutex of a tracker would order all calls,
// and the race detector is to see whether the pool does that by itself.
const tracking = true

// A tracker tracks the idle values of a pool: it finds those that are put a
// second time, and those that were written to since. Values without an identity
// are not checked. It does not keep a value alive: a record exists as long as
// the pool has its value.
type tracker struct {
	mu    sync.Mutex
	idle  map[identity]*record
	fault string // found while the pool was locked
}

// A record describes an idle value.
type record struct {
	put invariants.Stack
	was []byte // copy of the memory that it refers to
}

// An identity is the common property of the copies of a value. The type is part
// of it because a pointer to a struct is not one to the first field.
type identity struct {
	typ reflect.Type
	at  uintptr
}

// identify returns the identity of v, and the memory it refers to, which
// belongs to the owner of the value. A slice is identified by the end of its
// array, which stays the same when it is resliced.
func identify(v any) (id identity, mem []byte, ok bool) {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Pointer:
		if !r.IsNil() {
			mem = memory(r, r.Type().Elem().Size())
		}
		ok = len(mem) > 0
	case reflect.Slice:
		mem = memory(r, uintptr(r.Cap())*r.Type().Elem().Size())
		ok = len(mem) > 0
	case reflect.Map, reflect.Chan, reflect.UnsafePointer:
		ok = r.Pointer() != 0
	}
	if !ok {
		return id, nil, false
	}
	id = identity{r.Type(), r.Pointer()}
	if r.Kind() == reflect.Slice {
		id.at += uintptr(len(mem))
	}
	return id, mem, true
}

// check panics if v is idle.
func (t *tracker) check(v any) {
	if id, _, ok := identify(v); ok {
		t.mu.Lock()
		first := t.idle[id]
		t.mu.Unlock()
		first.refuse()
	}
}

// given records that v is idle from now on, and panics if it was before.
func (t *tracker) given(v any) {
	id, mem, ok := identify(v)
	if !ok {
		return
	}
	r := &record{was: bytes.Clone(mem)}
	r.put.Record()
	t.mu.Lock()
	first := t.idle[id]
	if first == nil {
		if t.idle == nil {
			t.idle = map[identity]*record{}
		}
		t.idle[id] = r
	}
	t.mu.Unlock()
	first.refuse()
}

// refuse panics if there is a record, of the Put before.
func (first *record) refuse() {
	if first != nil {
		panic("nib/pool: value put twice; it was first put here:\n" + first.put.String())
	}
}

// taken removes the record of v, which is no longer idle, and panics if v has
// changed.
func (t *tracker) taken(v any) {
	if fault := t.forget(v); fault != "" {
		panic(fault)
	}
}

// dropped removes the record of v, which the pool does not keep. It may be
// called while the pool is locked, so it leaves the panic to report.
func (t *tracker) dropped(v any) {
	if fault := t.forget(v); fault != "" {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.fault = fault
	}
}

// report panics with the misuse found by dropped. The pool must not be locked.
func (t *tracker) report() {
	t.mu.Lock()
	fault := t.fault
	t.fault = ""
	t.mu.Unlock()
	if fault != "" {
		panic(fault)
	}
}

// forget removes the record of v, and returns the fault of v, if any.
func (t *tracker) forget(v any) (fault string) {
	id, mem, ok := identify(v)
	if !ok {
		return ""
	}
	t.mu.Lock()
	r := t.idle[id]
	delete(t.idle, id)
	t.mu.Unlock()
	if bytes.Equal(r.was, mem) {
		return ""
	}
	i := 0
	for r.was[i] == mem[i] {
		i++
	}
	return fmt.Sprintf(
		"nib/pool: value used after Put: byte %d of what it refers to was %#02x and is %#02x; it "+
			"was put here:\n%s",
		i, r.was[i], mem[i], r.put.String())
}
