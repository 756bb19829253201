// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
	"github.com/nib-log/nib/bench/spools"
)

// The shortest possible run of all that the spool competes in.
func TestTheSpoolIsMeasuredInEveryScenario(t *testing.T) {
	p := plan{only: regexp.MustCompile(""), timing: measure.Config{Rounds: 1}, divisor: 100}
	var results report.Results
	if err := p.spool(&results); err != nil {
		t.Fatal(err)
	}
	for _, s := range spools.Scenarios() {
		for _, c := range s.Contestants {
			if ns, _ := results.Get(s.Name, c.Name, report.UnitTime); ns <= 0 {
				t.Errorf("%s, %s: %v ns", s.Name, c.Name, ns)
			}
		}
		if ratio, _ := results.Get(s.Name, spools.OSFile, report.UnitRatio); s.Versus != "" && ratio != 1 {
			t.Errorf("%s: ratio of %s is %v, want 1", s.Name, s.Versus, ratio)
		}
	}
	for _, c := range spools.Latency.Contestants {
		if ns, _ := results.Get(spools.Latency.Name, c.Name, report.UnitP9999); ns <= 0 {
			t.Errorf("%s: not timed at a fixed rate", c.Name)
		}
	}
}

func TestASpoolThatLosesLinesIsNotMeasured(t *testing.T) {
	lossy := spools.Scenario{Name: "x", Versus: "a", Contestants: []spools.Contestant{{Name: "a", New: func(string) (spools.Run, error) {
		return spools.Run{Do: func(int) {}, Check: func() error { return errors.New("lost") }, Close: func() error { return nil }}, nil
	}}}}
	p := plan{timing: measure.Config{Rounds: 1}, divisor: 100}
	var results report.Results
	if err := p.spoolContest(&results, &lossy); err == nil || !strings.Contains(err.Error(), "lost") {
		t.Errorf("contest: got %v", err)
	}
	if err := p.spoolRate(&results, &lossy); err == nil || !strings.Contains(err.Error(), "lost") {
		t.Errorf("rate: got %v", err)
	}
	if len(results.Lines) > 0 {
		t.Errorf("got %+v", results.Lines)
	}
}
