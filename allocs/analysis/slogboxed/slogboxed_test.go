// SPDX-License-Identifier: Apache-2.0

package slogboxed_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/nib-log/nib/allocs/analysis/slogboxed"
)

func Test(t *testing.T) {
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), slogboxed.Analyzer, "a")
}
