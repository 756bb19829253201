// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"
	"time"
)

type masked1 struct{ Word string }

func (masked1) IsSecret() {}

func TestForm(t *testing.T) {
	for _, test := range []struct {
		value any
		want  Form
	}{
		{"", FormString}, {0, FormInteger}, {uint8(0), FormInteger}, {time.Duration(0), FormInteger},
		{float32(0), FormFloat}, {0.0, FormFloat}, {false, FormBool}, {json.Number(""), FormNumber},
		{time.Time{}, FormTime}, {new(time.Time), FormPointer}, {netip.Addr{}, FormText}, {new(netip.Addr), FormPointer},
		{[]byte(nil), FormBytes}, {[2]byte{}, FormArray}, {[]string(nil), FormSlice}, {[]int(nil), FormSlice},
		{masked1{}, FormMask}, {new(masked1), FormPointer}, {json.RawMessage(nil), FormAny}, {byValue{}, FormAny},
		{[]any(nil), FormSlice}, {flat{}, FormStruct}, {new(flat), FormPointer}, {func() {}, FormNone}, {1i, FormNone},
		{map[string]any(nil), FormMap}, {map[string]string(nil), FormMap}, {map[int]bool(nil), FormMap},
		{map[string]float64(nil), FormMap}, {map[bool]int(nil), FormNone},
	} {
		p := Of(reflect.TypeOf(test.value))
		if got := p.Form(); got != test.want {
			t.Errorf("%T: got %d, want %d", test.value, got, test.want)
		}
		switch test.want {
		case FormMap, FormSlice, FormArray, FormPointer:
			if elem := p.Elem(); elem == nil || elem.Type() != p.Type().Elem() {
				t.Errorf("%T: elements by the plan %v", test.value, elem)
			}
		}
	}
	if got := For[any]().Form(); got != FormAny {
		t.Errorf("any: got %d", got)
	}
	if got := For[error]().Form(); got != FormAny {
		t.Errorf("error: got %d", got)
	}
}

func TestMemberReportsFieldsThatAreAlwaysWritten(t *testing.T) {
	type record struct {
		*Inner
		Shadow
		Plain, Nil *int
		Empty      string    `json:",omitempty"`
		Zero       string    `json:",omitzero"`
		Time       time.Time `json:",omitempty"`
		ZeroTime   time.Time `json:",omitzero"`
		Full       [1]int    `json:",omitempty"`
		None       [0]int    `json:",omitempty"`
	}
	want := map[string]bool{"A": false, "Own": false, "a": true, "C": true, "Plain": true, "Nil": true,
		"Empty": false, "Zero": false, "Time": true, "ZeroTime": false, "Full": true, "None": false}
	p := For[record]()
	for i := range p.Fields() {
		f := &p.Fields()[i]
		value, always := p.Member(f)
		if expected, ok := want[f.Name]; !ok || always != expected {
			t.Errorf("%s: always %v, want %v", f.Path, always, expected)
		}
		if value.Type() != f.Type {
			t.Errorf("%s: plan of %v", f.Path, value.Type())
		}
		delete(want, f.Name)
	}
	for name := range want {
		t.Errorf("%s is not among the fields", name)
	}
}

// Whether a method with a pointer receiver counts depends on where the struct
// is, not on the type of its field alone.
func TestMemberHasTheAddressOfItsStruct(t *testing.T) {
	type holder struct{ P byPointer }
	type outer struct{ holder }
	type by struct{ *Embedded }
	for _, test := range []struct {
		name string
		plan *Plan
		want Form
	}{
		{"addressed", For[outer](), FormAny},
		{"in a slice", For[[]outer]().Elem(), FormAny},
		{"in a map", For[map[string]outer]().Elem(), FormStruct},
		{"in a map, behind a pointer", For[map[string]*outer]().Elem().Elem(), FormAny},
		{"in a map, behind an embedded pointer", For[map[string]by]().Elem(), FormAny},
	} {
		value, _ := test.plan.Member(&test.plan.Fields()[0])
		if got := value.Form(); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

type Embedded struct{ P byPointer }
