// SPDX-License-Identifier: Apache-2.0

// Package ruletest tests the checks against the comments and the golden files
// in testdata.
package ruletest

import (
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/passes/inspect"
)

// Run runs each check on the package of its name in testdata/src. It loads the
// packages together, as loading what they import takes most of the time.
func Run(t *testing.T, checks []*analysis.Analyzer) {
	t.Helper()
	byName := map[string]*analysis.Analyzer{}
	var names []string
	for _, a := range checks {
		byName[a.Name] = a
		names = append(names, a.Name)
	}
	each := &analysis.Analyzer{
		Name: "each", Doc: "the check that has the name of the package",
		Requires: []*analysis.Analyzer{inspect.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			return byName[pass.Pkg.Path()].Run(pass)
		},
	}
	got := analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), each, names...)
	if len(got) != len(names) {
		t.Errorf("%d packages were checked, want %d", len(got), len(names))
	}
}
