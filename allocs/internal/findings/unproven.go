// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"fmt"
	"slices"

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
func (r *Root) unproven(t int, calls []verdict.Dynamic) string {
	if r.Allowed == nil || *r.Allowed > 0 || r.Allocs[t] > 0 || r.shownElsewhere(t) {
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
	warm := func(c verdict.Dynamic) bool { return c.Reach < verdict.Rarely }
	if slices.ContainsFunc(calls, warm) {
		return "no benchmark executes it in each operation, and some calls are not followed"
	}
	return "no benchmark executes it in each operation"
}

// shownElsewhere reports whether the root is judged on the other toolchains
// only, as this one has no code for it.
func (r *Root) shownElsewhere(t int) bool {
	const absent = string(verdict.Absent)
	code := func(v string) bool { return v != absent }
	return !code(r.Verdicts[t]) && slices.ContainsFunc(r.Verdicts, code)
}

// Proven reports whether the root is proven on all toolchains.
func (r *Root) Proven() bool {
	return !slices.ContainsFunc(r.Unproven, func(why string) bool { return why != "" })
}
