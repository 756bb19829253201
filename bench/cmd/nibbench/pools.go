// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/pools"
	"github.com/nib-log/nib/bench/report"
)

// pools measures all contests of the pools.
func (p *plan) pools(results *report.Results) error {
	for _, s := range pools.Scenarios() {
		if !p.only.MatchString(s.Name) {
			continue
		}
		progress(s.Name)
		if err := p.poolContest(results, &s); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
}

func poolNames() []string {
	var names []string
	for _, s := range pools.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// poolContest measures one scenario: times, then allocations and the values
// that a pool had to make although it had been given enough of them.
func (p *plan) poolContest(results *report.Results, s *pools.Scenario) error {
	made := make([]pools.Made, len(s.Contestants))
	runs := make([]pools.Run, len(s.Contestants))
	timed := make([]measure.Contestant, len(s.Contestants))
	for i := range s.Contestants {
		runs[i] = s.Start(&s.Contestants[i], &made[i])
		defer runs[i].Close()
		timed[i] = measure.Contestant{Name: s.Contestants[i].Name, Do: runs[i].Do, Prepare: runs[i].Prepare}
	}
	timing, allocs, windows := p.poolTiming(s)
	timings := measure.Alternate(timed, timing)
	versus := leastOf(timed, timings, s.Versus)
	decimals := 3
	if allocs >= 1000*1000 { // so that the total can be derived
		decimals = 6
	}
	for i, t := range timings {
		c := count(&runs[i], &made[i], allocs, windows)
		if runs[i].Check != nil {
			if err := runs[i].Check(); err != nil {
				return fmt.Errorf("%s: %w", timed[i].Name, err)
			}
		}
		results.Add(s.Name, timed[i].Name, t.N,
			report.Value{Number: t.Least, Decimals: 1, Unit: report.UnitTime},
			report.Value{Number: t.Median, Decimals: 1, Unit: report.UnitMedian},
			report.Value{Number: t.Least / versus, Decimals: 2, Unit: report.UnitRatio},
			report.Value{Number: c.mallocs, Decimals: decimals, Unit: report.UnitMallocs},
			report.Value{Number: c.bytes, Decimals: 1, Unit: report.UnitBytes},
			report.Value{Number: c.lost, Decimals: 3, Unit: report.UnitLost})
	}
	return nil
}

// poolTiming returns the timing of a scenario, and the number of operations in
// each window that counts allocations.
func (p *plan) poolTiming(s *pools.Scenario) (timing measure.Config, allocs, windows int) {
	timing, allocs, windows = p.timing, p.allocs, 5
	if s.Ops > 0 {
		timing.Ops = s.Ops / p.divisor
		allocs = timing.Ops
	}
	if s.Stretch > 1 {
		timing.Round *= time.Duration(s.Stretch)
		timing.Rounds = max(1, timing.Rounds/s.Stretch)
		windows = 2
	}
	return timing, allocs, windows
}

// A tally is the cost of an operation besides time.
type tally struct{ mallocs, bytes, lost float64 }

func count(run *pools.Run, made *pools.Made, n, windows int) (c tally) {
	lost := 0
	counted := measure.Contestant{Prepare: run.Prepare, Do: func(n int) {
		before := made.Count() // Prepare makes values too
		run.Do(n)
		lost += made.Count() - before
	}}
	c.mallocs, c.bytes = counted.Allocs(n, windows)
	c.lost = float64(lost) / float64(n*(windows+1))
	if run.Lost != nil {
		c.lost = float64(run.Lost(n)) / float64(n)
	}
	return c
}

// leastOf returns the time of the contestant that ratios refer to.
func leastOf(contestants []measure.Contestant, timings []measure.Timing, name string) float64 {
	for i, c := range contestants {
		if c.Name == name {
			return timings[i].Least
		}
	}
	panic("nibbench: no contestant " + name)
}
