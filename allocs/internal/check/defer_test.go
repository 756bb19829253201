// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
)

const deferSource = `package m

import "sync"

var (
	named *[3]int
	mu    sync.Mutex
	calls int
)

//alloc:none
func Literal(n int) {
	defer func() {
		named = &[3]int{n}
	}()
	calls++
}

//alloc:none
func Returns(n int) int {
	defer func() {
		named = &[3]int{n}
	}()
	if n > calls {
		return n
	}
	return calls + n
}

//alloc:none
func Function(n int) {
	defer store(n)
	calls++
}

//go:noinline
func store(n int) { named = &[3]int{n} }

type keeper struct{ n int }

//go:noinline
func (k *keeper) keep() { named = &[3]int{k.n} }

//alloc:none
func (k *keeper) Method() {
	defer k.keep()
	calls++
}

func Use() { new(keeper).Method() }

//alloc:none
func Loop(n int) {
	for i := 0; i < n; i++ {
		defer store(i)
	}
}

//alloc:none
func Two(n int) {
	defer mu.Unlock()
	mu.Lock()
	defer store(n)
	calls++
}

//alloc:none
func Lock() {
	mu.Lock()
	defer mu.Unlock()
	calls++
}
`

// The code calls a deferred function at the end of its caller, and there it
// does not name it.
func TestWhatIsDeferredIsFollowed(t *testing.T) {
	d := examine(t, check.Options{}, map[string]string{"m.go": deferSource})
	want := map[string]string{
		"Literal": "any run", "Returns": "benchmark", "Function": "any run", "(*keeper).Method": "any run", "Loop": "benchmark", "Two": "benchmark", "Lock": "none",
	}
	if len(d.Roots) != len(want) {
		t.Errorf("got %d roots, want %d", len(d.Roots), len(want))
	}
	for _, r := range d.Roots {
		f := strings.TrimPrefix(r.Func, "example.com/m.")
		if worst(r) != want[f] || r.Unfollowed[0] > 0 {
			t.Errorf("%s: got %s and %d calls that are not followed, want %s and none", f, worst(r), r.Unfollowed[0], want[f])
		}
	}
}
