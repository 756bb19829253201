// SPDX-License-Identifier: Apache-2.0

// Package crashtext reads the text that the runtime writes when a process
// crashes, and finds the message and the stack of the goroutine that caused it.
package crashtext

import (
	"bytes"
	"strings"
)

// maxSize is the number of bytes of a text that are kept. Go shows 100 frames
// of a goroutine, which are some 15 KB.
const maxSize = 64 << 10

// A Text is the part read so far of the runtime's crash text. It is complete
// with the stack of the goroutine that caused the crash: the other goroutines
// follow if GOTRACEBACK requests them, and there may be thousands.
//
// The end is recognised as early as possible. After the position of the
// outermost call, "\t/src/main.go:7 +0x1d\n", the process may exit, and as
// process 1 of a container it takes its monitor with it. So the text is
// complete with the " +".
type Text struct {
	text []byte
	seen int // how much of text was searched, in whole lines
	end  int // end of the wanted part, once it is complete

	inside    bool // set within the stack of a goroutine
	outermost bool // the last line was its outermost call
}

// Add adds the bytes that have been read and reports whether the text is
// complete. Nothing may be added after that.
func (t *Text) Add(p []byte) (complete bool) {
	t.text = append(t.text, p...)
	for t.seen < maxSize {
		rest := t.text[t.seen:]
		n := bytes.IndexByte(rest, '\n')
		if n < 0 {
			if n = bytes.Index(rest, []byte(" +")); n >= 0 && t.outermost {
				t.end = t.seen + n
				return true
			}
			break
		}
		t.seen += n + 1
		if t.line(rest[:n]) {
			t.end = t.seen
			return true
		}
	}
	return len(t.text) >= maxSize
}

// line reads one line and reports whether it is the last one needed.
func (t *Text) line(line []byte) bool {
	switch {
	case t.outermost, t.inside && len(line) == 0:
		return true
	case t.inside:
		t.outermost = bytes.HasPrefix(line, []byte("created by ")) ||
			bytes.HasPrefix(line, []byte("main.main("))
	default:
		t.inside = isGoroutine(line)
	}
	return false
}

// isGoroutine recognises "goroutine 7 [running]:". Goroutine 0 belongs to a
// thread and is never the cause.
func isGoroutine(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("goroutine "))
	return ok && len(rest) > 0 && '1' <= rest[0] && rest[0] <= '9' &&
		bytes.Contains(rest, []byte(" [")) && rest[len(rest)-1] == ':'
}

// String returns the part of the text that is logged, or all of it if it is not
// complete.
func (t *Text) String() string {
	text := t.text
	if t.end > 0 {
		text = text[:t.end]
	}
	return strings.Trim(string(text[:min(len(text), maxSize)]), "\n")
}

// Empty reports whether nothing has been added.
func (t *Text) Empty() bool { return len(t.text) == 0 }

// IsPanic reports whether the process died of a panic.
func (t *Text) IsPanic() bool { return bytes.HasPrefix(t.text, []byte("panic: ")) }

// Message returns the first line. Up to Go 1.27 the runtime does not write that
// line of a fatal error to the file of SetCrashOutput (golang.org/issue/76859);
// the reason is then derived from the stack.
func (t *Text) Message() string {
	first, _, _ := strings.Cut(t.String(), "\n")
	// Removed by Close.
	for _, recovered := range []string{" [recovered, repanicked]", " [recovered]"} {
		first = strings.TrimSuffix(first, recovered)
	}
	if first != "runtime stack:" && !isGoroutine([]byte(first)) {
		return first
	}
	return "fatal error" + t.reason(first)
}

// reason derives the reason of a fatal error from the stack. The runtime's own
// text is on standard error.
func (t *Text) reason(first string) string {
	calls := t.calls()
	for _, known := range []struct{ function, reason string }{
		{"internal/runtime/maps.fatal", "concurrent use of a map"},
		{"runtime.newstack", "stack overflow"},
		{"runtime.sysMapOS", "out of memory"},
		{"runtime.(*mheap).grow", "out of memory"},
		{"runtime.(*mcache).allocLarge", "out of memory"},
	} {
		for i, call := range calls {
			if i < 8 && call == known.function {
				return ": " + known.reason
			}
		}
	}
	if _, state, _ := strings.Cut(first, " ["); state != "" &&
		!strings.HasPrefix(state, "running") {
		return ": all goroutines are asleep"
	}
	for _, call := range calls {
		if !strings.HasSuffix(call, ".throw") && !strings.HasSuffix(call, ".fatal") {
			return " in " + call
		}
	}
	return ""
}

// calls lists the functions of the text, the innermost first.
func (t *Text) calls() (list []string) {
	for line := range strings.Lines(t.String()) {
		if at := strings.LastIndexByte(line, '('); at > 0 && line[0] != '\t' {
			list = append(list, line[:at])
		}
	}
	return list
}
