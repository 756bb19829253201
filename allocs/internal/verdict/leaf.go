// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"slices"
	"strings"

	"github.com/nib-log/nib/allocs/internal/binary"
	"github.com/nib-log/nib/allocs/internal/heapcalls"
	"github.com/nib-log/nib/allocs/internal/runs"
)

// Leaf returns the lines of the module that the operations of a run allocate
// on, and why, whatever the roots are.
func (in *Input) Leaf(run *runs.Result) []*Site {
	sites := map[key]*Site{}
	var out []*Site
	for _, m := range run.Sites {
		stack, kind := trimRuntime(m.Stack)
		stack = operation(stack)
		if kind == "" {
			kind = heapcalls.Object
		}
		k, at := place(stack, kind, in.InModule)
		if at < 0 || m.PerOp <= 0 {
			continue
		}
		s := sites[k]
		if s == nil {
			s = newSite(k, stack, at, kind)
			s.Finding = Finding{Verdict: Counted}
			sites[k] = s
			out = append(out, s)
		}
		s.Evidence.add(Seen{run.Shown(), m.PerOp, m.Total, m.Bytes})
		s.measuredAt(stack, kind, m.PerOp)
	}
	for _, s := range out {
		in.explainEscape(s)
	}
	return out
}

// operation cuts the testing package off a stack.
func operation(stack []binary.Frame) []binary.Frame {
	i := slices.IndexFunc(stack, func(f binary.Frame) bool {
		return strings.HasPrefix(f.Func, "testing.(*B).")
	})
	if i < 0 {
		return stack
	}
	return stack[:i]
}
