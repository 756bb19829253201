// SPDX-License-Identifier: Apache-2.0

package loggertest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/usercode"
)

type fault struct{ Code int }

func (f fault) Error() string { return fmt.Sprint("fault ", f.Code) }

type pointerFault struct{ Code int }

func (f *pointerFault) Error() string { return fmt.Sprint("fault ", f.Code) }

type jsonFault struct{ Code int }

func (f jsonFault) Error() string                { return "not shown" }
func (f jsonFault) MarshalJSON() ([]byte, error) { return json.Marshal([]int{f.Code}) }

type textFault struct{ Code int }

func (f textFault) Error() string                { return "shown" }
func (f textFault) MarshalText() ([]byte, error) { return []byte("not shown"), nil }

type account struct{ Name, Password string }

func (a account) MarshalNib(e *nib.Event) { e.Str("name", a.Name) }

type pointerAccount struct{ Name, Password string }

func (a *pointerAccount) MarshalNib(e *nib.Event) { e.Str("name", a.Name).AnErr("err", fault{1}) }

type ticket string

func (ticket) LogValue() slog.Value { return slog.StringValue("hidden") }

type request struct{ Method string }

func (r request) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("method", r.Method), slog.Any("token", ticket("t")), slog.Any("err", fault{2}))
}

type secretFault struct{ Code int }

func (secretFault) IsSecret()     {}
func (secretFault) Error() string { return "shown" }

// A special value is written in its own way wherever it stands in a line.
func TestValuesInContainersAreThoseOutside(t *testing.T) {
	n := inContainers(t, slog.IntValue(7), `7`)
	n += inContainers(t, slog.Value{}, `null`)
	n += inContainers(t, slog.GroupValue(slog.Int("a", 1), slog.Any("b", fault{3})),
		`{"a":1,"b":"fault 3"}`)
	const get = `{"method":"GET","token":"hidden","err":"fault 2"}`
	n += inContainers(t, slog.AnyValue(request{"GET"}), get)
	n += inContainers(t, slog.AnyValue([]error{fault{1}, nil}), `["fault 1",null]`)
	n += inContainers(t, slog.Int("a", 7), `{"a":7}`)
	n += inContainers(t, slog.Group("g", slog.Any("t", ticket("t"))), `{"g":{"t":"hidden"}}`)
	n += inContainers(t, []slog.Attr{slog.Int("a", 7), {}}, `{"a":7}`)
	n += inContainers(t, errors.New("plain"), `"plain"`)
	n += inContainers(t, fault{4}, `"fault 4"`)
	n += inContainers(t, &pointerFault{5}, `"fault 5"`)
	n += inContainers(t, (*pointerFault)(nil), `null`)
	n += inContainers(t, error(nil), `null`)
	n += inContainers(t, jsonFault{6}, `[6]`)
	n += inContainers(t, textFault{6}, `"shown"`)
	n += inContainers(t, account{"a", "p"}, `{"name":"a"}`)
	n += inContainers(t, &pointerAccount{"a", "p"}, `{"name":"a","err":"fault 1"}`)
	n += inContainers(t, nib.Marshaler(account{"a", "p"}), `{"name":"a"}`)
	n += inContainers(t, ticket("t"), `"hidden"`)
	n += inContainers(t, request{"GET"}, get)
	n += inContainers(t, nib.NewSecret("s"), `"***"`)
	n += inContainers(t, secretFault{1}, `"***"`)
	n += inContainers(t, error(secretFault{1}), `"***"`)
	t.Logf("%d lines", n)
}

// inContainers compares the lines with v in each container, through each method
// that takes any value. It returns their number.
func inContainers[T any](t *testing.T, v T, want string) int {
	t.Helper()
	type field struct {
		F T `json:"f"`
	}
	type fields struct {
		field
		L []T
	}
	list, object := "["+want+"]", `{"f":`+want+`}`
	slice := list
	if _, ok := any([]T{v}).([]slog.Attr); ok {
		slice = want // slog's attributes are a group
	}
	n := inLines(t, v, want)
	n += inLines(t, []T{v}, slice)
	n += inLines(t, [1]T{v}, list)
	n += inLines(t, []*T{&v}, list)
	n += inLines(t, []any{v}, list)
	n += inLines(t, [][]T{{v}}, "["+slice+"]")
	n += inLines(t, map[string]T{"f": v}, object)
	n += inLines(t, map[string]any{"f": v}, object)
	n += inLines(t, map[string]*T{"f": &v}, object)
	n += inLines(t, map[int]T{1: v}, `{"1":`+want+`}`)
	n += inLines(t, map[string][]T{"f": {v}}, `{"f":`+slice+`}`)
	n += inLines(t, field{v}, object)
	n += inLines(t, &field{v}, object)
	n += inLines(t, fields{field{v}, []T{v}}, `{"f":`+want+`,"L":`+slice+`}`)
	n += inLines(t, struct{ F any }{v}, `{"F":`+want+`}`)
	n += inLines(t, struct{ F *field }{&field{v}}, `{"F":`+object+`}`)
	n += inLines(t, []any{map[string]any{"f": []any{field{v}}}}, `[{"f":[`+object+`]}]`)
	return n
}

func inLines[T any](t *testing.T, v T, want string) int {
	t.Helper()
	return inLinesOf(t, v, want,
		func(e *nib.Event) *nib.Event { return nib.Val(e, "v", v) },
		func(e *nib.Event) *nib.Event {
			return nib.Inline(e, struct {
				V T `json:"v"`
			}{v})
		})
}

