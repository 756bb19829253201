// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"slices"
	"sync"

	"github.com/nib-log/nib/logread"
)

// The bounds of facets: lines that are counted of those that were there when
// the page was opened, keys, different values of a key, and the length of a
// value.
const (
	maxFacetLines  = 100_000
	maxFacetKeys   = 200
	maxFacetValues = 500
	maxFacetText   = 120
	topValues      = 10
)

// A facets counts the values of each key.
type facets struct {
	mu    sync.Mutex
	lines int64
	keys  map[string]*facetKey
}

// A facetKey counts the values of one key. One with too many has no values: it
// identifies lines, and does not group them.
type facetKey struct {
	name   string
	lines  int64
	values map[string]*int64
}

// add counts a line and reports whether more lines are wanted.
func (f *facets) add(l *logread.Line) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.keys == nil {
		f.keys = make(map[string]*facetKey)
	}
	f.lines++
	for key, raw := range otherFields(l) {
		if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' {
			continue
		}
		k := f.keys[string(key)]
		if k == nil {
			if len(f.keys) >= maxFacetKeys || len(key) > maxFacetText {
				continue
			}
			k = &facetKey{name: string(key), values: make(map[string]*int64)}
			f.keys[k.name] = k
		}
		k.add(l.Text(raw))
	}
	return f.lines < maxFacetLines
}

func (k *facetKey) add(text []byte) {
	k.lines++
	if k.values == nil {
		return
	}
	n := k.values[string(text)]
	if n == nil {
		if len(k.values) >= maxFacetValues || len(text) > maxFacetText {
			k.values = nil
			return
		}
		n = new(int64)
		k.values[string(text)] = n
	}
	*n++
}

// A facet is a key as the page shows it.
type facet struct {
	Key    string       `json:"key"`   // as a query has it
	Shown  string       `json:"shown"` // without what cannot be seen
	Lines  int64        `json:"lines"`
	Kinds  int          `json:"kinds"` // different values
	Values []facetValue `json:"values"`
}

type facetValue struct {
	Text  string `json:"text"`
	Shown string `json:"shown"`
	Lines int64  `json:"lines"`
}

// top returns the keys that most lines have with their most frequent values,
// and how many lines have been counted.
func (f *facets) top() (list []facet, lines int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.keys {
		// A key whose values are nearly all different does not group
		// lines, either.
		if k.values == nil || len(k.values) > 20 && int64(len(k.values))*2 > k.lines {
			continue
		}
		c := facet{Key: k.name, Shown: visible([]byte(k.name)), Lines: k.lines, Kinds: len(k.values)}
		for text, n := range k.values {
			c.Values = append(c.Values, facetValue{Text: text, Shown: visible([]byte(text)), Lines: *n})
		}
		slices.SortFunc(c.Values, func(a, b facetValue) int { return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Text, b.Text)) })
		c.Values = c.Values[:min(len(c.Values), topValues)]
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b facet) int { return cmp.Or(cmp.Compare(b.Lines, a.Lines), cmp.Compare(a.Key, b.Key)) })
	return list[:min(len(list), 40)], f.lines
}
