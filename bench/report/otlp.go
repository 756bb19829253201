// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/nib-log/nib/bench/otlps"
)

// OTLP is the set of delivery to a receiver of OTLP.
const OTLP = "otlp"

// OTLPTables returns the table in docs/otlp.md.
func (b *Run) OTLPTables() string {
	var t strings.Builder
	b.machine(&t, "")
	fmt.Fprintf(&t, "%s records with six fields, logged by one goroutine and delivered to a receiver in another process on the same machine: "+
		"the time of the quickest burst until the receiver has accepted all of it, and of the processor. The first row is a spool in a directory, "+
		"the second one that is not synced to disk: its lines survive the process, but not a loss of power. The others are log/slog, otelslog, and the SDK's batch processor "+
		"and OTLP/HTTP exporter, with requests of 512 records, the default, and of 8192, and a queue that holds a burst; its lines survive neither.\n\n", thousands(otlps.Burst, 0))
	row(&t, []string{"", "ns a record", "÷ " + otlps.Otelslog, "of the processor, ns", "÷ " + otlps.Otelslog, "allocations", "bytes"})
	rule(&t, 7)
	for _, c := range otlps.Contestants {
		cell := func(unit string, decimals int) string {
			v, _ := b.Results.Get(otlps.Name, c.Name, unit)
			return thousands(v, decimals)
		}
		ratio := func(unit string) string {
			v, _ := b.Results.Get(otlps.Name, c.Name, unit)
			versus, _ := b.Results.Get(otlps.Name, otlps.Otelslog, unit)
			return fmt.Sprintf("%.2f", v/versus)
		}
		row(&t, []string{c.Title, cell(UnitTime, 0), ratio(UnitTime), cell(UnitRecordCPU, 0), ratio(UnitRecordCPU), cell(UnitMallocs, 2), cell(UnitBytes, 0)})
	}
	return t.String()
}
