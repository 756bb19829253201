// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/nib-log/nib"
)

// nilError is an error whose method would fail on a nil pointer.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// These types implement every interface, and are not pointers.
type (
	nilMap    map[string]int
	nilFunc   func()
	nilSlice  []int
	nilValuer struct{ s string }
)

func (m nilMap) String() string           { m["x"] = 1; return "map" }
func (m nilMap) Error() string            { m["x"] = 1; return "map" }
func (f nilFunc) String() string          { f(); return "func" }
func (f nilFunc) MarshalNib(*nib.Event)   { f() }
func (s nilSlice) String() string         { return fmt.Sprint(s[0]) }
func (v *nilValuer) LogValue() slog.Value { return slog.StringValue(v.s) }

func TestNilIsNull(t *testing.T) {
	for name, add := range map[string]func(e *nib.Event){
		"AnErr": func(e *nib.Event) { e.AnErr("k", nil) }, "AnErr typed": func(e *nib.Event) { e.AnErr("k", (*nilError)(nil)) },
		"AnErr map":    func(e *nib.Event) { e.AnErr("k", nilMap(nil)) },
		"Stringer":     func(e *nib.Event) { e.Stringer("k", nil) },
		"Stringer ptr": func(e *nib.Event) { e.Stringer("k", (*textStringer)(nil)) },
		"Stringer map": func(e *nib.Event) { e.Stringer("k", nilMap(nil)) }, "Stringer func": func(e *nib.Event) { e.Stringer("k", nilFunc(nil)) },
		"Stringer slice": func(e *nib.Event) { e.Stringer("k", nilSlice(nil)) },
		"Object":         func(e *nib.Event) { e.Object("k", nil) },
		"Object typed":   func(e *nib.Event) { e.Object("k", (*fieldObject)(nil)) }, "Object func": func(e *nib.Event) { e.Object("k", nilFunc(nil)) },
		"Dict": func(e *nib.Event) { e.Dict("k", nil) }, "Array": func(e *nib.Event) { e.Array("k", nil) },
		"Any": func(e *nib.Event) { e.Any("k", nil) }, "Any pointer": func(e *nib.Event) { e.Any("k", (*int)(nil)) },
		"Any marshaler": func(e *nib.Event) { e.Any("k", (*fieldObject)(nil)) }, "Any error": func(e *nib.Event) { e.Any("k", (*nilError)(nil)) },
		"Any map": func(e *nib.Event) { e.Any("k", map[string]any(nil)) }, "Any []any": func(e *nib.Event) { e.Any("k", []any(nil)) },
		"Any []error": func(e *nib.Event) { e.Any("k", []error(nil)) }, "Any slice": func(e *nib.Event) { e.Any("k", []int(nil)) },
		"Any func": func(e *nib.Event) { e.Any("k", (func())(nil)) }, "Any chan": func(e *nib.Event) { e.Any("k", (chan int)(nil)) },
		"Any *time.Time": func(e *nib.Event) { e.Any("k", (*time.Time)(nil)) }, "Any map[int]": func(e *nib.Event) { e.Any("k", map[int]int(nil)) },
		"RawJSON": func(e *nib.Event) { e.RawJSON("k", nil) }, "Bytes": func(e *nib.Event) { e.Bytes("k", nil) },
		"Hex": func(e *nib.Event) { e.Hex("k", nil) }, "Base64": func(e *nib.Event) { e.Base64("k", nil) },
		"Strs": func(e *nib.Event) { e.Strs("k", nil) }, "Ints": func(e *nib.Event) { e.Ints("k", nil) }, "Bools": func(e *nib.Event) { e.Bools("k", nil) },
		"Times": func(e *nib.Event) { e.Times("k", nil) }, "Durs": func(e *nib.Event) { e.Durs("k", nil) }, "Errs": func(e *nib.Event) { e.Errs("k", nil) },
		"Stringers": func(e *nib.Event) { e.Stringers("k", nil) }, "Floats64": func(e *nib.Event) { e.Floats64("k", nil) },
		"Type": func(e *nib.Event) { e.Type("k", nil) }, "IPAddr": func(e *nib.Event) { e.IPAddr("k", nil) },
		"Attr any": func(e *nib.Event) { e.Attrs(slog.Any("k", nil)) }, "Attr error": func(e *nib.Event) { e.Attrs(slog.Any("k", (*nilError)(nil))) },
		"Attr pointer":   func(e *nib.Event) { e.Attrs(slog.Any("k", (*int)(nil))) },
		"Attr LogValuer": func(e *nib.Event) { e.Attrs(slog.Any("k", (*nilValuer)(nil))) },
	} {
		if got := value(t, add); got.String() != "null" {
			t.Errorf("%s\n got %s\nwant null", name, got)
		}
	}
}

func TestNilElementsAreNull(t *testing.T) {
	for name, x := range map[string]struct {
		add  func(e *nib.Event)
		want string
	}{
		"Errs":      {func(e *nib.Event) { e.Errs("k", []error{nil, (*nilError)(nil), errors.New("x")}) }, `[null,null,"x"]`},
		"Stringers": {func(e *nib.Event) { e.Stringers("k", stringers(nil, (*textStringer)(nil), aStringer)) }, `[null,null,"text"]`},
		"[]any":     {func(e *nib.Event) { e.Any("k", []any{nil, (*int)(nil), (*nilError)(nil)}) }, `[null,null,null]`},
		"Array": {func(e *nib.Event) {
			e.Array("k", func(a *nib.Array) { a.Err(nil).Any(nil).Object(nil).Dict(nil).Array(nil).Null().Int(1) })
		}, `[null,null,null,null,null,null,1]`},
		"map": {func(e *nib.Event) { e.Any("k", map[string]any{"a": nil, "b": (*int)(nil)}) }, `{"a":null,"b":null}`},
	} {
		if got := value(t, x.add); got.String() != x.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, x.want)
		}
	}
}

