// SPDX-License-Identifier: Apache-2.0

package analysis_test

import (
	"testing"

	"github.com/nib-log/nib/allocs/analysis"
	"github.com/nib-log/nib/allocs/analysis/internal/ruletest"
)

// Each check has a package of its name in testdata/src. The loggers there have
// only the methods that the checks look for.
func TestChecks(t *testing.T) {
	ruletest.Run(t, analysis.Analyzers)
}
