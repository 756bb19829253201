// SPDX-License-Identifier: Apache-2.0

package publish

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
)

// Only the word itself is written, with all of its bits.
func TestStoresOneWord(t *testing.T) {
	narrow := [3]uint32{1, 2, 3}
	Uint32(&narrow[1], math.MaxUint32-5)
	if narrow != [3]uint32{1, math.MaxUint32 - 5, 3} {
		t.Errorf("Uint32: got %d", narrow)
	}
	wide := [3]uint64{1, 2, 3}
	Uint64(&wide[1], math.MaxUint64-5)
	if wide != [3]uint64{1, math.MaxUint64 - 5, 3} {
		t.Errorf("Uint64: got %d", wide)
	}
}

// A reader that sees the word sees the stores before it.
func TestEarlierStoresAreVisible(t *testing.T) {
	const rounds = 2000
	var words struct { // the first word of an object is aligned
		wide   uint64
		narrow uint32
	}
	check := func(name string, store func(n uint64), load func() uint64) {
		var values [4]uint64
		var taken atomic.Uint64
		go func() {
			for n := uint64(1); n <= rounds; n++ {
				for taken.Load() < n-1 {
					runtime.Gosched()
				}
				for i := range values {
					values[i] = n
				}
				store(n)
			}
		}()
		for n := uint64(1); n <= rounds; n++ {
			for load() < n {
				runtime.Gosched()
			}
			if values != [4]uint64{n, n, n, n} {
				t.Fatalf("%s: got %d after the word was %d", name, values, n)
			}
			taken.Store(n)
		}
	}
	check("Uint32", func(n uint64) { Uint32(&words.narrow, uint32(n)) }, func() uint64 { return uint64(atomic.LoadUint32(&words.narrow)) })
	check("Uint64", func(n uint64) { Uint64(&words.wide, n) }, func() uint64 { return atomic.LoadUint64(&words.wide) })
}
