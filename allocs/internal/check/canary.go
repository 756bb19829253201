// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"

	"github.com/nib-log/nib/allocs/internal/roots"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// ErrCanary means that a toolchain does not show allocations that are known to
// exist, so its silence about the user's code would mean nothing.
var ErrCanary = errors.New("the canary was not found: this toolchain cannot be checked")

// canaryWants lists the expected findings in the canary, by function.
var canaryWants = map[string]struct {
	verdict.Finding
	escape bool // the compiler must report it, too
}{
	"Allocates": {verdict.Finding{Verdict: verdict.Possible, Missing: verdict.AnyRun}, true},
	"Boxes":     {verdict.Finding{Verdict: verdict.Possible, Missing: verdict.AnyRun}, true},
	"Grows":     {verdict.Finding{Verdict: verdict.Possible, Missing: verdict.Size}, false},
	"Panics":    {verdict.Finding{Verdict: verdict.Possible, Missing: verdict.First}, false},
	"Free":      {verdict.Finding{Verdict: verdict.None}, false},
}

// judgeCanary looks for the expected findings in the evidence about a module,
// to which the package at path was added.
func judgeCanary(in *verdict.Input, path string) error {
	for name, want := range canaryWants {
		r := in.Root(roots.Root{Kind: roots.Named, Func: path + "." + name})
		if r.Absent {
			return fmt.Errorf("%w: %s is not in the executable", ErrCanary, name)
		}
		got, escape := verdict.Finding{Verdict: verdict.None}, false
		for _, s := range r.Sites {
			got = got.Or(s.Finding)
			escape = escape || s.Evidence.Escape != nil
		}
		if got != want.Finding || want.escape && !escape {
			return fmt.Errorf("%w: %s: got %v (compiler: %v), want %v (compiler: %v)", ErrCanary,
				name, got, escape, want.Finding, want.escape)
		}
	}
	return nil
}
