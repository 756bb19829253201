// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nib-log/nib/bench"
	"github.com/nib-log/nib/bench/bridges"
	"github.com/nib-log/nib/bench/codec"
	"github.com/nib-log/nib/bench/files"
	"github.com/nib-log/nib/bench/measure"
	"github.com/nib-log/nib/bench/paths"
	"github.com/nib-log/nib/bench/pools"
	"github.com/nib-log/nib/bench/spools"
)

// Sets returns the sets in the order in which they are measured.
func Sets() []measure.Set {
	return []measure.Set{bench.Set(), codec.Set(), pools.Set(), files.Set(), spools.Set(),
		bridges.Set(), spools.OTLP(), paths.Set()}
}

// A Document is a file with a generated region.
type Document struct {
	Path string // below the root of the repository
	Set  string // the set of results that it shows
	text func(r *Results) string
}

// Documents returns all documents: the README, and the document of each set.
func Documents() []Document {
	sets := Sets()
	all := []Document{{"README.md", sets[0].Name,
		func(r *Results) string { return r.short(&sets[0]) }}}
	for i := range sets {
		s := &sets[i]
		all = append(all, Document{s.Path, s.Name, func(r *Results) string { return r.full(s) }})
	}
	return all
}

// Render returns the content that the document should have, given its present
// content. Markers with the name of the set are around the part that is
// generated.
func (d *Document) Render(r *Results, present string) (string, error) {
	start, end := "<!-- "+d.Set+":start -->", "<!-- "+d.Set+":end -->"
	before, rest, started := strings.Cut(present, start)
	_, after, ended := strings.Cut(rest, end)
	if !started || !ended {
		return "", fmt.Errorf("%s: no %s, or no %s after it", d.Path, start, end)
	}
	return before + start + "\n" + d.text(r) + end + after, nil
}

// own is the contestant that the tables put first and set in bold.
const own = "nib"

// headline lists the scenarios of the short table, in the README.
var headline = []string{"Disabled", "Message", "TenFields", "Bound", "Error", "Unicode",
	"SlogFront", "Pipe8"}

// short returns the table of the README.
func (r *Results) short(s *measure.Set) string {
	var t strings.Builder
	t.WriteString("One call in nanoseconds, the minimum of many rounds in which all take turns;\n" +
		"in brackets the heap allocations of a call.\n\n")
	table := s.Tables[0]
	table.Scenarios = slices.DeleteFunc(slices.Clone(table.Scenarios),
		func(x measure.Scenario) bool {
			return !slices.Contains(headline, x.Name)
		})
	r.table(&t, &table)
	t.WriteString("\n")
	r.machine(&t)
	t.WriteString("*nib ÷ best* is nib's time divided by the time of the fastest other library.\n" +
		"A dash: the library cannot do that.\n")
	return t.String()
}

// full returns all tables of a set.
func (r *Results) full(s *measure.Set) string {
	var t strings.Builder
	r.machine(&t)
	t.WriteString(
		"The minimum of many rounds in one process; the contestants take turns. In brackets " +
			"the heap allocations, where there are any.")
	if s.Note != "" {
		t.WriteString(" " + s.Note)
	}
	t.WriteString("\n\n")
	for i := range s.Tables {
		table := &s.Tables[i]
		if len(r.columns(table)) == 0 {
			continue
		}
		t.WriteString("### " + table.Title + "\n\n")
		if table.Note != "" {
			t.WriteString(table.Note + "\n\n")
		}
		r.table(&t, table)
		t.WriteString("\n")
	}
	if s.Name == "calls" {
		r.calls(&t, s)
	}
	if s.Tables[0].Scenarios[0].Price == "" {
		r.faster(&t, s)
	}
	return strings.TrimRight(t.String(), "\n") + "\n"
}

// machine writes the conditions of the measurement.
func (r *Results) machine(t *strings.Builder) {
	processor := r.Head("cpu")
	if model := r.Head("model"); model != "" {
		processor += ", " + model
	}
	fmt.Fprintf(t, "%s, %s/%s, %s, %s CPUs, %s at commit %s. %s. Rounds: %s.\n\n",
		strings.Replace(r.Head("go"), "go", "Go ", 1), r.Head("goos"), r.Head("goarch"), processor,
		r.Head("cpus"), r.Head("date"), r.Head("commit"), r.Head("peer"), r.Head("rounds"))
}

