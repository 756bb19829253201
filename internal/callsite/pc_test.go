// SPDX-License-Identifier: Apache-2.0

package callsite_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/callsite"
)

// site is not inlined, like a log method, and finds its call site both ways.
//
//go:noinline
func site() place { return place{slow: callsite.PC(0)[0], fast: callsite.Fast()} }

type place struct{ slow, fast uintptr }

// here returns the line that it is called on.
func here() string { return lineOf(callsite.PC(0)[0]) }

// lineAbove returns the line above its call, for a statement that leaves no
// room for a second call.
func lineAbove() string {
	f, _ := runtime.CallersFrames([]uintptr{callsite.PC(0)[0]}).Next()
	return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line-1)
}

func lineOf(pc uintptr) string {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
}

func functionOf(pc uintptr) string {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return f.Function[strings.LastIndexByte(f.Function, '/')+1:]
}

func inlined() (place, string)           { return site(), here() }
func inlinedTwice() (p place, at string) { p, at = inlined(); return }

//go:noinline
func plain() (place, string) { p, at := site(), here(); return p, at }

// deep makes the stack grow, and so move, before it calls site.
//
//go:noinline
func deep(n int) (place, string) {
	var room [512]byte
	if n == 0 {
		return site(), here()
	}
	p, at := deep(n - 1)
	room[n%len(room)]++
	return p, at
}

type method struct{ n int }

//go:noinline
func (m *method) ask() (place, string) { m.n++; return site(), here() }

// callers are ways to get to site. Each returns the place and the line that it
// should be.
var callers = []struct {
	name string
	call func() (place, string)
}{
	{"plain function", plain},
	{"inlined function", func() (place, string) { return inlined() }},
	{"inlined twice", func() (place, string) { return inlinedTwice() }},
	{"closure", func() (place, string) {
		x := 1
		f := func() (place, string) { x++; return site(), here() }
		return f()
	}},
	{"deferred closure", func() (p place, at string) {
		defer func() { p, at = site(), here() }()
		return
	}},
	{"closure deferred in a loop", func() (p place, at string) {
		for range 3 {
			defer func() { p, at = site(), here() }()
		}
		return
	}},
	{"deferred closure in a panic", func() (p place, at string) {
		defer func() { recover(); p, at = site(), here() }()
		panic("on purpose")
	}},
	{"goroutine", func() (p place, at string) {
		done := make(chan bool)
		go func() { p, at = site(), here(); close(done) }()
		<-done
		return p, at
	}},
	{"method value", func() (place, string) { f := new(method).ask; return f() }},
	{"method through an interface", func() (place, string) {
		var asker interface{ ask() (place, string) } = new(method)
		return asker.ask()
	}},
	{"after the stack has moved", func() (p place, at string) {
		done := make(chan bool)
		go func() { p, at = deep(200); close(done) }()
		<-done
		return p, at
	}},
}

func TestPlaceOfTheCaller(t *testing.T) {
	for _, c := range callers {
		got, want := c.call()
		if at := lineOf(got.slow); at != want {
			t.Errorf("%s: PC: got %s, want %s", c.name, at, want)
		}
		if !callsite.HasFast() {
			continue
		}
		if at := lineOf(got.fast); at != want {
			t.Errorf("%s: Fast: got %s, want %s", c.name, at, want)
		}
		if got.fast != got.slow {
			t.Errorf("%s: got Fast = %#x, PC = %#x, want the same", c.name, got.fast, got.slow)
		}
	}
}

// wrapped records its caller; it is called by statements that the compiler
// wraps in another function, because it takes an argument.
//
//go:noinline
func wrapped(p *place, done chan<- bool) {
	*p = place{slow: callsite.PC(0)[0], fast: callsite.Fast()}
	if done != nil {
		close(done)
	}
}

func deferred(p *place) (at string) {
	defer wrapped(p, nil)
	return lineAbove()
}

func TestDeferredCallWithArguments(t *testing.T) {
	var got place
	want := deferred(&got)
	if f := functionOf(got.slow); f != "callsite_test.deferred" {
		t.Errorf("function of PC: got %s, want callsite_test.deferred", f)
	}
	if at := lineOf(got.fast); callsite.HasFast() && at != want {
		t.Errorf("line of Fast: got %s, want %s", at, want)
	}
}

func TestGoStatementWithArguments(t *testing.T) {
	var got place
	done := make(chan bool)
	go wrapped(&got, done)
	want := lineAbove()
	<-done
	if f := functionOf(got.slow); f != "runtime.goexit" {
		t.Errorf("function of PC: got %s, want runtime.goexit", f)
	}
	if at := lineOf(got.fast); callsite.HasFast() && at != want {
		t.Errorf("line of Fast: got %s, want %s", at, want)
	}
}

// byValue has a value receiver, so that an interface which holds a pointer
// calls it through a wrapper.
type byValue struct{ _ [4]int }

//go:noinline
func (byValue) site() place { return place{slow: callsite.PC(0)[0], fast: callsite.Fast()} }

// siter is a variable of the package, so that the compiler cannot see its type
// and call the method directly.
var siter interface{ site() place } = &byValue{}

func TestMethodWrapper(t *testing.T) {
	got, want := siter.site(), here()
	if at := lineOf(got.slow); at != want {
		t.Errorf("line of PC: got %s, want %s", at, want)
	}
	if callsite.HasFast() && !callsite.IsShared(got.fast, "none") {
		t.Errorf("Fast: got %s, want the wrapper, which its documentation warns of", lineOf(got.fast))
	}
}

func outer() [4]string  { return middle() }
func middle() [4]string { return inner() }
func inner() (names [4]string) {
	for skip := range names {
		names[skip] = functionOf(callsite.PC(skip)[0])
	}
	return names
}

func TestSkipCountsInlinedCallers(t *testing.T) {
	got := outer()
	want := [4]string{"callsite_test.middle", "callsite_test.outer", "callsite_test.TestSkipCountsInlinedCallers", "testing.tRunner"}
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNothingAboveTheStack(t *testing.T) {
	if got := callsite.PC(1000)[0]; got != 0 {
		t.Errorf("got %#x, want 0", got)
	}
}

func TestAskingDoesNotAllocate(t *testing.T) {
	if got := testing.AllocsPerRun(1000, func() { site() }); got != 0 {
		t.Errorf("got %v allocations, want 0", got)
	}
}

func TestShortFile(t *testing.T) {
	for path, want := range map[string]string{
		"":                   "",
		"main.go":            "main.go",
		"/main.go":           "/main.go",
		"app/main.go":        "app/main.go",
		"/src/app/main.go":   "app/main.go",
		"C:/src/app/main.go": "app/main.go",
	} {
		if got := callsite.ShortFile(path); got != want {
			t.Errorf("ShortFile(%q) = %q, want %q", path, got, want)
		}
	}
}
