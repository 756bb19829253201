// SPDX-License-Identifier: Apache-2.0

package eventreuse_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/nib-log/nib/allocs/analysis/eventreuse"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), eventreuse.Analyzer, "a")
}
