// SPDX-License-Identifier: Apache-2.0

package keptliteral_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/nib-log/nib/allocs/analysis/keptliteral"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), keptliteral.Analyzer, "a")
}
