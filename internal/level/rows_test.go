// SPDX-License-Identifier: Apache-2.0

package level_test

import (
	"math"
	"testing"

	"github.com/nib-log/nib/internal/level"
)

func TestLevelsCountAsTheNextLowerNamedOne(t *testing.T) {
	for give, want := range map[int]int{
		math.MinInt: -8, -9: -8, -8: -8, -5: -8, -4: -4, -1: -4, 0: 0, 3: 0, 8: 8, 16: 16, 17: 16, math.MaxInt: 16,
	} {
		if got := level.At(level.Row(give)); got != want {
			t.Errorf("%d: got %d, want %d", give, got, want)
		}
	}
	for row, name := range level.Names {
		if got := level.String(level.At(row)); got != name {
			t.Errorf("row %d: got %s, want %s", row, got, name)
		}
	}
}

// More important levels have lower severities, from 7 to 1.
func TestSeverity(t *testing.T) {
	for give, want := range map[int]int{
		math.MinInt: 7, -8: 7, -4: 7, -1: 7, 0: 6, 1: 6, 2: 5, 3: 5, 4: 4, 7: 4, 8: 3, 11: 3, 12: 2, 15: 2, 16: 1, math.MaxInt: 1,
	} {
		if got := level.Severity(give); got != want {
			t.Errorf("%d: got %d, want %d", give, got, want)
		}
	}
}
