// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os/exec"
	"regexp"
	"runtime/debug"
	"slices"
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
	info, _ := debug.ReadBuildInfo()
	if slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		// phuslu's AsyncWriter reads entries that it has released.
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
		stored, err := report.Parse(results.Text())
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
			cpu, _ := stored.Get(report.ServiceName, service.Name, report.UnitCPU)
			if s.Name == "calls" && (v <= 0 || cpu <= 0) {
				t.Errorf("service %s: %v requests a second, %v µs each", service.Name, v, cpu)
			}
		}
	}
}

func TestAContestantThatLosesItsWorkIsNotMeasured(t *testing.T) {
	failing := func() error { return errors.New("lost") }
	p := &plan{timing: measure.Config{Rounds: 1}, allocs: 1, divisor: 1}
	for _, r := range []measure.Run{{Check: failing}, {Close: failing}} {
		r.Do = func(int) {}
		x := measure.Scenario{Name: "x", Ops: 1,
			Contestants: []measure.Contestant{measure.Ready("nib", r)}}
		if err := p.contest(&report.Results{}, &x); err == nil ||
			!strings.Contains(err.Error(), "lost") {
			t.Errorf("got %v, want the error of the contestant", err)
		}
	}
}

func TestHeaderNamesVersionsAndNoPaths(t *testing.T) {
	for _, s := range report.Sets() {
		for _, line := range header(&s, &plan{}) {
			_, value, _ := strings.Cut(line, ": ")
			if value == "" || strings.Contains(line, "/home") || strings.Contains(line, "/root") {
				t.Errorf("%s: %q", s.Name, line)
			}
		}
	}
}

func TestHeaderNamesTheCommit(t *testing.T) {
	if err := exec.Command("git", "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("not in a checkout:", err)
	}
	found := report.Results{Header: header(&measure.Set{}, &plan{})}
	hash, _, _ := strings.Cut(found.Head("commit"), " ")
	if err := exec.Command("git", "cat-file", "-e", hash+"^{commit}").Run(); err != nil {
		t.Errorf("commit %q: %v", hash, err)
	}
	if _, err := time.Parse(time.RFC3339, found.Head("committed")); err != nil {
		t.Error(err)
	}
}
