// SPDX-License-Identifier: Apache-2.0

package crashtext

import (
	"strings"
	"testing"
)

const (
	panicText = "panic: boom\n\ngoroutine 7 [running]:\nmain.work(0x1)\n\t/src/work.go:5 +0x25\ncreated by main.main in goroutine 1\n\t/src/main.go:9 +0x1d\n"
	mainText  = "panic: boom\n\ngoroutine 1 [running]:\nmain.work(...)\n\t/src/work.go:5\nmain.main()\n\t/src/main.go:9 +0x1d\n"
	mapText   = "\ngoroutine 9 [running]:\ninternal/runtime/maps.fatal({0x4af553?, 0x0?})\n\t/go/panic.go:1181 +0x18\nmain.main.func1()\n\t/src/main.go:16 +0x2f\ncreated by main.main in goroutine 1\n\t/src/main.go:16 +0x23a\n\ngoroutine 1 [select]:\nmain.main()\n\t/src/main.go:20\n"
	throwText = "\nruntime stack:\nruntime.throw({0x4adadd?, 0x1?})\n\t/go/panic.go:1229 +0x48 fp=0x1 sp=0x2 pc=0x3\nruntime.newstack()\n\t/go/stack.go:1207 +0x5fd fp=0x1 sp=0x2 pc=0x3\n\ngoroutine 1 gp=0xc m=0 mp=0xd [running]:\nmain.f()\n\t/src/main.go:3 +0x1 fp=0x1 sp=0x2 pc=0x3\n...90 frames elided...\nmain.main()\n\t/src/main.go:9 +0x1d fp=0x1 sp=0x2 pc=0x3\n"
	quitText  = "SIGQUIT: quit\nPC=0x1 m=0 sigcode=0\n\ngoroutine 0 gp=0x1 m=0 mp=0x2 [idle]:\nruntime.futex(0x1)\n\t/go/sys.s:569 +0x21\n\ngoroutine 1 gp=0xc m=nil [chan receive]:\nmain.main()\n\t/src/main.go:9 +0x1d\n"
)

// TestTexts adds texts piece by piece: a complete one must have the stack of
// the goroutine that is to blame, and must not wait for bytes that may never
// arrive.
func TestTexts(t *testing.T) {
	for _, tt := range []struct {
		name, text, message string
		last                string // the end of the complete text
		panics              bool
	}{
		{"panic", panicText, "panic: boom", "\t/src/main.go:9", true},
		{"panic in main", mainText, "panic: boom", "\t/src/main.go:9", true},
		{"panic, then another", "panic: boom\n\tpanic: bang\n" + mainText[12:], "panic: boom", "\t/src/main.go:9", true},
		{"recovered and repanicked", strings.Replace(mainText, "boom", "boom [recovered, repanicked]", 1), "panic: boom", "\t/src/main.go:9", true},
		{"recovered", strings.Replace(mainText, "boom", "boom [recovered]\n\tpanic: boom", 1), "panic: boom", "\t/src/main.go:9", true},
		{"panic of a signal", strings.Replace(mainText, "boom\n", "runtime error: x\n[signal SIGSEGV: y]\n", 1), "panic: runtime error: x", "\t/src/main.go:9", true},
		{"concurrent map", mapText, "fatal error: concurrent use of a map", "\t/src/main.go:16", false},
		{"fatal error with its message", "fatal error: concurrent map writes\n" + mapText, "fatal error: concurrent map writes", "\t/src/main.go:16", false},
		{"stack overflow", throwText, "fatal error: stack overflow", "\t/src/main.go:9", false},
		{"out of memory", strings.Replace(throwText, "runtime.newstack", "runtime.sysMapOS", 1), "fatal error: out of memory", "\t/src/main.go:9", false},
		{"another throw", strings.Replace(throwText, "runtime.newstack", "runtime.gcDrain", 1), "fatal error in runtime.gcDrain", "\t/src/main.go:9", false},
		{"deadlock", "\ngoroutine 1 [chan receive (nil chan)]:\nmain.main()\n\t/src/main.go:9 +0x1d\n", "fatal error: all goroutines are asleep", "\t/src/main.go:9", false},
		{"SIGQUIT", quitText, "SIGQUIT: quit", "\t/src/main.go:9", false},
		{"goroutine of C", "panic: x\n\ngoroutine 17 [running, locked to thread]:\nmain.f()\n\t/x.go:1 +0x1\n\ngoroutine 1", "panic: x", "\t/x.go:1", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, piece := range []int{1, 2, 7, 64, len(tt.text)} {
				var c Text
				at, complete := 0, false
				for !complete && at < len(tt.text) {
					end := min(at+piece, len(tt.text))
					complete = c.Add([]byte(tt.text[at:end]))
					at = end
				}
				if !complete {
					t.Fatalf("pieces of %d: not complete", piece)
				}
				if c.Message() != tt.message || c.IsPanic() != tt.panics {
					t.Errorf("pieces of %d: got message %q, panic %v, want %q, %v", piece, c.Message(), c.IsPanic(), tt.message, tt.panics)
				}
				if got := c.String(); !strings.HasSuffix(got, tt.last) && !strings.HasSuffix(got[:strings.LastIndex(got, " +")], tt.last) {
					t.Errorf("pieces of %d: got\n%s\nwhich does not end with %q", piece, got, tt.last)
				}
			}
		})
	}
}

// TestTextIsCompleteBeforeItsEnd checks that a text does not wait for its last
// newline, which the runtime writes after the offset of the last frame.
func TestTextIsCompleteBeforeItsEnd(t *testing.T) {
	for _, text := range []string{panicText, mainText} {
		var c Text
		offset := strings.LastIndex(text, "0x1d\n")
		if c.Add([]byte(text[:offset-1])) {
			t.Errorf("complete too early: %q", c.text)
		}
		if !c.Add([]byte(text[offset-1 : offset])) {
			t.Errorf("not complete with %q", c.text)
		}
	}
}

func TestTextHasAMaximumSize(t *testing.T) {
	var c Text
	if !c.Empty() {
		t.Error("the zero Text is not empty")
	}
	n := 0
	for !c.Add([]byte("panic: what is this\n")) {
		n++
	}
	if len(c.String()) > maxSize || n < 1000 {
		t.Errorf("got %d bytes after %d pieces", len(c.String()), n)
	}
	if c.Message() != "panic: what is this" {
		t.Errorf("got message %q", c.Message())
	}
}

func FuzzText(f *testing.F) {
	for _, text := range []string{panicText, mainText, mapText, throwText, quitText, "", "\n", "goroutine 1 [", "runtime stack:"} {
		f.Add([]byte(text), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, piece int) {
		var c Text
		for rest := text; len(rest) > 0; {
			n := min(max(piece, 1), len(rest))
			if c.Add(rest[:n]) {
				break
			}
			rest = rest[n:]
		}
		if got := c.String(); len(got) > maxSize || !strings.Contains(string(text), got) {
			t.Errorf("got %q of %q", got, text)
		}
		if m := c.Message(); strings.Contains(m, "\n") {
			t.Errorf("got message %q", m)
		}
	})
}
