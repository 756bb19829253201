// SPDX-License-Identifier: Apache-2.0

package sortslice

import (
	"fmt"
	"sort"
)

type byteSize uint64

func Sorted(s []string, n []byteSize, f []float64) {
	sort.Slice(s, func(i, j int) bool { return s[i] < s[j] })       // want "use slices.Sort"
	sort.SliceStable(n, func(a, b int) bool { return n[a] < n[b] }) // want "use slices.Sort"
	sort.Slice(f, func(i, j int) bool { return f[i] < f[j] })       // NaN has no place
}

func Down(s []string) {
	sort.Slice(s, func(i, j int) bool { return s[j] < s[i] })
	sort.Slice(s, func(i, j int) bool { return s[i] > s[j] })
	sort.Slice(s, func(i, j int) bool { return len(s[i]) < len(s[j]) })
}

func Try() string {
	s, n, f := []string{"b", "a", ""}, []byteSize{3, 1, 2}, []float64{2, 1}
	Sorted(s, n, f)
	t := []string{"b", "aa", "c"}
	Down(t)
	return fmt.Sprint(s, n, f, t)
}
