// SPDX-License-Identifier: Apache-2.0

//lint:file-ignore SA5008 tags that are not as they should be are what is tested here

package plan

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

type (
	Order struct {
		ID    int
		Items []Item
		Notes map[string]any
		Meta  struct{ Owner *Item }
		*Extra
	}
	Item struct {
		Name  string
		Price json.Number
		Check failing `json:",omitzero"`
		Free  any
	}
	Extra struct{ When time.Time }
)

// IsZero makes omitzero leave out every failing.
func (failing) IsZero() bool { return true }

type failingText struct{ S string }

func (f failingText) MarshalText() ([]byte, error) { return nil, errFailing }

type badJSON string

func (b badJSON) MarshalJSON() ([]byte, error) { return []byte(b), nil }

// append1 encodes the value in v at an address.
func append1(v any, depth int) ([]byte, error) {
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	return Of(p.Elem().Type()).Append(nil, p.UnsafePointer(), at(depth))
}

func TestErrorsNameTheTypeAndThePath(t *testing.T) {
	raw := typeRaw.String() // jsontext.Value from Go 1.27 on
	far := time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	cases := []struct {
		v    any
		want string
	}{
		{Order{Items: []Item{{}, {}, {}, {Price: "dear"}}}, `Order.Items[3].Price: json: invalid number literal "dear"`},
		{[]Item{{Price: "1e"}}, `[]plan.Item[0].Price: json: invalid number literal "1e"`},
		{map[string]Item{"a b": {Price: "-"}}, `map[string]plan.Item["a b"].Price: json: invalid number literal "-"`},
		{map[int]Item{-7: {Price: "x"}}, `map[int]plan.Item["-7"].Price: json: invalid number literal "x"`},
		{Order{Meta: struct{ Owner *Item }{&Item{Price: "?"}}}, `Order.Meta.Owner.Price: json: invalid number literal "?"`},
		{Order{Extra: &Extra{When: far}}, `Order.Extra.When: json: error calling MarshalJSON for type time.Time: Time.MarshalJSON: year outside of range [0,9999]`},
		{Order{Notes: map[string]any{"k": []any{1, func() {}}}}, `Order.Notes["k"][1]: json: unsupported type: func()`},
		{Order{Items: []Item{{Free: make(chan int)}}}, `Order.Items[0].Free: json: unsupported type: chan int`},
		{Item{Free: map[string]any{"deep": Item{Free: map[string]any{"er": failing{}}}}}, `Item.Free["deep"].Free["er"]: json: error calling MarshalJSON for type plan.failing: it fails`},
		{Item{Free: failingText{}}, `Item.Free: json: error calling MarshalText for type plan.failingText: it fails`},
		{map[failingText]int{{}: 1}, `map[plan.failingText]int: json: encoding error for type "map[plan.failingText]int": it fails`},
		{Item{Free: badJSON("{")}, `Item.Free: json: error calling MarshalJSON for type plan.badJSON: nib/jsonread: not valid JSON`},
		{Item{Free: badJSON("")}, `Item.Free: json: error calling MarshalJSON for type plan.badJSON: nib/jsonread: not valid JSON`},
		{struct{ R json.RawMessage }{json.RawMessage("{]")}, `struct { R ` + raw + ` }.R: json: error calling MarshalJSON for type ` + raw + `: nib/jsonread: not valid JSON`},
		{failing{}, `failing: json: error calling MarshalJSON for type plan.failing: it fails`},
		{json.Number("+1"), `Number: json: invalid number literal "+1"`},
		{struct {
			N json.Number `json:",string"`
		}{"x"}, `struct { N json.Number "json:\",string\"" }.N: json: invalid number literal "x"`},
		{map[Iface]int{nil: 1}, `map[plan.Iface]int: json: the key of a map is a nil interface`},
		{[2]any{0, [1]any{complex(1, 2)}}, `[2]interface {}[1][0]: json: unsupported type: complex128`},
	}
	for _, c := range cases {
		_, err := append1(c.v, MaxDepth)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%T: got error %v, want an *Error", c.v, err)
			continue
		}
		if got, want := err.Error(), "nib/schema: "+c.want; got != want {
			t.Errorf("%T:\ngot  %s\nwant %s", c.v, got, want)
		}
	}
}

