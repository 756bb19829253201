// SPDX-License-Identifier: Apache-2.0

//go:build race || invariants

package invariants

import (
	"runtime"
	"strconv"
)

// Enabled tells whether this build checks for misuse.
const Enabled = true

// poison is what released bytes are filled with: neither valid UTF-8 nor JSON,
// and easy to spot in a dump.
const poison = 0xCC

// maxFrames limits what a Stack remembers. The innermost frames are kept,
// those name the call that finished the value.
const maxFrames = 32

// A Stack remembers where something was finished. The zero value remembers
// nothing. It is as safe for concurrent use as a plain variable: whoever owns
// the value that it sits in calls Record. In a build without checks it is an
// empty struct; do not make it the last field of a struct, where even an empty
// one takes up room.
type Stack struct {
	n   int
	pcs [maxFrames]uintptr
}

// Record remembers the stack of its caller, replacing what was there. It does
// not allocate.
func (s *Stack) Record() {
	// 2 leaves out runtime.Callers and Record itself.
	s.n = runtime.Callers(2, s.pcs[:])
}

// String gives the remembered stack, innermost frame first, in the form of a
// Go trace: the function on one line, then a tab, file and line. It is empty
// when nothing was recorded, and in builds without checks. It allocates.
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

// Poison fills b up to its capacity, so that whoever still reads it sees that
// it is gone. The caller must own the whole backing array from b[0] on.
func Poison(b []byte) {
	b = b[:cap(b)]
	for i := range b {
		b[i] = poison
	}
}
