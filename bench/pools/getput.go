// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"fmt"

	"github.com/nib-log/nib/pool"
)

// getPut returns the contests of a Get followed by a Put: each type of value,
// on one goroutine, on one per processor, and on many that take turns.
func getPut() []Scenario {
	types := []struct {
		name, title string
		contestants func(steps int) []Contestant
	}{
		{"Bytes", "[]byte", bytesPools},
		{"Struct", "struct of 64 bytes", recordPools},
		{"Pointer", "pointer", pagePools},
	}
	var all []Scenario
	for _, t := range types {
		all = append(all, Scenario{Name: t.name, Context: "Get and Put", Title: t.title, Versus: Zeropool, Contestants: t.contestants(0)})
	}
	for _, t := range types {
		all = append(all, Scenario{Name: t.name + "Parallel", Context: "Get and Put in parallel", Title: t.title,
			Versus: Zeropool, Goroutines: cpus(), Contestants: t.contestants(0)})
	}
	for _, many := range []struct {
		goroutines int
		title      string
	}{{64, "64"}, {1000, "1,000"}} {
		for _, t := range types {
			all = append(all, Scenario{Name: fmt.Sprintf("%sTurns%d", t.name, many.goroutines),
				Context: "in turns", Title: fmt.Sprintf("%s, %s goroutines", t.title, many.title), Versus: Zeropool,
				Goroutines: many.goroutines, Turns: true, Ops: 32_000, Stretch: 2, Contestants: t.contestants(steps)})
		}
	}
	return all
}

// balance checks that the counters of a pool add up, and that the pool made as
// many values as they state.
func balance(stats func() pool.Stats, made *Made) func() error {
	return func() error {
		s := stats()
		if s.Puts+s.Preallocated != s.Hits+s.Dropped+s.Trimmed+uint64(s.Len) {
			return fmt.Errorf("values got lost: %+v", s)
		}
		if missed := int(s.Gets-s.Hits) + int(s.Preallocated); made != nil && missed != made.Count() {
			return fmt.Errorf("%d values made, want %d: %+v", made.Count(), missed, s)
		}
		return nil
	}
}
