// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/nib-log/nib/bench/codec"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
)

// codec measures all contests of the codec.
func (p *plan) codec(results *report.Results) error {
	for _, s := range codec.Scenarios() {
		if !p.only.MatchString(s.Name) {
			continue
		}
		progress(s.Name)
		p.codecContest(results, &s)
	}
	for _, l := range report.Missed(results) {
		fmt.Fprintln(os.Stderr, "nibbench:", l)
	}
	return nil
}

// brief returns a configuration with more and shorter rounds, which fit between
// the interruptions by other work of the machine.
func (p *plan) brief() measure.Config {
	return measure.Config{Rounds: 4 * p.timing.Rounds, Round: p.timing.Round / 4}
}

func codecNames() []string {
	var names []string
	for _, s := range codec.Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

func codecModules() []peer {
	var all []peer
	for _, m := range codec.Modules {
		all = append(all, peer{m.Name, m.Path})
	}
	return all
}

// codecContest measures one scenario: times, then allocations.
func (p *plan) codecContest(results *report.Results, s *codec.Scenario) {
	timed := make([]measure.Contestant, len(s.Contestants))
	for i := range s.Contestants {
		timed[i] = measure.Contestant{Name: s.Contestants[i].Name, Do: s.Contestants[i].New(io.Discard)}
	}
	timings := measure.Alternate(timed, p.brief())
	versus := math.Inf(1)
	for i, t := range timings {
		if name := timed[i].Name; name == s.Versus || s.Versus == "" && !codec.Own(name) {
			versus = min(versus, t.Least)
		}
	}
	for i, t := range timings {
		mallocs, bytes := timed[i].Allocs(p.allocs, 5)
		results.Add(s.Name, timed[i].Name, t.N,
			report.Value{Number: t.Least, Decimals: 1, Unit: report.UnitTime},
			report.Value{Number: t.Median, Decimals: 1, Unit: report.UnitMedian},
			report.Value{Number: t.Least / versus, Decimals: 2, Unit: report.UnitRatio},
			report.Value{Number: mallocs, Decimals: 3, Unit: report.UnitMallocs},
			report.Value{Number: bytes, Decimals: 1, Unit: report.UnitBytes})
	}
}
