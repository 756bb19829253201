// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nib-log/nib/bench/pools"
)

// A poolTable shows some scenarios of the pools, one in a row.
type poolTable struct {
	title, note string
	scenarios   []string
}

var poolTables = []poolTable{
	{"Get and Put on one goroutine, ns", "", []string{"Bytes", "Struct", "Pointer"}},
	{"Get and Put on as many goroutines as processors, ns", parallelNote, []string{"BytesParallel", "StructParallel", "PointerParallel"}},
	{"Get, work, Put by goroutines that take turns, ns",
		"The work goes through the value and takes about 150 ns if that is in the processor's cache. " +
			"After each Put the goroutine gives way to the next one. " + parallelNote,
		[]string{"BytesTurns64", "StructTurns64", "PointerTurns64", "BytesTurns1000", "StructTurns1000", "PointerTurns1000"}},
	{"One goroutine gets, another one puts, ns", "The channel between them is part of the time.", []string{"Handover"}},
	{"Many values, ns each", "", []string{"FirstFill", "DrainRefill", "GetPut10000", "Preallocated"}},
	{"A limit of 1,000 idle values, one goroutine, ns", "", []string{"LimitBelow", "LimitAt", "LimitAbove"}},
	{"A limit of 1,000 idle values, as many goroutines as processors, ns", parallelNote,
		[]string{"LimitBelowParallel", "LimitAtParallel", "LimitAboveParallel"}},
	{"Buffers of 4 KiB, ns", "", []string{"Buffers", "BuffersParallel"}},
	{"List, ns", "", []string{"ListPushRemove", "ListQueue"}},
}

const parallelNote = "The time of a round divided by the operations of all goroutines together."

// PoolTables returns the set of tables in docs/pools.md.
func (b *Run) PoolTables() string {
	var t strings.Builder
	b.machine(&t, "")
	t.WriteString("In brackets the heap allocations of an operation, where there are any. *lost*: values that had been put and were not found again.\n\n")
	b.zeropool(&t)
	for _, p := range poolTables {
		b.poolTable(&t, &p)
	}
	b.firstFill(&t)
	b.faster(&t)
	return strings.TrimRight(t.String(), "\n") + "\n"
}

// poolTable writes a table with a row for each scenario, a column for each
// contestant and nib's ratios, each within the run of one build.
func (b *Run) poolTable(t *strings.Builder, p *poolTable) {
	rows := b.taken(p.scenarios)
	if len(rows) == 0 {
		return
	}
	scenarios := map[string]pools.Scenario{}
	for _, s := range pools.Scenarios() {
		scenarios[s.Name] = s
	}
	fmt.Fprintf(t, "### %s\n\n", p.title)
	if p.note != "" {
		t.WriteString(p.note + "\n\n")
	}
	var others []string
	for _, name := range rows {
		for _, c := range b.Results.Contestants(name) {
			if c != own && !slices.Contains(others, c) {
				others = append(others, c)
			}
		}
	}
	versus := label(scenarios[rows[0]].Versus)
	head := []string{"", bold(own)}
	for _, c := range others {
		head = append(head, label(c))
	}
	head = append(head, "nib ÷ "+versus)
	row(t, head)
	rule(t, len(head))
	for _, name := range rows {
		cells := []string{scenarios[name].Title, bold(b.poolCell(b.Results, name, own))}
		for _, c := range others {
			cells = append(cells, b.poolCell(b.Results, name, c))
		}
		row(t, append(cells, ratioCell(b.Results, name)))
	}
	t.WriteString("\n")
}

func (b *Run) poolCell(r *Results, scenario, contestant string) string {
	text := b.callCell(r, scenario, contestant)
	if lost, _ := r.Get(scenario, contestant, UnitLost); lost >= 0.0005 {
		text += fmt.Sprintf(", %s %% lost", strconv.FormatFloat(100*lost, 'f', 1, 64))
	}
	return text
}

