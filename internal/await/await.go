// SPDX-License-Identifier: Apache-2.0

// Package await waits in tests for events that cannot signal them: the end of a
// goroutine, another process, the kernel.
//
// A test that can use a channel or testing/synctest uses that instead.
package await

import (
	"sync"
	"testing"
	"time"
)

// limit is the maximum time that Until waits. Reaching it is a failure of the
// test, not a slow machine.
const limit = 2 * time.Minute

// Until waits until a condition holds, which it checks every millisecond. After
// two minutes the test fails.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for late := time.Now().Add(limit); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("timed out after %v waiting until %s", limit, what)
		}
	}
}

// Goroutines calls f in n goroutines, with 0 to n-1, and waits until all calls
// have returned.
func Goroutines(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			f(i)
		}()
	}
	wg.Wait()
}
