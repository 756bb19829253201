// SPDX-License-Identifier: Apache-2.0

package check

import (
	"strings"
	"testing"

	"github.com/nib-log/nib/allocs/internal/runs"
)

func TestCountsOfStacksThatAreCutOffAreNotExact(t *testing.T) {
	var tc Toolchain
	tc.took([]runs.Result{
		{Package: "example.com/m", Name: "BenchmarkWhole", Sites: []runs.Site{{PerOp: 3}}},
		{Package: "example.com/m", Name: "BenchmarkCut", Sites: []runs.Site{{PerOp: 1}, {PerOp: 1.5, Cut: true}, {PerOp: 1, Cut: true}}},
	})
	if len(tc.Trouble) != 1 || !strings.HasPrefix(tc.Trouble[0], "not exact: example.com/m.BenchmarkCut: 2.5 allocations per operation have a deeper stack") {
		t.Errorf("got %q, want 2.5 of BenchmarkCut only", tc.Trouble)
	}
}
