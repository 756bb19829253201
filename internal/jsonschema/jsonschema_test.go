// SPDX-License-Identifier: Apache-2.0

package jsonschema

import (
	"bytes"
	"encoding"
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/plan"
)

var update = flag.Bool("update", false, "write the files in testdata anew")

type (
	item struct {
		SKU   string  `json:"sku"`
		Price float64 `json:"price"`
		N     uint8   `json:"n,string"`
	}
	page[T any] struct {
		Items []T      `json:"items"`
		Next  *page[T] `json:"next,omitempty"`
	}
	Base     struct{ ID int64 }
	Optional struct{ Zone string }
	tree     struct {
		Kids []tree
		By   map[int]*tree
	}
	self   *self
	labels map[string]labels
	many   [2][]many
	secret struct{ Word string }
	color  int
	raw    struct{}
	byPtr  struct{ N int }
	holder struct{ P byPtr }
	level  string
	注文     struct{ Next *注文 }
)

func (secret) IsSecret()                      {}
func (color) MarshalText() ([]byte, error)    { return []byte("red"), nil }
func (raw) MarshalJSON() ([]byte, error)      { return []byte("1"), nil }
func (*byPtr) MarshalJSON() ([]byte, error)   { return []byte("1"), nil }
func (l *level) MarshalText() ([]byte, error) { return []byte(*l), nil }

// Each type of value, within a slice because the root's schema says more.
func TestTypes(t *testing.T) {
	for _, test := range []struct {
		list any
		want string
	}{
		{[]string{}, `{"type": "string"}`},
		{[]bool{}, `{"type": "boolean"}`},
		{[]int{}, `{"type": "integer"}`},
		{[]int8{}, `{"type": "integer", "minimum": -128, "maximum": 127}`},
		{[]int16{}, `{"type": "integer", "minimum": -32768, "maximum": 32767}`},
		{[]int32{}, `{"type": "integer", "minimum": -2147483648, "maximum": 2147483647}`},
		{[]int64{}, `{"type": "integer", "minimum": -9223372036854775808, "maximum": 9223372036854775807}`},
		{[]uint{}, `{"type": "integer", "minimum": 0}`},
		{[]uintptr{}, `{"type": "integer", "minimum": 0}`},
		{[][1]uint8{}, `{"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 255}, "minItems": 1, "maxItems": 1}`},
		{[]uint16{}, `{"type": "integer", "minimum": 0, "maximum": 65535}`},
		{[]uint32{}, `{"type": "integer", "minimum": 0, "maximum": 4294967295}`},
		{[]uint64{}, `{"type": "integer", "minimum": 0, "maximum": 18446744073709551615}`},
		{[]float32{}, `{"anyOf": [{"type": "number"}, {"enum": ["NaN", "+Inf", "-Inf"]}]}`},
		{[]*float64{}, `{"anyOf": [{"type": "number"}, {"enum": ["NaN", "+Inf", "-Inf"]}, {"type": "null"}]}`},
		{[]**int{}, `{"type": ["integer", "null"]}`},
		{[]json.Number{}, `{"type": "number"}`},
		{[]time.Time{}, `{"type": "string", "format": "date-time"}`},
		{[]*time.Time{}, `{"type": ["string", "null"], "format": "date-time"}`},
		{[][]byte{}, `{"type": ["string", "null"], "contentEncoding": "base64"}`},
		{[]*[]byte{}, `{"type": ["string", "null"], "contentEncoding": "base64"}`},
		{[][]string{}, `{"type": ["array", "null"], "items": {"type": "string"}}`},
		{[]map[string]int{}, `{"type": ["object", "null"], "additionalProperties": {"type": "integer"}}`},
		{[]map[uint8]bool{}, `{"type": ["object", "null"], "propertyNames": {"pattern": "^(0|[1-9][0-9]*)$"}, "additionalProperties": {"type": "boolean"}}`},
		{[]map[color]bool{}, `{"type": ["object", "null"], "additionalProperties": {"type": "boolean"}}`},
		{[]map[string]any{}, `{"type": ["object", "null"], "additionalProperties": true}`},
		{[]any{}, `true`},
		{[]error{}, `true`},
		{[]json.RawMessage{}, `true`},
		{[]raw{}, `true`},
		{[]*raw{}, `true`},
		{[]json.Marshaler{}, `true`},
		{[]netip.Addr{}, `{"type": "string"}`},
		{[]*netip.Addr{}, `{"type": ["string", "null"]}`},
		{[]level{}, `{"type": "string"}`},
		{[]encoding.TextMarshaler{}, `{"type": ["string", "null"]}`},
		{[]secret{}, `{"const": "***"}`},
		{[]*secret{}, `{"anyOf": [{"const": "***"}, {"type": "null"}]}`},
		{[]chan int{}, `false`},
		{[]*func(){}, `{"type": "null"}`},
		{[]self{}, `{"type": "null"}`},
		{[]struct{}{}, `{"type": "object"}`},
		{[]*struct{ A int }{}, `{"type": ["object", "null"], "properties": {"A": {"type": "integer"}}, "required": ["A"]}`},
		{[]byPtr{}, `true`},
		{[]map[string]byPtr{}, `{"type": ["object", "null"], "additionalProperties": {"type": "object", "properties": {"N": {"type": "integer"}}, "required": ["N"]}}`},
	} {
		typ := reflect.TypeOf(test.list)
		want := `"items": ` + test.want + "\n}\n"
		if got := Of(plan.Of(typ)); !strings.HasSuffix(unbroken(got), unbroken([]byte(want))) {
			t.Errorf("%v:\ngot  %s\nwant %s", typ, got, want)
		}
	}
}

