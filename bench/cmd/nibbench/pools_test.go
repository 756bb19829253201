// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/pools"
	"github.com/nib-log/nib/bench/report"
)

// The shortest possible run of all that the pools compete in.
func TestEveryPoolIsMeasuredInEveryScenario(t *testing.T) {
	p := plan{only: regexp.MustCompile(""), timing: measure.Config{Rounds: 1, Round: 50 * time.Microsecond},
		allocs: 64, divisor: 100}
	var results report.Results
	if err := p.pools(&results); err != nil {
		t.Fatal(err)
	}
	for _, s := range pools.Scenarios() {
		for _, c := range s.Contestants {
			if ns, ok := results.Get(s.Name, c.Name, report.UnitTime); !ok || ns <= 0 {
				t.Errorf("%s, %s: %v ns, measured %v", s.Name, c.Name, ns, ok)
			}
		}
		if ratio, _ := results.Get(s.Name, s.Versus, report.UnitRatio); ratio != 1 {
			t.Errorf("%s: ratio of %s is %v, want 1", s.Name, s.Versus, ratio)
		}
	}
}

func TestAPoolThatLosesValuesIsCountedAndOneThatFailsIsRefused(t *testing.T) {
	forget := func(made *pools.Made) pools.Run {
		return pools.Run{Do: made.Add}
	}
	s := pools.Scenario{Name: "x", Versus: "a", Contestants: []pools.Contestant{{Name: "a", New: forget}}}
	p := plan{timing: measure.Config{Rounds: 1, Ops: 100}, allocs: 100, divisor: 1}
	var results report.Results
	if err := p.poolContest(&results, &s); err != nil {
		t.Fatal(err)
	}
	if lost, _ := results.Get("x", "a", report.UnitLost); lost != 1 {
		t.Errorf("%v values lost per operation, want 1", lost)
	}
	s.Contestants[0].New = func(*pools.Made) pools.Run {
		return pools.Run{Do: func(int) {}, Check: func() error { return errors.New("unfit") }}
	}
	if err := p.poolContest(&results, &s); err == nil || !strings.Contains(err.Error(), "unfit") {
		t.Errorf("got %v, want what the check says", err)
	}
}

func TestSetsAreChosenByName(t *testing.T) {
	for name, want := range map[string]int{"": len(sets), "calls": 1, "codec": 1, "pools": 1} {
		if got, err := chosen(name); err != nil || len(got) != want {
			t.Errorf("%q: %d sets, %v, want %d", name, len(got), err, want)
		}
	}
	if _, err := chosen("nosuch"); err == nil {
		t.Error("an unknown set passes")
	}
}

func TestNamesOfAllSetsDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sets {
		for _, name := range s.names() {
			if seen[name] {
				t.Errorf("%s: twice", name)
			}
			seen[name] = true
		}
	}
}
