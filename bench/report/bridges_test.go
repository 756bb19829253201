// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"

	"github.com/nib-log/nib/bench/bridges"
	"github.com/nib-log/nib/bench/codec"
)

func TestStoredResultsOfBridgesAreWithinTheLimit(t *testing.T) {
	families, err := Load("../results", Bridges)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, s := range bridges.Scenarios() {
			m := missedFloor(f.Key, f.Results, codec.Nib, floor{s.Name, s.Versus, bridges.Most})
			if (m != "") != (bridges.Slower[s.Name] != "") {
				t.Errorf("%s: %s: missed: %q", f.Key, s.Name, m)
			}
			own, _ := f.Get(s.Name, codec.Nib, UnitMallocs)
			if other, _ := f.Get(s.Name, s.Versus, UnitMallocs); own > other+0.01 {
				t.Errorf("%s, %s: got %.3f allocations, want at most the %.3f of %s",
					f.Key, s.Name, own, other, s.Versus)
			}
		}
	}
}
