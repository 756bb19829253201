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
		for build, r := range map[string]*Results{"default": f.Default, "nibfast": f.Fast} {
			for _, s := range bridges.Scenarios() {
				ratio, ok := r.Get(s.Name, codec.Nib, UnitRatio)
				if !ok || (ratio > bridges.Most) != (bridges.Slower[s.Name] != "") {
					t.Errorf("%s, %s, %s: got %.2f, %v, want at most %v", f.Key, build, s.Name, ratio, ok, bridges.Most)
				}
				own, _ := r.Get(s.Name, codec.Nib, UnitMallocs)
				if other, _ := r.Get(s.Name, s.Versus, UnitMallocs); own > other+0.01 {
					t.Errorf("%s, %s, %s: got %.3f allocations, want at most the %.3f of %s", f.Key, build, s.Name, own, other, s.Versus)
				}
			}
		}
	}
}
