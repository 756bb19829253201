// SPDX-License-Identifier: Apache-2.0

package analysis_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/must"
	goanalysis "golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/passes/inspect"

	"github.com/nib-log/nib/allocs/analysis"
)

// Each check has a package of its name in testdata/src. The loggers there have
// only the methods that the checks look for. The packages are loaded together,
// as loading what they import takes most of the time.
func TestChecks(t *testing.T) {
	byName := map[string]*goanalysis.Analyzer{}
	var names []string
	for _, a := range analysis.Analyzers {
		byName[a.Name] = a
		names = append(names, a.Name)
	}
	each := &goanalysis.Analyzer{
		Name: "each", Doc: "the check that has the name of the package",
		Requires: []*goanalysis.Analyzer{inspect.Analyzer},
		Run: func(pass *goanalysis.Pass) (any, error) {
			return byName[pass.Pkg.Path()].Run(pass)
		},
	}
	got := analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), each, names...)
	if len(got) != len(names) {
		t.Errorf("%d packages were checked, want %d", len(got), len(names))
	}
}

// The document shows the examples that the checks are tested with.
func TestDocumentShowsTheExamples(t *testing.T) {
	document, err := os.ReadFile("../../docs/zero-alloc.md")
	must.Succeed(t, err)
	want := regexp.MustCompile("// want `(.*)`")
	for _, a := range analysis.Analyzers {
		name := filepath.Join(analysistest.TestData(), "src", a.Name, "example.go")
		example, err := os.ReadFile(name)
		must.Succeed(t, err)
		_, code, _ := strings.Cut(string(example), "package "+a.Name+"\n\n")
		code = want.ReplaceAllStringFunc(code, func(comment string) string {
			message := want.FindStringSubmatch(comment)[1]
			return "// ✗ " + strings.ReplaceAll(message, `\`, "")
		})
		block := "<!-- check " + a.Name + ": begin -->\n```go\n" + code + "```\n"
		if !strings.Contains(string(document), block) {
			t.Errorf("%s: the document does not show\n%s", a.Name, code)
		}
	}
}
