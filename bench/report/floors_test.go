// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib/bench/pools"
)

// A floor is a minimal result of a stored run: nib's time as a fraction of
// another contestant's in the same run.
type floor struct {
	scenario, versus string
	most             float64
}

var (
	floors = []floor{
		{"Bytes", pools.Zeropool, 0.7},
		{"BytesParallel", pools.Zeropool, 0.7},
		{"DrainRefill", pools.Zeropool, 0.7},
		{"ListPushRemove", pools.StdList, 0.3},
	}
	// without lists the contests in which nib must not allocate at all.
	without = []string{"Bytes", "Struct", "Pointer", "BytesParallel", "HandoverDirect", "Handover", "DrainRefill",
		"Preallocated", "LimitAt", "LimitAbove", "Buffers", "ListPushRemove", "ListQueue"}
)

// shortfalls are the floors that nib misses on a processor, and the
// fraction that it must reach instead. The decision
// 2026-11-22-one-locked-instruction-for-each-call has the reasons, and the
// attempts.
var shortfalls = map[string]float64{
	"intel-family6-model167: Bytes, 0.7 of zeropool":                  0.87,
	"intel-family6-model167: BytesParallel, 0.7 of zeropool":          0.87,
	"intel-family6-model167: FileFields, 0.25 of zerolog+lumberjack":  0.31,
	"intel-family6-model167: FileFields8, 0.25 of zerolog+lumberjack": 0.31,
	"intel-family6-model207: BridgeZapCaller, 0.7 of zap":             0.75,
	"intel-family6-model207: Bytes, 0.7 of zeropool":                  0.9,
	"intel-family6-model207: BytesParallel, 0.7 of zeropool":          0.87,
	"intel-family6-model207: FileFields, 0.25 of zerolog+lumberjack":  0.31,
	"intel-family6-model207: FileFields8, 0.25 of zerolog+lumberjack": 0.31,
}

// missedFloor returns how a contestant on a processor misses a floor, or how
// the entry in shortfalls is of no use, or "".
func missedFloor(processor string, r *Results, contestant string, f floor) string {
	nib, ok := r.Get(f.scenario, contestant, UnitTime)
	other, also := r.Get(f.scenario, f.versus, UnitTime)
	key := fmt.Sprintf("%s: %s, %v of %s", processor, f.scenario, f.most, f.versus)
	reached, short := shortfalls[key]
	switch {
	case short && ok && also && nib <= f.most*other:
		return fmt.Sprintf("%s: meets the floor: delete the shortfall", key)
	case short:
		f.most = reached
	}
	if !ok || !also || nib > f.most*other {
		return fmt.Sprintf("%s: %s %.1f ns, %s %.1f ns, want at most %.2f of it", f.scenario, contestant, nib, f.versus, other, f.most)
	}
	return ""
}

// missed returns the floors that the results of a processor miss.
func missed(key string, r *Results, floors []floor) []string {
	var all []string
	for _, f := range floors {
		if m := missedFloor(key, r, own, f); m != "" {
			all = append(all, m)
		}
	}
	for _, scenario := range without {
		if mallocs, ok := r.Get(scenario, own, UnitMallocs); !ok || mallocs >= 0.001 {
			all = append(all, fmt.Sprintf("%s: %.3f allocations, measured %v, want none", scenario, mallocs, ok))
		}
		if lost, ok := r.Get(scenario, own, UnitLost); !ok || lost >= 0.001 {
			all = append(all, fmt.Sprintf("%s: %.3f values lost, measured %v, want none", scenario, lost, ok))
		}
	}
	return all
}

func TestStoredResultsOfThePoolsMeetTheFloors(t *testing.T) {
	families, err := Load(filepath.Join("..", "results"), Pools)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range missed(f.Key, f.Results, floors) {
			t.Errorf("%s: %s", f.Key, m)
		}
	}
}

func TestFloorsCanBeMissed(t *testing.T) {
	var slow Results
	slow.Add("Bytes", own, 1, Value{Number: 15, Unit: UnitTime}, Value{Number: 0.5, Unit: UnitMallocs}, Value{Number: 0, Unit: UnitLost})
	slow.Add("Bytes", pools.Zeropool, 1, Value{Number: 20, Unit: UnitTime})
	want := len(floors) + 2*len(without) - 1
	if got := missed("", &slow, floors); len(got) != want {
		t.Errorf("%d missed, want %d: %v", len(got), want, got)
	}
}
