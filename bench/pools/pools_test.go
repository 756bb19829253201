// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"testing"

	"github.com/nib-log/nib/pool"
)

// The pool that is written here for comparison must work, too.
func TestPoolForComparison(t *testing.T) {
	p := &guarded[int]{create: func() int { return -1 }, limit: 2}
	for i := range 3 {
		p.Put(i)
	}
	for i, want := range []int{1, 0, -1} {
		if got := p.Get(); got != want {
			t.Errorf("Get %d: got %d, want %d", i, got, want)
		}
	}
}

func TestChecksRefuse(t *testing.T) {
	for _, s := range []pool.Stats{
		{Gets: 2, Hits: 1, Puts: 2},         // one value put is lost
		{Gets: 2, Hits: 2, Puts: 2, Len: 1}, // one came out that was never put
		{Gets: 1, Hits: 2, Puts: 2},         // more hits than calls
	} {
		if balance(func() pool.Stats { return s })() == nil {
			t.Errorf("%+v passes", s)
		}
	}
	if healthy(pool.BuffersStats{Misused: 1}) == nil {
		t.Error("misused buffers pass")
	}
}