func ratioCell(r *Results, scenario string) string {
	if ratio, ok := r.Get(scenario, own, UnitRatio); ok {
		return strconv.FormatFloat(ratio, 'f', 2, 64) + "×"
	}
	return "–"
}

// label returns the name of a contestant in tables.
func label(contestant string) string {
	return strings.ReplaceAll(strings.Replace(contestant, "-", ", ", 1), "-", " ")
}

// zeropool writes the table of zeropool's own documentation with nib added. Its
// columns are pools, its rows figures.
func (b *Run) zeropool(t *strings.Builder) {
	rows := b.taken([]string{"Bytes", "HandoverDirect"})
	if len(rows) == 0 {
		return
	}
	t.WriteString("### zeropool's own comparison\n\n")
	t.WriteString("Get and Put of a buffer of 1,024 bytes, on the same goroutine and on two with an unbuffered channel between them, as in zeropool's benchmark.\n\n")
	columns := []string{pools.Zeropool, pools.SyncValue, pools.SyncNew, pools.SyncPointer}
	head := []string{"", bold(own)}
	for _, c := range columns {
		head = append(head, label(c))
	}
	row(t, head)
	rule(t, len(head))
	titles := map[string]string{"Bytes": "same goroutine", "HandoverDirect": "different goroutines"}
	for _, name := range rows {
		for _, unit := range []string{UnitTime, UnitBytes, UnitMallocs} {
			cell := func(r *Results, contestant string) string {
				v, ok := r.Get(name, contestant, unit)
				switch {
				case !ok:
					return "–"
				case unit == UnitTime:
					return strconv.FormatFloat(v, 'f', 1, 64)
				default:
					return strconv.FormatFloat(v, 'f', 0, 64)
				}
			}
			unitTitle := strings.Replace(unit, "mallocs", "allocs", 1)
			cells := []string{titles[name] + ", " + unitTitle, bold(cell(b.Results, own))}
			for _, c := range columns {
				cells = append(cells, cell(b.Results, c))
			}
			row(t, cells)
		}
	}
	t.WriteString("\n")
}

// firstFill writes the total allocations of a contest in which one operation
// makes hardly any.
func (b *Run) firstFill(t *strings.Builder) {
	const scenario = "FirstFill"
	contestants := b.Results.Contestants(scenario)
	if len(contestants) == 0 {
		return
	}
	t.WriteString("### A million values put into a new pool, in all\n\n")
	row(t, []string{"", "heap allocations", "of bytes", "values not found again"})
	rule(t, 4)
	b.each(scenario, func(r *Results, contestant, name string) {
		cells := []string{label(name)}
		for _, unit := range []string{UnitMallocs, UnitBytes, UnitLost} {
			v, _ := r.Get(scenario, contestant, unit)
			cells = append(cells, thousands(v*firstFillValues, 0))
		}
		row(t, cells)
	})
	t.WriteString("\n")
}

const firstFillValues = 1_000_000

// faster names all contestants that take at most 0.95 of nib's time in the
// default build.
func (b *Run) faster(t *strings.Builder) {
	var lines []string
	for _, s := range pools.Scenarios() {
		nib, ok := b.Results.Get(s.Name, own, UnitTime)
		if !ok {
			continue
		}
		var who []string
		for _, c := range b.Results.Contestants(s.Name) {
			ns, _ := b.Results.Get(s.Name, c, UnitTime)
			if !strings.HasPrefix(c, own) && ns <= 0.95*nib {
				who = append(who, fmt.Sprintf("%s %.2f×", label(c), nib/ns))
			}
		}
		if len(who) > 0 {
			lines = append(lines, fmt.Sprintf("- %s: %s\n", s.Heading(), strings.Join(who, "; ")))
		}
	}
	if len(lines) > 0 {
		t.WriteString("### Where another one is faster\n\n")
		t.WriteString("nib's time in the default build as a multiple of theirs, from 1.05 up.\n\n" + strings.Join(lines, ""))
	}
}
