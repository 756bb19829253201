// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/internal/logread"
)

// The bounds of facets: the number of lines that are counted when the page is
// opened, of keys, and of different values of a key, and the length of a value.
const (
	maxFacetLines  = 100_000
	maxFacetKeys   = 200
	maxFacetValues = 500
	maxFacetText   = 120
	topValues      = 10
)

// A facets counts the values of each key, and of the message.
type facets struct {
	mu      sync.Mutex
	lines   int64
	keys    map[string]*facetKey
	message facetKey
}

// A facetKey counts the values of one key. A key with too many values
// identifies lines and does not group them, so it is shown without values; if
// they are numbers, with percentiles.
type facetKey struct {
	name string
	role string // "message" if the values are messages, under any key
	valueCount
	values  map[string]*valueCount
	numbers logs.Sketch
	numeric int64 // lines with a number
	millis  bool  // set for durations with a unit
}

// A valueCount counts the lines that have a value.
type valueCount struct{ lines, errors int64 }

// add counts a line and reports whether more lines are wanted.
func (f *facets) add(l *logread.Line) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = make(map[string]*facetKey)
		f.message = facetKey{name: "message", role: "message", values: make(map[string]*valueCount)}
	}
	f.lines++
	failed := classOf(l.Level()) >= classError
	if raw := l.Message(); groups(raw) && l.Format() != logread.FormatText {
		f.message.add(l.Text(raw), failed)
	}
	for key, raw := range otherFields(l) {
		if !groups(raw) {
			continue
		}
		k := f.keys[string(key)]
		if k == nil {
			if len(f.keys) >= maxFacetKeys || len(key) > maxFacetText || !canBeNamed(key) {
				continue
			}
			k = &facetKey{name: string(key), values: make(map[string]*valueCount)}
			f.keys[k.name] = k
		}
		text := l.Text(raw)
		k.measure(raw, text)
		k.add(text, failed)
	}
	return f.lines < maxFacetLines
}

// canBeNamed reports whether a query can have a key in backquotes.
func canBeNamed(key []byte) bool {
	return len(key) > 0 && bytes.IndexByte(key, '`') < 0 && utf8.Valid(key)
}

// groups reports whether lines are counted by a raw value.
func groups(raw []byte) bool { return len(raw) > 0 && raw[0] != '{' && raw[0] != '[' }

func (k *facetKey) add(text []byte, failed bool) {
	k.count(failed)
	if k.values == nil {
		return
	}
	n := k.values[string(text)]
	if n == nil {
		if len(k.values) >= maxFacetValues || len(text) > maxFacetText {
			k.values = nil
			return
		}
		n = new(valueCount)
		k.values[string(text)] = n
	}
	n.count(failed)
}

func (n *valueCount) count(failed bool) {
	n.lines++
	if failed {
		n.errors++
	}
}

// The errors of a value stand out if there are at least outlierErrors of them,
// if they are at least 1/outlierPart of all errors, and if they are at least
// outlierTimes as frequent as usual.
const (
	outlierErrors = 5
	outlierPart   = 20
	outlierTimes  = 3
)

// standsOut reports whether the lines with a value fail more often than all.
func (n *valueCount) standsOut(all valueCount) bool {
	return n.errors >= outlierErrors && n.errors*outlierPart >= all.errors &&
		float64(n.errors)*float64(all.lines) >= outlierTimes*float64(all.errors)*float64(n.lines)
}

