// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"slices"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
)

// The analysis of dynamic calls reads the tests, too, but does without those
// that do not compile. It runs only if a root reaches such a call.
func TestDynamicCallsAreFollowedIfARootReachesOne(t *testing.T) {
	for source, want := range map[string]bool{
		"func F(n int) int { return n + 1 }":                                 false,
		"func F(f func()) { f() }":                                           true,
		"func F(n int) int { return n + 1 }\n\nfunc Other(f func()) { f() }": false,
	} {
		var steps []string
		dir := module(t, map[string]string{
			"m.go":      "package m\n\n//alloc:none\n" + source + "\n",
			"m_test.go": "package m\n\nfunc init() { undefined() }\n",
		})
		_, err := check.Run(context.Background(), check.Options{
			Dir: dir, Patterns: []string{"./..."},
			Progress: func(step string) { steps = append(steps, step) },
		})
		if err != nil {
			t.Errorf("%s: %v", source, err)
		}
		if got := slices.Contains(steps, "following dynamic calls"); got != want {
			t.Errorf("%s: got the steps %q", source, steps)
		}
	}
}
