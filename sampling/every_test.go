// SPDX-License-Identifier: Apache-2.0

package sampling

import (
	"math"
	"testing"

	"github.com/nib-log/nib"
)

func TestEveryKeepsTheMultiplesOfItsNumber(t *testing.T) {
	for n := -1; n < 300; n++ {
		for _, first := range []uint64{0, 1 << 32, math.MaxUint64 - 1000} {
			s := Every(n).(*every)
			s.count.Store(first)
			for i := range uint64(1000) {
				if got, want := s.Sample(nib.LevelInfo), (first+i)%uint64(max(n, 1)) == 0; got != want {
					t.Fatalf("Every(%d), event %d: got %v, want %v", n, first+i, got, want)
				}
			}
		}
	}
}
