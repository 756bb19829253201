// SPDX-License-Identifier: Apache-2.0

// Package usercode guards calls of code that nib does not control: methods of
// logged values, hooks, sinks, error handlers. It detects code that calls
// itself through them ([Enter], [Frames]), runs work for a caller that holds a
// lock which the work may want ([Run]), and describes panics ([PanicText]).
package usercode

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
)

// Frames counts the frames of a function, or of a method given as a method
// expression, on the stack of its caller. That distinguishes code that calls
// itself from code that runs on many goroutines at once, without an identity of
// goroutines. It takes microseconds, so callers first check something cheap
// that hints at re-entry. The function must not be inlined.
func Frames(function any) int {
	entry := reflect.ValueOf(function).Pointer()
	return frames(func(f *runtime.Func) bool { return f.Entry() == entry })
}

// FramesNamed is Frames for the functions whose names, as [runtime.Func] has
// them, are prefix and one of names. Unlike a function value, a name does not
// keep the linker from removing a function that the program does not use.
func FramesNamed(prefix string, names ...string) int {
	return frames(func(f *runtime.Func) bool {
		name, ok := strings.CutPrefix(f.Name(), prefix)
		return ok && slices.Contains(names, name)
	})
}

func frames(counts func(*runtime.Func) bool) (n int) {
	var pcs [64]uintptr
	for skip := 3; ; skip += len(pcs) {
		got := runtime.Callers(skip, pcs[:])
		for _, pc := range pcs[:got] {
			if f := runtime.FuncForPC(pc - 1); f != nil && counts(f) {
				n++
			}
		}
		if got < len(pcs) {
			return n
		}
	}
}

// A Slot counts calls in progress on one stack, or on a few: a stack's Slot
// depends on its place in memory.
type Slot struct {
	n atomic.Int32
	_ [60]byte // fills a cache line
}

var slots [256]Slot

// Enter records that a call which may lead to itself begins on the calling
// goroutine. It returns the Slot, and how many such calls are in progress in
// it. A chain of calls counts up on its own stack; another goroutine counts in
// the same Slot only if its stack is within the same 256 KiB or has the same
// hash. So a large number is a hint, and a small one proves that there is no
// chain that long on a stack that has not moved; a chain soon stops growing its
// stack. Every Enter needs a Leave of the same Slot. 0 allocs, about 5 ns.
func Enter() (*Slot, int) {
	region := stackAddress() >> 18
	s := &slots[uint64(region)*0x9E3779B97F4A7C15>>56]
	return s, int(s.n.Add(1))
}

// Leave takes back one Enter.
func (s *Slot) Leave() { s.n.Add(-1) }

// Open returns how many entries have not been left yet, on all stacks. It is
// for tests: an entry that is never left makes its Slot useless without another
// symptom.
func Open() (n int) {
	for i := range slots {
		n += int(slots[i].n.Load())
	}
	return n
}
