// SPDX-License-Identifier: Apache-2.0

// Package fixes rewrites the source where package analysis has a better form,
// at lines that were found to allocate. The caller must measure again and undo
// fixes that did not help. A fix changes only the replaced code and the imports
// that it needs.
package fixes

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"os"
	"slices"
	"sort"

	goanalysis "golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/nib-log/nib/allocs/analysis/boxedlevel"
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
	Place            // the place at which it is reported
	Package string   // import path
	Lines   []int    // the lines of the report, and those that change
	Message string   // describes the change
	found   []byte   // content of the file that it was found in
	spans   [][2]int // the spans of Lines, by offset
	changes []change
}

// Edit is the new content of a file.
type Edit struct {
	File     string
	Old, New []byte
}

// Applied is the result of applying fixes.
type Applied struct {
	Edits []Edit
	// Lines are where each fix is afterwards; nil for one that is left out, as
	// another one has changed the same piece of source.
	Lines [][]int
}

// change is one replacement in a file, by offset.
type change struct {
	from, to int
	text     string
}

// analyzers returns the analyzers that suggest edits.
func analyzers() []*goanalysis.Analyzer {
	return append([]*goanalysis.Analyzer{boxedlevel.Analyzer, poolvalue.Analyzer, slogboxed.Every}, rewrite.Analyzers...)
}

// Find returns the fixes that touch a line for which wanted returns true.
// Nothing is written.
func Find(ctx context.Context, dir string, patterns []string, wanted func(Place) bool) ([]Fix, error) {
	files := &contents{read: map[string][]byte{}}
	pkgs, err := packages.Load(&packages.Config{
		Context: ctx, Dir: dir,
		Mode:      packages.LoadSyntax | packages.NeedModule,
		ParseFile: files.parse,
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
			f, ok := fix(act, d, files.read)
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
func fix(act *checker.Action, d goanalysis.Diagnostic, read map[string][]byte) (Fix, bool) {
	fset := act.Package.Fset
	at := fset.Position(d.Pos)
	f := Fix{Place: Place{at.Filename, at.Line}, Package: act.Package.PkgPath, found: read[at.Filename]}
	if len(d.SuggestedFixes) == 0 || f.found == nil {
		return f, false
	}
	f.Message = d.SuggestedFixes[0].Message
	about := func(from, to token.Pos) {
		to = max(from, to)
		f.spans = append(f.spans, [2]int{fset.Position(from).Offset, fset.Position(to).Offset})
		for line := fset.Position(from).Line; line <= fset.Position(to).Line; line++ {
			f.Lines = append(f.Lines, line)
		}
	}
	about(d.Pos, d.End)
	imports := endOfImports(act.Package, d.Pos)
	for _, e := range d.SuggestedFixes[0].TextEdits {
		from, to := fset.Position(e.Pos), fset.Position(e.End)
		if from.Filename != f.File {
			return f, false
		}
		if e.Pos > imports {
			about(e.Pos, e.End)
		}
		f.changes = append(f.changes, change{from.Offset, to.Offset, string(e.NewText)})
	}
	return f, true
}

// endOfImports returns the end of the imports of the file that holds a
// position.
func endOfImports(p *packages.Package, at token.Pos) token.Pos {
	for _, file := range p.Syntax {
		if at < file.FileStart || at >= file.FileEnd {
			continue
		}
		end := file.Name.End()
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
				end = max(end, g.End())
			}
		}
		return end
	}
	return token.NoPos
}

// Apply returns the files with the fixes applied. If two fixes change the same
// piece of source, the first one wins.
func Apply(list []Fix) (*Applied, error) {
	out := &Applied{Lines: make([][]int, len(list))}
	byFile := map[string][]change{}
	done := map[string][]int{}
	var files []string
	for i, f := range list {
		if len(done[f.File]) == 0 {
			files = append(files, f.File)
		}
		if changes, ok := merge(byFile[f.File], f.changes); ok {
			byFile[f.File], done[f.File] = changes, append(done[f.File], i)
		}
	}
	for _, file := range files {
		old, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(old, list[done[file][0]].found) {
			return nil, fmt.Errorf("%s: %w", file, ErrChanged)
		}
		text, line, err := rewritten(file, old, byFile[file])
		if err != nil {
			return nil, err
		}
		out.Edits = append(out.Edits, Edit{File: file, Old: old, New: text})
		for _, i := range done[file] {
			for _, span := range list[i].spans {
				for n := line(span[0], false); n <= line(span[1], true); n++ {
					out.Lines[i] = append(out.Lines[i], n)
				}
			}
		}
	}
	return out, nil
}

// merge adds all changes of a fix or none. A change that another fix makes
// already, such as an import, is made once.
func merge(have, more []change) (all []change, ok bool) {
	all = have
	for _, m := range more {
		double := false
		for _, h := range have {
			if m == h {
				double = true
			} else if m.from < h.to && h.from < m.to || m.from == h.from && m.to > m.from && h.to > h.from {
				return have, false
			}
		}
		if !double {
			all = append(all[:len(all):len(all)], m)
		}
	}
	return all, true
}

// rewritten returns the text with the changes, and a function that returns the
// new line of an offset in the old text, before or after an insertion there.
func rewritten(file string, old []byte, list []change) (text []byte, line func(offset int, behind bool) int, err error) {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := list[i], list[j]
		if a.from != b.from {
			return a.from < b.from
		}
		if a.to != b.to {
			return a.to < b.to // insertions come first
		}
		return a.text < b.text
	})
	var b bytes.Buffer
	at := 0
	for _, c := range list {
		if c.from < at || c.to > len(old) {
			return nil, nil, fmt.Errorf("%s: fixes overlap", file)
		}
		b.Write(old[at:c.from])
		b.WriteString(c.text)
		at = c.to
	}
	b.Write(old[at:])
	spliced := b.Bytes()
	text, gone, err := tidy(file, old, spliced)
	return text, func(offset int, behind bool) int {
		moved := offset
		for _, c := range list {
			if c.to < offset || c.to == offset && (behind || c.from < c.to) {
				moved += len(c.text) - (c.to - c.from)
			} else if c.from < offset {
				moved += max(0, len(c.text)-(offset-c.from)) // inside a replacement: its end
			}
		}
		moved = min(moved, len(spliced))
		n := 1 + bytes.Count(spliced[:moved], []byte("\n"))
		for _, g := range gone {
			if g < n {
				n--
			}
		}
		return n
	}, err
}

// Write puts the new contents in place of the old ones.
func Write(edits []Edit) error {
	return replace(edits, func(e Edit) (is, becomes []byte) { return e.Old, e.New })
}

// Undo puts the old contents back.
func Undo(edits []Edit) error {
	return replace(edits, func(e Edit) (is, becomes []byte) { return e.New, e.Old })
}
