// SPDX-License-Identifier: Apache-2.0

//go:build goexperiment.jsonv2

package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/nib-log/nib/bench/codec/record"
	"github.com/nib-log/nib/bench/measure"
)

func main() {
	rounds := flag.Int("rounds", 40, "rounds per contestant")
	round := flag.Duration("round", 3*time.Millisecond, "about how long a round takes")
	allocs := flag.Int("allocs", 10_000, "operations in each window that counts allocations")
	flag.Parse()
	for _, c := range []struct {
		name, want string
		all        []contestant
	}{
		{"JSONStructV2", record.WantServed, structs()},
		{"JSONMapV2", record.WantSix, maps()},
	} {
		timed := make([]measure.Contestant, len(c.all))
		for i, x := range c.all {
			if err := x.check(c.want); err != nil {
				fmt.Fprintf(os.Stderr, "jsonv2: %s, %s: %v\n", c.name, x.name, err)
				os.Exit(1)
			}
			timed[i] = measure.Contestant{Name: x.name, Do: x.do}
		}
		timings := measure.Alternate(timed, measure.Config{Rounds: *rounds, Round: *round})
		for i, t := range timings {
			mallocs, bytes := timed[i].Allocs(*allocs, 5)
			fmt.Printf("Benchmark%s/%s %d %.1f ns/op %.1f median-ns/op %.2f ratio %.3f mallocs/op %.1f B/op\n",
				c.name, timed[i].Name, t.N, t.Least, t.Median, t.Least/timings[1].Least, mallocs, bytes)
		}
	}
}
