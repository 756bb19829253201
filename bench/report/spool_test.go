// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"
	"testing"

	"github.com/nib-log/nib/bench/spools"
)

func TestSpoolTables(t *testing.T) {
	var r Results
	r.Header = []Field{{"go", "go1.26.8"}, {"cpus", "2"}}
	for _, s := range spools.Scenarios() {
		r.Add(s.Name, spools.Nib, 1000, Value{Number: 48.4, Unit: UnitTime}, Value{Number: 0.05, Unit: UnitRatio})
		r.Add(s.Name, "other", 1000, Value{Number: 970, Unit: UnitTime}, Value{Number: 1, Unit: UnitRatio}, Value{Number: 2, Unit: UnitMallocs})
	}
	r.Add(spools.Latency.Name, spools.Nib, 6_000_000, Value{Number: 202, Unit: UnitP50}, Value{Number: 31_000, Unit: UnitP9999})
	text := (&Run{&r}).SpoolTables()
	for _, want := range []string{
		"| **nib** | 48 | 0.05× | 48 | 0.05× | 48 | 0.05× | 48 | 0.05× |\n",
		"| other | 970 (2) | 1.00× | 970 (2) | 1.00× | 970 (2) | 1.00× | 970 (2) | 1.00× |\n",
		"|  | 10 fields, ns | ÷ the fastest | sustained, ns | ÷ the fastest |\n",
		"### 100,000 calls a second\n",
		"| **nib** | 6,000,000 | 202 | 0 | 0 | 31,000 | 0 |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
