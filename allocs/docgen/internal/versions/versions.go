// SPDX-License-Identifier: Apache-2.0

// Package versions makes the table of the version experiment: the same hot
// paths on many Go releases, with the allocations of each operation and the
// compiler's output about them.
package versions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib/allocs/internal/check"
	"github.com/nib-log/nib/allocs/internal/progress"
	"github.com/nib-log/nib/allocs/internal/runs"
	"github.com/nib-log/nib/allocs/internal/source"
	"github.com/nib-log/nib/allocs/internal/toolchain"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

// Releases are the releases in the published table.
var Releases = []string{"1.13", "1.17", "1.18", "1.20", "1.21", "1.22", "1.24", "1.25", "1.26", "1.27"}

// Matrix is the result: a row for each path, a column for each release.
type Matrix struct {
	Target   string // "linux/amd64"
	Releases []Release
	Rows     []Row
}

// Release is a column.
type Release struct {
	Version string // "go1.13.15"
	Line    string // "1.13"
	Text    bool   // seen by -m=2 and benchmarks alone
}

// Row is a path.
type Row struct {
	Name, Does string // the function, and its comment
	Cells      []Cell
}

// Cell is a path on a release.
type Cell struct {
	PerOp   float64  // counted by the module's own test, which is independent of the tool
	Tool    float64  // the tool's count in the benchmark of the path
	Said    []string // values that escape according to the compiler, at lines that allocate
	Verdict verdict.Verdict
}

// Silent reports whether the path allocates although the compiler prints
// nothing about it.
func (c Cell) Silent() bool { return c.PerOp >= 0.01 && len(c.Said) == 0 }

// Count returns the number of allocations as text.
func (c Cell) Count() string {
	return strconv.FormatFloat(math.Round(c.PerOp*100)/100, 'f', -1, 64)
}

// Run measures the module in dir on the releases.
func Run(ctx context.Context, dir string, releases []string, cache string, tell func(progress.Event)) (*Matrix, error) {
	r, err := check.Run(ctx, check.Options{
		Dir: dir, Patterns: []string{"./..."}, Releases: releases, Bench: regexp.MustCompile("."), Timeout: 2 * time.Minute, Cache: cache, Progress: tell,
	})
	if err != nil {
		return nil, err
	}
	m := matrix(r)
	for i, t := range r.Toolchains {
		counts, err := count(ctx, t.Toolchain, dir)
		if err != nil {
			return nil, err
		}
		for j := range m.Rows {
			n, ok := counts[m.Rows[j].Name]
			if !ok {
				return nil, fmt.Errorf("%s: %s was not counted", t.Toolchain, m.Rows[j].Name)
			}
			m.Rows[j].Cells[i].PerOp = n
		}
	}
	return m, m.check()
}

// disagreement is the amount that another goroutine can add to the count of a
// benchmark.
const disagreement = 0.05

// check compares the two counts of each cell, and the verdict with them: a
// table in which they differ must not be published.
func (m *Matrix) check() error {
	for _, row := range m.Rows {
		for i, c := range row.Cells {
			if math.Abs(c.PerOp-c.Tool) > disagreement || (c.PerOp >= 1) != (c.Verdict == verdict.Always) {
				return fmt.Errorf("%s: %s allocates %v times by its test, %v by the tool, which says %s", m.Releases[i].Version, row.Name, c.PerOp, c.Tool, c.Verdict)
			}
		}
	}
	return nil
}

// count runs the test of the module that counts by itself.
func count(ctx context.Context, tc *toolchain.Toolchain, dir string) (map[string]float64, error) {
	work, err := os.MkdirTemp("", "versions-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	exe, out, at := filepath.Join(work, "counts.test"), filepath.Join(work, "counts.json"), dir
	if !tc.Overlay() {
		at, tc = filepath.Join(work, "mirror"), tc.Writing()
		if err := runs.Mirror(dir, at, nil); err != nil {
			return nil, err
		}
	}
	if _, err := tc.Go(ctx, at, "test", "-c", "-o", exe, "."); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, exe, "-test.run=^TestCounts$")
	cmd.Dir, cmd.Env = dir, append(tc.Env(), "VERSIONS_COUNTS="+out, "GOGC=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", tc, err, bytes.TrimSpace(text))
	}
	text, err := os.ReadFile(out)
	if err != nil {
		return nil, err
	}
	var counts map[string]float64
	return counts, json.Unmarshal(text, &counts)
}

// matrix returns the table of a report.
func matrix(r *check.Report) *Matrix {
	m := &Matrix{}
	files := source.New()
	for _, root := range r.Roots.Roots {
		name := root.Func[strings.LastIndexByte(root.Func, '.')+1:]
		m.Rows = append(m.Rows, Row{Name: name, Does: comment(files, root.File, root.Line, name)})
	}
	for _, t := range r.Toolchains {
		version := t.Toolchain.Version
		m.Target = t.Toolchain.GOOS + "/" + t.Toolchain.GOARCH
		parts := strings.SplitN(strings.TrimPrefix(version, "go"), ".", 3)
		m.Releases = append(m.Releases, Release{version, parts[0] + "." + parts[1], !t.Toolchain.Executables()})
		counts := map[string]float64{}
		for _, run := range t.Runs {
			counts[run.Name] = run.PerOp
		}
		for i := range m.Rows {
			c := cell(t.Results[i].Sites)
			c.Tool = counts["Benchmark"+m.Rows[i].Name]
			m.Rows[i].Cells = append(m.Rows[i].Cells, c)
		}
	}
	return m
}

// cell returns the tool's report on the sites of a path.
func cell(sites []*verdict.Site) Cell {
	c := Cell{Verdict: verdict.None}
	said := map[string]bool{}
	for _, s := range sites {
		if s.Verdict.Rank() > c.Verdict.Rank() {
			c.Verdict = s.Verdict
		}
		if s.Verdict != verdict.Always || s.Evidence.Escape == nil {
			continue
		}
		for _, what := range append([]string{s.Evidence.Escape.What}, s.Evidence.Values...) {
			if !said[what] {
				said[what] = true
				c.Said = append(c.Said, what)
			}
		}
	}
	return c
}

// comment returns the first sentence above a function, without its name.
func comment(files *source.Files, file string, line int, name string) string {
	var text []string
	for n := line - 1; n > 0; n-- {
		l := files.Line(file, n)
		if !strings.HasPrefix(l, "//") {
			break
		}
		if words, ok := strings.CutPrefix(l, "// "); ok {
			text = append([]string{words}, text...)
		}
	}
	all := strings.TrimPrefix(strings.Join(text, " "), name+" ")
	all, _, _ = strings.Cut(all, ". ")
	return strings.TrimSuffix(all, ".")
}
