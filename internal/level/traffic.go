// SPDX-License-Identifier: Apache-2.0

package level

import "github.com/nib-log/nib/metrics"

// Traffic counts lines and their bytes by level.
type Traffic [Count]struct{ Lines, Bytes uint64 }

// Add counts one line of size bytes.
func (t *Traffic) Add(l, size int) { t.AddRow(Row(l), size) }

// AddRow is Add for the row of a level.
func (t *Traffic) AddRow(row, size int) {
	t[row].Lines++
	t[row].Bytes += uint64(size)
}

// Plus adds the counts of another Traffic.
func (t *Traffic) Plus(u *Traffic) {
	for row := range t {
		t[row].Lines += u[row].Lines
		t[row].Bytes += u[row].Bytes
	}
}

// Total returns the sum of all levels.
func (t *Traffic) Total() (lines, bytes uint64) {
	for row := range t {
		lines += t[row].Lines
		bytes += t[row].Bytes
	}
	return lines, bytes
}

// Metrics adds PREFIX_lines_total and PREFIX_bytes_total for each named level,
// including zeros: a rate is wrong for a series that starts with its first
// event.
func (t *Traffic) Metrics(l *metrics.Samples, prefix, what string, labels ...metrics.Label) {
	for row := range t {
		labels := Label(row, labels)
		l.Counter(prefix+"_lines_total", "Lines "+what+", by level.", float64(t[row].Lines),
			labels...)
		l.Counter(prefix+"_bytes_total", "Bytes of lines "+what+", by level.",
			float64(t[row].Bytes), labels...)
	}
}

// Label returns labels and the level of a row.
func Label(row int, labels []metrics.Label) []metrics.Label {
	return append(labels[:len(labels):len(labels)], metrics.Label{Name: "level", Value: Names[row]})
}
