// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/baseline"
	"github.com/nib-log/nib/allocs/internal/findings"
	"github.com/nib-log/nib/allocs/internal/must"
	"github.com/nib-log/nib/allocs/internal/report"
	"github.com/nib-log/nib/allocs/internal/verdict"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shop returns a document with everything that the tree can show.
func shop() *findings.Document {
	d := &findings.Document{Format: 1, Module: "shop.example/orders", Dir: "/nowhere", Toolchains: []findings.Toolchain{
		{Name: "go1.24.13", Line: "go1.24", Runs: 2, Seconds: 3.5}, {Name: "go1.26.8", Line: "go1.26", Runs: 2, Seconds: 2}, {Name: "go1.27.4", Line: "go1.27", Trouble: []string{"BenchmarkGet: exit status 1"}}}}
	site := func(file string, line int, source, pattern, reason, fix string, perOp float64, all ...verdict.Finding) *findings.Site {
		s := &findings.Site{Key: fmt.Sprint(source, line), File: file, Line: line, Source: source, Kind: "box", Pattern: pattern, Reason: reason, Fix: fix}
		for _, f := range all {
			a := findings.Answer{Finding: f, Because: "in BenchmarkGet each time", Evidence: &findings.Evidence{Code: "on every path"}}
			if f == counted {
				a.Evidence.Runs = []findings.Run{{Name: "BenchmarkGet", PerOp: perOp}}
			}
			s.Answers = append(s.Answers, a)
		}
		return s
	}
	size, first, benchmark, anyRun := possible(verdict.Size), possible(verdict.First), possible(verdict.Benchmark), possible(verdict.AnyRun)
	pairs := func(line int, source string, f verdict.Finding) *findings.Site {
		return site("internal/httpapi/api.go", line, source, "slog-pairs", "key and value pairs are boxed into a slice of any before slog looks at the level",
			"use LogAttrs with slog.Int, slog.String and so on: it boxes nothing, also when the level is off", 1, f, f, f)
	}
	format := site("internal/money/format.go", 41, `return fmt.Sprintf("%d.%02d", cents/100, cents%100)`, "sprintf", "fmt formats into a new string and boxes its arguments", "append to a kept buffer with strconv.AppendInt and append", 1, counted, counted, counted)
	format.Chain = []findings.Frame{{Func: "shop.example/orders/internal/price.Line"}, {Func: "shop.example/orders/internal/money.Format"}, {Func: "fmt.Sprintf"}}
	changed := site("internal/price/price.go", 35, "b := make([]byte, 0, n)", "make-variable", "the size is not known when compiling, so the slice is made on the heap", "make it with a constant size", 0.01, counted, none, none)
	agreement := possible(verdict.Agreement)
	disagree := site("internal/httpapi/api.go", 70, `a.log.Info("up")`, "slog-pairs", "key and value pairs are boxed", "use LogAttrs", 0, agreement, agreement, agreement)
	call := func(line, end int, text string, sites ...*findings.Site) *findings.Root {
		return &findings.Root{ID: text, Kind: "log call", Text: text, File: "internal/httpapi/api.go", Line: line, End: end, Sites: sites}
	}
	none0 := 0
	d.Roots = []*findings.Root{
		call(32, 35, `a.log.Info("request", "method", r.Method, "path", r.URL.Path, "took", time.Since(began))`,
			pairs(33, `"method", r.Method,`, counted), pairs(34, `"path", r.URL.Path,`, counted), pairs(35, `"took", time.Since(began))`, counted), site("internal/httpapi/api.go", 32, "a.log", "", "x", "", 0, benchmark, size, first)),
		call(41, 41, `a.log.Warn("bad id", "id", id)`, pairs(41, `a.log.Warn("bad id", "id", id)`, anyRun)),
		{ID: "shop.example/orders/internal/price.Line", Kind: "annotated", File: "internal/price/price.go", Line: 28, End: 40, Allowed: &none0, Sites: []*findings.Site{format, changed}},
		call(70, 70, `a.log.Info("up")`, disagree),
		{ID: "shop.example/orders/internal/price.Total", Kind: "annotated", File: "internal/price/price.go", Line: 8, End: 12, Allowed: &none0},
	}
	for _, r := range d.Roots {
		for t := range d.Toolchains {
			n, runs := 0, false
			for _, s := range r.Sites {
				if s.Answers[t].Allocates() {
					n++
				}
				runs = runs || s.Answers[t].Finding == counted
			}
			if runs {
				r.Counts = append(r.Counts, findings.Count{Leaf: "BenchmarkGet", PerOp: float64(n)})
			}
			r.Allocs = append(r.Allocs, n)
		}
	}
	d.Roots[2].Calls = []findings.Call{{Func: "shop.example/orders/internal/price.Line", File: "internal/price/price.go", Line: 36}}
	d.Sum()
	return d
}