// measure adds a number, or a text that is a duration.
func (k *facetKey) measure(raw, text []byte) {
	if identifies(k.name) {
		return
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if ok := err == nil && !math.IsInf(v, 0) && !math.IsNaN(v); !ok {
		if v, ok = logs.Millis(text); !ok {
			return
		}
		k.millis = true
	}
	k.numeric++
	k.numbers.Add(v)
}

// identifies reports whether the numbers of a key are names of things.
func identifies(key string) bool {
	name := strings.ToLower(key)
	return name == "id" || strings.HasSuffix(name, "_id") || strings.HasSuffix(name, ".id") ||
		strings.HasSuffix(key, "Id") || strings.HasSuffix(key, "ID") || name == "pid"
}

// A facet is a key for the page.
type facet struct {
	Key string `json:"key"` // the key as written in a query
	// "message" if queries name the field so, whatever its key.
	Role    string       `json:"role,omitempty"`
	Shown   string       `json:"shown"` // the value without invisible characters
	Lines   int64        `json:"lines"`
	Kinds   int          `json:"kinds"` // number of different values
	Values  []facetValue `json:"values"`
	Numbers *percentiles `json:"numbers,omitempty"` // shown instead of values
}

type facetValue struct {
	Text   string `json:"text"`
	Shown  string `json:"shown"`
	Lines  int64  `json:"lines"`
	Errors int64  `json:"errors,omitempty"` // lines at level error and above
	Stands bool   `json:"stands,omitempty"` // lines with this value fail more often than others
}

// The percentiles of the numbers of a key.
type percentiles struct {
	Unit string       `json:"unit,omitempty"` // "ms" for durations with a unit
	At   [][2]float64 `json:"at"`             // percent, and the number that they do not exceed
}

// manyKinds is the number of different values from which lines are not grouped
// by a key whose values are numbers or nearly all different.
const manyKinds = 20

// facet returns the key for the page, if it groups or measures lines.
func (k *facetKey) facet() (c facet, ok bool) {
	c = facet{Key: k.name, Role: k.role, Shown: visible([]byte(k.name)), Lines: k.lines,
		Kinds: len(k.values), Values: []facetValue{}}
	many := k.values == nil || len(k.values) > manyKinds
	switch {
	case many && k.numeric*100 > k.lines*95:
		c.Numbers = new(percentiles)
		if k.millis {
			c.Numbers.Unit = "ms"
		}
		for _, percent := range []float64{50, 90, 99} {
			c.Numbers.At = append(c.Numbers.At,
				[2]float64{percent, k.numbers.Quantile(percent / 100)})
		}
		c.Numbers.At = append(c.Numbers.At, [2]float64{100, k.numbers.Max()})
		return c, true
	case k.values == nil || many && int64(len(k.values))*2 > k.lines || k.lines == 0:
		return c, false
	}
	for text, n := range k.values {
		if !utf8.ValidString(text) {
			continue // no query can have it
		}
		c.Values = append(c.Values,
			facetValue{text, visible([]byte(text)), n.lines, n.errors, n.standsOut(k.valueCount)})
	}
	slices.SortFunc(c.Values, func(a, b facetValue) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Text, b.Text))
	})
	c.Values = most(c.Values)
	return c, len(c.Values) > 0
}

// most returns the most frequent values. If less frequent values stand out, the
// one of them whose lines fail most often replaces the last.
func most(list []facetValue) []facetValue {
	if len(list) <= topValues {
		return list
	}
	worst := -1
	for i, v := range list[topValues:] {
		if v.Stands && (worst < 0 || v.Errors*list[worst].Lines > list[worst].Errors*v.Lines) {
			worst = topValues + i
		}
	}
	if worst >= 0 {
		list[topValues-1] = list[worst]
	}
	return list[:topValues]
}

// top returns the message and the most frequent keys, with their most frequent
// values or percentiles, and the number of lines that were counted.
func (f *facets) top() (list []facet, lines int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, ok := f.message.facet(); ok {
		list = append(list, c)
	}
	for _, k := range f.keys {
		if c, ok := k.facet(); ok {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b facet) int {
		return cmp.Or(cmp.Compare(b.Role, a.Role), cmp.Compare(b.Lines, a.Lines),
			cmp.Compare(a.Key, b.Key))
	})
	return list[:min(len(list), 40)], f.lines
}
