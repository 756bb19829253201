// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"fmt"
	"slices"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Proof has for each toolchain what shows the verdict on a root.
type Proof struct {
	Reached []bool `json:"reached"` // whether runs execute the root in each operation
	// Unproven is why nothing shows that a function with //alloc:none keeps to
	// it, or "".
	Unproven []string `json:"unproven"`
}

// unproven returns why nothing shows that a root with //alloc:none does not
// allocate on a toolchain, or "". Only a run in which each operation executes
// the root, and nothing is counted, shows it, unless the code allocates on
// every way through.
func (r *Root) unproven(t int, toolchains []*check.Toolchain, calls []verdict.Dynamic) string {
	if r.Allowed == nil || *r.Allowed > 0 || r.Allocs[t] > 0 || r.shownElsewhere(t, toolchains) {
		return ""
	}
	for _, s := range r.Sites {
		a := &s.Answers[t]
		possible := a.Verdict == verdict.Grows || a.Verdict == verdict.Unknown
		switch {
		case possible && !r.Reached[t]:
			const text = "no benchmark executes it in each operation, and %s:%d can allocate: %s"
			return fmt.Sprintf(text, s.File, s.Line, a.Because)
		case possible && a.Conflict != "":
			return fmt.Sprintf("%s:%d: %s", s.File, s.Line, a.Because)
		}
	}
	if r.Reached[t] {
		return ""
	}
	if !toolchains[t].Toolchain.Native() {
		return "no benchmark for this target runs here: add the target of this machine to --goarch"
	}
	warm := func(c verdict.Dynamic) bool { return c.Reach < verdict.Rarely }
	if slices.ContainsFunc(calls, warm) {
		return "no benchmark executes it in each operation, and some calls are not followed"
	}
	return "no benchmark executes it in each operation"
}

// shownElsewhere reports whether the root is judged on the other toolchains
// only. Benchmarks run on this machine, so a target of another one, or a target
// that has no code for the root, is no reason for a missing proof.
func (r *Root) shownElsewhere(t int, toolchains []*check.Toolchain) bool {
	native := toolchains[t].Toolchain.Native()
	absent := r.Verdicts[t] == string(verdict.Absent)
	for i, tc := range toolchains {
		if !native && tc.Toolchain.Native() || absent && r.Verdicts[i] != string(verdict.Absent) {
			return true
		}
	}
	return false
}

// Proven reports whether the root is proven on all toolchains.
func (r *Root) Proven() bool {
	return !slices.ContainsFunc(r.Unproven, func(why string) bool { return why != "" })
}
