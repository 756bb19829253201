// SPDX-License-Identifier: Apache-2.0

package poolvalue_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/nib-log/nib/allocs/analysis/poolvalue"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), poolvalue.Analyzer, "a")
}
