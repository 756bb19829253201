// SPDX-License-Identifier: Apache-2.0

// Package loss counts the lines that a sink could not write, by reason and
// level, and converts the counts to [delivery.Drop], metrics, and the notice
// line in the output itself.
package loss

import (
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/metrics"
)

// Levels counts lines by level; level.Row is the index.
type Levels [level.Count]uint64

// maxReasons is the maximum number of reasons for which a sink drops lines.
const maxReasons = 4

// A Tally counts lines by reason and level. Each sink has an array of reasons
// with the same indexes as its Tally.
type Tally [maxReasons]Levels

// Minus returns the counts since u.
func (t Tally) Minus(u Tally) Tally {
	for c := range t {
		for row := range t[c] {
			t[c][row] -= u[c][row]
		}
	}
	return t
}

// Only reports whether all lost lines have the reason with the given index.
func (t Tally) Only(index int) bool {
	t[index] = Levels{}
	return t == Tally{}
}

// Drops lists the counts that are not 0.
func (t *Tally) Drops(reasons []delivery.Reason) (drops []delivery.Drop) {
	for c, reason := range reasons {
		for row, n := range t[c] {
			if n > 0 {
				drops = append(drops,
					delivery.Drop{Reason: reason, Level: nib.Level(level.At(row)), Lines: n})
			}
		}
	}
	return drops
}

// Sum returns the number of lines dropped, for all reasons.
func Sum(drops []delivery.Drop) (n uint64) {
	for _, d := range drops {
		n += d.Lines
	}
	return n
}

// Metrics adds PREFIX_dropped_lines_total for each reason and level, including
// zeros, because an alert on an increase does not see a series that begins with
// 1.
func Metrics[R ~string](
	l *metrics.Samples, prefix string, reasons []R, lost []Levels, labels ...metrics.Label,
) {
	for c := range lost {
		with := append(labels[:len(labels):len(labels)],
			metrics.Label{Name: "reason", Value: string(reasons[c])})
		for row, n := range lost[c] {
			l.Counter(prefix+"_dropped_lines_total", "Lines dropped, by reason and level.",
				float64(n), level.Label(row, with)...)
		}
	}
}
