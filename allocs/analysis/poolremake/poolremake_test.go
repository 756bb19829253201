// SPDX-License-Identifier: Apache-2.0

package poolremake_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/nib-log/nib/allocs/analysis/poolremake"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), poolremake.Analyzer, "a")
}
