// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nib-log/nib/bench"
)

// A Run makes tables of stored results.
type Run struct{ *Results }

const (
	own  = "nib"  // the contestant that the tables put first and set in bold
	seed = "seed" // the minimal logger
)

// headline lists the scenarios of the short table, in the README.
var headline = []string{"Disabled", "Message", "TenFields", "Bound", "Caller", "Error", "StructValue",
	"Unicode", "Attrs", "SlogFront", "Pipe8"}

// Short returns the table of the README: the times of the first family, and the
// worst ratio of all.
func (f Families) Short() string {
	var t strings.Builder
	b := &f[0].Run
	t.WriteString("One call in nanoseconds, the minimum of many rounds in which all take turns;\n" +
		"in brackets the heap allocations of a call.\n")
	b.machine(&t, withSlog)
	b.calls(&t, headline, f.worstCell)
	t.WriteString("\n*nib ÷ best*: nib's time, divided by that of the fastest other\nlibrary")
	if len(f) > 1 {
		t.WriteString(", on the processor on which this ratio is worse")
	}
	t.WriteString(". A dash: the library cannot do that. Processors:\n\n")
	for i := range f {
		t.WriteString(f[i].provenance())
	}
	return t.String()
}

// Full returns the set of tables in docs/benchmarks.md.
func (b *Run) Full() string {
	var t strings.Builder
	b.machine(&t, withSlog)
	t.WriteString("### Time of one call, ns\n\n")
	b.calls(&t, scenarioNames(), func(name string) string { return ratioCell(b.Results, name) })
	if ns, ok := b.Results.Get("Bare", seed, UnitTime); ok {
		fmt.Fprintf(&t, "\n%s: a message copied into a pooled buffer and written, without escaping, takes %s ns; "+
			"the last column of that row refers to it.\n", title("Bare"), nanoseconds(ns))
	}
	b.losses(&t)
	t.WriteString("\n### Heap allocations of one call, and their bytes\n\n")
	b.allocs(&t)
	t.WriteString("\n### Single calls, ns\n\n")
	b.latency(&t)
	t.WriteString("\n### An HTTP service, five lines a request, standard output a pipe\n\n")
	b.pairs(&t, ServiceName, []column{{"requests/s", UnitRequests, 0}, {"CPU per request, µs", UnitCPU, 1}})
	t.WriteString("\n### A program that logs one line\n\n")
	b.pairs(&t, HelloName, []column{{"stripped binary, bytes", UnitSize, 0}, {"package initialisation, µs", UnitInit, 0}})
	t.WriteString("\n### Known differences between the lines\n\n")
	for _, e := range bench.Exceptions {
		fmt.Fprintf(&t, "- %s, %s: %s.\n", e.Peer, title(e.Scenario), e.Reason)
	}
	return t.String()
}

// withSlog follows the versions of the other libraries if log/slog is among
// them.
const withSlog = ", slog of the same Go"

// machine writes the conditions of the measurement.
func (b *Run) machine(t *strings.Builder, also string) {
	fmt.Fprintf(t, "%s, %s/%s, %s, %s CPUs, %s. %s%s. Rounds: %s.\n\n", strings.Replace(b.head("go"), "go", "Go ", 1),
		b.head("goos"), b.head("goarch"), b.head("cpu"), b.head("cpus"), b.head("date"), b.head("peer"), also, b.head("rounds"))
}

// head returns the values of a key in the header.
func (b *Run) head(key string) string { return strings.Join(b.Results.Head(key), ", ") }

// taken returns the named scenarios that were measured.
func (b *Run) taken(names []string) []string {
	var taken []string
	for _, name := range names {
		if len(b.Results.Contestants(name)) > 0 {
			taken = append(taken, name)
		}
	}
	return taken
}

// calls writes the table of times of the named scenarios, with ratios in its
// last column.
func (b *Run) calls(t *strings.Builder, names []string, ratio func(scenario string) string) {
	peers := callPeers()
	head := []string{"", "**nib**"}
	head = append(append(head, peers...), "nib ÷ best")
	row(t, head)
	rule(t, len(head))
	for _, name := range b.taken(names) {
		cells := []string{title(name), bold(b.callCell(b.Results, name, own))}
		for _, p := range peers {
			cells = append(cells, b.callCell(b.Results, name, p))
		}
		row(t, append(cells, ratio(name)))
	}
}

// losses names the rows in which another library is faster.
func (b *Run) losses(t *strings.Builder) {
	var lost []string
	for _, name := range scenarioNames() {
		ratio, ok := b.Results.Get(name, own, UnitRatio)
		if !ok || ratio <= 1 {
			continue
		}
		winner := ""
		for _, p := range b.Results.Contestants(name) {
			if r, _ := b.Results.Get(name, p, UnitRatio); r == 1 && p != own {
				winner = p
				break
			}
		}
		lost = append(lost, fmt.Sprintf("%s (%s, nib takes %.2f times as long)", title(name), winner, ratio))
	}
	if len(lost) > 0 {
		t.WriteString("\nWhere another library is faster: " + strings.Join(lost, "; ") + ".\n")
	} else if len(b.Results.Lines) > 0 {
		t.WriteString("\nNo other library is faster in any row.\n")
	}
}

