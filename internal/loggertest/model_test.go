// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib"
)

// A machine runs bytes as a program: it calls methods of nib and builds the
// values that a reader of the line must get, with encoding/json and package
// time, but without nib.
type machine struct {
	code   []byte
	at     int
	steps  int // calls made so far; ends a program that calls itself
	layout nib.Layout
	words  []string // likely keys and texts; nil for the default layout's

	replay []func(e *nib.Event) // the calls on the event that cost no allocation
	live   *node                // the object that the event's own fields go to
	hasErr bool                 // Err has been called at the top of the line
}

const (
	maxSteps = 200
	maxNest  = 5
)

func (m *machine) next() int {
	if m.at >= len(m.code) {
		return 0
	}
	m.at++
	return int(m.code[m.at-1])
}

func (m *machine) done() bool { return m.at >= len(m.code) || m.steps > maxSteps }

func (m *machine) uint64() (n uint64) {
	for range 1 + m.next()%8 {
		n = n<<8 | uint64(m.next())
	}
	return n
}

var modelTexts = hostileTexts()

func (m *machine) text() string {
	switch n := m.next(); {
	case n < 64:
		return modelTexts[(n*7+m.next())%len(modelTexts)]
	case n < 96:
		if len(m.words) > 0 {
			return m.words[m.next()%len(m.words)]
		}
		return []string{"time", "level", "message", "logger", "caller", "stack", "error", "a", "b", "user_id", "field.time"}[n%11]
	default:
		b := make([]byte, n%40)
		for i := range b {
			b[i] = byte(m.next())
		}
		return string(b)
	}
}

func (m *machine) key() string {
	if n := m.next(); n < 200 {
		return string(rune('a' + n%26))
	}
	return m.text()
}

func (m *machine) float() float64 { return math.Float64frombits(m.uint64()) }

func (m *machine) time() time.Time {
	t := time.Unix(int64(m.uint64())%(1<<36), int64(m.next())*3_999_999).UTC()
	if m.next()%2 == 0 {
		t = t.In(time.FixedZone("z", (m.next()-128)*600))
	}
	return t
}

// Values as they must be read.

func textNode(s string) *node { return &node{kind: '"', text: decoded(s)} }

func plain(v any) *node {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	n, err := parseJSON(string(b))
	if err != nil {
		panic(err)
	}
	return n
}

func floatNode(f float64, bits int) *node {
	kind := byte('0')
	if f != f || math.IsInf(f, 0) || bits == 32 && math.IsInf(float64(float32(f)), 0) {
		kind = '"'
	}
	return &node{kind: kind, text: floatText(f, bits)}
}

func (m *machine) timeNode(t time.Time) *node {
	if !m.layout.KeepZone {
		t = t.UTC()
	}
	kind := byte('"')
	if strings.HasPrefix(m.layout.TimeFormat, "UNIX") {
		kind = '0'
	}
	return &node{kind: kind, text: timeText(t, m.layout.TimeFormat)}
}

func (m *machine) durNode(d time.Duration) *node {
	places := map[nib.DurationFormat]int{nib.DurationMillis: 6, nib.DurationSeconds: 9}[m.layout.Duration]
	if m.layout.Duration == nib.DurationString {
		return textNode(d.String())
	}
	sign, digits := "", strconv.FormatInt(int64(d), 10)
	if d < 0 {
		sign, digits = "-", digits[1:]
	}
	if places > 0 {
		digits = strings.Repeat("0", max(0, places+1-len(digits))) + digits
		digits = strings.TrimRight(strings.TrimRight(digits[:len(digits)-places]+"."+digits[len(digits)-places:], "0"), ".")
	}
	return &node{kind: '0', text: sign + digits}
}

func listNode(kids ...*node) *node { return &node{kind: '[', kids: kids} }

func (v *node) set(key string, kid *node) {
	v.keys, v.kids = append(v.keys, decoded(key)), append(v.kids, kid)
}

// put makes the call add, which must write want under key.
func (m *machine) put(e *nib.Event, obj *node, top bool, key string, want *node, free bool, add func(e *nib.Event)) {
	if add(e); free && obj == m.live {
		m.replay = append(m.replay, add)
	}
	if top {
		switch key {
		case "time", "level", "message", "logger", "caller", "stack":
			key = "field." + key
		case "error":
			if m.hasErr {
				key = "field.error"
			}
		}
	}
	obj.set(key, want)
}

