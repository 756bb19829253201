// SPDX-License-Identifier: Apache-2.0

package handover

import (
	"runtime"
	"strings"
)

// An Ending is what package log does behind a line.
type Ending int

// The endings: none, that of Fatal and its like, and that of Panic.
const (
	GoesOn Ending = iota
	Exits
	Panics
)

// Caller finds the function of package log that was called: it returns the call
// site, and how that function ends. The innermost frames of log's count: further
// out there may be others, when a String method that log.Fatal has called prints
// something itself. Without package log on the stack it is the first call site
// whose function does not begin with own.
func Caller(own string) (pc uintptr, ends Ending) {
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
			pc = at // of whoever uses the writer without package log
		}
	}
	return pc, ends
}
