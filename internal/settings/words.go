// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Either lists words: "a, b or c".
func Either(words []string) string {
	last := len(words) - 1
	if last <= 0 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Escape replaces the characters with a meaning in lists of fields and in
// targets by %XX.
func Escape(text string) string {
	return strings.NewReplacer("%", "%25", ",", "%2C", "=", "%3D", "?", "%3F", "&", "%26").
		Replace(text)
}

// Shorten shortens text for errors, so that they stay readable.
func Shorten(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// Suggest returns " (did you mean NAME?)" for the name that is most like name,
// or "".
func Suggest(name string, names []string) string {
	if best := Nearest(name, names); best != "" {
		return fmt.Sprintf(" (did you mean %s?)", best)
	}
	return ""
}

// Nearest returns the name that is most like name, or "".
func Nearest(name string, names []string) string {
	best, least := "", 3 // more than 2 changes make a different word
	for _, n := range names {
		if d := distance(normalize(name), normalize(n)); d < least && d <= len(n)/2 {
			best, least = n, d
		}
	}
	return best
}

// normalize returns the letters of a name: maxSize and max-size are max_size.
func normalize(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(Shorten(name)))
}

// distance returns the number of letters to insert, delete or replace to turn a
// into b.
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
