// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
	"github.com/nib-log/nib/bench/spools"
)

// spool measures the cost of lines that survive the process.
func (p *plan) spool(results *report.Results) error {
	for _, s := range spools.Scenarios() {
		if !p.only.MatchString(s.Name) {
			continue
		}
		progress(s.Name)
		if err := p.spoolContest(results, &s); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	if !p.only.MatchString(spools.Latency.Name) {
		return nil
	}
	progress(spools.Latency.Name)
	return p.spoolRate(results, &spools.Latency)
}

func spoolNames() []string {
	var names []string
	for _, s := range spools.Scenarios() {
		names = append(names, s.Name)
	}
	return append(names, spools.Latency.Name)
}

// rateRounds is the number of rounds of calls at a fixed rate.
const rateRounds = 20

// atRate returns the time for which each contestant is called at a fixed rate.
func (p *plan) atRate() time.Duration {
	return 15 * time.Second / time.Duration(max(1, p.divisor*p.divisor))
}

func (p *plan) spoolContest(results *report.Results, s *spools.Scenario) (err error) {
	var runs []spools.Run
	defer func() {
		for _, r := range runs {
			err = errors.Join(err, r.Close())
		}
	}()
	var timed []measure.Contestant
	for i := range s.Contestants {
		c := &s.Contestants[i]
		r, err := s.Start(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		runs = append(runs, r)
		timed = append(timed, measure.Contestant{Name: c.Name, Do: r.Do})
	}
	timing := p.timing
	timing.Ops, timing.Rounds = s.Lines(p.fileLines()), s.Limit(timing.Rounds)
	timings := measure.Alternate(timed, timing)
	versus := spoolVersus(s, timed, timings)
	for i, t := range timings {
		mallocs, bytes := timed[i].Allocs(p.fileLines(), 5)
		if err := runs[i].Check(); err != nil {
			return fmt.Errorf("%s: %w", timed[i].Name, err)
		}
		results.Add(s.Name, timed[i].Name, t.N,
			report.Value{Number: t.Least, Decimals: 1, Unit: report.UnitTime},
			report.Value{Number: t.Median, Decimals: 1, Unit: report.UnitMedian},
			report.Value{Number: t.Least / versus, Decimals: 2, Unit: report.UnitRatio},
			report.Value{Number: mallocs, Decimals: 3, Unit: report.UnitMallocs},
			report.Value{Number: bytes, Decimals: 1, Unit: report.UnitBytes})
	}
	return nil
}

// spoolVersus returns the time that ratios refer to.
func spoolVersus(s *spools.Scenario, timed []measure.Contestant, timings []measure.Timing) float64 {
	if s.Versus != "" {
		return leastOf(timed, timings, s.Versus)
	}
	fastest := math.Inf(1)
	for i, c := range timed {
		if c.Name != spools.Nib {
			fastest = min(fastest, timings[i].Least)
		}
	}
	return fastest
}

// spoolRate times single calls at a fixed rate.
func (p *plan) spoolRate(results *report.Results, s *spools.Scenario) (err error) {
	var runs []spools.Run
	defer func() {
		for _, r := range runs {
			err = errors.Join(err, r.Close())
		}
	}()
	var timed []measure.Contestant
	for i := range s.Contestants {
		c := &s.Contestants[i]
		r, err := s.Start(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		runs = append(runs, r)
		timed = append(timed, measure.Contestant{Name: c.Name, Do: r.Do})
	}
	for i, l := range measure.OpenLoops(timed, spools.Rate, p.atRate()/rateRounds, rateRounds) {
		if err := runs[i].Check(); err != nil {
			return fmt.Errorf("%s: %w", timed[i].Name, err)
		}
		results.Add(s.Name, timed[i].Name, l.N,
			report.Value{Number: l.P50, Unit: report.UnitP50},
			report.Value{Number: l.P99, Unit: report.UnitP99},
			report.Value{Number: l.P999, Unit: report.UnitP999},
			report.Value{Number: l.P9999, Unit: report.UnitP9999},
			report.Value{Number: l.Max, Unit: report.UnitMax})
	}
	return nil
}
