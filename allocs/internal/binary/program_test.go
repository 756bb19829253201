// SPDX-License-Identifier: Apache-2.0

package binary_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/must"
)

// source imports nothing: the go command compiles all imports for each target.
const source = `package main

var args = 1

type object struct{ a [4]int }

var kept *object
var box any

func inner(n int) { kept = &object{[4]int{n}} } // line 10

//go:noinline
func outer(n int) {
	inner(n) // line 14
}

//go:noinline
func branch(n int) {
	if n > 5 {
		kept = &object{} // line 20
	}
}

//go:noinline
func panics(n int) {
	if n > 500 {
		panic(&object{}) // line 27
	}
}

//go:noinline
func loop(f func(int)) {
	for i := range 3 {
		f(i) // line 34
	}
}

//go:noinline
func generic[T any](v T) { box = v } // line 39

func main() {
	n := args
	outer(n)
	branch(n)
	panics(n)
	loop(func(i int) { box = [2]int{i, n} }) // line 46
	generic(n)
	generic("x")
	serve(n)
}

//go:noinline
func serve(n int) {
	if n > 500 {
		return
	}
	for {
		kept = &object{[4]int{n}}
	}
}
`

// built has the executables that tests share, by what they are built from.
var built = struct {
	sync.Mutex
	dir  string
	exes map[string]string
}{exes: map[string]string{}}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(built.dir)
	os.Exit(code)
}

// build compiles a program for a target, once, with the flags for the linker.
// Like the command it keeps paths: both need the same standard library.
func build(t testing.TB, on target, source, ldflags string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of short mode: it runs the go command")
	}
	built.Lock()
	defer built.Unlock()
	key := fmt.Sprint(on, ldflags, source)
	if exe, ok := built.exes[key]; ok {
		return exe
	}
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "binary-test-")
		must.Succeed(t, err)
		built.dir = dir
	}
	dir, err := os.MkdirTemp(built.dir, "")
	must.Succeed(t, err)
	write(t, filepath.Join(dir, "main.go"), source)
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.24\n")
	exe := filepath.Join(dir, "m")
	cmd := exec.Command("go", "build", "-ldflags="+ldflags, "-o", exe, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS="+on.goos, "GOARCH="+on.goarch, "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	built.exes[key] = exe
	return exe
}

func write(t testing.TB, name, text string) {
	t.Helper()
	must.Succeed(t, os.WriteFile(name, []byte(text), 0o644))
}

// heap returns the calls of a function that take memory.
func heap(t *testing.T, p *binary.Program, name string) (*binary.Func, []*binary.Call) {
	t.Helper()
	fs := p.Lookup(name)
	if len(fs) == 0 {
		t.Fatalf("%s is not in the executable", name)
	}
	var out []*binary.Call
	for i := range fs[0].Calls {
		c := &fs[0].Calls[i]
		if strings.HasPrefix(c.Target, "runtime.newobject") || strings.HasPrefix(c.Target, "runtime.mallocgc") || strings.HasPrefix(c.Target, "runtime.convT") {
			out = append(out, c)
		}
	}
	return fs[0], out
}

func TestProgram(t *testing.T) {
	for _, on := range targets() {
		t.Run(on.goos+"/"+on.goarch, func(t *testing.T) {
			p, err := binary.Open(build(t, on, source, "-w"), "")
			must.Succeed(t, err)
			f, calls := heap(t, p, "main.outer")
			if len(calls) != 1 {
				t.Fatalf("outer: got %d calls, want 1", len(calls))
			}
			var stack []string
			for _, fr := range calls[0].Stack {
				stack = append(stack, fr.Func+":"+string(rune('0'+fr.Line/10))+string(rune('0'+fr.Line%10)))
			}
			if got, want := strings.Join(stack, " "), "main.inner:10 main.outer:14"; got != want {
				t.Errorf("outer: got stack %q, want %q", got, want)
			}
			if !f.Always(calls[0]) || calls[0].Doomed {
				t.Errorf("outer: got always %v, doomed %v, want true, false", f.Always(calls[0]), calls[0].Doomed)
			}
			if f, calls = heap(t, p, "main.branch"); len(calls) != 1 || f.Always(calls[0]) || calls[0].Doomed {
				t.Errorf("branch: got %d calls, want one that is neither always made nor doomed", len(calls))
			}
			if f, calls = heap(t, p, "main.panics"); len(calls) != 1 || f.Always(calls[0]) || !calls[0].Doomed {
				t.Errorf("panics: got %d calls, want one that is doomed", len(calls))
			}
			if _, calls = heap(t, p, "main.serve"); len(calls) != 1 || calls[0].Doomed {
				t.Errorf("serve: got %d calls, want one that is not doomed", len(calls))
			}
			if got := len(p.Lookup("main.generic[...]")); got != 2 {
				t.Errorf("generic: got %d instances, want 2", got)
			}
		})
	}
}

func TestDynamicCallAndLiteral(t *testing.T) {
	exe := build(t, target{"linux", "amd64"}, source, "-w")
	p, err := binary.Open(exe, "")
	must.Succeed(t, err)
	dynamic := 0
	for _, c := range p.Lookup("main.loop")[0].Calls {
		if c.Target == "" && c.Stack[0].Line == 34 {
			dynamic++
		}
	}
	if dynamic != 1 {
		t.Errorf("loop: got %d dynamic calls on line 34, want 1", dynamic)
	}
}

// Programs have their functions under the names that test binaries give them.
func TestNamesOfMain(t *testing.T) {
	p, err := binary.Open(build(t, target{"linux", "amd64"}, source, "-w"), "m.org/cmd")
	must.Succeed(t, err)
	_, calls := heap(t, p, "m.org/cmd.outer")
	if len(calls) != 1 || calls[0].Stack[0].Func != "m.org/cmd.inner" {
		t.Errorf("got %+v, want a call in m.org/cmd.inner", calls)
	}
	if len(p.Lookup("main.outer")) > 0 {
		t.Error("main.outer is found")
	}
}

func TestOpenRefusesWhatItCannotRead(t *testing.T) {
	if _, err := binary.Open(build(t, target{"linux", "amd64"}, source, "-s"), ""); err == nil {
		t.Error("stripped: got no error")
	}
	name := filepath.Join(t.TempDir(), "text")
	write(t, name, "no executable")
	if _, err := binary.Open(name, ""); err == nil {
		t.Error("text file: got no error")
	}
	if _, err := binary.Open(filepath.Join(t.TempDir(), "none"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: got %v", err)
	}
}

func TestNormalise(t *testing.T) {
	for symbol, want := range map[string]string{
		"main.G[go.shape.int]":            "main.G[...]",
		"main.(*T[go.shape.[]uint8_0]).M": "main.(*T[...]).M",
		"gopkg.in/yaml%2ev3.Marshal":      "gopkg.in/yaml.v3.Marshal",
		"example.com/a.F":                 "example.com/a.F",
	} {
		if got := binary.Normalise(symbol); got != want {
			t.Errorf("%s: got %s, want %s", symbol, got, want)
		}
	}
}
