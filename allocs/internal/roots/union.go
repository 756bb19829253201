// SPDX-License-Identifier: Apache-2.0

package roots

import "maps"

// Union joins the sets of several targets, each of which has its own files. A
// function that is declared for several targets is one root: it has the
// position at which it was found first, and the strictest limit.
func Union(sets []*Set) *Set {
	if len(sets) == 1 {
		return sets[0]
	}
	type place struct {
		kind       Kind
		name, text string
		file       string
		line       int
		nth        int // number among those with this name in one set
	}
	out := &Set{Waivers: map[Place]string{}, Cold: map[string]bool{}}
	first := map[place]int{}
	for _, s := range sets {
		maps.Copy(out.Waivers, s.Waivers)
		maps.Copy(out.Cold, s.Cold)
		known := map[place]int{}
		for _, r := range s.Roots {
			p := place{kind: r.Kind, name: r.Func, text: r.Text}
			if r.Kind == LogCall {
				p.file, p.line = r.File, r.Line
			}
			known[p]++
			p.nth = known[p]
			i, ok := first[p]
			if !ok {
				first[p] = len(out.Roots)
				out.Roots = append(out.Roots, r)
				continue
			}
			if have := &out.Roots[i]; r.Max != Unlimited && (have.Max == Unlimited || r.Max < have.Max) {
				have.Max = r.Max
			}
		}
	}
	out.order()
	return out
}
