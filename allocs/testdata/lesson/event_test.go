// SPDX-License-Identifier: Apache-2.0

package lesson

import (
	"io"
	"testing"
)

func BenchmarkEvent(b *testing.B) {
	w := new(Screen)
	for _, way := range []struct {
		name string
		log  func(n int)
	}{
		{"Fresh", func(n int) { Fresh(w, n) }},
		{"Interface", func(n int) { Interface(w, n) }},
		{"Pooled", func(n int) { Pooled(w, n) }},
		{"Boxed", func(n int) { Boxed(w, n) }},
		{"Copied", func(n int) { Copied(w, n) }},
		{"Seldom", func(n int) { Seldom(w, n) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				way.log(1000)
			}
		})
	}
}

func TestPooledAllocatesNothing(t *testing.T) {
	if n := testing.AllocsPerRun(1000, func() { Pooled(io.Discard, 1000) }); n != 0 {
		t.Errorf("got %v allocations, want none", n)
	}
}
