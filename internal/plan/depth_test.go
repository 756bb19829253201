// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
)

// nesting returns how deep the containers of a JSON text nest.
func nesting(text []byte) (deepest int) {
	d, depth := json.NewDecoder(bytes.NewReader(text)), 0
	for {
		token, err := d.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			deepest = max(deepest, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

func TestDepthIsThatOfTheText(t *testing.T) {
	tried := 0
	from := seed.Of(t)
	for n := range uint64(300) {
		g := newGenerator(from + n)
		typ := g.structType(3)
		if linked(typ, map[reflect.Type]bool{}) {
			continue
		}
		tried++
		for range 10 {
			v := g.value(typ)
			encode := func(depth int) ([]byte, error) {
				return Of(typ).Append(nil, v.Addr().UnsafePointer(), at(depth))
			}
			text, err := encode(1000)
			must.Succeed(t, err)
			deepest := nesting(text)
			if got, err := encode(deepest); err != nil || !bytes.Equal(got, text) {
				t.Errorf("seed %d: depth %d: got %s and %v, want %s",
					from+n, deepest, got, err, text)
			}
			if got, err := encode(deepest - 1); err == nil {
				t.Errorf("seed %d: depth %d: got %s, want an error", from+n, deepest-1, got)
			}
		}
	}
	if tried < 50 {
		t.Errorf("got only %d types to try", tried)
	}
}

// linked reports whether values of t may hold pointers to pointers or
// interfaces, which count as containers.
func linked(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		k := t.Elem().Kind()
		return t.Kind() == reflect.Pointer && (k == reflect.Pointer || k == reflect.Interface) || linked(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if linked(t.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}

// nest returns v within n slices.
func nest(v any, n int) any {
	for range n {
		v = []any{v}
	}
	return v
}

func TestDepthLimit(t *testing.T) {
	type deep struct {
		A struct {
			B struct{ C struct{ D []string } }
		}
	}
	cases := []struct {
		name string
		v    any
		n    int // of its containers
	}{
		{"scalar", 1, 0}, {"empty slice", []int{}, 1}, {"empty map", map[string]any{}, 1}, {"map", map[string]any{"a": 1}, 1},
		{"large map", map[string]int{"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1, "i": 1}, 1},
		{"map of ints", map[int]int{1: 2}, 1}, {"strings", []string{"a"}, 1}, {"no strings", []string{}, 1}, {"array", [1]int{}, 1},
		{"empty struct", struct{}{}, 1}, {"struct", flat{}, 1}, {"pointer", &flat{}, 1}, {"bytes", []byte{1}, 0},
		{"inlined structs", deep{}, 4}, {"strings within them", deep{struct {
			B struct{ C struct{ D []string } }
		}{struct{ C struct{ D []string } }{struct{ D []string }{[]string{}}}}}, 5},
		{"marshaler", byValue{}, 2}, {"raw", json.RawMessage(`[{"a":[]}]`), 3},
		{"embedded pointer", struct{ *Inner }{&Inner{}}, 1}, {"inlined behind a pointer", struct{ *unexported }{&unexported{Inner: &Inner{}}}, 2},
		{"pointer to pointer", new(*int), 1}, {"pointer to interface", new(any), 1},
	}
	for _, c := range cases {
		if _, err := AppendAny(nil, nest(c.v, MaxDepth-c.n), top); err != nil {
			t.Errorf("%s: depth %d: got error %v", c.name, MaxDepth, err)
		}
		if got, err := AppendAny(nil, nest(c.v, MaxDepth-c.n+1), top); err == nil {
			t.Errorf("%s: depth %d: got %s, want an error", c.name, MaxDepth+1, got)
		}
	}
}

type (
	loop       struct{ Next *loop }
	loopSlice  []loopSlice
	loopMap    map[string]loopMap
	loopPtr    *loopPtr
	loopArray  [1]*loopArray
	loopAnyMap map[string]any
	loopEmbed  struct {
		*loopEmbed
		X int
	}
)

func TestCyclesEndInAnError(t *testing.T) {
	l := &loop{}
	l.Next = l
	s := make(loopSlice, 1)
	s[0] = s
	m := loopMap{}
	m["a"] = m
	var p loopPtr
	p = &p
	var a loopArray
	a[0] = &a
	anyMap := loopAnyMap{}
	anyMap["x"] = anyMap
	plain := map[string]any{}
	plain["x"] = plain
	list := make([]any, 1)
	list[0] = list
	var x any
	x = &x
	cases := []struct {
		v    any
		path string
	}{
		{l, ".Next.Next"}, {s, "[0][0]"}, {m, `["a"]["a"]`}, {p, ""}, {&a, "[0][0]"}, {anyMap, `["x"]["x"]`}, {plain, `["x"]["x"]`},
		{list, "[0][0]"}, {x, ""},
	}
	for _, c := range cases {
		_, err := AppendAny(nil, c.v, top)
		if !errors.Is(err, ErrDepth) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%T: got error %.100v, want %v at %s", c.v, err, ErrDepth, c.path)
		}
	}
	e := &loopEmbed{X: 1}
	e.loopEmbed = e
	if got, err := AppendAny(nil, e, top); err != nil || string(got) != `{"X":1}` {
		t.Errorf("got %s and %v, want the outermost X alone, as in encoding/json", got, err)
	}
}

func TestFieldsOfAnOpenObject(t *testing.T) {
	v := struct {
		A int
		B struct{ C []int }
		D *int `json:",omitempty"`
		E int  `json:",omitzero"`
	}{E: 5}
	p := Of(reflect.TypeOf(v))
	for depth, want := range []string{"error", `,"A":0,"B":{"C":null},"E":5`} {
		got, err := p.AppendFields(
			[]byte("front"), reflect.ValueOf(&v).UnsafePointer(), at(depth))
		if err != nil {
			got = []byte("fronterror")
		}
		if string(got) != "front"+want {
			t.Errorf("depth %d: got %s, want %s", depth, got, want)
		}
	}
	n := 1
	_, err := Of(reflect.TypeFor[int]()).AppendFields(nil, reflect.ValueOf(&n).UnsafePointer(), top)
	if err == nil {
		t.Error("got no error for the fields of an int")
	}
	none := reflect.ValueOf(&struct{}{}).UnsafePointer()
	got, err := Of(reflect.TypeFor[struct{}]()).AppendFields([]byte("x"), none, at(0))
	if err != nil || string(got) != "x" {
		t.Errorf("got %s and %v, want nothing for a struct without fields", got, err)
	}
}
