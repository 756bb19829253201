// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"testing"

	"github.com/nib-log/nib/bench/bridges"
	"github.com/nib-log/nib/bench/paths"
)

// A floor is a minimal result of a stored run: the time of one of nib's
// contestants as a fraction of another contestant's in the same run.
type floor struct {
	set, scenario, contestant, versus string
	most                              float64
}

var floors = []floor{
	{"codec", "JSONStruct", own, "go-json", 0.6},
	{"codec", "JSONMap", own, "go-json", 0.7},
	{"pools", "Bytes", own, "zeropool", 0.7},
	{"pools", "BytesParallel", own, "zeropool", 0.7},
	{"pools", "DrainRefill", own, "zeropool", 0.7},
	{"pools", "ListPushRemove", own, "container/list", 0.3},
	{"files", "FileFields", own, "phuslu", 1},
	{"files", "FileFields", "nib-buffered", "zerolog+lumberjack", 0.25},
	{"files", "FileFields", "nib-buffered", "phuslu-async", 1},
	{"files", "FileFields8", "nib-buffered", "zerolog+lumberjack", 0.25},
	{"files", "FileWrite", "nib-buffered", "lumberjack", 0.25},
}

func init() {
	for _, x := range bridges.Set().Tables[0].Scenarios {
		if x.Name != "BridgeOTelOut" { // a line is written and read again
			floors = append(floors, floor{"bridges", x.Name, own, x.Versus, 0.7})
		}
	}
	for _, x := range paths.Set().Tables[0].Scenarios {
		floors = append(floors, floor{"paths", x.Name, own, x.Versus, 1.5})
	}
	for name, most := range aboveTheirPrice {
		shortfalls["amd-family25-model17: "+name+", 1.5 of price"] = most
	}
}

// without lists the contests in which nib must not allocate at all.
var without = map[string][]string{
	"pools": {"Bytes", "Pointer", "BytesParallel", "DrainRefill", "LimitAt", "LimitAbove", "Buffers",
		"ListPushRemove"},
	"files": {"FileFields", "FileFields8", "FileWrite", "FileWrite8"},
}

// shortfalls are the floors that nib misses on a processor, and the fraction
// that it must reach instead. The decision
// 2026-11-22-one-locked-instruction-for-each-call has the reasons, and the
// attempts.
var shortfalls = map[string]float64{
	"intel-family6-model167: Bytes, 0.7 of zeropool":                  0.87,
	"intel-family6-model167: BytesParallel, 0.7 of zeropool":          0.87,
	"intel-family6-model167: FileFields, 0.25 of zerolog+lumberjack":  0.31,
	"intel-family6-model167: FileFields8, 0.25 of zerolog+lumberjack": 0.31,
	"intel-family6-model207: Bytes, 0.7 of zeropool":                  0.9,
	"intel-family6-model207: BytesParallel, 0.7 of zeropool":          0.87,
	"intel-family6-model207: FileFields, 0.25 of zerolog+lumberjack":  0.31,
	"intel-family6-model207: FileFields8, 0.25 of zerolog+lumberjack": 0.31,
}

// aboveTheirPrice are the paths above 1.5 of their price, and their multiples.
// The decision 2026-11-28-paths-and-their-prices has the attempts.
var aboveTheirPrice = map[string]float64{
	"Console":             3.0,
	"DuplicatesFirstWins": 1.8,
	"DuplicatesLastWins":  1.8,
	"DuplicatesNone":      1.7,
	"DuplicatesRename":    1.9,
	"Logfmt":              2.5,
	"MaxLineCut":          2.9,
	"Sampler":             1.7,
	"ScopeDump":           2.0,
	"Scrape":              2.4,
}

// missed returns the floors of a set that the results of a processor miss, and
// the shortfalls that are of no use.
func missed(processor, set string, r *Results) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(processor+": "+format, args...)) }
	for _, f := range floors {
		if f.set != set {
			continue
		}
		nib, ok := r.Get(f.scenario, f.contestant, UnitTime)
		other, also := r.Get(f.scenario, f.versus, UnitTime)
		reached, short := shortfalls[fmt.Sprintf("%s: %s, %v of %s", processor, f.scenario, f.most, f.versus)]
		if short && ok && also && nib <= f.most*other {
			add("%s: meets the floor: delete the shortfall", f.scenario)
		}
		if short {
			f.most = reached
		}
		if !ok || !also || nib > f.most*other {
			add("%s: %s %.1f ns, %s %.1f ns, want at most %.2f of it", f.scenario, f.contestant, nib, f.versus, other, f.most)
		}
		if set != "bridges" {
			continue
		}
		got, _ := r.Get(f.scenario, own, UnitMallocs)
		if most, _ := r.Get(f.scenario, f.versus, UnitMallocs); got > most+0.01 {
			add("%s: got %.3f allocations, want at most the %.3f of %s", f.scenario, got, most, f.versus)
		}
	}
	for _, scenario := range without[set] {
		if mallocs, ok := r.Get(scenario, own, UnitMallocs); !ok || mallocs >= 0.001 {
			add("%s: %.3f allocations, measured %v, want none", scenario, mallocs, ok)
		}
	}
	return all
}

func TestStoredResultsMeetTheFloors(t *testing.T) {
	for _, s := range Sets() {
		results, err := Load("../results", s.Name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			for _, m := range missed(r.Key, s.Name, r) {
				t.Error(m)
			}
			for _, key := range []string{"cpu", "cpus", "date", "commit", "committed"} {
				if r.Head(key) == "" {
					t.Errorf("%s, %s: the results have no %s", r.Key, s.Name, key)
				}
			}
		}
	}
}

func TestFloorsCanBeMissed(t *testing.T) {
	var slow Results
	slow.Add("Bytes", own, 1, Value{Number: 15, Unit: UnitTime}, Value{Number: 0.5, Unit: UnitMallocs})
	slow.Add("Bytes", "zeropool", 1, Value{Number: 20, Unit: UnitTime})
	slow.Add("BridgeZap", own, 1, Value{Number: 7, Unit: UnitTime}, Value{Number: 2, Unit: UnitMallocs})
	slow.Add("BridgeZap", "zap", 1, Value{Number: 10, Unit: UnitTime}, Value{Number: 1, Unit: UnitMallocs})
	slow.Add("DrainRefill", own, 1, Value{Number: 1, Unit: UnitTime})
	for set, want := range map[string]int{"pools": 4 + 8, "bridges": 4 + 1, "codec": 2, "files": 5 + 4} {
		if got := missed("x", set, &slow); len(got) != want {
			t.Errorf("%s: %d missed, want %d: %q", set, len(got), want, got)
		}
	}
	shortfalls["x: Bytes, 0.7 of zeropool"] = 0.9
	defer delete(shortfalls, "x: Bytes, 0.7 of zeropool")
	if got := missed("x", "pools", &slow); len(got) != 3+8 {
		t.Errorf("with a shortfall: %q", got)
	}
}
