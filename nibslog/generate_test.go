// SPDX-License-Identifier: Apache-2.0

package nibslog_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"math"
	"runtime"
	"strconv"
	"time"
)

// An input turns bytes into choices. It returns zeros when they run out, so
// every input describes a short trial.
type input struct{ data []byte }

func (in *input) byte() byte {
	if len(in.data) == 0 {
		return 0
	}
	b := in.data[0]
	in.data = in.data[1:]
	return b
}

// n returns a number below limit.
func (in *input) n(limit int) int { return int(in.byte()) % limit }

func (in *input) uint64() (v uint64) {
	for range in.n(9) {
		v = v<<8 | uint64(in.byte())
	}
	return v
}

func newTrial(data []byte) *trial {
	in := &input{data}
	c := &trial{time: in.time(), level: slog.Level(int8(in.byte())), message: in.text()}
	options := in.byte()
	c.options.AddSource = options&1 != 0
	if options&2 != 0 {
		c.options.ReplaceAttr = replaceBy(in.byte())
	}
	if options&4 != 0 {
		c.pc = somePC
	}
	for range in.n(5) {
		if in.byte()&1 != 0 {
			c.steps = append(c.steps, step{group: in.name()})
		} else {
			c.steps = append(c.steps, step{attrs: in.attrs(0)})
		}
	}
	c.attrs = in.attrs(0)
	return c
}

var somePC = func() uintptr {
	var pcs [1]uintptr
	runtime.Callers(1, pcs[:])
	return pcs[0]
}()

var zones = []*time.Location{time.UTC, time.Local, time.FixedZone("JST", 9*3600), time.FixedZone("", -(3*3600 + 30*60))}

// time returns times of the years 1 to 9999, which both can write.
func (in *input) time() time.Time {
	switch in.n(4) {
	case 0:
		return time.Time{}
	case 1:
		return time.Now()
	}
	const first, last = -62_000_000_000, 253_000_000_000
	sec := first + int64(in.uint64()%(last-first))
	return time.Unix(sec, int64(in.uint64()%1e9)).In(zones[in.n(len(zones))])
}

var texts = []string{
	"", "time", "level", "msg", "source", "field.msg", "logger", "error", "stack", "caller", "-", "a", "k", "g", "h", "time.",
	"a\"b", "a\\b", "\x00\x1f\x7f", "\u0080\u009f", "\u2028\u2029\ufeff", "\u202e\u2066", "\xff\xc3(", "日本語", "\U0001f600", "<&>",
	"!ERROR:", "a longer text that is copied a word at a time, mostly", "x\ty\nz\r",
}

func (in *input) text() string {
	i := in.n(len(texts) + 3)
	if i < len(texts) {
		return texts[i]
	}
	b := make([]byte, in.n(20))
	for i := range b {
		b[i] = in.byte()
	}
	return string(b)
}

// name returns the name of a group, which is not empty: slog.Logger never
// passes on an empty one.
func (in *input) name() string {
	if s := in.text(); s != "" {
		return s
	}
	return "group"
}

const deepest = 5

func (in *input) attrs(depth int) (as []slog.Attr) {
	for range in.n(6) {
		as = append(as, in.attr(depth))
	}
	return as
}

func (in *input) attr(depth int) slog.Attr {
	if in.n(16) == 1 {
		return slog.Attr{}
	}
	return slog.Attr{Key: in.text(), Value: in.value(depth)}
}

func (in *input) value(depth int) slog.Value {
	switch in.n(14) {
	case 0:
		return slog.StringValue(in.text())
	case 1:
		return slog.Int64Value(int64(in.uint64()))
	case 2:
		return slog.Uint64Value(in.uint64())
	case 3:
		return slog.Float64Value(math.Float64frombits(in.uint64()))
	case 4:
		return slog.Float64Value(float64(int64(in.uint64())) / float64(int(1)<<in.n(20)))
	case 5:
		return slog.BoolValue(in.byte()&1 != 0)
	case 6:
		return slog.DurationValue(time.Duration(in.uint64()))
	case 7:
		return slog.TimeValue(in.time())
	case 8, 9:
		if depth < deepest {
			return slog.GroupValue(in.attrs(depth + 1)...)
		}
	case 10, 11:
		if depth < deepest {
			return slog.AnyValue(valuer{in.value(depth + 1)})
		}
	case 12:
		return slog.AnyValue(in.object(depth))
	}
	return slog.AnyValue(others[in.n(len(others))])
}

// object returns maps and slices, which nib encodes itself. They contain no
// values that fail, since in nib such an element does not affect the others.
func (in *input) object(depth int) any {
	if depth >= deepest {
		return nil
	}
	if in.byte()&1 != 0 {
		list := make([]any, in.n(4))
		for i := range list {
			list[i] = in.plain(depth + 1)
		}
		return list
	}
	m := map[string]any{}
	for range in.n(4) {
		m[strconv.Quote(in.text())] = in.plain(depth + 1)
	}
	return m
}

