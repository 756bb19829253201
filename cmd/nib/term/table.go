// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"io"
)

// A Table has a line for each figure: its name, the figure aligned to the
// right, and its meaning.
type Table struct {
	W io.Writer
	S Style
}

// Row writes a line.
func (t Table) Row(name, figure, meaning string) {
	fmt.Fprintf(t.W, "  %s %s  %s\n", t.S.Dim(fmt.Sprintf("%-17s", name)),
		t.S.Bold(fmt.Sprintf("%11s", figure)), t.S.Dim(meaning))
}

// Verdict writes a figure that should be 0.
func (t Table) Verdict(name string, n uint64) {
	figure := fmt.Sprintf("%11s", Count(n))
	if n == 0 {
		figure = t.S.Good(figure)
	} else {
		figure = t.S.Bad(figure)
	}
	fmt.Fprintf(t.W, "  %s %s\n", t.S.Dim(fmt.Sprintf("%-17s", name)), figure)
}
