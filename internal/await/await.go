// SPDX-License-Identifier: Apache-2.0

// Package await waits in tests for events that cannot signal them: the end of a
// goroutine, another process, the kernel.
//
// A test that can use a channel or testing/synctest uses that instead.
package await

import (
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
