// SPDX-License-Identifier: Apache-2.0

// Package source has the text of lines, and of the statements on them.
package source

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"strings"
)

// Files parses files, each once.
type Files struct {
	files map[string]*file
}

type file struct {
	fset *token.FileSet
	ast  *ast.File
	text [][]byte
}

// New returns an empty set.
func New() *Files { return &Files{files: map[string]*file{}} }

func (fs *Files) get(name string) *file {
	if f, ok := fs.files[name]; ok {
		return f
	}
	fs.files[name] = nil
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	f := &file{fset: token.NewFileSet(), text: bytes.Split(text, []byte("\n"))}
	if f.ast, err = parser.ParseFile(f.fset, name, text,
		parser.SkipObjectResolution|parser.ParseComments); err != nil {
		return nil
	}
	fs.files[name] = f
	return f
}

// Line returns the text of a line without the space around it, or "".
func (fs *Files) Line(name string, line int) string {
	return strings.TrimSpace(strings.Join(fs.Lines(name, line, line), ""))
}

// Lines returns the lines from first to last.
func (fs *Files) Lines(name string, first, last int) []string {
	f := fs.get(name)
	if f == nil {
		return nil
	}
	var out []string
	for n := max(first, 1); n <= last && n <= len(f.text); n++ {
		out = append(out, string(f.text[n-1]))
	}
	return out
}

// Statement returns the source of the innermost simple statement on a line, on
// one line. Keys of the baseline contain it, so that moving or reformatting
// code does not change them.
func (fs *Files) Statement(name string, line int) string {
	f := fs.get(name)
	if f == nil {
		return ""
	}
	var best ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if n == nil || f.line(n.Pos()) > line || f.line(n.End()) < line {
			return false
		}
		switch n.(type) {
		case *ast.AssignStmt, *ast.ExprStmt, *ast.ReturnStmt, *ast.GoStmt, *ast.DeferStmt,
			*ast.SendStmt, *ast.IncDecStmt, *ast.ValueSpec, *ast.CallExpr:
			// In a statement of several lines, the call that starts
			// on this one.
			if _, call := n.(*ast.CallExpr); !call || best == nil ||
				f.line(best.Pos()) < line && f.line(n.Pos()) == line {
				best = n
			}
		}
		return true
	})
	if best == nil {
		return fs.Line(name, line)
	}
	var b bytes.Buffer
	if printer.Fprint(&b, f.fset, best) != nil {
		return fs.Line(name, line)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func (f *file) line(p token.Pos) int { return f.fset.Position(p).Line }
