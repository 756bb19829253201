// SPDX-License-Identifier: Apache-2.0

// Package await waits in tests for what cannot signal them: the end of a
// goroutine, another process, the kernel.
//
// A test that can use a channel or testing/synctest uses that instead.
package await

import (
	"testing"
	"time"
)

// limit is how long Until waits. Reaching it is a failure of the test, not a
// slow machine.
const limit = 2 * time.Minute

// Until waits until a condition holds, which it checks every millisecond. If
// that takes two minutes, the test fails.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for late := time.Now().Add(limit); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(late) {
			t.Fatalf("waited %v in vain until %s", limit, what)
		}
	}
}
