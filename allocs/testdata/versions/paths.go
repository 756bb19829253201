// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"runtime"
	"sort"
)

// FreshDirect makes an event and calls its methods.
//
//alloc:none
func FreshDirect(name string) {
	e := new(Event)
	e.Str("name", name).Msg("hello")
}

// FreshInterface makes an event and calls it through an interface.
//
//alloc:none
func FreshInterface(name string) {
	var c Chain = new(chained)
	c.Str("name", name).Msg("hello")
}

// chosen hides from the compiler which type it returns.
var chosen = func() Chain { return new(chained) }

// HiddenInterface makes an event behind an interface, where the compiler cannot
// see its type.
//
//alloc:none
func HiddenInterface(name string) {
	chosen().Str("name", name).Msg("hello")
}

// PoolDirect takes the event from a pool.
//
//alloc:none
func PoolDirect(name string) {
	e := events.Get().(*Event)
	e.Str("name", name).Msg("hello")
	events.Put(e)
}

// PoolInterface takes the event from a pool and calls it through an interface.
//
//alloc:none
func PoolInterface(name string) {
	var c Chain = chains.Get().(*chained)
	c.Str("name", name).Msg("hello")
	chains.Put(c)
}

// PoolSlice keeps slices in the pool, not pointers.
//
//alloc:none
func PoolSlice(name string) {
	b := values.Get().([]byte)
	b = append(b[:0], name...)
	written += len(b)
	values.Put(b)
}

// made is an event that is returned as a pointer by a function that is not
// inlined.
//
//go:noinline
func made() *Event { return &Event{n: 1} }

// ByPointer gets the event as a pointer.
//
//alloc:none
func ByPointer(name string) {
	made().Str("name", name).Msg("hello")
}

//go:noinline
func valued() Event { return Event{n: 1} }

// ByValue gets the event as a value.
//
//alloc:none
func ByValue(name string) {
	e := valued()
	e.Str("name", name).Msg("hello")
}

// SinkDirect writes a buffer on the stack to a known type.
//
//alloc:none
func SinkDirect(name string) {
	var e Event
	e.Str("name", name)
	counter{}.Write(e.buf[:e.n])
}

// SinkInterface writes a buffer on the stack to an io.Writer.
//
//alloc:none
func SinkInterface(name string) {
	var e Event
	e.Str("name", name)
	Out.Write(e.buf[:e.n])
}

// AnyKept passes values as interface{} to a function that is not known.
//
//alloc:none
func AnyKept(name string) {
	anyOut("name", name, "n", len(name)+1000)
}

var anyOut = func(fields ...interface{}) { written += len(fields) }

// AnySwitched passes values as interface{} to code that only looks at their types.
//
//alloc:none
func AnySwitched(name string) {
	typed("name", name, "n", len(name)+1000)
}

//go:noinline
func typed(fields ...interface{}) {
	for _, f := range fields {
		switch f := f.(type) {
		case string:
			written += len(f)
		case int:
			written += f
		}
	}
}

// Constant passes a number that never changes as interface{}.
//
//alloc:none
func Constant(string) {
	n := 1000
	anyOut(n)
}

// Sized makes a buffer of a small size that is not constant.
//
//alloc:none
func Sized(name string) {
	b := make([]byte, 0, len(name)+8)
	b = append(b, name...)
	written += len(b)
}

// Appended grows a slice from nothing that does not leave the function.
//
//alloc:none
func Appended(name string) {
	var ends []int
	for i := 0; i < 4; i++ {
		ends = append(ends, i*len(name))
	}
	for _, end := range ends {
		written += end
	}
}

// Returned grows a slice from nothing that is returned.
//
//alloc:none
func Returned(name string) {
	written += len(collected(name))
}

//go:noinline
func collected(name string) []string {
	var keys []string
	for i := 0; i < 4; i++ {
		keys = append(keys, name)
	}
	return keys
}

// Sorted sorts keys in an array.
//
//alloc:none
func Sorted(name string) {
	keys := [4]string{"time", name, "level", "message"}
	sort.Strings(keys[:])
	written += len(keys[0])
}

// Literal passes a function that is called before the call returns.
//
//alloc:none
func Literal(name string) {
	each(func(s string) { written += len(s) + len(name) })
}

//go:noinline
func each(f func(string)) {
	f("a")
	f("b")
}

// Deferred gives the event back with defer.
//
//alloc:none
func Deferred(name string) {
	e := events.Get().(*Event)
	defer events.Put(e)
	e.Str("name", name).Msg("hello")
}

// Caller asks for the file and line of its caller.
//
//alloc:none
func Caller(string) {
	_, file, _, _ := runtime.Caller(1)
	written += len(file)
}
