// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"

	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Unless all is requested, so many leaves are shown, and so many lines of each.
const (
	mostLeaves = 40
	mostLines  = 6
)

// rareIn is how many operations must be counted so that a window shows what one
// in 10,000 allocates.
const rareIn = 10000

// leaves shows what was measured: each leaf, and below it the lines that its
// allocations are made on, which add up to it.
func (t *tree) leaves() {
	for i := range t.d.Toolchains {
		tc := &t.d.Toolchains[i]
		all := tc.Heaviest()
		if len(all) == 0 {
			continue
		}
		t.printf("\n%s\n", t.paint(bold, tc.Name+": allocations and bytes of one operation"))
		for n := range all {
			if n == mostLeaves && !t.All {
				t.printf("  %d more with fewer (-v shows them)\n", len(all)-n)
				break
			}
			t.leaf(&all[n])
		}
	}
}

func (t *tree) leaf(l *findings.Leaf) {
	name := shorten(t.d, l.Package+"."+l.Name)
	t.printf("  %s  %s", t.paint(bold, name), amount(l.PerOp, l.Bytes))
	if few := few(l); few != "" {
		t.printf("  %s", t.paint(faint, "("+few+")"))
	}
	t.printf("\n")
	for i, x := range l.Lines {
		if i == mostLines && !t.All {
			perOp, bytes := 0.0, 0.0
			for _, x := range l.Lines[i:] {
				perOp, bytes = perOp+x.PerOp, bytes+x.Bytes
			}
			rest := count(len(l.Lines)-i, "more line") + " (-v shows them)"
			t.printf("    %s  %s\n", amount(perOp, bytes), t.paint(faint, rest))
			break
		}
		where := fmt.Sprintf("%s:%d", x.File, x.Line)
		text := t.paint(faint, where) + "  " + cut(x.Source)
		t.printf("    %s  %s\n", amount(x.PerOp, x.Bytes), text)
		for _, r := range x.Reasons {
			if explained := t.reason("      ", r.Pattern, r.Reason, r.Fix); !explained {
				t.fact("      ", "fix ", green, r.Fix)
			}
		}
	}
	if perOp, bytes := l.Elsewhere(); perOp != 0 {
		t.printf("    %s  %s\n", amount(perOp, bytes), t.paint(faint, elsewhere))
	}
}

const elsewhere = "not put on a line of the module"

// few says that too few operations were counted to see what is rare, or is "".
func few(l *findings.Leaf) string {
	if l.N >= rareIn {
		return ""
	}
	return count(l.N, "operation") + " counted: what is rarer is not seen"
}

// amount formats a count and its bytes.
func amount(perOp, bytes float64) string {
	return fmt.Sprintf("×%s %.0f B", verdict.Number(perOp), bytes)
}
