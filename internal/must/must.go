// SPDX-License-Identifier: Apache-2.0

// Package must ends tests at errors of steps that they only prepare with.
package must

import "testing"

// Succeed ends the test at the first error.
func Succeed(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
