// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/logread"
)

// The numbers of values that are counted separately.
const (
	maxGroups   = 10_000
	maxPatterns = 10_000
)

// The years of a summary. Other times are mistakes in a line, and the
// difference of any two of these is a time.Duration.
const (
	firstYear = 1900
	lastYear  = 2150
)

// maxValue is the maximum length of a value that lines are grouped by. Longer
// values are cut.
const maxValue = 1024

// others is the name of the group for values beyond a bound.
const others = "(others)"

// A Summary describes the lines of logs as a whole.
type Summary struct {
	Counts Counts
	First  time.Time // zero if no line has a time
	Last   time.Time
	Pause  time.Duration // a part of that time that is left out
	Groups []Group       // groups by the requested fields, the most frequent first
	// Patterns are messages in which a star stands for what differs, the most
	// frequent first.
	Patterns []Group
	over     histogram
}

// A Group counts lines that have the same values.
type Group struct {
	Values []string
	Count  uint64
	Of     []Percentiles // percentiles of each requested field
	// Of a message, its first and last time, zero without times, and its first
	// line, cut.
	First, Last time.Time
	Sample      string
	key         string // of a pattern, with varying for a star
}

// Percentiles describe the numbers of a field.
type Percentiles struct {
	Count              uint64
	P50, P90, P99, Max float64
	Sum                float64
}

// Over divides the time from First to Last into equal parts.
func (s *Summary) Over(parts int) []Rate { return s.over.columns(parts) }

// Sparklines draws the rates of lines over time in some columns: of all lines,
// of warnings, and of errors.
func (s *Summary) Sparklines(columns int) (all, warn, failed string) {
	rates := s.over.columns(columns)
	return sparkline(rates, func(r Rate) uint64 { return r.All }),
		sparkline(rates, func(r Rate) uint64 { return r.Warn }),
		sparkline(rates, func(r Rate) uint64 { return r.Error })
}

// A group is a Group that is being counted.
type group struct {
	count    uint64
	sketches []Sketch
	first    int64 // Unix nanoseconds; math.MaxInt64 without times
	last     int64
	sample   []byte // the line at first, or the least one
}

// see extends the group by a line. Its result does not depend on the order of
// the lines.
func (g *group) see(first, last int64, line []byte) {
	line = beginning(line, maxValue)
	if g.sample == nil || first < g.first || first == g.first && bytes.Compare(line, g.sample) < 0 {
		g.first, g.sample = first, append(g.sample[:0:cap(g.sample)], line...)
	}
	g.last = max(g.last, last)
}

// with adds the lines of another group to g, which may be nil, and returns it.
func (g *group) with(o *group) *group {
	if g == nil || o == nil {
		return cmp.Or(g, o)
	}
	g.count += o.count
	if o.sample != nil {
		g.see(o.first, o.last, o.sample)
	}
	for i := range g.sketches {
		g.sketches[i].merge(&o.sketches[i])
	}
	return g
}

// A collector counts lines; each worker has its own. It is a Renderer that
// writes nothing.
type collector struct {
	by, of   []string
	groups   map[string]*group
	patterns map[string]*group
	joined   map[int][]*joinable // patterns that others are a part of, by their tokens
	full     bool                // joining patterns does not help
	over     histogram
	key      []byte
}

func newCollector(by, of []string) *collector {
	return &collector{by: by, of: of, groups: map[string]*group{}, patterns: map[string]*group{},
		over: newHistogram()}
}

// Append implements Renderer.
func (c *collector) Append(dst []byte, l *logread.Line) []byte {
	level, _ := l.Level()
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	if at, ok := l.Time(); ok && at.Year() >= firstYear && at.Year() <= lastYear {
		first = at.UnixNano()
		last = first
		c.over.add(first, level)
	}
	c.key = c.key[:0]
	for i, name := range c.by {
		if i > 0 {
			c.key = append(c.key, 0)
		}
		if raw, ok := valueOf(l, name); ok {
			c.key = appendGroupValue(c.key, l.Text(raw))
		} else {
			c.key = append(c.key, '-')
		}
	}
	g := c.in(c.groups, maxGroups)
	for i, name := range c.of {
		if raw, ok := valueOf(l, name); ok {
			if v, ok := numberOf(l.Text(raw)); ok {
				g.sketches[i].Add(v)
			}
		}
	}
	if raw := l.Message(); raw != nil {
		c.key = appendPattern(c.key[:0], l.Text(raw))
		if c.patterns[string(c.key)] == nil {
			c.join()
		}
		c.in(c.patterns, maxPatterns).see(first, last, l.Bytes())
	}
	return dst
}

