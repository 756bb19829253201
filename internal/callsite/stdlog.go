// SPDX-License-Identifier: Apache-2.0

package callsite

import (
	"runtime"
	"strings"
)

// An Ending is the action of package log after a line.
type Ending int

// The endings of Print, Fatal and Panic.
const (
	GoesOn Ending = iota
	Exits
	Panics
)

// StdLog finds the function of package log that was called, and returns the
// call site and how that function ends. Of several on the stack the innermost
// counts: a String method that log.Fatal has called may print something itself.
// Without package log on the stack it is the first call site whose function
// does not begin with own.
func StdLog(own string) (pc uintptr, ends Ending) {
	var pcs [64]uintptr
	inLog := false
	for _, at := range pcs[:runtime.Callers(2, pcs[:])] {
		frame, _ := runtime.CallersFrames([]uintptr{at}).Next()
		name, ok := strings.CutPrefix(frame.Function, "log.")
		switch {
		case ok:
			inLog = true
			name = strings.TrimPrefix(name, "(*Logger).")
			if strings.HasPrefix(name, "Fatal") {
				ends = Exits
			} else if strings.HasPrefix(name, "Panic") {
				ends = Panics
			}
		case inLog:
			return at, ends
		case pc == 0 && !strings.HasPrefix(frame.Function, own):
			pc = at // the writer is called without package log
		}
	}
	return pc, ends
}
