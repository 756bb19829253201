// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/nib-log/nib/bench/bridges"
	"github.com/nib-log/nib/bench/codec"
)

// Bridges is the set of nib behind other APIs.
const Bridges = "bridges"

// BridgeTables returns the table in docs/bridges.md.
func (b *Run) BridgeTables() string {
	var t strings.Builder
	b.machine(&t, "")
	fmt.Fprintf(&t, "Nanoseconds of one call with six fields to `io.Discard`, the minimum of many rounds, contestants taking turns, "+
		"and allocations. The aim is at most %v of the other's time, and no allocations but those of the API: zap's fields and call site, "+
		"the slice of arguments of logr and hclog, and the text of grpclog.", bridges.Most)
	for _, name := range slices.Sorted(maps.Keys(bridges.Slower)) {
		for _, s := range bridges.Scenarios() {
			if s.Name == name {
				fmt.Fprintf(&t, " Slower is %s: %s.", s.Title, bridges.Slower[name])
			}
		}
	}
	t.WriteString("\n\n")
	row(&t, []string{"API", "other", "its ns", "its allocations", bold(own), "ratio", "allocations"})
	rule(&t, 7)
	for _, s := range bridges.Scenarios() {
		if len(b.Results.Contestants(s.Name)) == 0 {
			continue
		}
		cell := func(r *Results, contestant, unit string, decimals int) string {
			n, ok := r.Get(s.Name, contestant, unit)
			if !ok {
				return "–"
			}
			return strconv.FormatFloat(n, 'f', decimals, 64)
		}
		row(&t, []string{s.Title, s.Versus, cell(b.Results, s.Versus, UnitTime, 0), cell(b.Results, s.Versus, UnitMallocs, 0),
			bold(cell(b.Results, codec.Nib, UnitTime, 0)), bold(cell(b.Results, codec.Nib, UnitRatio, 2)),
			cell(b.Results, codec.Nib, UnitMallocs, 0)})
	}
	return t.String()
}
