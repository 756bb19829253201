// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"slices"
	"strings"
)

// An item is one field of a line that is being sorted.
type item struct {
	key   string
	text  string // the value of a text; for a field that is not under its own key, that key
	value any
	kind  kind
	claim claim
}

// A kind is the kind of value that an item has.
type kind uint8

const (
	field   kind = iota // a field, in value
	problem             // an error, in value, that the layout may format
	text                // a text, in text
	stamp               // the time of the entry
	site                // the file and line of the call site
	caller              // the call site in the format of the layout
)

// A claim is the precedence of an item for its key: of several items with one
// key, the one with the lowest claim keeps it.
type claim uint8

const (
	reserved claim = iota // a field that the formatter itself writes
	own                   // the field has this key in the entry
	renamed               // the field has been given this key
	filler                // the line must have the key, whatever its value
)

// A list is the items of one line. It is used by one goroutine at a time.
type list struct {
	items  []item
	order  []place
	kept   int     // number of items that all lines have; they come first
	always []place // the order of the kept items
	clash  bool    // sort has found two items with one key
}

// A place represents items[at] while the list is sorted: moving 16 bytes and
// comparing numbers takes a third of the time that items and strings need.
type place struct {
	sort uint64 // position of the key, then its first six bytes
	at   int
}

const (
	prefixLen   = 6
	maxPosition = 1<<16 - 1
)

// sortable returns the number by which items are compared first. Keys with
// equal numbers are compared as strings.
func sortable(position int, key string) uint64 {
	return uint64(min(position, maxPosition))<<(8*prefixLen) | prefix(key)>>(8*(8-prefixLen))
}

// prefix returns the first eight bytes of a key as one number; a shorter key is
// padded with zeros. Bytes that are read twice are or-ed to the same position.
// A loop over the bytes, or a copy of them to load as one, takes longer.
func prefix(key string) uint64 {
	n := len(key)
	switch {
	case n >= 8:
		return uint64(four(key))<<32 | uint64(four(key[4:]))
	case n >= 4:
		return uint64(four(key))<<32 | uint64(four(key[n-4:]))<<(8*(8-n))
	case n > 0:
		return uint64(key[0])<<56 | uint64(key[n/2])<<(56-8*(n/2)) | uint64(key[n-1])<<(64-8*n)
	}
	return 0
}

// four is one load: the compiler recognizes the pattern.
func four(s string) uint32 {
	_ = s[3]
	return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
}

// add appends an item whose key has a position in the line: keys with lower
// positions come first, and those with the same position in the order of their
// bytes.
func (l *list) add(position int, it item) {
	*l.next(position, it.key) = it
}

// field is add for a field of an entry. It fills in the new item in place:
// copying it would cost more than filling it.
func (l *list) field(position int, key string, value any) *item {
	it := l.next(position, key)
	it.key, it.value, it.claim = key, value, own
	return it
}

// drop removes the item that was added last.
func (l *list) drop() {
	n := len(l.items) - 1
	l.items[n] = item{}
	l.items, l.order = l.items[:n], l.order[:len(l.order)-1] // items may have more: see separate
}

// next adds a zero item.
func (l *list) next(position int, key string) *item {
	n := len(l.items)
	l.order = append(l.order, place{sortable(position, key), n})
	if n == cap(l.items) {
		l.items = slices.Grow(l.items, n+8)
	}
	l.items = l.items[:n+1]
	return &l.items[n]
}

// few is the largest number of places sorted by insertion, which beats the
// general algorithm for short lists.
const few = 24

// sort finds all clashes: whatever the algorithm, two items that end up side by
// side have been compared with each other.
func (l *list) sort() {
	if len(l.order) > few {
		slices.SortFunc(l.order, l.compare)
		return
	}
	for i := 1; i < len(l.order); i++ {
		p := l.order[i]
		j := i
		for j > 0 && (p.sort < l.order[j-1].sort ||
			p.sort == l.order[j-1].sort && l.compare(p, l.order[j-1]) < 0) {
			l.order[j] = l.order[j-1]
			j--
		}
		l.order[j] = p
	}
}

// compare is a total order, so the result never depends on the order of a map.
func (l *list) compare(a, b place) int {
	switch {
	case a.sort < b.sort:
		return -1
	case a.sort > b.sort:
		return 1
	}
	x, y := &l.items[a.at], &l.items[b.at]
	if c := strings.Compare(x.key, y.key); c != 0 {
		return c
	}
	l.clash = true
	switch {
	case x.claim != y.claim:
		return int(x.claim) - int(y.claim)
	case x.claim == reserved:
		return a.at - b.at // items of the formatter do not come from a map
	}
	return strings.Compare(x.text, y.text)
}

// clashPrefix is prepended to a key that an item with a higher precedence has.
const clashPrefix = "fields."

// separate makes the keys of the sorted list unique, so that a reader that
// keeps one of two equal keys loses no field. position returns where a key
// belongs.
func (l *list) separate(position func(key string) int) {
	if !l.clash {
		return
	}
	for i := 1; i < len(l.order); i++ {
		if l.order[i].sort != l.order[i-1].sort {
			continue
		}
		it := &l.items[l.order[i].at]
		if it.key != l.items[l.order[i-1].at].key {
			continue
		}
		if it.claim == filler {
			l.order = slices.Delete(l.order, i, i+1)
			i--
			continue
		}
		if it.claim == own {
			it.text = it.key
		}
		it.key, it.claim = clashPrefix+it.key, renamed
		l.order[i].sort = sortable(position(it.key), it.key)
		l.sort()
		i = 0
	}
	l.clash = false
}

// copy returns a list with the items of l that are in every line.
func (l *list) copy() list {
	return list{
		items: slices.Clone(l.items), kept: len(l.items),
		order: slices.Clone(l.order), always: l.order,
	}
}

// keepItems is the maximum number of items for which a list keeps its memory
// for the next line.
const keepItems = 1024

// reset keeps only the items of every line and clears the others, so that
// nothing of an entry outlives the line.
func (l *list) reset() {
	if cap(l.items) > keepItems {
		l.items, l.order = slices.Clone(l.items[:l.kept]), nil
	}
	clear(l.items[l.kept:])
	l.items, l.order = l.items[:l.kept], append(l.order[:0], l.always...)
}
