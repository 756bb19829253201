// SPDX-License-Identifier: Apache-2.0

package list_test

import (
	stdlist "container/list"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nib-log/nib/pool/list"
)

// total keeps the work of the benchmarks from being optimized away.
var total int

// compare reports the time of an operation here and in container/list, and the
// ratio. Each function does its operation n times. They take turns, and the
// fastest round of each counts, which excludes other load of the machine.
func compare(b *testing.B, n int, here, there func(n int)) {
	const rounds = 20
	fastest := func(best time.Duration, f func(n int)) time.Duration {
		start := time.Now()
		f(n)
		return min(best, time.Since(start))
	}
	var h, t time.Duration = 1 << 62, 1 << 62
	for b.Loop() {
		for range rounds {
			h = fastest(h, here)
			t = fastest(t, there)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(h.Nanoseconds())/float64(n), "ns/here")
	b.ReportMetric(float64(t.Nanoseconds())/float64(n), "ns/std")
	b.ReportMetric(float64(h)/float64(t), "ratio")
}

// sizes are the numbers of elements of the lists that are compared.
var sizes = []struct {
	name string
	n    int
}{{"100", 100}, {"10k", 10_000}, {"1M", 1_000_000}}

// A pair holds two lists of the same elements in the same order.
type pair struct {
	here      list.List[int]
	there     stdlist.List
	hereElem  []list.Element[int]
	thereElem []*stdlist.Element
	some      []int // which element is next, at random
}

func newPair(n int) *pair {
	p := &pair{}
	for i := range n {
		p.hereElem = append(p.hereElem, p.here.PushBack(i))
		p.thereElem = append(p.thereElem, p.there.PushBack(i))
	}
	for range 1 << 14 {
		p.some = append(p.some, rand.IntN(n))
	}
	return p
}

func BenchmarkPushRemove(b *testing.B) {
	var here list.List[int]
	var there stdlist.List
	compare(b, 50_000, func(n int) {
		for i := range n {
			total += here.Remove(here.PushBack(i))
		}
	}, func(n int) {
		for i := range n {
			total += there.Remove(there.PushBack(i)).(int)
		}
	})
}

func BenchmarkQueue(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			p := newPair(size.n)
			compare(b, 50_000, func(n int) {
				for i := range n {
					p.here.PushBack(i)
					total += p.here.Remove(p.here.Front())
				}
			}, func(n int) {
				for i := range n {
					p.there.PushBack(i)
					total += p.there.Remove(p.there.Front()).(int)
				}
			})
		})
	}
}

func BenchmarkReplaceAnywhere(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			p := newPair(size.n)
			compare(b, 50_000, func(n int) {
				for i := range n {
					k := p.some[i%len(p.some)]
					p.here.Remove(p.hereElem[k])
					p.hereElem[k] = p.here.PushFront(i)
				}
			}, func(n int) {
				for i := range n {
					k := p.some[i%len(p.some)]
					p.there.Remove(p.thereElem[k])
					p.thereElem[k] = p.there.PushFront(i)
				}
			})
		})
	}
}

func BenchmarkMoveToFront(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			p := newPair(size.n)
			compare(b, 50_000, func(n int) {
				for i := range n {
					p.here.MoveToFront(p.hereElem[p.some[i%len(p.some)]])
				}
			}, func(n int) {
				for i := range n {
					p.there.MoveToFront(p.thereElem[p.some[i%len(p.some)]])
				}
			})
		})
	}
}

func BenchmarkNext(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			p := newPair(size.n)
			compare(b, size.n, func(int) {
				for e := p.here.Front(); e.Valid(); e = e.Next() {
					total += e.Value()
				}
			}, func(int) {
				for e := p.there.Front(); e != nil; e = e.Next() {
					total += e.Value.(int)
				}
			})
		})
	}
}

// container/list has no iterators: these are measured against the loop by Next.
func BenchmarkAll(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			p := newPair(size.n)
			compare(b, size.n, func(int) {
				for _, v := range p.here.All() {
					total += v
				}
			}, func(int) {
				for e := p.there.Front(); e != nil; e = e.Next() {
					total += e.Value.(int)
				}
			})
		})
	}
}

func BenchmarkFill(b *testing.B) {
	for _, size := range sizes {
		b.Run(size.name, func(b *testing.B) {
			compare(b, size.n, func(n int) {
				var l list.List[int]
				for i := range n {
					l.PushBack(i)
				}
			}, func(n int) {
				var l stdlist.List
				for i := range n {
					l.PushBack(i)
				}
			})
		})
	}
}
