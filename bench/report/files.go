// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/nib-log/nib/bench/files"
)

// Files is the set of results of the file sinks.
const Files = "files"

// FileProcesses is the scenario of two processes that rotate one file.
const FileProcesses = "FileProcesses"

// Units of these results only.
const (
	UnitLine      = "line-B"   // bytes of a line in the file
	UnitLinesLost = "lost"     // lines in no file
	UnitDamaged   = "damaged"  // lines that are broken or occur twice
	UnitRefused   = "refused"  // calls that returned an error
	UnitFiles     = "rotated"  // files
	UnitRotations = "rotate/s" // rate of both processes together, in their fastest round
)

const loggerNote = "The fields are the same for all. Lines are of different lengths because times are: " +
	"those of zerolog, zap and logrus are whole seconds."

const writerNote = "All are given the same bytes, so that nothing but writing is timed. " +
	"*os.File* is what the system itself takes: it is never rotated. " +
	"phuslu's async writer is not among them, since it keeps the bytes that it is given. " +
	"Nor is zap's buffer where a file has 1,000 lines: it ends several within one millisecond, which is one name to lumberjack."

// FileTables returns the set of tables in docs/files.md.
func (b *Run) FileTables() string {
	var t strings.Builder
	b.machine(&t, withSlog)
	t.WriteString("Nanoseconds of one line, the minimum of many rounds in one process, contestants taking turns; what is held back is written within the round. " +
		"In brackets the heap allocations of a line, where there are any. Files are rotated at the same size by all who can.\n\n")
	b.fileTable(&t, "A logger with ten fields", loggerNote, []string{"FileFields", "FileFields8"}, true)
	b.fileTable(&t, "The writers alone", writerNote, []string{"FileWrite", "FileWrite8", "FileRotate"}, false)
	b.fileProcesses(&t)
	b.fasterFiles(&t)
	return strings.TrimRight(t.String(), "\n") + "\n"
}

// fileTable writes a table with a row for each contestant, and two columns for
// each scenario.
func (b *Run) fileTable(t *strings.Builder, title, note string, scenarios []string, sizes bool) {
	names := b.taken(scenarios)
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(t, "### %s\n\n", title)
	if note != "" {
		t.WriteString(note + "\n\n")
	}
	head := []string{""}
	for _, name := range names {
		s := fileScenario(name)
		head = append(head, s.Title+", ns", "÷ "+fileLabel(s.Versus))
	}
	if sizes {
		head = append(head, "bytes of the line")
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
		if sizes {
			size, _ := r.Get(names[0], contestant, UnitLine)
			cells = append(cells, thousands(size, 0))
		}
		row(t, cells)
	})
	t.WriteString("\n")
}

func fileScenario(name string) *files.Scenario {
	for _, s := range files.Scenarios() {
		if s.Name == name {
			return &s
		}
	}
	return &files.Scenario{Title: name}
}

// fileLabel returns the name of a contestant in tables.
func fileLabel(contestant string) string {
	return strings.ReplaceAll(strings.ReplaceAll(contestant, "-", ", "), "+", " + ")
}

// fileProcesses writes the results for two processes.
func (b *Run) fileProcesses(t *strings.Builder) {
	if len(b.Results.Contestants(FileProcesses)) == 0 {
		return
	}
	t.WriteString("### Two processes, one path, a rotation after each line\n\n")
	t.WriteString("What was lost, in pieces or there twice, after calls that had returned no error, in all goes together; and the rotations of both in a second, in the quickest.\n\n")
	row(t, []string{"", "lines", "lost", "damaged", "calls that failed", "files made", "a second"})
	rule(t, 7)
	b.each(FileProcesses, func(r *Results, contestant, name string) {
		cells := []string{name, "–"}
		for _, l := range r.Lines {
			if l.Scenario == FileProcesses && l.Contestant == contestant {
				cells[1] = thousands(float64(l.N), 0)
			}
		}
		for _, unit := range []string{UnitLinesLost, UnitDamaged, UnitRefused, UnitFiles, UnitRotations} {
			v, _ := r.Get(FileProcesses, contestant, unit)
			cells = append(cells, thousands(v, 0))
		}
		row(t, cells)
	})
	t.WriteString("\n")
}

// fasterFiles names all contestants that take at most 0.95 of nib's time in the
// default build, with those that hold lines back compared among themselves.
func (b *Run) fasterFiles(t *strings.Builder) {
	var lines []string
	for _, s := range files.Scenarios() {
		kind := "loggers"
		if s.Line != nil {
			kind = "writers"
		}
		for _, c := range b.Results.Contestants(s.Name) {
			own := files.Nib
			if files.HoldsBack(c) {
				own = files.NibBuffered
			}
			nib, ok := b.Results.Get(s.Name, own, UnitTime)
			ns, _ := b.Results.Get(s.Name, c, UnitTime)
			if ok && c != own && ns <= 0.95*nib {
				lines = append(lines, fmt.Sprintf("- %s, %s: %s %.2f×\n", kind, s.Title, fileLabel(c), nib/ns))
			}
		}
	}
	if len(lines) > 0 {
		t.WriteString("### Where another one is faster\n\n")
		t.WriteString("nib's time in the default build as a multiple of theirs, from 1.05 up; those that hold lines back are compared with nib, buffered.\n\n" +
			strings.Join(lines, ""))
	}
}
