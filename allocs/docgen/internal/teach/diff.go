// SPDX-License-Identifier: Apache-2.0

package teach

import (
	"slices"
	"strings"
)

// hunk is a place where two texts differ.
type hunk struct{ del, add []string }

// diff returns the hunks between two short texts, by their longest common
// subsequence of lines.
func diff(before, after string) (out []hunk) {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	most := make([][]int, len(a)+1) // number of common lines from i and j on
	for i := range most {
		most[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				most[i][j] = most[i+1][j+1] + 1
			} else {
				most[i][j] = max(most[i+1][j], most[i][j+1])
			}
		}
	}
	var h hunk
	flush := func() {
		if len(h.del)+len(h.add) > 0 {
			out = append(out, h)
		}
		h = hunk{}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			flush()
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && most[i+1][j] >= most[i][j+1]:
			h.del = append(h.del, a[i])
			i++
		default:
			h.add = append(h.add, b[j])
			j++
		}
	}
	flush()
	return out
}

// first cuts a hunk of pairs of lines.
func (h hunk) first(n int) hunk {
	if len(h.del) == len(h.add) && len(h.del) > n {
		return hunk{h.del[:n], h.add[:n]}
	}
	return h
}

// clean removes the expectations of tests, lines that are empty without them,
// and lines that only gofmt has changed.
func (h hunk) clean() (out hunk) {
	for i := len(h.del) - 1; i >= 0 && len(h.add) == len(h.del); i-- {
		if strings.Join(strings.Fields(h.del[i]), " ") == strings.Join(strings.Fields(h.add[i]), " ") {
			h = hunk{slices.Delete(slices.Clone(h.del), i, i+1), slices.Delete(slices.Clone(h.add), i, i+1)}
		}
	}
	for _, l := range h.del {
		if l = plain(l); strings.TrimSpace(l) != "" {
			out.del = append(out.del, l)
		}
	}
	for _, l := range h.add {
		if l = plain(l); strings.TrimSpace(l) != "" {
			out.add = append(out.add, l)
		}
	}
	return out
}

func (h hunk) String() string {
	var lines []string
	for _, l := range h.del {
		lines = append(lines, strings.TrimRight("-"+l, " \t"))
	}
	for _, l := range h.add {
		lines = append(lines, strings.TrimRight("+"+l, " \t"))
	}
	return strings.Join(lines, "\n")
}
