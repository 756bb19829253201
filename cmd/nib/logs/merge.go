// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	"github.com/nib-log/nib/internal/logread"
)

// A cursor is the next line of a source.
type cursor struct {
	blocks <-chan *block
	b      *block // nil before the first block
	next   int    // span of b
	key    int64  // the time of the line, or of the last line that had one
	index  int    // index of the source; of equal times, the lower index comes first
}

// A merger merges sources by time. It never changes the order of lines of one
// source.
type merger struct {
	ctx     context.Context
	pipe    *pipeline
	cursors []*cursor // in the order of their lines
	context contextLines
	line    logread.Line
	limit   Limit
	lines   uint64 // selected lines so far
	bytes   int    // written so far
	full    bool
	newest  [][]byte
	total   Counts
	errs    []error // of each source
}

func newMerger(ctx context.Context, p *pipeline, sources []Source, s *Selection) *merger {
	m := &merger{
		ctx: ctx, pipe: p, context: contextLines{size: s.Context}, limit: s.Limit,
		errs: make([]error, len(sources)),
	}
	m.line.SetZone(s.Zone)
	m.line.Own = s.Keys
	for i, source := range sources {
		c := &cursor{blocks: p.read(ctx, s.opener(source), 2), key: noTime, index: i, next: -1}
		m.cursors = append(m.cursors, c)
	}
	return m
}

// advance goes to the next line of a source. It reports false at the end.
func (m *merger) advance(c *cursor) bool {
	for c.next++; c.b == nil || c.next >= len(c.b.spans); c.next = 0 {
		if c.b != nil {
			m.pipe.free.Put(c.b)
		}
		if c.b = receive(m.ctx, c.blocks); c.b == nil {
			return false
		}
		m.total.add(c.b.counts)
		if c.b.err != nil {
			m.errs[c.index] = c.b.err
		}
	}
	// A line without a time, such as one of a stack trace, belongs to the line
	// before it.
	switch at := c.b.spans[c.next].time; {
	case at == noTime:
	case at < c.key:
		m.total.Late++
	default:
		c.key = at
	}
	return true
}

// compare orders the cursors by their lines.
func (c *cursor) compare(o *cursor) int {
	if c.key == o.key {
		return c.index - o.index
	}
	return cmp.Compare(c.key, o.key)
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
			m.total.Beyond++
		}
		return out
	}
	n, shown := len(out), m.context.lines
	out = m.context.append(out, r, &m.line, line, matched)
	if !m.full && !m.limit.isReached(m.lines, m.bytes+len(out)) {
		return out
	}
	m.full = m.context.size > 0 || m.limit.Bytes == 0 || len(out)-n <= m.limit.Bytes
	m.total.Around += m.context.lines - shown
	if matched {
		m.total.Beyond++
		m.total.Around--
	}
	return out[:n]
}

// keep adds a selected line to the newest ones, and leaves out the oldest of
// them if there are too many.
func (m *merger) keep(r Renderer, line []byte) {
	m.line.Reset(line)
	text := r.Append(nil, &m.line)
	if m.limit.Bytes > 0 && len(text) > m.limit.Bytes {
		m.total.Beyond++ // others may fit
		return
	}
	m.newest = append(m.newest, text)
	m.bytes += len(text)
	for len(m.newest) > 0 && m.limit.isReached(uint64(len(m.newest)), m.bytes) {
		m.bytes -= len(m.newest[0])
		m.newest = m.newest[1:]
		m.total.Beyond++
	}
}

func (m *merger) write(w io.Writer, r Renderer) (Counts, error) {
	isEmpty := func(c *cursor) bool { return !m.advance(c) }
	m.cursors = slices.DeleteFunc(m.cursors, isEmpty)
	slices.SortFunc(m.cursors, (*cursor).compare)
	var out []byte
	for len(m.cursors) > 0 {
		c := m.cursors[0]
		s := &c.b.spans[c.next]
		out = m.appendLine(out, r, c.b.data[s.from:s.end], s.matched)
		if len(out) >= flushSize {
			if _, err := w.Write(out); err != nil {
				return m.total, err
			}
			m.bytes += len(out)
			out = out[:0]
		}
		others := m.cursors[1:]
		if !m.advance(c) {
			m.cursors = others
			continue
		}
		at, _ := slices.BinarySearchFunc(others, c, (*cursor).compare)
		copy(m.cursors, others[:at])
		m.cursors[at] = c
	}
	out = append(out, bytes.Join(m.newest, nil)...)
	if len(out) > 0 {
		if _, err := w.Write(out); err != nil {
			return m.total, err
		}
	}
	return m.total, errors.Join(append(m.errs, m.ctx.Err())...)
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
