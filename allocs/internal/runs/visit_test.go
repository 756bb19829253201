// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"path/filepath"
	"testing"
)

// A line is executed in each operation if each of its blocks is: an allocation
// can be in any of them.
func TestLinesAreExecutedIfAllBlocksAre(t *testing.T) {
	at := func(file string, line, column int) block {
		return block{file: file, from: line, to: line, columns: [2]int{column, column + 1}}
	}
	both, once := at("m.org/m/a.go", 3, 1), at("m.org/m/a.go", 3, 9)
	each, other := at("m.org/m/a.go", 5, 1), at("m.org/other/b.go", 7, 1)
	v := Visited{}
	v.compare([2]map[block]int{
		{both: 2, once: 1, each: 2, other: 2}, {both: 4, once: 1, each: 4, other: 4},
	}, []string{"m.org/m"}, []string{"m"})
	lines := v[filepath.Join("m", "a.go")]
	if len(v) != 1 || len(lines) != 1 || !lines[5] {
		t.Errorf("got %v, want line 5 of a.go", v)
	}
}
