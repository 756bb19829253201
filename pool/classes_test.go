// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"math"
	"slices"
	"testing"
)

func TestClassesAreTheSmallestThatFit(t *testing.T) {
	sizes := []int{64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536}
	for class, want := range sizes {
		if got := sizeOf(class); got != want {
			t.Errorf("class %d: got %d bytes, want %d", class, got, want)
		}
	}
	for n := range 5000 {
		class := classOf(n)
		if sizeOf(class) < n || class > 0 && sizeOf(class-1) >= n {
			t.Fatalf("%d bytes: got class %d of %d bytes, want the smallest that fits", n, class, sizeOf(class))
		}
	}
	for class := 1; class < numClasses; class++ {
		size := sizeOf(class)
		if size <= sizeOf(class-1) || classOf(size) != class || classOf(size+1) != class+1 || classOf(size-1) != class {
			t.Errorf("class %d of %d bytes: neighbours are in %d and %d", class, size, classOf(size-1), classOf(size+1))
		}
	}
	if got := sizeOf(numClasses - 1); got != maxSize {
		t.Errorf("largest class: got %d bytes, want %d", got, maxSize)
	}
	if got := sizeOf(defaultClasses - 1); got != 1<<20 {
		t.Errorf("largest class by default: got %d bytes, want 1 MiB", got)
	}
	if got := classOf(math.MaxInt); got < numClasses {
		t.Errorf("largest int: got class %d, want none that is kept", got)
	}
}

func TestAllocatorAddsNothingToClasses(t *testing.T) {
	for class := range defaultClasses {
		size := sizeOf(class)
		if got := cap(slices.Grow([]byte(nil), size)); got != size {
			t.Errorf("%d bytes: the allocator gives %d", size, got)
		}
	}
}

// The room of a buffer beyond the requested size, for sizes that are as often
// between 1 and 2 KiB as between 1 and 2 MiB.
func TestWasteOfClasses(t *testing.T) {
	worst, sum, n := 0.0, 0.0, 0
	for size := 65.0; size < 1<<20; size *= 1.0007 {
		asked := int(size)
		waste := 1 - float64(asked)/float64(sizeOf(classOf(asked)))
		worst, sum, n = max(worst, waste), sum+waste, n+1
	}
	t.Logf("of a buffer's memory %.1f%% are not asked for on average, %.1f%% at worst", 100*sum/float64(n), 100*worst)
	if worst > 0.34 || sum/float64(n) > 0.17 {
		t.Errorf("got a waste of %v, at worst %v, want at most a sixth and a third", sum/float64(n), worst)
	}
}