// callPeers returns the other libraries, each of which has a column. The seed
// has only one scenario and is in a note to it.
func callPeers() []string {
	var names []string
	for _, p := range bench.Peers() {
		if p.Name != own && p.Name != seed {
			names = append(names, p.Name)
		}
	}
	return names
}

func (b *Run) callCell(r *Results, scenario, contestant string) string {
	ns, ok := r.Get(scenario, contestant, UnitTime)
	if !ok {
		return "–"
	}
	text := nanoseconds(ns)
	if m, _ := r.Get(scenario, contestant, UnitMallocs); m >= 0.005 {
		text += " (" + strconv.FormatFloat(math.Round(m*100)/100, 'f', -1, 64) + ")"
	}
	if notCounted(scenario, contestant) {
		text += "\\*"
	}
	return text
}

func notCounted(scenario, contestant string) bool {
	for i := range bench.Scenarios {
		for _, p := range bench.Peers() {
			if s := &bench.Scenarios[i]; s.Name == scenario && p.Name == contestant {
				return bench.Excepted(s, p)
			}
		}
	}
	return false
}

func (b *Run) allocs(t *strings.Builder) {
	peers := callPeers()
	head := append([]string{"", "**nib**"}, peers...)
	row(t, head)
	rule(t, len(head))
	cell := func(r *Results, scenario, contestant string) string {
		m, ok := r.Get(scenario, contestant, UnitMallocs)
		if !ok {
			return "–"
		}
		n, _ := r.Get(scenario, contestant, UnitBytes)
		if m < 0.005 && n < 0.5 {
			return "0"
		}
		return fmt.Sprintf("%.2f, %.0f B", m, n)
	}
	for _, name := range b.taken(scenarioNames()) {
		cells := []string{title(name), bold(cell(b.Results, name, own))}
		for _, p := range peers {
			cells = append(cells, cell(b.Results, name, p))
		}
		row(t, cells)
	}
}

func (b *Run) latency(t *strings.Builder) {
	fmt.Fprintf(t, "Each call by itself, with the two readings of the clock around it (%s).\n\n",
		strings.Join(b.Results.Head("clock"), ""))
	row(t, []string{"", "", "p50", "p99", "p99.9", "max"})
	rule(t, 6)
	for _, s := range bench.Scenarios {
		if !s.Latency {
			continue
		}
		name := s.Name + LatencySuffix
		b.each(name, func(r *Results, contestant, label string) {
			cells := []string{s.Title, label}
			for _, unit := range []string{UnitP50, UnitP99, UnitP999, UnitMax} {
				v, _ := r.Get(name, contestant, unit)
				cells = append(cells, thousands(v, 0))
			}
			row(t, cells)
		})
	}
}

// A column of a table with one row per contestant.
type column struct {
	title    string
	unit     string
	decimals int
}

func (b *Run) pairs(t *strings.Builder, name string, columns []column) {
	head := []string{""}
	for _, c := range columns {
		head = append(head, c.title)
	}
	row(t, head)
	rule(t, len(head))
	b.each(name, func(r *Results, contestant, label string) {
		cells := []string{label}
		for _, c := range columns {
			v, _ := r.Get(name, contestant, c.unit)
			cells = append(cells, thousands(v, c.decimals))
		}
		row(t, cells)
	})
}

// each calls f for every contestant of a scenario.
func (b *Run) each(scenario string, f func(r *Results, contestant, label string)) {
	for _, c := range b.Results.Contestants(scenario) {
		if !strings.HasPrefix(c, own) {
			f(b.Results, c, c)
			continue
		}
		f(b.Results, c, bold(c))
	}
}

func scenarioNames() []string {
	names := make([]string, len(bench.Scenarios))
	for i, s := range bench.Scenarios {
		names[i] = s.Name
	}
	return names
}

func title(scenario string) string {
	for _, s := range bench.Scenarios {
		if s.Name == scenario {
			return s.Title
		}
	}
	return scenario
}

func row(t *strings.Builder, cells []string) {
	t.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// rule is the line under a table's head: the first column to the left, the
// figures to the right.
func rule(t *strings.Builder, columns int) {
	t.WriteString("|---|" + strings.Repeat("---:|", columns-1) + "\n")
}

func bold(text string) string {
	if text == "–" {
		return text
	}
	return "**" + text + "**"
}

// nanoseconds keeps one decimal if it is significant.
func nanoseconds(ns float64) string {
	if ns < 10 {
		return strconv.FormatFloat(ns, 'f', 1, 64)
	}
	return thousands(ns, 0)
}

// thousands writes a number with a comma between groups of three digits.
func thousands(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if fraction != "" {
		whole += "." + fraction
	}
	return whole
}