func TestEmptyIsNotNull(t *testing.T) {
	for name, x := range map[string]struct {
		add  func(e *nib.Event)
		want string
	}{
		"Strs": {func(e *nib.Event) { e.Strs("k", []string{}) }, `[]`}, "Ints": {func(e *nib.Event) { e.Ints("k", []int{}) }, `[]`},
		"Errs": {func(e *nib.Event) { e.Errs("k", []error{}) }, `[]`}, "Bytes": {func(e *nib.Event) { e.Bytes("k", []byte{}) }, `""`},
		"Hex": {func(e *nib.Event) { e.Hex("k", []byte{}) }, `""`}, "Base64": {func(e *nib.Event) { e.Base64("k", []byte{}) }, `""`},
		"Dict":  {func(e *nib.Event) { e.Dict("k", func(*nib.Event) {}) }, `{}`},
		"Array": {func(e *nib.Event) { e.Array("k", func(*nib.Array) {}) }, `[]`},
		"map":   {func(e *nib.Event) { e.Any("k", map[string]any{}) }, `{}`}, "[]any": {func(e *nib.Event) { e.Any("k", []any{}) }, `[]`},
		"MAC": {func(e *nib.Event) { e.MACAddr("k", net.HardwareAddr{}) }, `""`},
	} {
		if got := value(t, x.add); got.String() != x.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, x.want)
		}
	}
}

type (
	emptyIfNil []string
	textOfMap  map[string]int
)

func (l emptyIfNil) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, `["%d strings"]`, len(l)), nil
}
func (m textOfMap) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%d keys", len(m)), nil }

// A nil slice or map that writes itself is what its method returns, as in
// encoding/json.
func TestNilMarshalersThatAreNoPointers(t *testing.T) {
	const list, text = `["0 strings"]`, `"0 keys"`
	type both struct {
		L emptyIfNil
		M textOfMap
	}
	for name, x := range map[string]struct {
		add  func(e *nib.Event)
		want string
	}{
		"JSON":         {func(e *nib.Event) { e.Any("k", emptyIfNil(nil)) }, list},
		"text":         {func(e *nib.Event) { e.Any("k", textOfMap(nil)) }, text},
		"Val":          {func(e *nib.Event) { nib.Val(e, "k", emptyIfNil(nil)) }, list},
		"Attrs":        {func(e *nib.Event) { e.Attrs(slog.Any("k", emptyIfNil(nil))) }, list},
		"[]any":        {func(e *nib.Event) { e.Any("k", []any{textOfMap(nil)}) }, "[" + text + "]"},
		"field":        {func(e *nib.Event) { e.Any("k", both{}) }, `{"L":` + list + `,"M":` + text + `}`},
		"JSON pointer": {func(e *nib.Event) { e.Any("k", (*emptyIfNil)(nil)) }, "null"},
	} {
		if got := value(t, x.add); got.String() != x.want {
			t.Errorf("%s\n got %s\nwant %s", name, got, x.want)
		}
	}
}

func TestNilArgumentsAddNothing(t *testing.T) {
	l, c := newCapture(t, nib.WithHook(nib.HookFunc(func(*nib.Event, nib.Level, string) {})), nib.Option{})
	var noCtx context.Context
	l.Log().EmbedObject(nil).EmbedObject((*fieldObject)(nil)).Func(nil).Fields(nil).Attrs().Ctx(noCtx).MsgFunc(nil)
	if got, want := c.one().String(), `{"time":"2026-01-02T15:04:05.006Z","message":""}`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	if got := l.With(nil); got != l {
		t.Errorf("With(nil) gives another logger")
	}
	l.Info().Err(nil).Send()
	if got := c.one().get("error"); got.String() != "null" {
		t.Errorf("Err(nil)\n got %s\nwant null", got)
	}
}

func TestNilAndZeroLoggerDiscard(t *testing.T) {
	for _, l := range []*nib.Logger{nil, {}} {
		discards(t, l)
	}
}

func discards(t *testing.T, l *nib.Logger) {
	l.Trace().Msg("")
	l.Debug().Msg("")
	l.Info().Msg("")
	l.Warn().Msg("")
	l.Error().Msg("")
	l.At(nib.LevelFatal).Msg("")
	l.Log().Msg("")
	l.Entry(nib.Entry{}).Send()
	l.LogAttrs(context.Background(), nib.LevelError, "")
	l.StdLog(nib.LevelError).Print("x")
	if got := panicOf(func() { l.StdLog(nib.LevelError).Panic("x") }); got != "x" {
		t.Errorf("StdLog: panics with %v, want x", got)
	}
	columns := nib.NewTemplate[struct{ A int }](nib.LevelError, "")
	columns.Log(context.Background(), l, nil)
	add := func(e *nib.Event) { t.Error("fields of a line that is not written are asked for") }
	if l.With(add) != l || l.WithAttrs(slog.Int("a", 1)) != l || l.Named("x") != l || l.WithGroup("g") != l || l.WithOptions(nib.WithCaller()) != l {
		t.Errorf("%v: became a logger that does not discard", l)
	}
	if l.Enabled(nib.LevelFatal) || l.Level() <= nib.LevelFatal || l.Flush(context.Background()) != nil || l.Stats() != (nib.Stats{}) {
		t.Errorf("%v: does something", l)
	}
}
