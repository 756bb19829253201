// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/bench/files"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
)

// The shortest possible run of all that the file sinks compete in.
func TestEveryFileIsMeasuredInEveryScenario(t *testing.T) {
	only := regexp.MustCompile("")
	if underRace { // phuslu's AsyncWriter reads entries that it has released
		only = regexp.MustCompile("[^8]$")
	}
	p := plan{only: only, timing: measure.Config{Rounds: 1}, divisor: 100}
	var results report.Results
	if err := p.files(&results); err != nil {
		t.Fatal(err)
	}
	for _, s := range files.Scenarios() {
		if !only.MatchString(s.Name) {
			continue
		}
		for _, c := range s.Contestants {
			ns, _ := results.Get(s.Name, c.Name, report.UnitTime)
			size, _ := results.Get(s.Name, c.Name, report.UnitLine)
			if ns <= 0 || size < 200 || s.Line != nil && int(size) != len(s.Line) {
				t.Errorf("%s, %s: %v ns for a line of %v bytes", s.Name, c.Name, ns, size)
			}
		}
		if ratio, _ := results.Get(s.Name, s.Versus, report.UnitRatio); ratio != 1 {
			t.Errorf("%s: ratio of %s is %v, want 1", s.Name, s.Versus, ratio)
		}
	}
	for _, r := range files.Rotators {
		if rate, _ := results.Get(report.FileProcesses, r.Name, report.UnitRotations); rate <= 0 {
			t.Errorf("%s: no rotation by two processes", r.Name)
		}
	}
}

func TestFilesThatCannotBeMeasuredAreRefused(t *testing.T) {
	run := files.Run{Do: func(int) {}, Close: func() error { return nil }}
	p := plan{timing: measure.Config{Rounds: 1}, divisor: 1000}
	for name, start := range map[string]func(files.Place) (files.Run, error){
		"unfit": func(files.Place) (files.Run, error) {
			r := run
			r.Check = func() error { return errors.New("unfit") }
			return r, nil
		},
		"closed": func(files.Place) (files.Run, error) { return run, errors.New("closed") },
		"unending": func(files.Place) (files.Run, error) {
			r := run
			r.Close = func() error { return errors.New("unending") }
			return r, nil
		},
	} {
		s := files.Scenario{Name: "x", Versus: "a", Contestants: []files.Contestant{{Name: "a", New: start}}}
		var results report.Results
		if err := p.fileContest(&results, &s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %s", err, name)
		}
	}
}
