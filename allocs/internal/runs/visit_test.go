// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"path/filepath"
	"testing"
)

// A line is executed in each operation if each of its blocks is: an allocation
// can be in any of them. A function is if its first block is, wherever its
// literals are.
func TestLinesAreExecutedIfAllBlocksAre(t *testing.T) {
	at := func(file string, line, column int) block {
		return block{file: file, from: line, to: line, columns: [2]int{column, column + 1}}
	}
	both, once := at("m.org/m/a.go", 3, 1), at("m.org/m/a.go", 3, 9)
	setUp, literal := at("m.org/m/a.go", 4, 1), at("m.org/m/a.go", 5, 1)
	other, idle := at("m.org/other/b.go", 7, 1), at("m.org/m/c.go", 7, 1)
	v := Visited{}
	v.compare([2]map[block]int{
		{both: 2, once: 1, setUp: 1, literal: 2, other: 2, idle: 1},
		{both: 4, once: 1, setUp: 1, literal: 4, other: 4, idle: 1},
	}, []string{"m.org/m"}, []string{"m"})
	a := filepath.Join("m", "a.go")
	if len(v) != 1 {
		t.Errorf("got files %v, want only a.go", v)
	}
	for line, want := range map[int]bool{2: false, 3: false, 4: false, 5: true} {
		if got := v.Line(a, line); got != want {
			t.Errorf("line %d: got %v, want %v", line, got, want)
		}
	}
	for lines, want := range map[[2]int]bool{
		{2, 3}: true, {3, 3}: true, {4, 6}: false, {5, 6}: true, {6, 9}: false,
	} {
		if got := v.Function(a, lines[0], lines[1]); got != want {
			t.Errorf("function on lines %v: got %v, want %v", lines, got, want)
		}
	}
}
