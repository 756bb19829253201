// SPDX-License-Identifier: Apache-2.0

package callsite

import (
	"math"
	"testing"
	"time"
)

//go:noinline
func sitePC() uintptr { return PC(0)[0] }

//go:noinline
func siteFast() uintptr { return Fast() }

//go:noinline
func siteGet(t *Table[string], pc uintptr) *string { return t.Get(pc) }

// BenchmarkPlace compares the ways to find the place of a call: alternating
// rounds in one process, the fastest round of each counts.
func BenchmarkPlace(b *testing.B) {
	var table Table[string]
	for pc := uintptr(1); pc < 200; pc++ {
		table.Put(pc*37, "text")
	}
	const calls = 2000
	contestants := []struct {
		name string
		call func()
	}{
		{"PC-ns", func() {
			for range calls {
				sitePC()
			}
		}},
		{"Fast-ns", func() {
			for range calls {
				siteFast()
			}
		}},
		{"Get-ns", func() {
			for range calls {
				siteGet(&table, 50*37)
			}
		}},
	}
	best := []float64{math.Inf(1), math.Inf(1), math.Inf(1)}
	for range b.N {
		for i, c := range contestants {
			start := time.Now()
			c.call()
			best[i] = min(best[i], float64(time.Since(start))/calls)
		}
	}
	for i, c := range contestants {
		b.ReportMetric(best[i], c.name)
	}
	b.ReportMetric(0, "ns/op")
}
