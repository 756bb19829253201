// SPDX-License-Identifier: Apache-2.0

package callsite

import (
	"runtime"
	"strings"
)

// PC returns the program counter of a function further up the stack. With skip
// 0 it is the caller of the function that calls PC; with skip 1 its caller, and
// so on. Functions that the compiler has inlined count as if they had not been.
// It is 0 when the stack is not that deep. skip must not be negative.
//
// PC skips wrappers that the compiler makes, as [runtime.Callers] does: of
// "defer f()" and of "go f()" with arguments, and of methods called through an
// interface. For "go f(x)" that leaves [runtime.goexit] as the caller of f.
//
// PC may be called concurrently and does not allocate. It walks the stack by
// the runtime's tables, which costs more than all other parts of a short log
// line; see [Fast]. Every frame on the way costs 20 ns or more, so PC must be
// inlined: the compiler inlines it because its result is an array.
func PC(skip int) (pc [1]uintptr) {
	// 3 skips runtime.Callers, PC and the function that calls PC.
	runtime.Callers(skip+3, pc[:])
	return
}

// ShortFile returns the last directory and the name in a path: enough to find
// the line, short enough to read.
func ShortFile(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		if j := strings.LastIndexByte(path[:i], '/'); j >= 0 {
			return path[j+1:]
		}
	}
	return path
}

// Frame returns the innermost frame of pc.
func Frame(pc uintptr) runtime.Frame {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return frame
}

// Outside returns the first call site on the stack whose function's name does
// not begin with prefix, or 0.
func Outside(prefix string) uintptr {
	var pcs [32]uintptr
	for _, pc := range pcs[:runtime.Callers(2, pcs[:])] {
		if name := Frame(pc).Function; !strings.HasPrefix(name, prefix) {
			return pc
		}
	}
	return 0
}
