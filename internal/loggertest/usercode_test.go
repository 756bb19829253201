// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"log/slog"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

// A misdeed is a fault of user code: do runs in it, and text and err are its
// results.
type misdeed struct {
	name string
	do   func(l *nib.Logger)
	text string
	err  error
	ends bool // it ends the goroutine
}

func misdeeds() []misdeed {
	cyclic := map[string]any{}
	cyclic["a"], cyclic["b"] = cyclic, cyclic
	boom := &trapError{func() { panic("boom") }}
	throw := func(v any) func(*nib.Logger) { return func(*nib.Logger) { panic(v) } }
	exit := func(*nib.Logger) { runtime.Goexit() }
	logs := func(l *nib.Logger) { l.Info().Msg("inner") }
	all := []misdeed{
		{"panics", throw("boom"), "x", nil, false},
		{"panics with an error that panics", throw(boom), "x", nil, false},
		{"panics with a Stringer that panics", throw(&trap{func() { panic(&trap{func() { panic("inner") }}) }}), "x", nil, false},
		{"panics with a cyclic map", throw(cyclic), "x", nil, false},
		{"panics with a typed nil", throw((*nilError)(nil)), "x", nil, false},
		{"panics with nil", throw(nil), "x", nil, false},
		{"divides by zero", func(*nib.Logger) { _ = 1 / len(os.Getenv("NIB_NOTHING")) }, "x", nil, false},
		{"returns a typed nil", nil, "x", (*nilError)(nil), false},
		{"returns an error that panics", nil, "x", boom, false},
		{"returns an error that logs", nil, "x", &trapError{func() {}}, false},
		{"calls Goexit", exit, "x", nil, true},
		{"returns an error that calls Goexit", nil, "x", &trapError{runtime.Goexit}, true},
		{"panics with an error that calls Goexit", throw(&trapError{runtime.Goexit}), "x", nil, true},
		{"logs", logs, "1", nil, false},
		{"logs and panics", func(l *nib.Logger) { logs(l); panic("boom") }, "x", nil, false},
	}
	for _, garbage := range []string{
		"", "{", `{"a":`, "1 2", `{"a":1}{"b":2}`, `"\ud800"`, "\x00", "\"\x00\"", "null,\"level\":\"forged\"", `x","level":"forged`, "\n", "\"\n\"",
		"}\n{\"level\":\"forged\"}", "\xff\xfe", "\u2028\u202e\x1b[2J", strings.Repeat("[", 10_000), "\"" + strings.Repeat("é", 100_000) + "\"", "01", "NaN",
	} {
		all = append(all, misdeed{fmt.Sprintf("returns %.20q", garbage), nil, garbage, nil, false})
	}
	return all
}

// A culprit does a misdeed in each of its methods. Each of the types below has
// one.
type culprit struct {
	misdeed
	l *nib.Logger
}

func (c *culprit) act() {
	if c.do != nil {
		c.do(c.l)
	}
}

type (
	badString struct{ *culprit }
	badError  struct{ *culprit }
	badJSON   struct{ *culprit }
	badText   struct{ *culprit }
	badLog    struct{ *culprit }
	badNib    struct{ *culprit }
	badZero   struct{ *culprit }
	badCtx    struct {
		context.Context
		*culprit
	}
)

func (b badString) String() string                    { b.act(); return b.text }
func (b badError) Error() string                      { b.act(); return b.text }
func (b badJSON) MarshalJSON() ([]byte, error)        { b.act(); return []byte(b.text), b.err }
func (b badText) MarshalText() ([]byte, error)        { b.act(); return []byte(b.text), b.err }
func (b badLog) LogValue() slog.Value                 { b.act(); return slog.AnyValue(badJSON(b)) }
func (b badNib) MarshalNib(e *nib.Event)              { e.Str("level", b.text); b.act(); e.Any("err", b.err) }
func (b badZero) IsZero() bool                        { b.act(); return false }
func (b badCtx) Value(key any) any                    { b.act(); return b.text }
func (b badString) Run(*nib.Event, nib.Level, string) { b.act() }

// values returns c in all the forms that a value of type any can have.
func (c *culprit) values() []any {
	type holder struct{ V any }
	type zero struct {
		Z badZero `json:",omitzero"`
	}
	return []any{
		badString{c}, badError{c}, badJSON{c}, &badJSON{c}, badText{c}, badLog{c}, badNib{c}, &badNib{c}, zero{badZero{c}}, json.RawMessage(c.text), json.Number(c.text),
		c.text, []byte(c.text), []any{1, badJSON{c}}, map[string]any{"a": badJSON{c}, c.text: badError{c}}, map[badText]int{{c}: 1}, holder{badText{c}}, &holder{badJSON{c}},
		[]badJSON{{c}}, []error{badError{c}, nil}, c.err,
	}
}