// err makes the call Err, whose key no other field keeps.
func (m *machine) err(e *nib.Event, obj *node, top bool, err error) {
	e.Err(err)
	for i, k := range obj.keys {
		if k == "error" && top && !m.hasErr {
			obj.keys[i] = "field.error"
		}
	}
	m.hasErr = m.hasErr || top
	obj.set("error", textNode(err.Error()))
}

// fields makes calls on e until the program ends it. top means that the fields
// are at the top level of the line.
func (m *machine) fields(e *nib.Event, obj *node, top bool, nest int) {
	for n := m.next() % 12; n > 0 && !m.done(); n-- {
		m.steps++
		switch k := m.key(); m.next() % 4 {
		case 0:
			m.scalar(e, obj, top, k)
		case 1:
			m.rich(e, obj, top, k)
		case 2:
			m.slice(e, obj, top, k)
		default:
			if nest < maxNest {
				m.nested(e, obj, top, k, nest+1)
			}
		}
	}
}

func (m *machine) scalar(e *nib.Event, obj *node, top bool, k string) {
	put := func(want *node, add func(e *nib.Event)) { m.put(e, obj, top, k, want, true, add) }
	switch s, u, f := m.text(), m.uint64(), m.float(); m.next() % 16 {
	case 0, 1, 2:
		put(textNode(s), func(e *nib.Event) { e.Str(k, s) })
	case 3:
		b := []byte(s)
		put(textNode(s), func(e *nib.Event) { e.Bytes(k, b) })
	case 4:
		b := []byte(s)
		put(plain(fmt.Sprintf("%x", s)), func(e *nib.Event) { e.Hex(k, b) })
	case 5:
		b := []byte(s)
		put(plain(b), func(e *nib.Event) { e.Base64(k, b) })
	case 6:
		put(plain(u%2 == 0), func(e *nib.Event) { e.Bool(k, u%2 == 0) })
	case 7:
		put(plain(int64(u)), func(e *nib.Event) { e.Int64(k, int64(u)) })
	case 8:
		put(plain(int8(u)), func(e *nib.Event) { e.Int8(k, int8(u)) })
	case 9:
		put(plain(u), func(e *nib.Event) { e.Uint64(k, u) })
	case 10:
		put(plain(uint16(u)), func(e *nib.Event) { e.Uint16(k, uint16(u)) })
	case 11:
		put(floatNode(f, 64), func(e *nib.Event) { e.Float64(k, f) })
	case 12:
		f32 := float32(f)
		put(floatNode(float64(f32), 32), func(e *nib.Event) { e.Float32(k, f32) })
	case 13:
		t := m.time()
		put(m.timeNode(t), func(e *nib.Event) { e.Time(k, t) })
	case 14:
		put(m.durNode(time.Duration(u)), func(e *nib.Event) { e.Dur(k, time.Duration(u)) })
	default:
		err := errors.New(s)
		put(textNode(s), func(e *nib.Event) { e.AnErr(k, err) })
	}
}

func (m *machine) rich(e *nib.Event, obj *node, top bool, k string) {
	put := func(want *node, add func(e *nib.Event)) { m.put(e, obj, top, k, want, false, add) }
	switch s, u := m.text(), m.uint64(); m.next() % 10 {
	case 0:
		put(textNode(s), func(e *nib.Event) { e.Stringer(k, &textStringer{s}) })
	case 1:
		put(textNode("!PANIC: "+s), func(e *nib.Event) { e.Stringer(k, &trap{func() { panic(s) }}) })
	case 2:
		if err := errors.New(s); top || obj == m.live {
			m.err(e, obj, top, err)
		}
	case 3:
		a := netip.AddrFrom4([4]byte{byte(u), byte(u >> 8), byte(u >> 16), byte(u >> 24)})
		put(plain(a), func(e *nib.Event) { e.Addr(k, a) })
	case 4:
		raw, want := m.raw(s)
		put(want, func(e *nib.Event) { e.RawJSON(k, raw) })
	case 5, 6:
		v, want := m.any(0)
		put(want, func(e *nib.Event) { e.Any(k, v) })
	case 7:
		v, want := m.any(0)
		put(want, func(e *nib.Event) { e.Fields(map[string]any{k: v}) })
	case 8:
		put(textNode(s), func(e *nib.Event) { e.Attrs(slog.String(k, s)) })
	default:
		put(m.durNode(time.Duration(u)), func(e *nib.Event) { e.Attrs(slog.Any(k, valuer{slog.DurationValue(time.Duration(u))})) })
	}
}

