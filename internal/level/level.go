// SPDX-License-Identifier: Apache-2.0

// Package level names levels on slog's scale and reads their names.
package level

import (
	"fmt"
	"strconv"
	"strings"
)

// The lowest and the highest named level. Named levels are four apart.
const (
	first = -8
	last  = 16
)

// Names are the names of the levels -8, -4, … 16.
var Names = [...]string{"trace", "debug", "info", "warn", "error", "panic", "fatal"}

// Index returns the position of a named level in Names and in tables per level,
// and reports whether l is one.
func Index(l int) (int, bool) {
	n := uint(l - first)
	return int(n >> 2), n&3 == 0 && n <= last-first
}

// String returns the name of l, or the name of the next lower named level and
// the difference: "info", "info+2", "trace-1".
func String(l int) string {
	if i, ok := Index(l); ok {
		return Names[i]
	}
	base := first
	if l > first {
		base = min(last, l&^3)
	}
	i, _ := Index(base)
	return fmt.Sprintf("%s%+d", Names[i], l-base)
}

// Parse reads a level as nib or slog write it, in any case: a name, a name with
// an offset, or a plain number. Anything else is an error that quotes s.
func Parse(s string) (int, error) {
	name, offset := s, 0
	if i := strings.IndexAny(s, "+-"); i >= 0 {
		n, err := strconv.Atoi(s[i:])
		if err != nil {
			return 0, unknown(s)
		}
		if i == 0 {
			return n, nil
		}
		name, offset = s[:i], n
	}
	if n, err := strconv.Atoi(name); err == nil && name == s {
		return n, nil
	}
	if strings.EqualFold(name, "warning") {
		name = "warn"
	}
	for i, known := range Names {
		if strings.EqualFold(name, known) {
			base := first + 4*i
			// Otherwise the sum has overflowed.
			if l := base + offset; (l >= base) == (offset >= 0) {
				return l, nil
			}
			break
		}
	}
	return 0, unknown(s)
}

// unknown returns the error for a text that is not a level.
func unknown(s string) error {
	const want = `trace, debug, info, warn, error, panic or fatal, as in "info+2"`
	return fmt.Errorf("nib: unknown level %q (want %s)", s, want)
}

// Count is the number of named levels: the size of a table kept per level.
const Count = len(Names)

// Row returns the row that counts l in a table per level: the row of the next
// lower named level, or the first for all below.
func Row(l int) int { return (min(max(l, first), last) - first) / 4 }

// At returns the named level of a row.
func At(row int) int { return first + 4*row }
