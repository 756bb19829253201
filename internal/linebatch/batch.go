// SPDX-License-Identifier: Apache-2.0

// Package linebatch collects log lines that are written together, and counts by
// level which of them have been written and which were dropped.
package linebatch

import (
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
)

// A Batch holds lines that are written together. It serves one goroutine at a
// time.
type Batch struct {
	data []byte
	ends []end
	sent int // bytes of data that are written
	done int // Lines that are written

	withoutNewline int
}

// An end is where a line ends in a batch, and the row of its level in a tally.
type end struct {
	at    int
	level int
}

// New returns a Batch of up to size bytes. The array of ends grows if lines are
// shorter than 64 bytes.
func New(size int) Batch {
	return Batch{data: make([]byte, 0, size), ends: make([]end, 0, size/64+1)}
}

// NewWithoutNewline is New for a writer that begins its next write with the
// missing newline of a line: such a line counts as written.
func NewWithoutNewline(size int) Batch {
	b := New(size)
	b.withoutNewline = len("\n")
	return b
}

// Add appends a line of a level.
func (b *Batch) Add(line []byte, l int) {
	b.data = append(b.data, line...)
	b.ends = append(b.ends, end{len(b.data), level.Row(l)})
}

// Size returns the number of bytes of all lines, written or not.
func (b *Batch) Size() int { return len(b.data) }

// Done returns the number of lines that are written.
func (b *Batch) Done() int { return b.done }

// Begun reports whether anything is written.
func (b *Batch) Begun() bool { return b.sent > 0 }

// Rest returns the bytes that are not written.
func (b *Batch) Rest() []byte { return b.data[b.sent:] }

// IsTorn reports whether the first line that is not written is half written.
func (b *Batch) IsTorn() bool {
	return b.sent > 0 && (b.done == 0 || b.sent > b.ends[b.done-1].at)
}

// Lines returns the number of lines that are not written.
func (b *Batch) Lines() int { return len(b.ends) - b.done }

// Next returns the size of the next line.
func (b *Batch) Next() int { return b.ends[b.done].at - b.sent }

// UpTo returns as many of the next lines as fit into room, but at least one.
// The bytes written must end with a line.
func (b *Batch) UpTo(room int64) []byte {
	if room >= int64(len(b.data)-b.sent) {
		return b.data[b.sent:]
	}
	last := b.done
	for last+1 < len(b.ends) && int64(b.ends[last+1].at-b.sent) <= room {
		last++
	}
	return b.data[b.sent:b.ends[last].at]
}

// Advance records that n more bytes are written, and counts in written the
// lines that they complete.
func (b *Batch) Advance(n int, written *level.Traffic) {
	from := 0
	if b.done > 0 {
		from = b.ends[b.done-1].at
	}
	b.sent += n
	for b.done < len(b.ends) && b.sent >= b.ends[b.done].at-b.withoutNewline {
		e := b.ends[b.done]
		written.AddRow(e.level, e.at-from)
		from = e.at
		b.done++
	}
}

// Back makes the half-written line the next one, from its start. If only its
// newline is missing, the line after it is the next.
func (b *Batch) Back() {
	b.sent = 0
	if b.done > 0 {
		b.sent = b.ends[b.done-1].at
	}
}

// Drop counts the lines that are not written and empties the batch.
func (b *Batch) Drop(count *loss.Levels) {
	for _, e := range b.ends[b.done:] {
		count[e.level]++
	}
	b.Reset()
}

// Reset empties the batch.
func (b *Batch) Reset() {
	b.data, b.ends, b.sent, b.done = b.data[:0], b.ends[:0], 0, 0
}
