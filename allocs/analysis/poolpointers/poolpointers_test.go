// SPDX-License-Identifier: Apache-2.0

package poolpointers_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/nib-log/nib/allocs/analysis/poolpointers"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), poolpointers.Analyzer, "a")
}
