// SPDX-License-Identifier: Apache-2.0

package loadlocation_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/nib-log/nib/allocs/analysis/loadlocation"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), loadlocation.Analyzer, "a")
}
