// SPDX-License-Identifier: Apache-2.0

// Package guides runs the code of the migration guides: each shape of code
// before and after, and compares the lines.
package guides

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables in docs")

// A shape is code that people write, and its translation. Both functions write
// their lines to the same logger in each of the two libraries.
type shape[L, N any] struct {
	what   string
	before func(log L)
	after  func(log N)
	differ string // why the lines are not equal; "" if they are
}

// testShapes runs all shapes and compares the lines, except for the time.
func testShapes[L, N any](t *testing.T, shapes []shape[L, N], before func(*bytes.Buffer) L, after func(*bytes.Buffer) N, timeKey string) {
	for _, s := range shapes {
		t.Run(s.what, func(t *testing.T) {
			var old, now bytes.Buffer
			s.before(before(&old))
			s.after(after(&now))
			want, got := decode(t, &old, timeKey), decode(t, &now, timeKey)
			if len(got) == 0 {
				t.Fatal("no line was written")
			}
			if equal := reflect.DeepEqual(got, want); equal != (s.differ == "") {
				t.Errorf("before %v\nafter  %v\nequal: %v, but the guide says %q", want, got, equal, s.differ)
			}
		})
	}
}

func decode(t *testing.T, lines *bytes.Buffer, timeKey string) (all []map[string]any) {
	t.Helper()
	for line := range bytes.Lines(lines.Bytes()) {
		var m map[string]any
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		delete(m, timeKey)
		all = append(all, m)
	}
	return all
}

// testGuide compares the table in a guide with the code of the shapes in a
// file.
func testGuide(t *testing.T, guide, file, shapes, library string) {
	const begin, end = "<!-- shapes: begin -->\n", "<!-- shapes: end -->\n"
	path := "../../../docs/" + guide
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no table between %q and %q", path, begin, end)
	}
	want := before + begin + table(t, file, shapes, library) + end + after
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is older than %s: run go test -update", path, file)
	}
	if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table returns the shapes in a variable of file as a table in Markdown.
func table(t *testing.T, file, shapes, library string) string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| | %s | nib |\n|---|---|---|\n", library)
	variable := f.Scope.Lookup(shapes)
	if variable == nil {
		t.Fatalf("%s has no variable %s", file, shapes)
	}
	ast.Inspect(variable.Decl.(*ast.ValueSpec), func(n ast.Node) bool {
		row, ok := n.(*ast.CompositeLit)
		if !ok || row.Type != nil || len(row.Elts) != 4 {
			return true
		}
		what, ok := row.Elts[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		fmt.Fprintf(&b, "| %s%s | %s | %s |\n", strings.Trim(what.Value, `"`), note(row), code(t, fset, row.Elts[1]), code(t, fset, row.Elts[2]))
		return false
	})
	return b.String()
}

// note returns why the lines of a shape are not equal.
func note(row *ast.CompositeLit) string {
	text := strings.Trim(row.Elts[3].(*ast.BasicLit).Value, `"`)
	if text == "" {
		return ""
	}
	return " (" + text + ")"
}

// code returns the statements of a function literal, each as a line of a cell.
func code(t *testing.T, fset *token.FileSet, e ast.Expr) string {
	t.Helper()
	var lines []string
	for _, s := range e.(*ast.FuncLit).Body.List {
		var b bytes.Buffer
		if err := format.Node(&b, fset, s); err != nil {
			t.Fatal(err)
		}
		for line := range strings.SplitSeq(b.String(), "\n") {
			text := strings.TrimLeft(line, "\t")
			indent := strings.Repeat("&emsp;", len(line)-len(text))
			lines = append(lines, indent+"`"+strings.ReplaceAll(text, "|", `\|`)+"`")
		}
	}
	return strings.Join(lines, "<br>")
}
