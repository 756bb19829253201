// SPDX-License-Identifier: Apache-2.0

// Package heapcalls lists the functions of the Go runtime that take memory from
// the heap, under all the names they had from Go 1.20 to 1.27, and the
// conditions under which a call of each allocates.
package heapcalls

import "strings"

// Kind is the operation for which the compiler calls the runtime.
type Kind string

// The kinds of allocation.
const (
	Object    Kind = "object"     // a variable, literal or closure that escapes
	Box       Kind = "box"        // a value stored in an interface
	BoxSmall  Kind = "box-small"  // an integer stored in an interface, where 0 to 255 are free
	Make      Kind = "make"       // make([]T, n)
	Grow      Kind = "append"     // append beyond the capacity
	Move      Kind = "append-out" // an appended slice that moves from the stack to the heap
	Map       Kind = "map"        // make(map)
	MapGrow   Kind = "map-insert"
	Chan      Kind = "chan"
	Concat    Kind = "concat"  // a + b of strings
	ToString  Kind = "string"  // string(bytes)
	ToBytes   Kind = "bytes"   // []byte(string)
	FromRunes Kind = "text"    // string(rune), string([]rune)
	ToRunes   Kind = "runes"   // []rune(string)
	Goroutine Kind = "go"      // a go statement
	Defer     Kind = "defer"   // a defer statement in a loop
	Reflect   Kind = "reflect" // reflect.New and similar functions
	Inside    Kind = "call"    // inside a function of another module or of the standard library
)

// Rule determines when a call of the runtime function allocates.
type Rule uint8

// The rules.
const (
	Each   Rule = iota // each time
	Sized              // allocates from some size or value on
	Growth             // allocates when the existing memory is full
)

// call describes one runtime function.
type call struct {
	kind Kind
	rule Rule
}

var exact = map[string]call{
	"newobject": {Object, Each}, "newarray": {Make, Each}, "mallocgc": {Object, Each},
	"convT": {Box, Each}, "convTnoptr": {Box, Each}, "convTstring": {Box, Each}, "convTslice": {Box, Each},
	"convT16": {BoxSmall, Sized}, "convT32": {BoxSmall, Sized}, "convT64": {BoxSmall, Sized},
	"makeslice": {Make, Each}, "makeslice64": {Make, Each}, "makeslicecopy": {Make, Each},
	"growslice": {Grow, Growth}, "growsliceNoAlias": {Grow, Growth}, "growsliceBuf": {Grow, Growth}, "growsliceBufNoAlias": {Grow, Growth},
	"moveSlice": {Move, Sized}, "moveSliceNoScan": {Move, Sized}, "moveSliceNoCap": {Move, Sized}, "moveSliceNoCapNoScan": {Move, Sized},
	"makemap": {Map, Each}, "makemap64": {Map, Each}, "makemap_small": {Map, Each},
	"makechan": {Chan, Each}, "makechan64": {Chan, Each},
	"intstring": {FromRunes, Sized}, "slicerunetostring": {FromRunes, Sized},
	"slicebytetostring": {ToString, Sized},
	"stringtoslicebyte": {ToBytes, Sized}, "stringtoslicerune": {ToRunes, Sized},
	"rawstring": {ToString, Each}, "rawbyteslice": {ToBytes, Each}, "rawruneslice": {ToRunes, Each},
	"newproc": {Goroutine, Growth}, "deferproc": {Defer, Growth}, "deferprocat": {Defer, Growth},
	"deferrangefunc": {Defer, Each},
	// Other packages and cgo have these under names of their own.
	"gostring": {ToString, Each}, "gostringn": {ToString, Each}, "gobytes": {ToBytes, Each},
	"getOrAddWeakHandle": {Object, Each},
}

var prefixes = []struct {
	prefix string
	call
}{
	{"mallocgc", call{Object, Each}}, // one for each size class since Go 1.27
	{"mapassign", call{MapGrow, Growth}},
	{"concatstring", call{Concat, Sized}},
	{"concatbyte", call{Concat, Sized}},
}

// linked lists runtime functions that other packages call under other names.
var linked = map[string]call{
	"reflect.unsafe_New": {Reflect, Each}, "reflect.unsafe_NewArray": {Reflect, Each},
	"reflect.makemap": {Map, Each}, "reflect.makechan": {Chan, Each}, "reflect.mapassign": {MapGrow, Growth},
	"reflect.mapassign0": {MapGrow, Growth}, "reflect.mapassign_faststr0": {MapGrow, Growth}, "reflect.growslice": {Grow, Growth},
	"internal/reflectlite.unsafe_New": {Reflect, Each},
	"internal/bytealg.MakeNoZero":     {Make, Each},
	"maps.clone":                      {Map, Each},
	"strings.concatstrings":           {Concat, Sized},
}

// Of returns the allocation of a call to the function named symbol; ok is false
// when the function is not one of the runtime's allocating ones.
func Of(symbol string) (kind Kind, rule Rule, ok bool) {
	name, found := strings.CutPrefix(symbol, "runtime.")
	if !found {
		c, ok := linked[symbol]
		return c.kind, c.rule, ok
	}
	if c, ok := exact[name]; ok {
		return c.kind, c.rule, true
	}
	for _, p := range prefixes {
		if strings.HasPrefix(name, p.prefix) {
			return p.kind, p.rule, true
		}
	}
	return "", 0, false
}

// Defers reports whether the function with this symbol notes a call for the end
// of its caller.
func Defers(symbol string) bool { return strings.HasPrefix(symbol, "runtime.deferproc") }

// Opaque reports whether a walk ends at the function: the runtime's own inner
// functions allocate outside of the heap, or their allocations count for the
// caller. Its exported functions are ordinary Go code.
func Opaque(symbol string) bool {
	name, found := strings.CutPrefix(symbol, "runtime.")
	if !found {
		return strings.HasPrefix(symbol, "internal/runtime/") ||
			strings.HasPrefix(symbol, "runtime/internal/") ||
			strings.HasPrefix(symbol, "type:") || strings.HasPrefix(symbol, "go:")
	}
	name = strings.TrimPrefix(name, "(*")
	return name == "" || name[0] < 'A' || name[0] > 'Z'
}
