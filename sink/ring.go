// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"bytes"
	"strconv"

	"github.com/nib-log/nib"
)

// A ring holds copies of the newest records that fit into a number of bytes. It
// is used by one goroutine at a time.
//
// Each line is contiguous in data, one after the other; a line that does not
// fit into the rest of data begins at the start again. data first grows up to
// the limit, so a ring with few lines stays small.
type ring struct {
	limit int
	data  []byte // len is the part that has been filled
	head  int    // offset of the next line
	round bool   // head has wrapped around and the oldest line has not

	lines []held // a queue: count of them from first on, with wrap-around
	first int
	count int

	out nib.Record // result of record; a local variable would be a malloc per line
}

// held is a record in a ring. It takes 80 bytes.
type held struct {
	time      int64
	pc        uintptr
	logger    string
	spool     uint64
	seq       uint64
	level     nib.Level
	at, end   uint32 // bounds of its line in data
	from, to  uint32 // bounds of its message in the line
	noMessage bool
}

// bytesPerLine is the number of bytes of a ring per entry in its list, so that
// the list does not outgrow the lines if these are short. A line with a time
// and a level is longer.
const bytesPerLine = 64

// maxLines is the maximum number of lines in g.
func (g *ring) maxLines() int { return max(g.limit/bytesPerLine, 1) }

// put adds a copy of r, with mark as its end, and drops the oldest records to
// make room. It returns the number of dropped records, and whether r fits at
// all.
func (g *ring) put(r *nib.Record, mark string) (dropped int, fits bool) {
	size := len(r.Line) + max(len(mark)-len("}\n"), 0)
	if size > g.limit {
		return 0, false
	}
	for g.count > 0 && (g.count >= g.maxLines() || !g.place(size)) {
		g.drop()
		dropped++
	}
	if g.count == 0 {
		g.head, g.round = 0, false
	}
	at := g.head
	g.head += size
	if g.head > len(g.data) {
		g.data = append(g.data, make([]byte, g.head-len(g.data))...)
	}
	line := appendMarked(g.data[at:at], r.Line, mark)
	from, ok := offset(r.Line, r.Message)
	h := g.push() // set in place: a copy would wait for the stores to its parts
	h.time, h.pc, h.logger, h.level = r.Time, r.PC, r.Logger, r.Level
	h.spool, h.seq = r.Spool, r.Seq
	h.at, h.end = uint32(at), uint32(at+len(line))
	h.from, h.to, h.noMessage = uint32(from), uint32(from+len(r.Message)), !ok
	return dropped, true
}

// place finds room for a line after the newest one, and moves head there.
func (g *ring) place(size int) bool {
	oldest := int(g.lines[g.first].at)
	if g.round {
		return g.head+size <= oldest
	}
	if g.head+size <= g.limit {
		return true
	}
	if size <= oldest {
		g.head, g.round = 0, true
		return true
	}
	return false
}

// drop drops the oldest line.
func (g *ring) drop() {
	before := g.lines[g.first].at
	g.lines[g.first] = held{}
	g.first = g.slot(1)
	g.count--
	if g.count > 0 && g.lines[g.first].at < before {
		g.round = false
	}
}

// push returns the place of another record, the newest one.
func (g *ring) push() *held {
	if g.count == len(g.lines) {
		grown := make([]held, min(max(2*g.count, 8), g.maxLines()))
		for i := range g.count {
			grown[i] = g.lines[(g.first+i)%g.count]
		}
		g.lines, g.first = grown, 0
	}
	g.count++
	return &g.lines[g.slot(g.count-1)]
}

// slot returns the index of the i-th oldest record. It does not divide, which
// takes longer than the copy of a line.
func (g *ring) slot(i int) int {
	if i += g.first; i >= len(g.lines) {
		i -= len(g.lines)
	}
	return i
}

// record returns the i-th oldest record. Its bytes are in the ring; the record
// is valid until the next call.
func (g *ring) record(i int) *nib.Record {
	h := &g.lines[g.slot(i)]
	r := &g.out
	r.Time, r.Level, r.PC, r.Logger = h.time, h.level, h.pc, h.logger
	r.Spool, r.Seq = h.spool, h.seq
	r.Line, r.Message = g.data[h.at:h.end:h.end], nil
	if !h.noMessage {
		r.Message = r.Line[h.from:h.to]
	}
	return r
}

// reset drops all lines and keeps the memory of g, but not the names of
// loggers.
func (g *ring) reset() {
	for i := range g.count {
		g.lines[g.slot(i)].logger = ""
	}
	g.first, g.count, g.head, g.round = 0, 0, 0, false
	g.out.Logger = ""
}

// markField returns the end of a line whose last field is key with the value
// true, as put needs it, or "" if there is no key.
func markField(key string) string {
	if key == nib.OmitKey {
		return ""
	}
	return "," + strconv.Quote(key) + ":true}\n"
}

// appendMarked appends line with mark as its end, so that offsets into the line
// do not change. A line that is not an object is appended unchanged.
func appendMarked(dst, line []byte, mark string) []byte {
	n := len(line) - len("}\n")
	if mark == "" || n < 1 || line[0] != '{' || line[n] != '}' {
		return append(dst, line...)
	}
	if n == 1 {
		mark = mark[1:] // the only field has no comma before it
	}
	return append(append(dst, line[:n]...), mark...)
}

// offset returns the offset of message in line. Usually both share a buffer;
// otherwise it looks for the text before the closing brace, which a mark
// replaces.
func offset(line, message []byte) (at int, ok bool) {
	if message == nil {
		return 0, false
	}
	at = cap(line) - cap(message)
	if at >= 0 && at+len(message) < len(line) && &line[at] == &message[:1][0] {
		return at, true
	}
	at = bytes.LastIndex(bytes.TrimSuffix(line, []byte("}\n")), message)
	return at, at >= 0
}
