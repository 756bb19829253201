// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/load"
	"github.com/nib-log/nib/allocs/internal/progress"
)

// The analysis of dynamic calls needs the tests, too, and these do not compile:
// that is an error, but only of a module whose roots reach such a call.
func TestDynamicCallsAreFollowedIfARootReachesOne(t *testing.T) {
	for source, want := range map[string]error{
		"func F(n int) int { return n + 1 }":                                 nil,
		"func F(f func()) { f() }":                                           load.ErrBroken,
		"func F(n int) int { return n + 1 }\n\nfunc Other(f func()) { f() }": nil,
	} {
		var stages []progress.Stage
		dir := module(t, map[string]string{
			"m.go":      "package m\n\n//alloc:none\n" + source + "\n",
			"m_test.go": "package m\n\nfunc init() { undefined() }\n",
		})
		_, err := check.Run(context.Background(), check.Options{
			Dir: dir, Patterns: []string{"./..."},
			Progress: func(e progress.Event) { stages = append(stages, e.Stage) },
		})
		if !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", source, err, want)
		}
		if got := slices.Contains(stages, progress.Calls); got != (want != nil) {
			t.Errorf("%s: got the stages %q", source, stages)
		}
	}
}
