// SPDX-License-Identifier: Apache-2.0

package lineindex

import (
	"bytes"
	"math"
	"time"

	"github.com/nib-log/nib/internal/logread"
)

// zoneless is the zone of times without one. Each reader may interpret them
// differently.
var zoneless = time.FixedZone("zoneless", 0)

// A block collects the data of an index entry for consecutive lines. It reads
// each line as package logread does, so that the entry is right for every
// reader. It parses few of them in full: most have the shape of an earlier
// line, and therefore its second and its level.
type block struct {
	entry
	shapes shapes
	line   logread.Line
}

func newBlock() *block {
	b := new(block)
	b.line.SetZone(zoneless)
	b.shapes.probe.SetZone(zoneless)
	b.begin()
	return b
}

// begin begins a new block.
func (b *block) begin() { b.entry = entry{from: math.MaxInt64, to: math.MinInt64} }

// add adds lines, each with its line break.
func (b *block) add(text []byte) {
	b.length += uint32(len(text))
	for len(text) > 0 {
		s := &b.shapes.list[b.shapes.last]
		k := s.match(text)
		n := k + bytes.IndexByte(text[k:], '\n') + 1
		if k > 0 && b.from != always {
			b.shapes.misses = 0
			b.addShape(s)
		} else {
			b.addLine(text[:n])
		}
		text = text[n:]
	}
}

// addShape adds a line with a shape.
func (b *block) addShape(s *shape) {
	b.lines++
	b.addTime(s.second, s.level)
}

// addTime adds the second and the level of a line. Decimals do not matter, so
// the entry does not depend on which lines are parsed in full.
func (b *block) addTime(second int64, level uint32) {
	b.levels |= level
	b.from, b.to = min(b.from, second), max(b.to, second+int64(time.Second)-1)
}

// readAlways prevents that the block is ever skipped.
func (b *block) readAlways() { b.from, b.to = always, math.MaxInt64 }

// addLine adds a line, which ends with a line break, to everything but the
// length.
func (b *block) addLine(text []byte) {
	if b.from == always {
		b.lines++
		return
	}
	if s := b.shapes.find(text); s != nil {
		b.addShape(s)
		return
	}
	b.lines++
	b.line.Reset(text)
	level := LevelBit(b.line.Level())
	t, ok := b.line.Time()
	switch {
	case b.line.IsForeign():
		b.foreign++
	case !ok && len(b.line.Bytes()) == 0:
	case !ok:
		b.noTime++
		b.levels |= level << timeless
	case t.Location() == zoneless || !isOrdinary(t):
		b.readAlways()
	default:
		b.addTime(t.Unix()*int64(time.Second), level)
		if !b.line.IsWrapped() {
			b.shapes.learn(text, &b.line)
		}
	}
	b.line.Reset(nil) // do not retain text
}