// raw returns JSON, or bytes that are not.
func (m *machine) raw(s string) ([]byte, *node) {
	if m.next()%3 == 0 {
		if !json.Valid([]byte(s)) {
			return []byte(s), textNode(s)
		}
		s = "x"
	}
	v := map[string]any{"a": decoded(s), "b": []any{m.next(), nil}}
	b, _ := json.MarshalIndent(v, "\t", " ")
	return b, plain(v)
}

func (m *machine) slice(e *nib.Event, obj *node, top bool, k string) {
	put := func(want *node, add func(e *nib.Event)) { m.put(e, obj, top, k, want, true, add) }
	switch n := m.next() % 4; m.next() % 6 {
	case 0:
		vals, want := make([]string, n), listNode()
		for i := range vals {
			vals[i] = m.text()
			want.kids = append(want.kids, textNode(vals[i]))
		}
		put(want, func(e *nib.Event) { e.Strs(k, vals) })
	case 1:
		vals, want := make([]int64, n), listNode()
		for i := range vals {
			vals[i] = int64(m.uint64())
			want.kids = append(want.kids, plain(vals[i]))
		}
		put(want, func(e *nib.Event) { e.Ints64(k, vals) })
	case 2:
		vals, want := make([]float64, n), listNode()
		for i := range vals {
			vals[i] = m.float()
			want.kids = append(want.kids, floatNode(vals[i], 64))
		}
		put(want, func(e *nib.Event) { e.Floats64(k, vals) })
	case 3:
		vals, want := make([]time.Time, n), listNode()
		for i := range vals {
			vals[i] = m.time()
			want.kids = append(want.kids, m.timeNode(vals[i]))
		}
		put(want, func(e *nib.Event) { e.Times(k, vals) })
	case 4:
		vals, want := make([]error, n), listNode()
		for i := range vals {
			if s := m.text(); s == "a" {
				want.kids = append(want.kids, plain(nil))
			} else {
				vals[i] = errors.New(s)
				want.kids = append(want.kids, textNode(s))
			}
		}
		put(want, func(e *nib.Event) { e.Errs(k, vals) })
	default:
		put(plain(nil), func(e *nib.Event) { e.Bools(k, nil) })
	}
}

// any returns a value for Any.
func (m *machine) any(nest int) (any, *node) {
	kinds := 14
	if nest >= maxNest {
		kinds = 11
	}
	s, u := m.text(), m.uint64()
	switch m.next() % kinds {
	case 0:
		return nil, plain(nil)
	case 1:
		return u%2 == 0, plain(u%2 == 0)
	case 2:
		return int(u), plain(int(u))
	case 3:
		return uint8(u), plain(uint8(u))
	case 4:
		f := m.float()
		return f, floatNode(f, 64)
	case 5:
		return time.Duration(u), m.durNode(time.Duration(u))
	case 6:
		t := m.time()
		return t, m.timeNode(t)
	case 7:
		return errors.New(s), textNode(s)
	case 8:
		return &fieldObject{s, 5}, &node{kind: '{', keys: []string{"name", "n"}, kids: []*node{textNode(s), plain(5)}}
	case 9:
		v := struct {
			A string
			B []uint16 `json:"b,omitempty"`
			c int
		}{decoded(s), []uint16{uint16(u)}, 1}
		return v, plain(v)
	case 10:
		return s, textNode(s)
	case 11:
		v, want := m.any(nest + 1)
		return []any{v, s}, listNode(want, textNode(s))
	case 12:
		return []error{errors.New(s), nil, fmt.Errorf("%d", u)}, listNode(textNode(s), plain(nil), textNode(fmt.Sprint(u)))
	default:
		return m.anyMap(nest + 1)
	}
}

func (m *machine) anyMap(nest int) (any, *node) {
	v, wants := map[string]any{}, map[string]*node{}
	for range m.next() % 4 {
		k := m.key()
		v[k], wants[k] = m.any(nest)
	}
	keys := make([]string, 0, len(v))
	for k := range v {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	obj := &node{kind: '{'}
	for _, k := range keys {
		obj.set(k, wants[k])
	}
	return v, obj
}
