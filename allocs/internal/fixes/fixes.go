// SPDX-License-Identifier: Apache-2.0

// Package fixes rewrites the source where package analysis knows a better
// form, at lines that were found to allocate. It is the caller's part to
// look again and to put back what did not help.
package fixes

import (
	"context"
	"fmt"
	"go/token"
	"os"
	"slices"
	"sort"
	"strings"

	goanalysis "golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/nib-log/nib/allocs/analysis/boxedlevel"
	"github.com/nib-log/nib/allocs/analysis/loadlocation"
	"github.com/nib-log/nib/allocs/analysis/poolvalue"
	"github.com/nib-log/nib/allocs/analysis/rewrite"
	"github.com/nib-log/nib/allocs/analysis/slogboxed"
)

// Place is a source line.
type Place struct {
	File string
	Line int
}

// Fix is one place with a better form.
type Fix struct {
	Place          // that it is reported at
	Lines   []int  // that it is about: those of the report, and those that change
	Message string // what is done
	changes []change
}

// Edit is a new content of a file.
type Edit struct {
	File     string
	Old, New []byte
}

// change is one replacement in a file, by offset.
type change struct {
	from, to int
	text     string
}

// analyzers are those that suggest edits.
func analyzers() []*goanalysis.Analyzer {
	return append([]*goanalysis.Analyzer{boxedlevel.Analyzer, loadlocation.Analyzer, poolvalue.Analyzer, slogboxed.Every}, rewrite.Analyzers...)
}

// Find returns the fixes that touch a line which wanted tells. Nothing is
// written.
func Find(ctx context.Context, dir string, patterns []string, wanted func(Place) bool) ([]Fix, error) {
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx, Dir: dir,
		Mode: packages.LoadSyntax | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	graph, err := checker.Analyze(analyzers(), pkgs, nil)
	if err != nil {
		return nil, err
	}
	var out []Fix
	for act := range graph.All() {
		if !act.IsRoot {
			continue
		}
		if act.Err != nil {
			return nil, fmt.Errorf("%s: %w", act.Package.PkgPath, act.Err)
		}
		for _, d := range act.Diagnostics {
			f, ok := fix(act, d)
			if ok && slices.ContainsFunc(f.Lines, func(line int) bool { return wanted(Place{f.File, line}) }) {
				out = append(out, f)
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool {
		if out[i].File != out[j].File {
			return out[i].File < out[j].File
		}
		return out[i].Line < out[j].Line
	})
	return out, nil
}

// fix takes the first fix of a diagnostic, if it stays in one file.
func fix(act *checker.Action, d goanalysis.Diagnostic) (Fix, bool) {
	fset := act.Package.Fset
	at := fset.Position(d.Pos)
	f := Fix{Place: Place{at.Filename, at.Line}}
	about := func(from, to token.Pos) {
		for line := fset.Position(from).Line; line <= fset.Position(max(from, to)).Line; line++ {
			f.Lines = append(f.Lines, line)
		}
	}
	about(d.Pos, d.End)
	if len(d.SuggestedFixes) == 0 {
		return f, false
	}
	f.Message = d.SuggestedFixes[0].Message
	for _, e := range d.SuggestedFixes[0].TextEdits {
		from, to := fset.Position(e.Pos), fset.Position(e.End)
		if from.Filename != f.File {
			return f, false
		}
		about(e.Pos, e.End)
		f.changes = append(f.changes, change{from.Offset, to.Offset, string(e.NewText)})
	}
	return f, true
}

// Apply returns the new contents of the files. Where two fixes want the same
// piece of source the first one gets it, and the other is left out.
func Apply(fixes []Fix) ([]Edit, error) {
	var out []Edit
	byFile := map[string][]change{}
	var files []string
	for _, f := range fixes {
		if len(byFile[f.File]) == 0 {
			files = append(files, f.File)
		}
		byFile[f.File] = merge(byFile[f.File], f.changes)
	}
	for _, file := range files {
		old, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text, err := rewritten(file, old, byFile[file])
		if err != nil {
			return nil, err
		}
		out = append(out, Edit{File: file, Old: old, New: text})
	}
	return out, nil
}

// merge adds the changes of a fix, all or none of them. An insertion that is
// there already, as of an import, is not made twice.
func merge(have, more []change) []change {
	out := have
	for _, m := range more {
		double := false
		for _, h := range have {
			if m == h && m.from == m.to {
				double = true
			} else if m.from < h.to && h.from < m.to || m.from == h.from && m.to > m.from && h.to > h.from {
				return have
			}
		}
		if !double {
			out = append(out[:len(out):len(out)], m)
		}
	}
	return out
}

func rewritten(file string, old []byte, list []change) ([]byte, error) {
	sort.SliceStable(list, func(i, j int) bool {
		if list[i].from != list[j].from {
			return list[i].from < list[j].from
		}
		return list[i].to < list[j].to // what is inserted comes first
	})
	var b strings.Builder
	at := 0
	for _, c := range list {
		if c.from < at || c.to > len(old) {
			return nil, fmt.Errorf("%s: fixes overlap", file)
		}
		b.Write(old[at:c.from])
		b.WriteString(c.text)
		at = c.to
	}
	b.Write(old[at:])
	return tidy(file, old, []byte(b.String()))
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
