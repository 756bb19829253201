// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nib-log/nib/bench/spools"
)

// Spool is the set of results of the spool.
const Spool = "spool"

const recordNote = "A line of 200 bytes. *nib* is a spool in a directory, *nib, memory* one without, which ends with the process; " +
	"lines are delivered from both while the calls are measured. *os.File* is a write(2) per line, which survives the process too."

const intoNote = "nib's into the spool, those of the others into a writer that does nothing."

// SpoolTables returns the set of tables in docs/spool.md.
func (b *Run) SpoolTables() string {
	var t strings.Builder
	b.machine(&t, withSlog)
	t.WriteString("Nanoseconds of one line, the minimum of many rounds in one process, contestants taking turns. In brackets the heap allocations of a line, where there are any.\n\n")
	b.spoolTable(&t, "A record", recordNote, []string{"SpoolRecord", "SpoolRecord8", "SpoolRecord64", "SpoolRecordSustained"})
	b.spoolTable(&t, "A whole log call", intoNote, []string{"SpoolFields", "SpoolFieldsSustained"})
	b.spoolRate(&t)
	return strings.TrimRight(t.String(), "\n") + "\n"
}

func (b *Run) spoolTable(t *strings.Builder, title, note string, scenarios []string) {
	names := b.taken(scenarios)
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(t, "### %s\n\n%s\n\n", title, note)
	head := []string{""}
	for _, name := range names {
		s := spoolScenario(name)
		versus := "the fastest"
		if s.Versus != "" {
			versus = fileLabel(s.Versus)
		}
		head = append(head, s.Title+", ns", "÷ "+versus)
	}
	row(t, head)
	rule(t, len(head))
	b.each(names[0], func(r *Results, contestant, name string) {
		cells := []string{fileLabel(name)}
		for _, scenario := range names {
			ratio := "–"
			if v, ok := r.Get(scenario, contestant, UnitRatio); ok {
				ratio = strconv.FormatFloat(v, 'f', 2, 64) + "×"
			}
			cells = append(cells, b.callCell(r, scenario, contestant), ratio)
		}
		row(t, cells)
	})
	t.WriteString("\n")
}

func spoolScenario(name string) *spools.Scenario {
	for _, s := range spools.Scenarios() {
		if s.Name == name {
			return &s
		}
	}
	return &spools.Scenario{Title: name}
}

// spoolRate writes the distribution of the times of calls at a fixed rate.
func (b *Run) spoolRate(t *strings.Builder) {
	name := spools.Latency.Name
	if len(b.Results.Contestants(name)) == 0 {
		return
	}
	fmt.Fprintf(t, "### %s calls a second\n\nNanoseconds from the moment at which a call was due until it returned: "+
		"a call that begins late because the one before took long counts as slow, too. *nothing* are calls that do nothing: what the machine adds to all. "+
		"Of each percentile the median of 20 rounds, in which all take turns.\n\n", thousands(spools.Rate, 0))
	row(t, []string{"", "calls", "p50", "p99", "p99.9", "p99.99", "max"})
	rule(t, 7)
	b.each(name, func(r *Results, contestant, label string) {
		if _, ok := r.Get(name, contestant, UnitP50); !ok {
			return // not measured in this build
		}
		cells := []string{fileLabel(label), "–"}
		for _, l := range r.Lines {
			if l.Scenario == name && l.Contestant == contestant {
				cells[1] = thousands(float64(l.N), 0)
			}
		}
		for _, unit := range []string{UnitP50, UnitP99, UnitP999, UnitP9999, UnitMax} {
			v, _ := r.Get(name, contestant, unit)
			cells = append(cells, thousands(v, 0))
		}
		row(t, cells)
	})
	t.WriteString("\n")
}
