// SPDX-License-Identifier: Apache-2.0

package analysis_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/nib-log/nib/allocs/analysis"
)

// Each check has a package of its name in testdata/src. The loggers there have
// only the methods that the checks look for.
func TestChecks(t *testing.T) {
	for _, a := range analysis.Analyzers {
		t.Run(a.Name, func(t *testing.T) {
			analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), a, a.Name)
		})
	}
}