// unbroken is text without the white space that depends on its width.
func unbroken(text []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return strings.Join(strings.Fields(string(text)), "")
	}
	return strings.Join(strings.Fields(b.String()), "")
}

const seconds, required = `{"type":"number","description":"duration in seconds"}`, `,"required":["A"]`

// Each tag, in a struct of one field.
var tagged = []struct {
	value      any
	properties string // or no properties for ""
	always     bool
}{
	{struct{ A int }{}, `{"A":{"type":"integer"}}`, true},
	{struct{ a int }{}, "", false},
	{struct {
		A int `json:"-"`
	}{}, "", false},
	{struct {
		A int `log:"-"`
	}{}, "", false},
	{struct {
		A int `log:"mask"`
	}{}, `{"A":{"const":"***"}}`, true},
	{struct {
		A *int `json:",string,omitempty" log:"mask"`
	}{}, `{"A":{"const":"***"}}`, false},
	{struct {
		A int `json:",omitempty"`
	}{}, `{"A":{"type":"integer"}}`, false},
	{struct {
		A int `json:",omitzero"`
	}{}, `{"A":{"type":"integer"}}`, false},
	{struct {
		A time.Time `json:",omitempty"` // a struct is never empty
	}{}, `{"A":{"type":"string","format":"date-time"}}`, true},
	{struct {
		A [1]bool `json:",omitempty"`
	}{}, `{"A":{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":1}}`, true},
	{struct {
		A [0]bool `json:",omitempty"`
	}{}, `{"A":{"type":"array","items":{"type":"boolean"},"minItems":0,"maxItems":0}}`, false},
	{struct {
		A time.Duration `log:"unit=s"`
	}{}, `{"A":` + seconds + `}`, true},
	{struct {
		A *time.Duration `json:",omitempty" log:"unit=us"`
	}{}, `{"A":{"type":["number","null"],"description":"duration in microseconds"}}`, false},
	{struct {
		A time.Duration `json:",string" log:"unit=ms"`
	}{}, `{"A":{"type":"string","pattern":"^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?$","description":"duration in milliseconds"}}`, true},
	{struct {
		A time.Duration `json:",string" log:"unit=ns"`
	}{}, `{"A":{"type":"string","pattern":"^(0|-?[1-9][0-9]*)$","description":"duration in nanoseconds"}}`, true},
	{struct {
		A *bool `json:",string"`
	}{}, `{"A":{"type":["string","null"],"pattern":"^(true|false)$"}}`, true},
	{struct {
		A string `json:",string"`
	}{}, `{"A":{"type":"string","pattern":"^\".*\"$"}}`, true},
	{struct {
		A float32 `json:",string"`
	}{}, `{"A":{"type":"string","pattern":"^(-?(0|[1-9][0-9]*)(\\.[0-9]+)?(e[+-]?[0-9]+)?|NaN|[+-]Inf)$"}}`, true},
	{struct {
		A color `json:",string"` // writes itself
	}{}, `{"A":{"type":"string"}}`, true},
	{struct {
		//lint:ignore SA5008 that it means nothing for a slice is what is tested
		A []int `json:",string"`
	}{}, `{"A":{"type":["array","null"],"items":{"type":"integer"}}}`, true},
	{struct{ Base }{}, `{"ID":{"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}}`, true},
	{struct{ *Optional }{}, `{"Zone":{"type":"string"}}`, false},
	{struct {
		A func() `json:",omitzero"`
	}{}, `{"A":false}`, false},
}

