// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// streams are the files of libraries that may name os.Stdout or os.Stderr. All
// of them pass it to something that neither blocks without end nor dies of
// SIGPIPE: package stdio, or a writer that uses it.
var streams = []string{
	"internal/lastresort/lastresort.go", // stdio.WriteTo
	"logger.go",                         // the default logger, by New
	"bridge/niblogrus/hook.go",          // nib.WriterSink
	"setup/monitor.go",                  // passed to a process, and compared
	"setup/output.go",                   // stdout.New
	"setup/view.go",                     // checked for a terminal
	"sink/stdout/config.go",             // stdout.New
}

// programs are the folders whose standard output and error are their own.
var programs = []string{"cmd", "bench", "examples", "e2e", "allocs", "internal/mutate", "internal/release"}

// checkStreams finds library code that writes to standard output or standard
// error by itself.
func checkStreams(t *tree, streams []string) (violations []string) {
	used := map[string]bool{}
	for _, s := range t.files {
		if !s.isGo() || s.isTest() || slices.ContainsFunc(programs, func(p string) bool { return within(s.folder, p) }) {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			name := ""
			switch x := n.(type) {
			case *ast.SelectorExpr:
				if p, ok := x.X.(*ast.Ident); ok {
					name = p.Name + "." + x.Sel.Name
				}
			case *ast.CallExpr:
				if p, ok := x.Fun.(*ast.Ident); ok {
					name = p.Name
				}
			}
			switch {
			case name == "os.Stdout" || name == "os.Stderr":
				if used[s.path] = true; slices.Contains(streams, s.path) {
					return true
				}
			case name == "print" || name == "println" || strings.HasPrefix(name, "fmt.Print"):
			default:
				return true
			}
			violations = append(violations, fmt.Sprintf("%s: %s has no deadline and may end the program: use internal/lastresort, or internal/stdio", s.at(n), name))
			return true
		})
	}
	for _, path := range streams {
		if !used[path] {
			violations = append(violations, path+" does not name os.Stdout or os.Stderr any more")
		}
	}
	return violations
}

func TestOnlyOnePackageWritesToStandardError(t *testing.T) {
	file := func(body string) string {
		return "package a\n\nimport (\n\t\"fmt\"\n\t\"os\"\n)\n\nfunc f() { " + body + " }\n"
	}
	check := func(t *tree) []string { return checkStreams(t, nil) }
	tryOn(t, check, []fixture{
		{"good", map[string]string{
			"cmd/a/a.go": file(`fmt.Fprintln(os.Stderr)`), "a_test.go": file(`fmt.Println(os.Stdout)`), "b.go": file(`fmt.Fprintln(os.Stdin)`),
		}, nil},
		{"file", map[string]string{"a.go": file(`fmt.Fprintln(os.Stderr)`)}, []string{"a.go:8: os.Stderr"}},
		{"output", map[string]string{"sink/a.go": file(`os.Stdout.WriteString("")`)}, []string{"sink/a.go:8: os.Stdout"}},
		{"fmt", map[string]string{"a.go": file(`fmt.Printf("")`)}, []string{"a.go:8: fmt.Printf"}},
		{"builtin", map[string]string{"a.go": file(`println()`)}, []string{"a.go:8: println"}},
	})
	loaded, _ := repository(t)
	report(t, checkStreams(loaded, streams))
}