// inLinesOf is apart from inLines because it would take seconds to compile for
// each type.
func inLinesOf(t *testing.T, v any, want string, val, inline func(*nib.Event) *nib.Event) (n int) {
	t.Helper()
	var buf bytes.Buffer
	log := nib.New(&buf, nib.WithLayout(nib.Layout{TimeKey: nib.OmitKey, LevelKey: nib.OmitKey}))
	check := func(entrance, want string) {
		t.Helper()
		n++
		if got := buf.String(); got != want+"\n" {
			t.Errorf("%s of %T: got %s want %s", entrance, v, got, want)
		}
		buf.Reset()
	}
	line := `{"v":` + want + `}`
	log.Info().Any("v", v).Send()
	check("Any", line)
	val(log.Info()).Send()
	check("Val", line)
	log.Info().Fields(map[string]any{"v": v}).Send()
	check("Fields", line)
	log.Info().Array("v", func(a *nib.Array) { a.Any(v).Any(v) }).Send()
	check("Array", `{"v":[`+want+`,`+want+`]}`)
	log.Info().Dict("v", func(e *nib.Event) { val(e) }).Send()
	check("Dict", `{"v":`+line+`}`)
	inline(log.Info()).Send()
	check("Inline", line)
	log.With(func(e *nib.Event) { e.Any("v", v) }).Info().Send()
	check("With", line)
	log.Info().Func(func(e *nib.Event) { e.Any("v", v) }).Send()
	check("Func", line)
	if want == "null" { // an attribute without a value, or an empty group, may be left out
		return n
	}
	log.LogAttrs(context.Background(), nib.LevelInfo, "", slog.Any("v", []any{v}))
	check("LogAttrs", `{"v":[`+want+`],"message":""}`)
	return n
}

// A nestingMarshaler logs while it is written, below a value that is written in
// its own way.
type nestingMarshaler struct{ log *nib.Logger }

func (m nestingMarshaler) MarshalNib(e *nib.Event) {
	m.log.Info().Func(func(e *nib.Event) { e.Str("inner", "x") }).Send()
	e.Str("k", "v")
}

// What runs the code of a value is left again, also at the top level of a line
// and while another line is built.
func TestFieldsOfStructsAreLeft(t *testing.T) {
	inner := nib.New(io.Discard)
	type column struct {
		A nestingMarshaler
		B []any
	}
	nesting := nestingMarshaler{inner}
	value := column{nesting, []any{nesting, request{"GET"}, fault{1}}}
	line := nib.NewTemplate[column](nib.LevelInfo, "m")
	log := nib.New(io.Discard)
	for name, write := range map[string]func(){
		"Any":      func() { log.Info().Any("v", value).Send() },
		"Val":      func() { nib.Val(log.Info(), "v", value).Send() },
		"Inline":   func() { nib.Inline(log.Info(), value).Send() },
		"Template": func() { line.Log(context.Background(), log, &value) },
		"Inline in a Func": func() {
			log.Info().Func(func(e *nib.Event) { nib.Inline(e, value) }).Send()
		},
		"Inline in a line in a line": func() {
			log.Info().Func(func(e *nib.Event) {
				log.Info().Func(func(e *nib.Event) { nib.Inline(e, value) }).Send()
				nib.Inline(e, value)
			}).Send()
		},
		"Inline while a line is built": func() {
			log.Info().Func(func(*nib.Event) { nib.Inline(log.Info(), value).Send() }).Send()
		},
	} {
		before := usercode.Open()
		for range 10 {
			write()
		}
		if after := usercode.Open(); after != before {
			t.Errorf("%s: got %d entries that are not left, want %d", name, after, before)
		}
	}
}

// A mixedFault is an error, and its address is also a json.Marshaler.
type mixedFault struct{ N int }

func (mixedFault) Error() string                 { return "text" }
func (*mixedFault) MarshalJSON() ([]byte, error) { return []byte(`{"json":1}`), nil }

// A valued one is a slog.LogValuer, and its address is also a Marshaler.
type valued struct{ N int }

func (valued) LogValue() slog.Value     { return slog.StringValue("text") }
func (*valued) MarshalNib(e *nib.Event) { e.Int("json", 1) }

// The methods of an address count where encoding/json has one.
func TestMethodsOfAddressesNeedAnAddress(t *testing.T) {
	checkAddresses[mixedFault](t)
	checkAddresses[valued](t)
}

func checkAddresses[T any](t *testing.T) {
	t.Helper()
	type in struct{ F T }
	type to struct{ F *T }
	v := new(T)
	for _, c := range []struct {
		v    any
		want string
	}{
		{*v, `"text"`},
		{in{}, `{"F":"text"}`},
		{[1]T{}, `["text"]`},
		{map[string]T{"k": *v}, `{"k":"text"}`},
		{[]any{*v, v}, `["text",{"json":1}]`},
		{v, `{"json":1}`},
		{&in{}, `{"F":{"json":1}}`},
		{to{v}, `{"F":{"json":1}}`},
		{[]T{*v}, `[{"json":1}]`},
		{&[1]T{}, `[{"json":1}]`},
	} {
		var out bytes.Buffer
		layout := nib.Layout{TimeKey: nib.OmitKey, LevelKey: nib.OmitKey}
		nib.New(&out, nib.WithLayout(layout)).Info().Any("v", c.v).Send()
		if got, want := out.String(), `{"v":`+c.want+"}\n"; got != want {
			t.Errorf("%T: got %swant %s", c.v, got, want)
		}
	}
}