func TestTags(t *testing.T) {
	for _, test := range tagged {
		typ := reflect.TypeOf(test.value)
		want := `"type":"object"`
		if test.properties != "" {
			want += `,"properties":` + test.properties
		}
		if test.always {
			want += required
		}
		want = strings.ReplaceAll(want, `["A"]`, `["`+firstName(typ)+`"]`)
		if got := unbroken(Of(plan.Of(typ))); !strings.HasSuffix(got, `/schema",`+unbroken([]byte(want))+"}") {
			t.Errorf("%v:\ngot  %s\nwant %s", typ, got, want)
		}
	}
}

func firstName(t reflect.Type) string {
	if fields := plan.Of(t).Fields(); len(fields) > 0 {
		return fields[0].Name
	}
	return ""
}

// An order has at least one of everything.
type order struct {
	Base
	*Optional
	At     time.Time       `json:"at"`
	Took   time.Duration   `json:"took" log:"unit=ms"`
	Raw    time.Duration   `json:"raw"`
	Card   string          `json:"card" log:"mask"`
	Body   []byte          `json:"body"`
	Sum    [4]int16        `json:"sum"`
	From   netip.Addr      `json:"from"`
	Extra  any             `json:"extra"`
	First  item            `json:"first"`
	ByKey  map[string]item `json:"by_key"`
	Pair   [2]*item        `json:"pair"`
	Page   page[item]      `json:"page"`
	Ratio  *float32        `json:"ratio,omitempty"`
	Tree   *tree           `json:"tree"`
	Labels labels          `json:"labels"`
	Many   many            `json:"many"`
	Direct holder          `json:"direct"`
	Copied map[int]holder  `json:"copied"`
	Again  *holder         `json:"again"`
	More   []any           `json:"more"`
	Nested 注文              `json:"注文"`
}

func TestGolden(t *testing.T) {
	type first = item
	type item struct{ Other bool } // of the same name
	for name, typ := range map[string]reflect.Type{
		"order":  reflect.TypeFor[order](),
		"tree":   reflect.TypeFor[tree](),
		"labels": reflect.TypeFor[labels](),
		"any":    reflect.TypeFor[any](),
		"names": reflect.TypeFor[struct {
			A, B first
			C, D item
			E, F page[item]
			G    page[map[string][]*page[int]]
		}](),
		"pointer": reflect.TypeFor[**page[string]](),
	} {
		t.Run(name, func(t *testing.T) {
			got := Of(plan.Of(typ))
			if !json.Valid(got) {
				t.Errorf("not JSON: %s", got)
			}
			path := filepath.Join("testdata", name+".json")
			if *update {
				must.Succeed(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			must.Succeed(t, err)
			if !bytes.Equal(got, bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if again := Of(plan.Of(typ)); !bytes.Equal(got, again) {
				t.Errorf("another text the second time:\n%s", again)
			}
		})
	}
}

func TestShortName(t *testing.T) {
	for _, test := range []struct{ name, short, id string }{
		{"Order", "Order", "Order"},
		{"Page[github.com/acme/shop.Item]", "Page[Item]", "Page_Item"},
		{"Pair[int,map[string]*gopkg.in/yaml%2ev3.Node]", "Pair[int,map[string]*Node]", "Pair_int_map_string_Node"},
		{"Of[struct { A a/b.C }]", "Of[struct { A C }]", "Of_struct_A_C"},
		{"Page[a/b.Item·12]", "Page[Item]", "Page_Item"},
		{"snake_case", "snake_case", "snake_case"},
		{"Größe", "Größe", "Gr_e"},
		{"注文", "注文", "T"},
	} {
		short := shortName(test.name)
		if id := identifier(short); short != test.short || id != test.id {
			t.Errorf("%s: got %q, %q, want %q, %q", test.name, short, id, test.short, test.id)
		}
	}
}

// A type that occurs again at each level must not be written out again.
func TestSharedTypesAreWrittenOnce(t *testing.T) {
	type d0 struct{ A int }
	type d1 struct{ A, B d0 }
	type d2 struct{ A, B *d1 }
	type d3 struct{ A, B []d2 }
	type d4 struct{ A, B map[string]d3 }
	type d5 struct{ A, B d4 }
	if got := Of(plan.For[d5]()); len(got) > 4000 {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
}
