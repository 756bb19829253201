// SPDX-License-Identifier: Apache-2.0

package console

import "testing"

// The first and last character of each block, and their neighbours outside.
func TestWidthAtTheEndsOfBlocks(t *testing.T) {
	for i, w := range wide {
		for _, r := range []rune{w.from, w.to} {
			if got := runeWidth(r); got != 2 {
				t.Errorf("%U: got %d columns, want 2", r, got)
			}
		}
		if i > 0 && w.from-1 > wide[i-1].to && runeWidth(w.from-1) == 2 {
			t.Errorf("%U, in front of a block: got 2 columns", w.from-1)
		}
		if (i+1 == len(wide) || w.to+1 < wide[i+1].from) && runeWidth(w.to+1) == 2 {
			t.Errorf("%U, behind a block: got 2 columns", w.to+1)
		}
	}
	// UAX #11: half-width forms, and characters that are as wide as in Latin text.
	for r, want := range map[rune]int{
		'\uFF60': 2, '\uFF61': 1, '\uFFDC': 1, '\uFFE0': 2, '\uFFE6': 2, '\uFFE7': 1,
		'\u0300': 0, '\u200B': 0, '\u115F': 2, '\u1160': 1, '\u303F': 1, 'a': 1, 'é': 1,
		'\U0001F64F': 2, '\U0001F650': 1,
	} {
		if got := runeWidth(r); got != want {
			t.Errorf("%U: got %d columns, want %d", r, got, want)
		}
	}
}