func TestErrorsWrapTheirCause(t *testing.T) {
	for _, v := range []any{failing{}, failingText{}, map[failingText]int{{}: 1}, []any{failing{}}} {
		if _, err := append1(v, MaxDepth); !errors.Is(err, errFailing) {
			t.Errorf("%T: got %v, want an error that wraps %v", v, err, errFailing)
		}
	}
	var m *json.MarshalerError
	if _, err := append1(failing{}, MaxDepth); !errors.As(err, &m) || m.Type != reflect.TypeFor[failing]() {
		t.Errorf("got %v, want a json.MarshalerError", err)
	}
	var u *json.UnsupportedTypeError
	if _, err := append1([]any{func() {}}, MaxDepth); !errors.As(err, &u) || u.Type != reflect.TypeFor[func()]() {
		t.Errorf("got %v, want a json.UnsupportedTypeError", err)
	}
}

func TestErrorsOfTypes(t *testing.T) {
	cases := []struct {
		v    any
		want string // "" for a type with some values that can be encoded
	}{
		{struct{ C chan int }{}, `struct { C chan int }.C: json: unsupported type: chan int`},
		{struct{ A struct{ F func() } }{}, `struct { A struct { F func() } }.A.F: json: unsupported type: func()`},
		{[2][]int{}, ""},
		{[2]chan int{}, `[2]chan int[]: json: unsupported type: chan int`},
		{[0]chan int{}, ""},
		{[]chan int{}, ""},
		{(*chan int)(nil), ""},
		{map[string]func(){}, ""},
		{map[float64]int{}, `map[float64]int: json: unsupported type: map[float64]int`},
		{map[[2]int]int{}, `map[[2]int]int: json: unsupported type: map[[2]int]int`},
		{map[any]int{}, `map[interface {}]int: json: unsupported type: map[interface {}]int`},
		{complex64(0), `complex64: json: unsupported type: complex64`},
		{struct {
			F func() `json:",omitempty"`
		}{}, `struct { F func() "json:\",omitempty\"" }.F: json: unsupported type: func()`},
		{struct {
			F func() `json:",omitzero"`
		}{}, ""},
		{struct {
			F func()   `json:"-"`
			C chan int `log:"-"`
			c complex64
		}{}, ""},
		{struct{ E *struct{ F func() } }{}, ""},
		{tree{}, ""},
	}
	for _, c := range cases {
		got := ""
		if err := Of(reflect.TypeOf(c.v)).Err(); err != nil {
			got = strings.TrimPrefix(err.Error(), "nib/schema: ")
		}
		if got != c.want {
			t.Errorf("%T:\ngot  %q\nwant %q", c.v, got, c.want)
		}
		if _, err := append1(c.v, MaxDepth); (err == nil) != (c.want == "") {
			t.Errorf("%T: encoding it: got error %v, want %q", c.v, err, c.want)
		}
	}
}

func TestFaultyTypeWithinAnInterface(t *testing.T) {
	v := struct{ V any }{struct{ A [1]struct{ C chan int } }{}}
	_, err := append1(v, MaxDepth)
	const want = "nib/schema: struct { V interface {} }.V.A[].C: json: unsupported type: chan int"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestDestinationAfterAnError(t *testing.T) {
	front := append(make([]byte, 0, 1000), "front"...)
	for _, v := range []any{Item{Free: failing{}}, []any{1, 2, func() {}}, map[string]any{"a": 1, "b": failing{}}} {
		got, err := AppendAny(front, v, top)
		if err == nil || string(got) != "front" || &got[0] != &front[0] {
			t.Errorf("%T: got %q and %v, want the slice as it was and an error", v, got, err)
		}
	}
}

// at returns a state in which depth containers may nest.
func at(depth int) State { return State{depth, Outermost(nil).Line} }

var top = at(MaxDepth)
