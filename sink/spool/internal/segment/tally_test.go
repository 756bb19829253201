// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"math"
	"testing"

	"github.com/nib-log/nib"
)

// TestCountsDoNotGoBelowZero subtracts more than was counted.
func TestCountsDoNotGoBelowZero(t *testing.T) {
	var a, b Tally
	a.Add(CauseDamaged, nib.LevelInfo, 1)
	b.Add(CauseDamaged, nib.LevelInfo, 2)
	left := a.Minus(&b)
	if left != (Tally{}) {
		t.Errorf("got %v, and not %d", left.List(), uint64(math.MaxUint64))
	}
}
