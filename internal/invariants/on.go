// SPDX-License-Identifier: Apache-2.0

//go:build race || invariants

package invariants

import (
	"runtime"
	"strconv"
)

// Enabled reports whether this build checks for misuse.
const Enabled = true

// poison is the byte that fills released memory: neither valid UTF-8 nor JSON,
// and easy to spot in a dump.
const poison = 0xCC

// maxFrames limits the number of frames that a Stack records. It keeps the
// innermost frames, which name the call that finished the value.
const maxFrames = 32

// A Stack records where something was finished. The zero value is empty. It is
// as safe for concurrent use as a plain variable: the owner of the value that
// contains it calls Record. In a build without checks it is an empty struct; do
// not make it the last field of a struct, where even an empty one takes up
// room.
type Stack struct {
	n   int
	pcs [maxFrames]uintptr
}

// Record records the stack of its caller, replacing the previous one. It does
// not allocate.
func (s *Stack) Record() {
	// 2 skips runtime.Callers and Record itself.
	s.n = runtime.Callers(2, s.pcs[:])
}

// String returns the recorded stack, innermost frame first, in the form of a Go
// trace: the function on one line, then a tab, file and line. It is empty when
// nothing was recorded, and in builds without checks. It allocates.
func (s *Stack) String() string {
	if s.n == 0 {
		return ""
	}
	var text []byte
	frames := runtime.CallersFrames(s.pcs[:s.n])
	for {
		f, more := frames.Next()
		text = append(text, f.Function...)
		text = append(text, "\n\t"...)
		text = append(text, f.File...)
		text = append(text, ':')
		text = strconv.AppendInt(text, int64(f.Line), 10)
		text = append(text, '\n')
		if !more {
			return string(text)
		}
	}
}

// Poison overwrites b up to its capacity, so that a later reader sees that it
// was released. The caller must own the whole backing array from b[0] on.
func Poison(b []byte) {
	b = b[:cap(b)]
	for i := range b {
		b[i] = poison
	}
}
