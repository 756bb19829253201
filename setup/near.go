// SPDX-License-Identifier: Apache-2.0

package setup

import (
	"fmt"
	"strings"
)

// suggest returns " (did you mean NAME?)" for the setting that name is most like, or "".
func suggest(name string, settings []setting) string {
	if best := nearest(name, settings); best != "" {
		return fmt.Sprintf(" (did you mean %s?)", best)
	}
	return ""
}

// nearest returns the name of the setting that name is most like, or "".
func nearest(name string, settings []setting) string {
	best, least := "", 3 // more changes than 2 make another word
	for _, s := range settings {
		if d := distance(normalize(name), normalize(s.name)); d < least && d <= len(s.name)/2 {
			best, least = s.name, d
		}
	}
	return best
}

// normalize returns the letters of a name: maxSize and max-size are max_size.
func normalize(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(shorten(name)))
}

// distance returns how many letters have to be inserted, deleted or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
