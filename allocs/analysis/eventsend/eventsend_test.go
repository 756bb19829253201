// SPDX-License-Identifier: Apache-2.0

package eventsend_test

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"

	"github.com/nib-log/nib/allocs/analysis/eventsend"
)

func Test(t *testing.T) {
	analysistest.Run(t, analysistest.TestData(), eventsend.Analyzer, "a")
}
