// SPDX-License-Identifier: Apache-2.0

package file

import (
	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
	"github.com/nib-log/nib/internal/loss"
)

// A batch is lines that are written together.
type batch struct {
	data []byte
	ends []end
	sent int // bytes of data that are out
	done int // lines that are out
}

// An end is where a line ends in a batch, and the row of its level in a tally.
type end struct {
	at    int
	level int
}

// newBatch makes a batch of up to size bytes. The array of ends grows if lines
// are shorter than 64 bytes.
func newBatch(size int) batch {
	return batch{data: make([]byte, 0, size), ends: make([]end, 0, size/64+1)}
}

// add appends the line of r.
func (b *batch) add(r *nib.Record) {
	b.data = append(b.data, r.Line...)
	b.ends = append(b.ends, end{len(b.data), level.Row(int(r.Level))})
}

// lines is how many lines are not out.
func (b *batch) lines() int { return len(b.ends) - b.done }

// next is the size of the next line.
func (b *batch) next() int { return b.ends[b.done].at - b.sent }

// upTo returns as many of the next lines as have room, but at least one. What
// is out ends with a line.
func (b *batch) upTo(room int64) []byte {
	if room >= int64(len(b.data)-b.sent) {
		return b.data[b.sent:]
	}
	last := b.done
	for last+1 < len(b.ends) && int64(b.ends[last+1].at-b.sent) <= room {
		last++
	}
	return b.data[b.sent:b.ends[last].at]
}

// advance notes that n more bytes are out, and counts in written the lines that
// are complete with them, but for a newline of the last one.
func (b *batch) advance(n int, written *level.Traffic) {
	from := 0
	if b.done > 0 {
		from = b.ends[b.done-1].at
	}
	b.sent += n
	for b.done < len(b.ends) && isWhole(b.sent, b.ends[b.done].at) {
		e := b.ends[b.done]
		written.AddRow(e.level, e.at-from)
		from = e.at
		b.done++
	}
}

// back makes the line that is half out the next one, as a whole. If that is its
// newline alone, it is the line after it.
func (b *batch) back() {
	b.sent = 0
	if b.done > 0 {
		b.sent = b.ends[b.done-1].at
	}
}

// drop counts the lines that are not out and empties the batch.
func (b *batch) drop(count *loss.Levels) {
	for _, e := range b.ends[b.done:] {
		count[e.level]++
	}
	b.reset()
}

func (b *batch) reset() {
	b.data, b.ends, b.sent, b.done = b.data[:0], b.ends[:0], 0, 0
}
