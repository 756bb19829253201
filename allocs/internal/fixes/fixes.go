// SPDX-License-Identifier: Apache-2.0

// Package fixes rewrites the source where a check of package analysis knows a
// better form, at lines that were found to allocate. It is the caller's part to
// look again and to put back what did not help.
package fixes

import (
	"context"
	"fmt"
	"go/format"
	"os"
	"sort"
	"strings"

	goanalysis "golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/nib-log/nib/allocs/analysis"
)

// Place is a source line.
type Place struct {
	File string
	Line int
}

// Edit is a new content of a file.
type Edit struct {
	File     string
	Old, New []byte
	Lines    []int // that are rewritten
}

// change is one replacement in a file, by offset.
type change struct {
	from, to int
	text     string
}

// Find returns the edits for the lines that wanted tells. Nothing is written.
func Find(ctx context.Context, dir string, patterns []string, wanted func(Place) bool) ([]Edit, error) {
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx, Dir: dir,
		Mode: packages.LoadSyntax | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	graph, err := checker.Analyze(analysis.Analyzers, pkgs, nil)
	if err != nil {
		return nil, err
	}
	changes := map[string][]change{}
	lines := map[string][]int{}
	for act := range graph.All() {
		if !act.IsRoot {
			continue
		}
		if act.Err != nil {
			return nil, fmt.Errorf("%s: %w", act.Package.PkgPath, act.Err)
		}
		fset := act.Package.Fset
		for _, d := range act.Diagnostics {
			at := fset.Position(d.Pos)
			if len(d.SuggestedFixes) == 0 || !wanted(Place{at.Filename, at.Line}) {
				continue
			}
			lines[at.Filename] = append(lines[at.Filename], at.Line)
			collect(changes, act, d.SuggestedFixes[0])
		}
	}
	return edits(changes, lines)
}

func collect(changes map[string][]change, act *checker.Action, fix goanalysis.SuggestedFix) {
	for _, e := range fix.TextEdits {
		from, to := act.Package.Fset.Position(e.Pos), act.Package.Fset.Position(e.End)
		changes[from.Filename] = append(changes[from.Filename], change{from.Offset, to.Offset, string(e.NewText)})
	}
}

// edits applies the changes of each file, without the doubles: two fixes of a
// file can want the same import.
func edits(changes map[string][]change, lines map[string][]int) ([]Edit, error) {
	var out []Edit
	for file, list := range changes {
		old, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		sort.SliceStable(list, func(i, j int) bool { return list[i].from < list[j].from })
		var b strings.Builder
		at := 0
		for i, c := range list {
			if i > 0 && c == list[i-1] {
				continue
			}
			if c.from < at || c.to > len(old) {
				return nil, fmt.Errorf("%s: fixes overlap", file)
			}
			b.Write(old[at:c.from])
			b.WriteString(c.text)
			at = c.to
		}
		b.Write(old[at:])
		text, err := format.Source([]byte(b.String()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, Edit{File: file, Old: old, New: text, Lines: lines[file]})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].File < out[j].File })
	return out, nil
}

// Write puts the new contents in place.
func Write(edits []Edit) error { return write(edits, func(e Edit) []byte { return e.New }) }

// Undo puts the old contents back.
func Undo(edits []Edit) error { return write(edits, func(e Edit) []byte { return e.Old }) }

func write(edits []Edit, content func(Edit) []byte) error {
	for _, e := range edits {
		info, err := os.Stat(e.File)
		if err != nil {
			return err
		}
		if err := os.WriteFile(e.File, content(e), info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}
