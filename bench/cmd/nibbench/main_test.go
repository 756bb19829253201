// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/child"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
)

func TestMain(m *testing.M) {
	child.Dispatch()
	m.Run()
}

// The shortest possible run of everything: the contestants write the same, each
// row has each of them, and the text form holds it all.
func TestEveryScenarioIsMeasuredForEveryContestant(t *testing.T) {
	only := regexp.MustCompile("")
	if underRace { // phuslu's AsyncWriter reads entries that it has released
		only = regexp.MustCompile("^[^F]|FileWrite")
	}
	p := &plan{only: only, timing: measure.Config{Rounds: 1, Round: 50 * time.Microsecond},
		allocs: 64, calls: 1, loads: 1, requests: 16, divisor: 500}
	for _, s := range report.Sets() {
		if err := s.Complete(); err != nil {
			t.Error(err)
		}
		results, err := p.measure(&s)
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		var text strings.Builder
		if err := results.Write(&text); err != nil {
			t.Fatal(err)
		}
		stored, err := report.Read(strings.NewReader(text.String()))
		if err != nil {
			t.Fatal(err)
		}
		for _, table := range s.Tables {
			for _, x := range table.Scenarios {
				for _, c := range x.Contestants {
					ns, _ := stored.Get(x.Name, c.Name, report.UnitTime)
					_, late := stored.Get(x.Name+report.LatencySuffix, c.Name, report.UnitP99)
					if only.MatchString(x.Name) && (ns <= 0 || late != x.Latency) {
						t.Errorf("%s, %s: %v ns, latency measured %v", x.Name, c.Name, ns, late)
					}
				}
			}
		}
		for _, service := range bench.Services() {
			v, _ := stored.Get(report.ServiceName, service.Name, report.UnitRequests)
			if s.Name == "calls" && v <= 0 {
				t.Errorf("service %s: %v requests a second", service.Name, v)
			}
		}
	}
}

func TestAContestantThatLosesItsWorkIsNotMeasured(t *testing.T) {
	lost := func(measure.Place) (measure.Run, error) {
		return measure.Run{Do: func(int) {}, Check: func() error { return errors.New("lost") }}, nil
	}
	closed := func(measure.Place) (measure.Run, error) { return measure.Run{}, errors.New("closed") }
	endless := func(measure.Place) (measure.Run, error) {
		return measure.Run{Do: func(int) {}, Close: func() error { return errors.New("endless") }}, nil
	}
	p := &plan{timing: measure.Config{Rounds: 1}, allocs: 1, divisor: 1}
	for want, open := range map[string]func(measure.Place) (measure.Run, error){
		"lost": lost, "closed": closed, "endless": endless,
	} {
		x := measure.Scenario{Name: "x", Ops: 1, Contestants: []measure.Contestant{{Name: "nib", New: open}}}
		if err := p.contest(&report.Results{}, &x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestHeaderNamesVersionsAndNoPaths(t *testing.T) {
	for _, s := range report.Sets() {
		for _, f := range header(&s, &plan{}) {
			if f.Value == "" || strings.Contains(f.Value, "/home") || strings.Contains(f.Value, "/root") {
				t.Errorf("%s: %s: %q", s.Name, f.Key, f.Value)
			}
		}
	}
}

func TestResultsOfOtherProcessorsAreKept(t *testing.T) {
	dir := t.TempDir()
	for _, processor := range []string{"other", processor().Key} {
		results := &report.Results{Header: []report.Field{{Key: "cpu", Value: processor}}}
		if err := store(results, filepath.Join(dir, report.FileName(processor, "calls"))); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, report.FileName("other", "calls")))
	if err != nil || string(got) != "cpu: other\n" {
		t.Errorf("got %q, %v, want it unchanged", got, err)
	}
}

func TestHeaderNamesTheCommit(t *testing.T) {
	if err := exec.Command("git", "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("not in a checkout:", err)
	}
	found := report.Results{Header: header(&measure.Set{}, &plan{})}
	hash, _, _ := strings.Cut(strings.Join(found.Head("commit"), ""), " ")
	if err := exec.Command("git", "cat-file", "-e", hash+"^{commit}").Run(); err != nil {
		t.Errorf("commit %q: %v", hash, err)
	}
	if _, err := time.Parse(time.RFC3339, strings.Join(found.Head("committed"), "")); err != nil {
		t.Error(err)
	}
}
