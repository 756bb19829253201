// SPDX-License-Identifier: Apache-2.0

// Package usercode guards calls of code that nib does not control: methods of
// logged values, hooks, sinks, error handlers. It detects code that calls
// itself through them ([Enter], [Frames]), runs work for a caller that holds a
// lock which the work may need ([Run]), and describes panics ([PanicText]).
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
// itself from code that runs on many goroutines at once, without identifying
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

// A Kind is a kind of call that may lead to itself. Each kind is counted
// separately.
type Kind int

const (
	Fields   Kind = iota // fields of a line
	Settings             // settings that a logger reads for each line: a clock, a sampler
	kinds
)

// slots count the calls in progress, each on one stack or on a few: the slot of
// a stack depends on its place in memory. A slot stores the owner of the latest
// entry and, in the bits that are 0 in an address, the number of entries so
// far.
var slots [kinds * 256]struct {
	atomic.Uintptr
	_ [56]byte // fills a cache line
}

const maxCount = 7

// An Entry is a call that may lead to itself.
type Entry struct {
	slot   uintptr
	before uintptr // the count that Leave restores, or 0
}

// Enter records that a call which may lead to itself begins on the calling
// goroutine. It returns the number of such calls in progress in its slot. A
// chain of calls counts up on its own stack; another goroutine counts in the
// same slot only if its stack is within the same 256 KiB or has the same hash.
// So a large number is a hint, and callers inspect the stack (see
// [Entry.Correct]). A small number is correct unless another goroutine
// concurrently uses the same slot, or the stack has moved; a chain soon stops
// growing its stack. 0 allocs.
func Enter(k Kind) (e Entry, n int) { return enter(k, stackAddress()) }

// EnterFor is Enter for an owner that is in use until its entry has been left.
// So if the slot already has an entry of this owner, that entry is complete.
// EnterFor then stores nothing, and takes about 1 ns.
func EnterFor[T any](k Kind, owner *T) (e Entry, n int) { return enter(k, address(owner)) }

func enter(k Kind, owner uintptr) (e Entry, n int) {
	owner &^= maxCount
	e.slot = uintptr(k)<<8 | uintptr(uint64(stackAddress()>>18)*0x9E3779B97F4A7C15>>56)
	slot := &slots[e.slot]
	before := slot.Load()
	if before&^maxCount == owner {
		return e, int(before & maxCount)
	}
	count := min(before&maxCount+1, maxCount)
	slot.Store(owner | count)
	e.before = before
	return e, int(count)
}

// Correct sets the count to found, and returns it. The caller has found that
// many calls on its stack, excluding itself. Goroutines that share a slot may
// leave it with a count that is too large.
func (e *Entry) Correct(found int) int {
	e.before = uintptr(min(found, maxCount))
	slot := &slots[e.slot]
	slot.Store(slot.Load()&^maxCount | min(e.before+1, maxCount))
	return found
}

// Leave undoes one Enter. The last entry of a slot may stay.
func (e *Entry) Leave() {
	if e.before != 0 {
		slots[e.slot].Store(e.before)
	}
}

// Open returns the number of nested entries that have not been left, on all
// stacks. It is for tests: an entry that is never left makes its slot useless
// without any other symptom.
func Open() (n int) {
	for i := range slots {
		n += max(int(slots[i].Load()&maxCount), 1) - 1
	}
	return n
}
