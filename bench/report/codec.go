// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/nib-log/nib/bench/codec"
)

// codecTables are the contests in the order of the document.
var codecTables = []struct{ scenario, title, note string }{
	{"JSONStruct", "A struct of 12 fields",
		"Four strings, int, int64, uint8, float64, bool, time, a slice of three strings, a pointer to a struct, an empty map."},
	{"JSONMap", "A map[string]any of six entries, sorted", ""},
	{"TypedLine", "A whole line of ten fields", "Struct literal or arguments, time, level, message, `io.Discard`."},
	{"Format", "logrus: Format alone, one field",
		"*By hand* is a formatter as services have them: it copies service, message, task and date into a struct or a map and gives that to json-iterator. " +
			"nib's fixed format writes the same."},
	{"FormatEight", "logrus: Format alone, eight fields", ""},
	{"Call", "logrus: the whole call, one field", noteCall},
	{"CallEight", "logrus: the whole call, eight fields", noteCall},
}

const noteCall = "`WithFields(logrus.Fields{…}).Info(…)` to `io.Discard`. The row that formats nothing is the share of logrus itself."

// CodecTables returns the set of tables in docs/schema.md.
func (b *Run) CodecTables() string {
	var t strings.Builder
	b.machine(&t, "")
	t.WriteString("Nanoseconds of one operation, the minimum of many rounds in one process, contestants taking turns.\n\n")
	b.limits(&t)
	for _, c := range codecTables {
		b.codecTable(&t, c.scenario, c.title, c.note)
	}
	return strings.TrimRight(t.String(), "\n") + "\n"
}

// codecTable writes a table with a row for each contestant.
func (b *Run) codecTable(t *strings.Builder, scenario, title, note string) {
	if len(b.Results.Contestants(scenario)) == 0 {
		return
	}
	fmt.Fprintf(t, "### %s\n\n", title)
	if note != "" {
		t.WriteString(note + "\n\n")
	}
	row(t, []string{"", "ns", "÷ " + codec.Title(b.Results.reference(scenario)), "allocations", "bytes"})
	rule(t, 5)
	b.each(scenario, func(r *Results, contestant, _ string) {
		name := codec.Title(contestant)
		if codec.Own(contestant) {
			name = bold(name)
		}
		ns, _ := r.Get(scenario, contestant, UnitTime)
		ratio, _ := r.Get(scenario, contestant, UnitRatio)
		mallocs, _ := r.Get(scenario, contestant, UnitMallocs)
		bytes, _ := r.Get(scenario, contestant, UnitBytes)
		row(t, []string{name, nanoseconds(ns), strconv.FormatFloat(ratio, 'f', 2, 64) + "×",
			tenths(mallocs), thousands(bytes, 0)})
	})
	t.WriteString("\n")
}

// reference returns the contestant that the stored ratios of a scenario refer
// to.
func (r *Results) reference(scenario string) string {
	for _, c := range r.Contestants(scenario) {
		if ratio, ok := r.Get(scenario, c, UnitRatio); ok && ratio == 1 && c != codec.Nib {
			return c
		}
	}
	return ""
}

// limits writes whether nib meets the limits that it sets for itself.
func (b *Run) limits(t *strings.Builder) {
	cell := func(r *Results, l *codec.Limit) string {
		if ratio, _, ok := r.ratio(l); ok {
			return strconv.FormatFloat(ratio, 'f', 2, 64) + "×"
		}
		return "–"
	}
	started := false
	for i := range codec.Limits {
		l := &codec.Limits[i]
		_, versus, ok := b.Results.ratio(l)
		if !ok {
			continue
		}
		if !started {
			t.WriteString("### Limits\n\n")
			row(t, []string{"", "of", "at most", bold(own)})
			rule(t, 4)
			started = true
		}
		row(t, []string{scenarioTitle(l.Scenario) + ": " + codec.Title(l.Contestant), of(l, versus),
			strconv.FormatFloat(l.Most, 'f', -1, 64) + "×", bold(cell(b.Results, l))})
	}
	if started {
		t.WriteString("\n")
	}
}

// of returns the name of the contestant that a limit refers to.
func of(l *codec.Limit, versus string) string {
	if l.In != "" {
		return scenarioTitle(l.In) + ": " + codec.Title(versus)
	}
	return codec.Title(versus)
}

func scenarioTitle(name string) string {
	for _, s := range codec.Scenarios() {
		if s.Name == name {
			return s.Title
		}
	}
	return name
}

// ratio returns the ratio that a limit applies to, and the contestant that it
// refers to.
func (r *Results) ratio(l *codec.Limit) (ratio float64, versus string, ok bool) {
	ns, ok := r.Get(l.Scenario, l.Contestant, UnitTime)
	if !ok {
		return 0, "", false
	}
	in := l.In
	if in == "" {
		in = l.Scenario
	}
	least := math.Inf(1)
	for _, c := range r.Contestants(in) {
		if c != l.Versus && (l.Versus != "" || codec.Own(c)) {
			continue
		}
		if other, _ := r.Get(in, c, UnitTime); other < least {
			least, versus = other, c
		}
	}
	return ns / least, versus, versus != ""
}

// Missed returns the limits that do not hold.
func Missed(r *Results) []string {
	var missed []string
	for i := range codec.Limits {
		l := &codec.Limits[i]
		if ratio, versus, ok := r.ratio(l); ok && ratio > l.Most {
			missed = append(missed, fmt.Sprintf("%s: %s takes %.2f times as long as %s, want at most %.2f",
				scenarioTitle(l.Scenario), codec.Title(l.Contestant), ratio, of(l, versus), l.Most))
		}
	}
	return missed
}

// tenths writes a number of allocations with one decimal. If a contestant has
// many, one in a hundred calls may find a pool that was emptied.
func tenths(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
