// SPDX-License-Identifier: Apache-2.0

package capacity

import "fmt"

type names []string

func Double(in []int, m map[string]int) (any, any, any, any) {
	out := []int{} // want "make room once"
	for _, v := range in {
		out = append(out, 2*v)
	}
	n := make(names, 0) // want "make room once"
	for k := range m {
		n = append(n, k)
	}
	back := map[int]string{} // want "make room once"
	for k, v := range m {
		back[v] = k
	}
	var kept []int // nil, when in is empty
	for _, v := range in {
		kept = append(kept, v)
	}
	return out, len(n), back, kept
}

func Some(in []int) []int {
	out := []int{}
	for _, v := range in {
		if v > 1 {
			out = append(out, v)
		}
	}
	return out
}

// A round can end early.
func Few(in []int) []int {
	out := []int{}
	for _, v := range in {
		if v < 100 {
			continue
		}
		out = append(out, v)
	}
	return out
}

func Try() string {
	a, b, c, d := Double([]int{1, 2}, map[string]int{"x": 1})
	e, f, g, h := Double(nil, nil)
	return fmt.Sprintf("%#v %#v %#v %#v %#v %#v %#v %#v %#v", a, b, c, d, e, f, g, h, Some([]int{1, 2}))
}