// columns returns the contestants with results in any row of a table, nib
// first.
func (r *Results) columns(table *measure.Table) []string {
	var names []string
	for _, x := range table.Scenarios {
		for _, c := range x.Contestants {
			if _, ok := r.Get(x.Name, c.Name, UnitTime); ok && !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}

// table writes a table with a row for each scenario that was measured, a column
// for each contestant, and nib's ratios. Rows with a price are sorted by the
// ratio.
func (r *Results) table(t *strings.Builder, table *measure.Table) {
	columns := r.columns(table)
	scenarios, priced := slices.Clone(table.Scenarios), table.Scenarios[0].Price != ""
	if priced {
		slices.SortStableFunc(scenarios, func(a, b measure.Scenario) int {
			ratio, _ := r.ratio(&a)
			other, _ := r.ratio(&b)
			return cmp.Compare(other, ratio)
		})
	}
	head := []string{""}
	for _, c := range columns {
		head = append(head, bold(c))
	}
	versus := cmp.Or(table.Scenarios[0].Versus, "best")
	for _, x := range table.Scenarios {
		if x.Versus != table.Scenarios[0].Versus {
			versus = "other"
		}
	}
	head, rule := append(head, "nib ÷ "+versus), "|---|"+strings.Repeat("---:|", len(columns)+1)
	if priced {
		head, rule = append(head, "the price is"), rule+"---|"
	}
	row(t, head)
	t.WriteString(rule + "\n")
	for _, x := range scenarios {
		if _, ok := r.Get(x.Name, own, UnitTime); !ok {
			continue
		}
		cells := []string{x.Title}
		for _, c := range columns {
			cell := r.cell(&x, c)
			if c == own {
				cell = "**" + cell + "**"
			}
			cells = append(cells, cell)
		}
		cells = append(cells, r.ratioCell(&x))
		if priced {
			cells = append(cells, x.Price)
		}
		row(t, cells)
	}
}

// cell returns the time of a contestant, and its allocations in brackets. A
// star marks a contestant that the others are not compared with.
func (r *Results) cell(x *measure.Scenario, contestant string) string {
	ns, ok := r.Get(x.Name, contestant, UnitTime)
	if !ok {
		return "–"
	}
	text := nanoseconds(ns)
	if m, _ := r.Get(x.Name, contestant, UnitMallocs); m >= 0.005 {
		text += " (" + strconv.FormatFloat(math.Round(m*100)/100, 'f', -1, 64) + ")"
	}
	for _, c := range x.Contestants {
		if c.Name == contestant && c.Aside {
			text += "\\*"
		}
	}
	return text
}

// ratio returns nib's time as a multiple of the contestant's that the scenario
// is compared with, or the fastest one.
func (r *Results) ratio(x *measure.Scenario) (ratio float64, ok bool) {
	least := math.Inf(1)
	for _, c := range x.Contestants {
		if x.Versus == c.Name || x.Versus == "" && !measure.Own(c.Name) && !c.Aside {
			if ns, ok := r.Get(x.Name, c.Name, UnitTime); ok {
				least = min(least, ns)
			}
		}
	}
	ns, ok := r.Get(x.Name, own, UnitTime)
	return ns / least, ok && !math.IsInf(least, 1)
}

func (r *Results) ratioCell(x *measure.Scenario) string {
	if ratio, ok := r.ratio(x); ok {
		return strconv.FormatFloat(ratio, 'f', 2, 64) + "×"
	}
	return "–"
}

// faster names the contestants that take at most 0.95 of nib's time. If they
// hold lines back, so does nib.
func (r *Results) faster(t *strings.Builder, s *measure.Set) {
	t.WriteString("### Where another one is faster\n\n" +
		"nib's time as a multiple of theirs, from 1.05 up; those that hold lines back are compared with " +
		"*nib-buffered*, where it takes part.\n\n")
	none := true
	for _, table := range s.Tables {
		for _, x := range table.Scenarios {
			var who []string
			for _, c := range x.Contestants {
				ns, _ := r.Get(x.Name, c.Name, UnitTime)
				nib, _ := r.Get(x.Name, own, UnitTime)
				buffered, ok := r.Get(x.Name, own+"-buffered", UnitTime)
				if ok && (strings.Contains(c.Name, "buffer") || strings.Contains(c.Name, "async")) {
					nib = buffered
				}
				if !measure.Own(c.Name) && !c.Aside && ns > 0 && ns <= 0.95*nib {
					who = append(who, fmt.Sprintf("%s %.2f×", c.Name, nib/ns))
				}
			}
			if len(who) > 0 {
				none = false
				fmt.Fprintf(t, "- %s: %s\n", x.Title, strings.Join(who, "; "))
			}
		}
	}
	if none {
		t.WriteString("None in any row.\n")
	}
}

// calls writes the tables that only the log calls have.
func (r *Results) calls(t *strings.Builder, s *measure.Set) {
	t.WriteString("### Single calls, ns\n\nEach call by itself, with the two readings of the " +
		"clock around it (" + r.Head("clock") + ").\n\n")
	row(t, []string{"", "", "p50", "p99", "p99.9", "max"})
	t.WriteString("|---|---|---:|---:|---:|---:|\n")
	for _, x := range s.Tables[0].Scenarios {
		if x.Latency {
			r.list(t, x.Name+LatencySuffix, []string{x.Title}, UnitP50, UnitP99, UnitP999, UnitMax)
		}
	}
	t.WriteString("\n### An HTTP service, five lines a request, standard output a pipe\n\n")
	row(t, []string{"", "requests/s", "CPU per request, µs"})
	t.WriteString("|---|---:|---:|\n")
	r.list(t, ServiceName, nil, UnitRequests, UnitCPU)
	t.WriteString("\n### Known differences between the lines\n\n")
	for _, e := range bench.Exceptions {
		fmt.Fprintf(t, "- %s, %s: %s.\n", e.Peer, e.Scenario, e.Reason)
	}
	t.WriteString("\n")
}

// list writes a row for each contestant of a scenario.
func (r *Results) list(t *strings.Builder, scenario string, before []string, units ...string) {
	for _, l := range r.Lines {
		if l.Scenario != scenario {
			continue
		}
		cells := append(slices.Clone(before), bold(l.Contestant))
		for _, unit := range units {
			v, _ := r.Get(scenario, l.Contestant, unit)
			cell := thousands(v)
			if unit == UnitCPU {
				cell = strconv.FormatFloat(v, 'f', 1, 64)
			}
			cells = append(cells, cell)
		}
		row(t, cells)
	}
}

func row(t *strings.Builder, cells []string) {
	t.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// bold sets the name of a contestant of nib's in bold.
func bold(name string) string {
	if measure.Own(name) {
		return "**" + name + "**"
	}
	return name
}

// nanoseconds keeps one decimal if it is significant.
func nanoseconds(ns float64) string {
	if ns < 10 {
		return strconv.FormatFloat(ns, 'f', 1, 64)
	}
	return thousands(ns)
}

// thousands writes a whole number with a comma between groups of three digits.
func thousands(v float64) string {
	text := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
