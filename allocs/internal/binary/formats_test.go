// SPDX-License-Identifier: Apache-2.0

package binary_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
)

// wide has calls of every kind that is distinguished: of the runtime, of other
// packages, inlined over several levels, dynamic, generic, deferred, and out of
// function literals. It imports nothing that takes long to compile.
const wide = `package main

import (
	"errors"
	"strconv"
	"strings"
	"sync"
)

type shape interface{ area() int }
type square struct{ side int }

func (s *square) area() int { return s.side * s.side }

var (
	kept  any
	texts []string
	index = map[string]*square{}
	pool  = sync.Pool{New: func() any { return new(strings.Builder) }}
	args  = []string{"a"}
)

func third(n int) *square { return &square{n} }
func second(n int) *square { return third(n + 1) }
func first(n int) *square  { return second(n + 2) }

//go:noinline
func remember(name string, n int) {
	if len(texts) > n {
		texts = append(texts, name+strconv.Itoa(n))
		return
	}
	index[name] = first(n)
	kept = n
}

//go:noinline
func total(shapes ...shape) (sum int) {
	for _, s := range shapes {
		sum += s.area()
	}
	return sum
}

//go:noinline
func largest[T int | string](all []T) (out T, err error) {
	defer func() { kept = all }()
	if len(all) == 0 {
		return out, errors.Join(errNone, errors.New("nothing of "+strconv.Itoa(len(all))))
	}
	for _, x := range all {
		if x > out {
			out = x
		}
	}
	return out, nil
}

//go:noinline
func render(n int) (string, error) {
	b := pool.Get().(*strings.Builder)
	defer pool.Put(b)
	b.Reset()
	for i := range n {
		b.WriteString(strings.Repeat("x", i))
	}
	if b.Len() > 1000 {
		return "", errors.New("too long")
	}
	return b.String(), nil
}

func main() {
	n := len(args)
	remember("a", n)
	var done sync.WaitGroup
	done.Add(1)
	go func() {
		defer done.Done()
		kept = total(first(n), &square{n})
	}()
	done.Wait()
	kept, _ = largest([]int{n, 2})
	kept, _ = largest([]string{"a", args[0]})
	text, err := render(n)
	keep(text, err, len(make([]byte, n)))
}

var errNone = errors.New("none")

//go:noinline
func keep(all ...any) { kept = all }
`

type target struct{ goos, goarch string }

// targets returns the executables that are compared. By default there is one of
// each processor: the go command compiles the runtime for each of them.
func targets() []target {
	out := []target{{"linux", "amd64"}, {"darwin", "arm64"}}
	if os.Getenv("NIB_E2E") != "" {
		out = append(out, target{"linux", "arm64"}, target{"darwin", "amd64"},
			target{"windows", "amd64"}, target{"windows", "arm64"})
	}
	return out
}

// listing describes the functions of package main in a program: a line for each
// call, with all its frames.
func listing(t testing.TB, p *binary.Program, keep func(target string) bool) []string {
	t.Helper()
	var out []string
	p.Names(func(name string) {
		if !strings.HasPrefix(name, "main.") {
			return
		}
		for _, f := range p.Lookup(name) {
			for i := range f.Calls {
				c := &f.Calls[i]
				target := c.Target
				if !keep(target) {
					continue
				}
				line := fmt.Sprintf("%s → %s always=%v doomed=%v",
					f.Name, target, f.Always(c), c.Doomed)
				for _, fr := range c.Stack {
					line += fmt.Sprintf(" %s:%d", fr.Func, fr.Line)
				}
				out = append(out, line)
			}
		}
	})
	sort.Strings(out)
	return out
}

// TestFormatsAgree builds one program for all targets. Those of one processor
// must hold the same calls, whatever the format; those of different ones the
// same apart from the runtime's helpers that do not allocate, which depend on
// the instructions that a processor has.
func TestFormatsAgree(t *testing.T) {
	everything := func(string) bool { return true }
	memoryAndOthers := func(target string) bool {
		_, _, allocates := heapcalls.Of(target)
		return target != "" && (allocates || !strings.HasPrefix(target, "runtime.") && !strings.HasPrefix(target, "internal/runtime/"))
	}
	var common []string
	byArch := map[string][]string{}
	for _, target := range targets() {
		p, err := binary.Open(build(t, target, wide, ""), "")
		if err != nil {
			t.Fatalf("%s/%s: %v", target.goos, target.goarch, err)
		}
		all, some := listing(t, p, everything), listing(t, p, memoryAndOthers)
		t.Logf("%s/%s: %d calls, %d of them compared between processors", target.goos, target.goarch, len(all), len(some))
		if byArch[target.goarch] == nil {
			byArch[target.goarch] = all
		} else if d := difference(all, byArch[target.goarch]); d != "" {
			t.Errorf("%s/%s: all calls: not as in the first executable of the processor:\n%s", target.goos, target.goarch, d)
		}
		if common == nil {
			common = some
		} else if d := difference(some, common); d != "" {
			t.Errorf("%s/%s: calls that allocate or leave the runtime: not as on linux/amd64:\n%s", target.goos, target.goarch, d)
		}
	}
	for _, want := range []string{
		"main.remember → runtime.newobject always=false doomed=false main.third:23 main.second:24 main.first:25 main.remember:33",
		"main.total →  always=false doomed=false main.total:40",
	} {
		if !slices.Contains(byArch["arm64"], want) {
			t.Errorf("arm64: %q is not among the calls:\n%s", want, strings.Join(byArch["arm64"], "\n"))
		}
	}
}

// difference shows the items that only one of two sorted lists has.
func difference(got, want []string) string {
	count := map[string]int{}
	for _, s := range got {
		count[s]++
	}
	for _, s := range want {
		count[s]--
	}
	var b strings.Builder
	for _, s := range slices.Sorted(maps.Keys(count)) {
		if count[s] != 0 {
			fmt.Fprintf(&b, "%+d %s\n", count[s], s)
		}
	}
	return b.String()
}
