// SPDX-License-Identifier: Apache-2.0

package check_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"testing"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// sampleDir returns the module of 58 small cases.
func sampleDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../testdata/sample")
	must.Succeed(t, err)
	return dir
}

// releases returns the Go releases that the tool is judged on.
func releases(t *testing.T) []string {
	if os.Getenv("NIB_E2E") == "full" {
		return []string{"1.24", "1.25", "1.26", "1.27"}
	}
	return []string{""}
}

// measureTruth runs a sample's own test, which is independent of this module.
func measureTruth(t *testing.T, dir, release string) map[string]map[string]float64 {
	t.Helper()
	out := filepath.Join(t.TempDir(), "truth.json")
	cmd := exec.Command("go", "test", "-count=1", "-run=^TestTruth$", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SAMPLE_TRUTH="+out, "GODEBUG=memprofilerate=1", "GOGC=off", "GOFLAGS=")
	if release != "" {
		cmd.Env = append(cmd.Env, "GOTOOLCHAIN="+release)
	}
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	text, err := os.ReadFile(out)
	must.Succeed(t, err)
	var truth map[string]map[string]float64
	must.Succeed(t, json.Unmarshal(text, &truth))
	return truth
}

// score counts how a document agrees with the truth.
type score struct {
	lines, found, sure int
	missed, false_     []string
}

// judge compares, for each case, the lines that allocate with those the tool
// names, each with a reason.
func judge(d *findings.Document, truth map[string]map[string]float64) score {
	var s score
	for _, r := range d.Roots {
		name := r.Func[len("example.com/sample."):]
		lines, ok := truth[name]
		if !ok || r.Kind != "annotated" {
			continue
		}
		named, sure := map[string]bool{}, map[string]bool{}
		for _, site := range r.Sites {
			at := fmt.Sprintf("%s:%d", site.File, site.Line)
			if v := site.Worst(); v.Verdict != verdict.None && v.Missing != verdict.First && site.Reason != "" {
				named[at] = true
				sure[at] = sure[at] || v.Allocates()
			}
		}
		for at, n := range lines {
			s.lines++
			switch {
			case sure[at]:
				s.sure++
				s.found++
			case named[at]:
				s.found++
			default:
				s.missed = append(s.missed, fmt.Sprintf("%s %s (%.2f per run)", name, at, n))
			}
		}
		for at, is := range sure {
			if _, ok := lines[at]; is && !ok {
				s.false_ = append(s.false_, name+" "+at)
			}
		}
	}
	sort.Strings(s.missed)
	sort.Strings(s.false_)
	return s
}

func TestSampleAgainstTruth(t *testing.T) {
	if testing.Short() {
		t.Skip("left out of short mode: it compiles and measures a module")
	}
	for _, release := range releases(t) {
		var truth map[string]map[string]float64
		cases := []struct {
			name   string
			bench  *regexp.Regexp
			recall float64
			sure   float64
		}{
			{"with runs", regexp.MustCompile("."), 0.98, 0.98},
			{"without runs", nil, 0.98, 0.40},
		}
		if os.Getenv("NIB_E2E") == "" { // the tree chooses
			seed, _ := strconv.ParseUint(os.Getenv("NIB_SEED"), 10, 64)
			cases = cases[seed%2:][:1]
		}
		for _, c := range cases {
			t.Run(c.name+" "+release, func(t *testing.T) {
				r, err := check.Run(context.Background(), check.Options{
					Dir: sampleDir(t), Patterns: []string{"./..."}, Releases: []string{release}, Bench: c.bench,
				})
				must.Succeed(t, err)
				for _, trouble := range r.Toolchains[0].Trouble {
					t.Errorf("evidence that could not be had: %s", trouble)
				}
				version := r.Toolchains[0].Toolchain.Version
				if truth == nil {
					truth = measureTruth(t, sampleDir(t), version)
				}
				s := judge(findings.New(r), truth)
				t.Logf("%s: %d lines allocate, %d found, %d of them as sure; missed %q; falsely %q",
					version, s.lines, s.found, s.sure, s.missed, s.false_)
				if s.lines < 30 {
					t.Fatalf("got %d lines that allocate, want 30 or more", s.lines)
				}
				if got := float64(s.found) / float64(s.lines); got < c.recall {
					t.Errorf("recall: got %.3f, want %.2f", got, c.recall)
				}
				if got := float64(s.sure) / float64(s.lines); got < c.sure {
					t.Errorf("sure lines: got %.3f, want %.2f", got, c.sure)
				}
				if len(s.false_) > 0 {
					t.Errorf("sure of lines that never allocate: %q", s.false_)
				}
			})
		}
	}
}
