// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"container/heap"
	"context"
	"errors"
	"io"

	"github.com/nib-log/nib/internal/logread"
)

// A cursor is the next line of a source.
type cursor struct {
	pipe   *pipeline
	blocks <-chan *block
	b      *block // nil before the first block
	next   int    // span of b
	key    int64  // the time of the line, or of the last line that had one
	index  int    // index of the source; of equal times, the lower index comes first
	counts Counts
	err    error
}

// advance goes to the next line. It reports false at the end.
func (c *cursor) advance(ctx context.Context) bool {
	for c.next++; c.b == nil || c.next >= len(c.b.spans); c.next = 0 {
		if c.b != nil {
			c.pipe.free.Put(c.b)
			c.b = nil
		}
		b := receive(ctx, c.blocks)
		if b == nil {
			return false
		}
		c.counts.add(b.counts)
		if b.err != nil {
			c.err = b.err
		}
		c.b = b
	}
	// A line without a time, such as one of a stack trace, belongs to the line
	// before it.
	switch at := c.b.spans[c.next].time; {
	case at == noTime:
	case at < c.key:
		c.counts.Late++
	default:
		c.key = at
	}
	return true
}

// A merger merges sources by time. It never changes the order of lines of one
// source.
type merger struct {
	ctx     context.Context
	cursors []*cursor // a heap
	all     []*cursor
	context *contextLines
	line    logread.Line
	limit   Limit
	lines   uint64 // selected lines so far
	bytes   int    // written so far
	full    bool
	beyond  uint64
	around  uint64 // lines of context that the limit left out
	newest  [][]byte
}

func newMerger(ctx context.Context, p *pipeline, sources []Source, s *Selection) *merger {
	m := &merger{ctx: ctx, context: &contextLines{size: s.Context}, limit: s.Limit}
	m.line.SetZone(s.Zone)
	m.line.Own = s.Keys
	for i, source := range sources {
		m.all = append(m.all, &cursor{pipe: p, blocks: p.read(ctx, s.opener(source), 2),
			key: noTime, index: i, next: -1})
	}
	return m
}

func (m *merger) Len() int { return len(m.cursors) }

func (m *merger) Less(i, j int) bool {
	a, b := m.cursors[i], m.cursors[j]
	return a.key < b.key || a.key == b.key && a.index < b.index
}

func (m *merger) Swap(i, j int) { m.cursors[i], m.cursors[j] = m.cursors[j], m.cursors[i] }

// Push implements heap.Interface.
func (m *merger) Push(x any) { m.cursors = append(m.cursors, x.(*cursor)) }

// Pop implements heap.Interface.
func (m *merger) Pop() any {
	last := m.cursors[len(m.cursors)-1]
	m.cursors = m.cursors[:len(m.cursors)-1]
	return last
}

// flushSize is the number of bytes that are written at once.
const flushSize = 256 << 10

// appendLine appends a line with its context, unless the limit is reached.
func (m *merger) appendLine(out []byte, r Renderer, line []byte, matched bool) []byte {
	if matched {
		m.lines++
	}
	if m.limit.Newest {
		m.keep(r, line)
		return out
	}
	if m.full && m.context.size == 0 {
		if matched {
			m.beyond++
		}
		return out
	}
	n, shown := len(out), m.context.lines
	out = m.context.append(out, r, &m.line, line, matched)
	if !m.full && !m.limit.isReached(m.lines, m.bytes+len(out)) {
		return out
	}
	m.full = m.context.size > 0 || m.limit.Bytes == 0 || len(out)-n <= m.limit.Bytes
	m.around += m.context.lines - shown
	if matched {
		m.beyond++
		m.around--
	}
	return out[:n]
}

// keep adds a selected line to the newest ones, and leaves out the oldest of
// them if there are too many.
func (m *merger) keep(r Renderer, line []byte) {
	m.line.Reset(line)
	text := r.Append(nil, &m.line)
	if m.limit.Bytes > 0 && len(text) > m.limit.Bytes {
		m.beyond++ // others may fit
		return
	}
	m.newest = append(m.newest, text)
	m.bytes += len(text)
	for len(m.newest) > 0 && m.limit.isReached(uint64(len(m.newest)), m.bytes) {
		m.bytes -= len(m.newest[0])
		m.newest = m.newest[1:]
		m.beyond++
	}
}

func (m *merger) write(w io.Writer, r Renderer) (total Counts, err error) {
	defer func() {
		for _, c := range m.all {
			total.add(c.counts)
		}
		total.Beyond, total.Around = m.beyond, m.around
	}()
	for _, c := range m.all {
		if c.advance(m.ctx) {
			heap.Push(m, c)
		}
	}
	var out []byte
	for len(m.cursors) > 0 {
		c := m.cursors[0]
		s := &c.b.spans[c.next]
		out = m.appendLine(out, r, c.b.data[s.from:s.end], s.matched)
		if len(out) >= flushSize {
			if _, err := w.Write(out); err != nil {
				return total, err
			}
			m.bytes += len(out)
			out = out[:0]
		}
		if c.advance(m.ctx) {
			heap.Fix(m, 0)
		} else {
			heap.Pop(m)
		}
	}
	out = append(out, bytes.Join(m.newest, nil)...)
	if len(out) > 0 {
		if _, err := w.Write(out); err != nil {
			return total, err
		}
	}
	var errs []error
	for _, c := range m.all {
		errs = append(errs, c.err)
	}
	return total, errors.Join(append(errs, m.ctx.Err())...)
}

// contextLines shows lines around those that match, with a separator between
// groups that are not adjacent, as grep does.
type contextLines struct {
	size   int
	before [][]byte // copies of the last lines that were not shown, as a ring
	at     int      // index of the oldest line in before
	after  int      // number of following lines that are shown
	gap    bool     // lines have been left out since the last one shown
	shown  bool     // a line has been shown
	lines  uint64   // number of lines shown
}

func (c *contextLines) append(
	out []byte, r Renderer, l *logread.Line, line []byte, matched bool,
) []byte {
	show := func(line []byte) {
		l.Reset(line)
		out = r.Append(out, l)
		c.lines++
	}
	switch {
	case matched:
		if c.gap && c.shown {
			out = append(out, "--\n"...)
		}
		for i := range c.before {
			show(c.before[(c.at+i)%len(c.before)])
		}
		show(line)
		c.before, c.at, c.after, c.gap, c.shown = c.before[:0], 0, c.size, false, true
	case c.after > 0:
		c.after--
		show(line)
	case len(c.before) < c.size:
		c.before = append(c.before, append([]byte(nil), line...))
	case c.size > 0:
		c.before[c.at] = append(c.before[c.at][:0], line...)
		c.at = (c.at + 1) % c.size
		c.gap = true
	}
	return out
}