// args are the arguments to try for a parameter; a type without a case fails
// the test.
func (c *culprit) args(t *testing.T, what string, typ reflect.Type) (all []reflect.Value) {
	list := func(vs ...any) {
		for _, v := range vs {
			rv := reflect.New(typ).Elem()
			if v != nil {
				rv.Set(reflect.ValueOf(v))
			}
			all = append(all, rv)
		}
	}
	switch reflect.Zero(reflect.PointerTo(typ)).Interface().(type) {
	case *any:
		list(c.values()...)
	case *error:
		list(badError{c}, c.err)
	case *fmt.Stringer:
		list(badString{c})
	case *nib.Marshaler:
		list(badNib{c}, &badNib{c})
	case *func(*nib.Event):
		list(func(e *nib.Event) { badNib{c}.MarshalNib(e) }, func(e *nib.Event) { e.Dict("d", badNib{c}.MarshalNib).Any("k", badJSON{c}) })
	case *func(*nib.Array):
		list(func(a *nib.Array) { a.Int(1).Any(badJSON{c}); c.act(); a.Str(c.text) })
	case *func() string:
		list(badString{c}.String)
	case *[]error:
		list([]error{nil, badError{c}, c.err})
	case *[]fmt.Stringer:
		list([]fmt.Stringer{nil, badString{c}})
	case *map[string]any:
		list(map[string]any{"a": badJSON{c}, c.text: badText{c}, "level": badNib{c}})
	case *context.Context:
		list(badCtx{context.Background(), c})
	case *[]slog.Attr:
		for _, v := range c.values() {
			list([]slog.Attr{slog.Any("k", v), slog.Group("g", slog.Any(c.text, v)), slog.Any("", v)})
		}
	case *[]any:
		for _, v := range c.values() {
			list([]any{v, v})
		}
	case *[]nib.Option:
		list([]nib.Option{nib.WithHook(badString{c})}, []nib.Option{nib.WithContextFields(func(context.Context, *nib.Event) { c.act() })})
	case *string:
		list(c.text)
	case *[]string:
		list([]string{c.text, ""})
	case *[]byte:
		list([]byte(c.text))
	default:
		if kind := typ.Kind(); kind == reflect.Interface || kind == reflect.Func || kind == reflect.Pointer || kind == reflect.Chan {
			t.Fatalf("%s has a parameter of type %v: add it to culprit.args", what, typ)
		}
		all = append(all, reflect.Zero(typ)) // plain data
	}
	return all
}

// calls are all calls of a method with one culprit among its arguments.
func (c *culprit) calls(t *testing.T, what string, method reflect.Value) (all []func() []reflect.Value) {
	typ := method.Type()
	var fixed []reflect.Value
	for i := range typ.NumIn() {
		first := (&culprit{misdeed{text: "k"}, c.l}).args(t, what, typ.In(i))
		fixed = append(fixed, first[len(first)-1])
	}
	for i := range typ.NumIn() {
		for _, arg := range c.args(t, what, typ.In(i)) {
			in := append([]reflect.Value(nil), fixed...)
			in[i] = arg
			if s, ok := in[0].Interface().(string); ok && i > 0 && s == "" {
				in[0] = reflect.ValueOf("k")
			}
			all = append(all, func() []reflect.Value {
				if typ.IsVariadic() {
					return method.CallSlice(in)
				}
				return method.Call(in)
			})
		}
	}
	return all
}

// finish ends whatever a method of a Logger returns in one line "outer".
func finish(t *testing.T, what string, l *nib.Logger, results []reflect.Value) {
	if len(results) == 0 {
		return // it has written the line
	}
	switch r := results[0].Interface().(type) {
	case *nib.Logger:
		r.Info().Ctx(context.Background()).Msg("outer")
	case *nib.Event:
		r.Msg("outer")
	case *log.Logger:
		r.Print("outer")
	case bool, error, nil, []byte, nib.Sink, nib.Stats:
		l.Info().Msg("outer")
	default:
		t.Fatalf("%s returns a %T: add it to finish", what, r)
	}
}

// An outcome is how a call ended.
type outcome struct {
	returned bool
	panicked any
}

// attempt makes a call on another goroutine.
func attempt(t *testing.T, call func()) (o outcome) {
	apart(t, func() {
		defer func() {
			if !o.returned {
				o.panicked = recover()
			}
		}()
		call()
		o.returned = true
	})
	return o
}