// appendGroupValue appends the beginning of a value, without the byte that
// separates values.
func appendGroupValue(dst, text []byte) []byte {
	if head := beginning(text, maxValue); len(head) < len(text) {
		text = append(head, "…"...)
	}
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, []byte("\ufffd"))
	}
	return append(dst, text...)
}

// beginning returns at most limit bytes of a text, cut between runes and with
// no capacity beyond.
func beginning(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit:limit]
}

// in counts a line in the group of c.key.
func (c *collector) in(m map[string]*group, most int) *group {
	g := m[string(c.key)]
	if g == nil {
		if len(m) >= most {
			c.key = append(c.key[:0], others...)
			g = m[others]
		}
		if g == nil {
			g = &group{
				first: math.MaxInt64, last: math.MinInt64, sketches: make([]Sketch, len(c.of)),
			}
			m[string(c.key)] = g
		}
	}
	g.count++
	return g
}

// numberOf reads a number, or a duration as milliseconds.
func numberOf(text []byte) (float64, bool) {
	if v, err := strconv.ParseFloat(string(text), 64); err == nil && !math.IsInf(v, 0) &&
		!math.IsNaN(v) {
		return v, true
	}
	return Millis(text)
}

// Millis reads a duration with a unit as milliseconds.
func Millis(text []byte) (float64, bool) {
	if len(text) > 1 && len(text) < 32 && (text[0]-'0' <= 9 || text[0] == '-') {
		if d, err := time.ParseDuration(string(text)); err == nil {
			return float64(d) / float64(time.Millisecond), true
		}
	}
	return 0, false
}

func mergeGroups(to, from map[string]*group, most int) {
	for key, g := range from {
		if to[key] == nil && len(to) >= most {
			key = others
		}
		to[key] = to[key].with(g)
	}
}

// Summarize counts the selected lines of the sources by the values of some
// fields, with the percentiles of others. Its memory does not grow with the
// logs.
func Summarize(
	ctx context.Context, sources []Source, s Selection, by, of []string,
) (*Summary, error) {
	var mu sync.Mutex
	var all []*collector
	var errs []error
	sum := new(Summary)
	s.Context = 0
	for _, source := range sources {
		counts, err := Cat(ctx, io.Discard, []Source{source}, s, func() Renderer {
			c := newCollector(by, of)
			mu.Lock()
			defer mu.Unlock()
			all = append(all, c)
			return c
		})
		sum.Counts.add(counts)
		errs = append(errs, err)
		mu.Lock()
		for len(all) > 1 {
			last := all[len(all)-1]
			all = all[:len(all)-1]
			mergeGroups(all[0].groups, last.groups, maxGroups)
			mergeGroups(all[0].patterns, last.patterns, 2*maxPatterns)
			all[0].patterns = join(all[0].patterns, maxPatterns)
			all[0].over.merge(&last.over)
		}
		mu.Unlock()
	}
	if len(all) > 0 {
		c := all[0]
		c.patterns = join(c.patterns, maxPatterns)
		sum.Groups, sum.Patterns, sum.over = sorted(c.groups), sorted(c.patterns), c.over
		if len(c.over.buckets) > 0 {
			sum.First, sum.Last = time.Unix(0, c.over.first), time.Unix(0, c.over.last)
		}
	}
	return sum, errors.Join(errs...)
}

func sorted(m map[string]*group) (list []Group) {
	for key, g := range m {
		e := Group{Count: g.count, Sample: string(g.sample), key: key}
		e.Values = strings.Split(strings.ReplaceAll(key, varying, "*"), "\x00")
		if g.last != math.MinInt64 {
			e.First, e.Last = time.Unix(0, g.first), time.Unix(0, g.last)
		}
		for i := range g.sketches {
			s := &g.sketches[i]
			e.Of = append(e.Of, Percentiles{
				s.count, s.Quantile(0.5), s.Quantile(0.9), s.Quantile(0.99), s.max, s.sum,
			})
		}
		list = append(list, e)
	}
	slices.SortFunc(list, func(a, b Group) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), slices.Compare(a.Values, b.Values))
	})
	return list
}
