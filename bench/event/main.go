// SPDX-License-Identifier: Apache-2.0

// Command event measures the cost of a logger's event: a small struct with a
// buffer of 500 bytes that is used for one line. It is made without a pool,
// with sync.Pool or with nib's, and the logger gives it out as a pointer or as
// an interface. How much of it reaches the heap is up to the compiler, so
// nibbench builds it with several releases of Go and runs each:
//
//	go run ./cmd/nibbench -run '^Event'
//
// It prints its results in the Go benchmark format. It must build with the
// oldest release that nib supports, which not all of this module does;
// release.mod replaces go.mod then.
package main

import (
	"flag"
	"fmt"
	"time"

	"github.com/nib-log/nib/bench/measure"
)

func main() {
	rounds := flag.Int("rounds", 40, "rounds per contestant")
	round := flag.Duration("round", 3*time.Millisecond, "about how long a round takes")
	allocs := flag.Int("allocs", 10_000, "events in each window that counts allocations")
	flag.Parse()
	contestants := contestants(discard{})
	for i, t := range measure.Alternate(contestants, measure.Config{Rounds: *rounds, Round: *round}) {
		c := &contestants[i]
		mallocs, bytes := c.Allocs(*allocs, 5)
		fmt.Printf("BenchmarkEvent/%s %d %.1f ns/op %.1f median-ns/op %.3f mallocs/op %.1f B/op\n",
			c.Name, t.N, t.Least, t.Median, mallocs, bytes)
	}
}

// discard replaces io.Discard, so that the compiler cannot see that a call does
// nothing.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