func (in *input) plain(depth int) any {
	switch in.n(9) {
	case 0:
		return in.text()
	case 1:
		return int32(in.uint64())
	case 2:
		return float32(int32(in.uint64())) / 8
	case 3:
		return time.Duration(in.uint64())
	case 4:
		return in.time()
	case 5:
		return []string{in.text(), in.text()}
	case 6:
		return uint8(in.byte())
	case 7:
		return in.object(depth)
	}
	return nil
}

// A valuer is a LogValuer of any value.
type valuer struct{ v slog.Value }

func (v valuer) LogValue() slog.Value { return v.v }

type panicValuer struct{}

func (panicValuer) LogValue() slog.Value { panic("LogValue") }

type endlessValuer struct{}

func (endlessValuer) LogValue() slog.Value { return slog.AnyValue(endlessValuer{}) }

type sliceValuer []string

func (s sliceValuer) LogValue() slog.Value { return slog.IntValue(len(s)) }

type marshaler struct{ text string }

func (m marshaler) MarshalJSON() ([]byte, error) {
	switch m.text {
	case "":
		return nil, errors.New("no text")
	case "panic":
		panic("boom")
	}
	return []byte(m.text), nil
}

type errorMarshaler struct{ marshaler }

func (errorMarshaler) Error() string { return "not shown" }

type textMarshaler struct{ text string }

func (m textMarshaler) MarshalText() ([]byte, error) { return []byte(m.text), nil }

type listMarshaler []int

func (l listMarshaler) MarshalJSON() ([]byte, error) {
	return strconv.AppendInt(nil, int64(len(l)), 10), nil
}

type record struct {
	A int               `json:"a"`
	B *record           `json:"b,omitempty"`
	C []byte            `json:"c"`
	D map[string]uint16 `json:"d"`
	E any               `json:"e"`
	f int
}

var others = []any{
	nil, true, "text", int8(-1), uint16(7), float32(0.1), 1 + 2i, make(chan int), func() {}, []byte("bytes"), []int(nil), []int{},
	[]string{"a", "\u2028"}, map[string]int(nil), map[string]int{"b": 1, "a": 2}, map[int]bool{2: true, 1: false},
	errors.New("an error"), error(nil), (*record)(nil), (*time.Time)(nil), &record{A: 1, B: &record{C: []byte{1}}, E: 1.5, f: 3},
	record{E: []any{nil, "x"}}, json.RawMessage(nil), json.RawMessage(`{"a": [1, 2.50, "x"]}`), json.Number("12"), slog.LevelWarn + 1,
	marshaler{`[1, 2]`}, marshaler{""}, marshaler{"panic"}, errorMarshaler{marshaler{`"shown"`}}, textMarshaler{"text\n"},
	panicValuer{}, endlessValuer{}, sliceValuer(nil), sliceValuer{"a"}, &slog.Source{Function: "f", File: "g", Line: 3}, &slog.Source{Line: 1},
	struct{}{}, [2]bool{true, false}, new(int), time.Duration(5),
	[]any{slog.LevelInfo}, []slog.Attr{slog.Int("a", 1)}, listMarshaler(nil), (*listMarshaler)(nil),
}

// replaceBy returns one of many ReplaceAttr functions, which always does the
// same with the same attribute. A function that removes attributes ignores the
// groups and vice versa: after all attributes of a group have been removed,
// slog still passes its name with the next ones.
func replaceBy(choice byte) func([]string, slog.Attr) slog.Attr {
	if choice&1 != 0 {
		return func(groups []string, a slog.Attr) slog.Attr {
			if a.Key == "" {
				a.Key = "none"
			}
			return replaceAny(int(choice)+len(a.Key)+3*len(groups), groups, a)
		}
	}
	return func(groups []string, a slog.Attr) slog.Attr {
		h := int(choice) + len(a.Key)
		if h%5 == 0 {
			return slog.Attr{}
		}
		return replaceAny(h, nil, a)
	}
}

func replaceAny(h int, groups []string, a slog.Attr) slog.Attr {
	switch h % 7 {
	case 0:
		a.Key = "k" + a.Key
	case 1:
		a.Value = slog.StringValue(a.Value.String())
	case 2:
		a.Value = slog.AnyValue(valuer{slog.IntValue(h)})
	case 3:
		for _, g := range groups {
			a.Key += "/" + g
		}
	case 4:
		if a.Key != "in" && a.Key != "nil" { // otherwise it would never end
			return slog.Group("r", slog.Any("in", a.Value), slog.Bool("nil", groups == nil))
		}
	}
	return a
}
