// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/nib-log/nib/bench/files"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
)

const (
	keptFiles = 2   // old files that each contestant keeps while it is timed
	rotations = 500 // rotations by each of two processes, without a pause
	goes      = 5
)

// files measures all contests of the file sinks.
func (p *plan) files(results *report.Results) error {
	for _, s := range files.Scenarios() {
		if !p.only.MatchString(s.Name) {
			continue
		}
		progress(s.Name)
		if err := files.Check(&s); err != nil {
			return err
		}
		if err := p.fileContest(results, &s); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	if p.only.MatchString(report.FileProcesses) {
		progress(report.FileProcesses)
		return p.rotateByTwo(results)
	}
	return nil
}

func fileNames() []string {
	var names []string
	for _, s := range files.Scenarios() {
		names = append(names, s.Name)
	}
	return append(names, report.FileProcesses)
}

func fileModules() []peer {
	var all []peer
	for _, m := range files.Modules {
		all = append(all, peer{m.Name, m.Path})
	}
	return all
}

// fileLines returns the number of lines in a round.
func (p *plan) fileLines() int { return files.Lines / max(1, p.divisor) }

// fileContest measures one scenario: times, then allocations.
func (p *plan) fileContest(results *report.Results, s *files.Scenario) (err error) {
	var runs []files.Run
	defer func() {
		for _, r := range runs {
			err = errors.Join(err, r.Close())
		}
	}()
	var timed []measure.Contestant
	for i := range s.Contestants {
		c := &s.Contestants[i]
		r, _, err := s.Start(c, keptFiles)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		runs = append(runs, r)
		timed = append(timed, measure.Contestant{Name: c.Name, Do: r.Do, Prepare: r.Prepare})
	}
	timing := p.timing
	timing.Ops = p.fileLines()
	timings := measure.Alternate(timed, timing)
	versus := leastOf(timed, timings, s.Versus)
	for i, t := range timings {
		mallocs, bytes := timed[i].Allocs(timing.Ops, 5)
		size, err := s.LineSize(&s.Contestants[i])
		if runs[i].Check != nil {
			err = errors.Join(err, runs[i].Check())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", timed[i].Name, err)
		}
		results.Add(s.Name, timed[i].Name, t.N,
			report.Value{Number: t.Least, Decimals: 1, Unit: report.UnitTime},
			report.Value{Number: t.Median, Decimals: 1, Unit: report.UnitMedian},
			report.Value{Number: t.Least / versus, Decimals: 2, Unit: report.UnitRatio},
			report.Value{Number: mallocs, Decimals: 3, Unit: report.UnitMallocs},
			report.Value{Number: bytes, Decimals: 1, Unit: report.UnitBytes},
			report.Value{Number: float64(size), Unit: report.UnitLine})
	}
	return nil
}

// rotateByTwo counts the lines that two processes lose, in all runs together,
// and the rotations per second of the fastest run.
func (p *plan) rotateByTwo(results *report.Results) error {
	sums := make([]files.Outcome, len(files.Rotators))
	rates := make([]float64, len(files.Rotators))
	for range goes {
		for i, r := range files.Rotators {
			o, err := files.RotateByTwo(r.Name, rotations/p.divisor)
			if err != nil {
				return fmt.Errorf("%s: %w", r.Name, err)
			}
			sums[i].Add(o)
			rates[i] = max(rates[i], float64(o.Files)/o.Took.Seconds())
		}
	}
	for i, o := range sums {
		results.Add(report.FileProcesses, files.Rotators[i].Name, o.Lines,
			report.Value{Number: float64(o.Lost), Unit: report.UnitLinesLost},
			report.Value{Number: float64(o.Twice + o.Broken), Unit: report.UnitDamaged},
			report.Value{Number: float64(o.Refused + o.Failed), Unit: report.UnitRefused},
			report.Value{Number: float64(o.Files), Unit: report.UnitFiles},
			report.Value{Number: rates[i], Unit: report.UnitRotations})
	}
	return nil
}
