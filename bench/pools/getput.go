// SPDX-License-Identifier: Apache-2.0

package pools

import (
	"fmt"

	"github.com/nib-log/nib/pool"
)

// getPut are the contests of a Get followed by a Put: each type of value, on
// one goroutine, on one per processor, and on many that take turns.
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
		all = append(all, Scenario{Name: t.name, Title: t.title, Versus: Zeropool, Contestants: t.contestants(0)})
	}
	for _, t := range types {
		all = append(all, Scenario{Name: t.name + "Parallel", Title: t.title, Versus: Zeropool, Goroutines: cpus(),
			Contestants: t.contestants(0)})
	}
	for _, goroutines := range []int{64, 1000} {
		for _, t := range types {
			all = append(all, Scenario{Name: fmt.Sprintf("%sTurns%d", t.name, goroutines),
				Title: fmt.Sprintf("%s, %d goroutines", t.title, goroutines), Versus: Zeropool,
				Goroutines: goroutines, Turns: true, Stretch: 2, Contestants: t.contestants(steps)})
		}
	}
	return all
}

// balance checks that all that went into a pool of nib's is accounted for, and
// that the pool made as many values as it says that it had to.
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
