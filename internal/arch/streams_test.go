// SPDX-License-Identifier: Apache-2.0

package arch

import (
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
var programs = []string{
	"cmd", "bench", "examples", "e2e", "allocs", "internal/release",
}

// checkStreams finds library code that writes to standard output or standard
// error by itself.
func checkStreams(t *tree, streams []string) (v faults) {
	used := map[string]bool{}
	for _, s := range t.files {
		inside := func(p string) bool { return within(s.folder, p) }
		if s.isTest || slices.ContainsFunc(programs, inside) {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			name := selected(n)
			if call, ok := n.(*ast.CallExpr); ok {
				if f, ok := call.Fun.(*ast.Ident); ok {
					name = f.Name
				}
			}
			stream := name == "os.Stdout" || name == "os.Stderr"
			used[s.path] = used[s.path] || stream
			if stream && !slices.Contains(streams, s.path) ||
				name == "print" || name == "println" || strings.HasPrefix(name, "fmt.Print") {
				v = append(v, s.at(n)+": "+name+
					" has no deadline and may end the program: use internal/lastresort, or internal/stdio")
			}
			return true
		})
	}
	for _, path := range streams {
		if !used[path] {
			v = append(v, path+" does not name os.Stdout or os.Stderr any more")
		}
	}
	return v
}

func TestOnlyOnePackageWritesToStandardError(t *testing.T) {
	bad := treeOf(t, map[string]string{
		"a.go": "package a\n\nfunc f() {\n\tfmt.Fprintln(os.Stderr)\n\tfmt.Printf(\"\")\n\tprintln()\n}\n",
	})
	mustFind(t, checkStreams(bad, []string{"b.go"}),
		"a.go:4: os.Stderr", "a.go:5: fmt.Printf", "a.go:6: println", "b.go does not name")
	report(t, checkStreams(loaded(t), streams))
}
