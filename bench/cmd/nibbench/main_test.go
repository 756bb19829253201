// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/child"
	"github.com/nib-log/nib/bench/files"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/report"
)

func TestMain(m *testing.M) {
	child.Dispatch()
	files.Dispatch()
	m.Run()
}

// The shortest possible run of everything: each row has each peer that can do
// it, and the text form holds it all.
func TestEveryScenarioIsMeasuredForEveryPeer(t *testing.T) {
	p := plan{only: regexp.MustCompile("^[^H]"), timing: measure.Config{Rounds: 1, Round: 50 * time.Microsecond},
		piped: 64, allocs: 64, calls: 1, loads: 1, requests: 16}
	results := &report.Results{Header: sets[0].header(&p)}
	if err := p.measure(results); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := results.Write(&text); err != nil {
		t.Fatal(err)
	}
	stored, err := report.Read(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range bench.Scenarios {
		s := &bench.Scenarios[i]
		for _, peer := range bench.Peers() {
			ns, ok := stored.Get(s.Name, peer.Name, report.UnitTime)
			if want := s.Setup(peer) != nil; ok != want || ok && ns <= 0 {
				t.Errorf("%s, %s: %v ns, measured %v, want %v", s.Name, peer.Name, ns, ok, want)
			}
			if _, ok := stored.Get(s.Name+report.LatencySuffix, peer.Name, report.UnitP99); ok != (s.Latency && s.Setup(peer) != nil) {
				t.Errorf("%s, %s: latency measured %v", s.Name, peer.Name, ok)
			}
		}
	}
	for _, s := range bench.Services() {
		if v, ok := stored.Get(report.ServiceName, s.Name, report.UnitRequests); !ok || v <= 0 {
			t.Errorf("service %s: %v requests a second", s.Name, v)
		}
	}
}

func TestRatiosReferToTheFastestThatIsNotNibNorExcepted(t *testing.T) {
	s := &bench.Scenario{Name: "Escapes"} // in which phuslu is excepted
	contestants := []contestant{{peer: &bench.Peer{Name: "nib"}}, {peer: &bench.Peer{Name: "phuslu"}},
		{peer: &bench.Peer{Name: "zap"}}, {peer: &bench.Peer{Name: "slog"}}}
	timings := []measure.Timing{{Least: 1}, {Least: 2}, {Least: 4}, {Least: 3}}
	if got := fastestPeer(s, contestants, timings); got != 3 {
		t.Errorf("got %v, want slog's 3", got)
	}
}

func TestHeaderNamesVersionsAndNoPaths(t *testing.T) {
	for i := range sets {
		for _, f := range sets[i].header(&plan{}) {
			if f.Value == "" || strings.Contains(f.Value, "/home") || strings.Contains(f.Value, "/root") {
				t.Errorf("%s: %s: %q", sets[i].name, f.Key, f.Value)
			}
		}
	}
}

func TestResultsOfOtherProcessorsAreKept(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other", "default.txt")
	if err := os.MkdirAll(filepath.Dir(other), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, report.FileName(processor().Key, report.Calls))
	if err := store(&report.Results{Header: []report.Field{{Key: "go", Value: "go1"}}}, path); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "go: go1\n" || filepath.Dir(path) == filepath.Dir(other) {
		t.Errorf("%s: got %q, %v", path, got, err)
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != "kept" {
		t.Errorf("%s: got %q, %v, want it unchanged", other, got, err)
	}
}

func TestHeaderNamesTheCommit(t *testing.T) {
	if err := exec.Command("git", "rev-parse", "HEAD").Run(); err != nil {
		t.Skip("not in a checkout:", err)
	}
	found := report.Results{Header: sets[0].header(&plan{})}
	hash, _, _ := strings.Cut(strings.Join(found.Head("commit"), ""), " ")
	if err := exec.Command("git", "cat-file", "-e", hash+"^{commit}").Run(); err != nil {
		t.Errorf("commit %q: %v", hash, err)
	}
	if _, err := time.Parse(time.RFC3339, strings.Join(found.Head("committed"), "")); err != nil {
		t.Error(err)
	}
}