func text(t *testing.T, d *findings.Document, o *baseline.Outcome, color bool) string {
	t.Helper()
	var b bytes.Buffer
	must.Succeed(t, report.Text(&b, d, o, color))
	return b.String()
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestAbsentIsUnproven has a root that keeps to its comment, and a root that no
// executable has.
func TestAbsentIsUnproven(t *testing.T) {
	none := 0
	root := func(name string, absent bool) *findings.Root {
		return &findings.Root{ID: name, Kind: "annotated", File: "f.go", Line: 1, Allowed: &none, Proof: findings.Proof{NoCode: []bool{absent}}, Allocs: []int{0}}
	}
	d := &findings.Document{Module: "example.com/m", Toolchains: []findings.Toolchain{{Name: "go1.26", Line: "go1.26"}},
		Roots: []*findings.Root{root("m.There", false), root("m.Generic", true)}}
	d.Sum()
	var page bytes.Buffer
	must.Succeed(t, report.HTML(&page, d, &baseline.Outcome{}))
	got := text(t, d, &baseline.Outcome{}, false) + page.String()
	for _, want := range []string{
		`title="none">✓<`, `title="unproven">?<`, "2 roots: 1 unproven, 1 none",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}

func TestTextGolden(t *testing.T) {
	worse := &baseline.Outcome{Baseline: true, Worse: []baseline.Change{{Toolchain: "go1.26", Text: "price.Line allocates: make", Where: "price.go:35"}}, Better: []baseline.Change{{Toolchain: "go1.27", Text: "price.Line no longer has: make"}}}
	for name, o := range map[string]*baseline.Outcome{"piped": {}, "baseline": worse} {
		got := text(t, shop(), o, false)
		file := filepath.Join("testdata", "text-"+name+".golden")
		if *update {
			must.Succeed(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		must.Succeed(t, err)
		if got != string(want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
		colored := text(t, shop(), o, true)
		if escape.ReplaceAllString(colored, "") != got || colored == got {
			t.Errorf("%s: got\n%s\nwith colours, want the same text", name, colored)
		}
	}
}

func TestTextShowsFewOfMany(t *testing.T) {
	d := shop()
	for range 100 {
		d.Roots = append(d.Roots, d.Roots[0])
	}
	d.Sum()
	got := text(t, d, &baseline.Outcome{}, false)
	n := strings.Count(got, "a.log.Info(")
	if n != 30 || !strings.Contains(got, "● 72 more allocate\n") ||
		!strings.Contains(got, "✗ internal/price.Line") {
		t.Errorf("got %d\n%s", n, got)
	}
}

// Without a baseline, the tree shows roots above their limit: others that fail
// the gate need a line.
func TestGateWithoutBaseline(t *testing.T) {
	d := shop()
	gate := &baseline.Outcome{Worse: []baseline.Change{
		{Kind: "worse", Toolchain: "go1.26", Root: d.Roots[0].ID, Text: "a waiver", Where: "a.go:1"},
		{Kind: "worse", Toolchain: "go1.26", Root: d.Roots[2].ID, Text: "above its limit"},
	}}
	d.Roots[2].Allocs = []int{1}
	var b bytes.Buffer
	must.Succeed(t, report.Text(&b, d, gate, false))
	if got := b.String(); !strings.Contains(got, "worse go1.26: a waiver\n    a.go:1\n") || strings.Contains(got, "above its limit") {
		t.Errorf("got %s", got)
	}
}
