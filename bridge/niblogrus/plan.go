// SPDX-License-Identifier: Apache-2.0

package niblogrus

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/nib-log/nib"
	"github.com/sirupsen/logrus"
)

// A plan is a Formatter with its defaults filled in. It never changes.
type plan struct {
	layout nib.Layout // of the Formatter; its ErrorKey is set
	first  []string

	always             list // items of every line besides the fields of its entry
	levelAt, messageAt int  // the items of always that differ from line to line, or -1

	levels  [len(levels)]string
	rules   map[string]rule
	only    map[string]bool // if nil, all
	watched uint64          // bit keyBit(k) is set for every key k of rules

	dataKey, faultKey string
	callerKey         string // if empty, the call site is the two fields below
	funcKey, fileKey  string
	caller            func(*nib.Event, string, runtime.Frame)      // adds the call site, or nil
	prettify          func(*runtime.Frame) (function, file string) // nil if not configured
	timeFormat        string
	zone              *time.Location // if nil, the zone of each entry
	units             int64          // units of timeFormat in a second; 0 if the time is text

	writers sync.Pool // pool of *writer
}

// A rule is for fields with a key in one of the Formatter's lists.
type rule struct {
	key      string // the key under which the field is written
	position int
	isError  bool // the rule is only for errors
}

func newPlan(f *Formatter) *plan {
	l, names := f.Layout, f.FieldMap
	l.ErrorKey = cmp.Or(l.ErrorKey, logrus.ErrorKey)
	p := &plan{
		layout:     l,
		timeFormat: cmp.Or(l.TimeFormat, time.RFC3339),
		first:      slices.Clone(f.First),
		dataKey:    f.DataKey,
		faultKey:   cmp.Or(names[logrus.FieldKeyLogrusError], logrus.FieldKeyLogrusError),
		callerKey:  l.CallerKey,
		funcKey:    cmp.Or(names[logrus.FieldKeyFunc], logrus.FieldKeyFunc),
		fileKey:    cmp.Or(names[logrus.FieldKeyFile], logrus.FieldKeyFile),
		caller:     l.Caller,
		prettify:   f.CallerPrettyfier,
	}
	if !l.KeepZone {
		p.zone = l.TimeZone
	}
	p.units = unixUnits(p.timeFormat)
	if p.caller != nil {
		p.callerKey = cmp.Or(p.callerKey, "caller")
	}
	for i := range p.levels {
		p.levels[i] = p.levelName(logrus.Level(i))
	}
	p.keep(cmp.Or(l.TimeKey, names[logrus.FieldKeyTime], logrus.FieldKeyTime), item{kind: stamp})
	levelKey := cmp.Or(l.LevelKey, names[logrus.FieldKeyLevel], logrus.FieldKeyLevel)
	p.levelAt = p.keep(levelKey, item{kind: text})
	messageKey := cmp.Or(l.MessageKey, names[logrus.FieldKeyMsg], logrus.FieldKeyMsg)
	p.messageAt = p.keep(messageKey, item{kind: text})
	if f.Service != "" {
		p.keep("service", item{kind: text, text: f.Service})
	}
	for _, k := range f.Always {
		p.keep(k, item{kind: text, claim: filler})
	}
	if f.Only != nil {
		p.only = make(map[string]bool, len(f.Only))
		for _, k := range f.Only {
			p.only[k] = true
		}
	}
	p.always.sort()
	p.always.separate(p.position)
	p.addRules(f)
	p.writers.New = func() any { return newWriter(p) }
	return p
}

// quiet returns a layout that adds no fields itself, with the functions of l
// and the formats of logrus. It is valid with any ErrorKey.
func quiet(l nib.Layout) nib.Layout {
	if key, add := l.ErrorKey, l.Error; add != nil {
		l.Error = func(e *nib.Event, _ string, err error) { add(e, key, err) }
	}
	l.TimeFormat, l.KeepZone = time.RFC3339Nano, true
	if l.Duration == nib.DurationMillis {
		l.Duration = nib.DurationNanos
	}
	for _, key := range []*string{&l.TimeKey, &l.LevelKey, &l.MessageKey, &l.CallerKey, &l.StackKey,
		&l.LoggerKey} {
		*key = nib.OmitKey
	}
	l.ErrorKey = ""
	return l
}

// unixUnits returns the number of units in a second for a numeric format, and 0
// for a textual format.
func unixUnits(format string) int64 {
	switch format {
	case nib.TimeUnix:
		return 1
	case nib.TimeUnixMilli:
		return 1e3
	case nib.TimeUnixMicro:
		return 1e6
	case nib.TimeUnixNano:
		return 1e9
	}
	return 0
}

// keep adds an item that each line has. It returns the index of the item, or -1
// if the layout leaves it out.
func (p *plan) keep(key string, it item) int {
	if key == nib.OmitKey {
		return -1
	}
	it.key = key
	p.always.add(p.position(key), it)
	return len(p.always.items) - 1
}

func (p *plan) addRules(f *Formatter) {
	// logrus never writes a field under this key, with or without an error.
	kept := clashPrefix + p.faultKey
	p.rules = map[string]rule{p.faultKey: {key: kept, position: p.position(kept)}}
	for _, k := range p.first {
		p.rules[k] = rule{key: k, position: p.position(k)}
	}
	for from, to := range f.Rename {
		p.rules[from] = rule{key: to, position: p.position(to)}
	}
	if f.Layout.ErrorKey != "" || f.Layout.Error != nil {
		k := p.layout.ErrorKey
		p.rules[logrus.ErrorKey] = rule{key: k, position: p.position(k), isError: true}
	}
	for k := range p.rules {
		p.watched |= 1 << keyBit(k)
	}
}

// keyBit is a hash of a key's ends and length, 0 to 63: most fields need no
// lookup in the map of rules.
func keyBit(key string) uint {
	n := uint(len(key))
	if n == 0 {
		return 0
	}
	return (uint(key[0]) + uint(key[n-1])<<2 + n<<4) & 63
}

// position returns the index of a key in First, or the length of First.
func (p *plan) position(key string) int {
	if i := slices.Index(p.first, key); i >= 0 {
		return i
	}
	return len(p.first)
}

// apply applies the rule for its key, if there is one, to a field, which is the
// last item of l.
func (p *plan) apply(l *list, it *item) {
	r, ok := p.rules[it.key]
	if !ok {
		return
	}
	if r.isError {
		if _, isError := it.value.(error); isError {
			it.kind = problem
		} else {
			r = rule{key: it.key, position: p.position(it.key)}
		}
	}
	if r.key == nib.OmitKey {
		l.drop()
		return
	}
	if r.key != it.key {
		it.key, it.text, it.claim = r.key, it.key, renamed
	}
	l.order[len(l.order)-1].sort = sortable(r.position, it.key)
}

// name returns the name of an entry's level.
func (p *plan) name(l logrus.Level) string {
	if l < logrus.Level(len(p.levels)) {
		return p.levels[l]
	}
	return p.levelName(l)
}

// levelName calls the layout, and falls back to logrus's name if the layout has
// no names or panics.
func (p *plan) levelName(l logrus.Level) (name string) {
	if p.layout.LevelName == nil {
		return l.String()
	}
	defer func() {
		if recover() != nil {
			name = l.String()
		}
	}()
	return p.layout.LevelName(levelOf(l))
}
