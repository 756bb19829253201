// SPDX-License-Identifier: Apache-2.0

package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Proof has for each toolchain what shows the verdict on a root.
type Proof struct {
	Reached []bool `json:"reached"` // whether runs execute the root in each operation
	NoCode  []bool `json:"no_code"` // whether there is no code for it, so that nothing is known
	// Unproven is why nothing shows that a function with //alloc:none keeps to
	// it, or "".
	Unproven []string `json:"unproven"`
}

// unproven returns why nothing shows that a root keeps to its comment on a
// toolchain, or "". Two things show it for //alloc:none: a run in which each
// operation executes the root and counts nothing, unless the code allocates on
// every path; and code in which no path can allocate. The code of a generic
// function is for one of many types, and shows nothing about the others. With
// //alloc:max, only what is on every path needs a run. If strict is set, both
// need that nothing is possible.
func (r *Root) unproven(t int, calls []verdict.Dynamic, strict bool) string {
	if r.Allowed == nil || r.Allocs[t] > 0 || r.shownElsewhere(t) {
		return ""
	}
	none, reached := *r.Allowed == 0, r.Reached[t]
	possible := r.NoCode[t] || len(calls) > 0 || strings.Contains(r.Func, "[...]")
	for _, s := range r.Sites {
		a := &s.Answers[t]
		possible = possible || a.Verdict == verdict.Possible
		surely := a.Missing == verdict.AnyRun || a.Missing == verdict.Agreement
		needed := surely || none && a.Verdict == verdict.Possible && a.Missing != verdict.First
		switch {
		case needed && !reached:
			const text = "no benchmark executes it in each operation, and %s:%d can allocate: %s"
			return fmt.Sprintf(text, s.File, s.Line, a.Because)
		case surely && none, strict && a.Verdict == verdict.Possible:
			return fmt.Sprintf("%s:%d: %s", s.File, s.Line, a.Because)
		}
	}
	switch {
	case reached || !possible || !none:
		return ""
	case r.NoCode[t]:
		return "it has no code: call it in a test, with the types that you use"
	case len(calls) > 0:
		return "no benchmark executes it in each operation, and some calls are not followed"
	}
	return "no benchmark executes it in each operation"
}

// shownElsewhere reports whether the root is judged on the other toolchains
// only, as this one has no code for it.
func (r *Root) shownElsewhere(t int) bool { return r.NoCode[t] && !r.Absent() }

// Absent reports whether no toolchain has code for the root.
func (r *Root) Absent() bool { return len(r.NoCode) > 0 && !slices.Contains(r.NoCode, false) }

// Proven reports whether the root is proven on all toolchains.
func (r *Root) Proven() bool {
	return !slices.ContainsFunc(r.Unproven, func(why string) bool { return why != "" })
}
