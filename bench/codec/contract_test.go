// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/schema"
)

// The types that the contract is tested with. A public validator checks that
// the output of the encoder conforms to the schema. The tests of
// internal/jsonschema have the text of the schema for each type and tag.
var contracts = []func(t *testing.T){
	contract[Line],
	contract[places[string]], contract[places[bool]], contract[places[int]],
	contract[places[int8]], contract[places[int16]], contract[places[int32]],
	contract[places[int64]], contract[places[uint]], contract[places[uint8]],
	contract[places[uint16]], contract[places[uint32]], contract[places[uint64]],
	contract[places[float32]], contract[places[float64]], contract[places[json.Number]],
	contract[places[time.Duration]], contract[places[time.Time]], contract[places[[]byte]],
	contract[places[User]], contract[places[*User]], contract[places[[]User]],
	contract[places[[0]bool]], contract[places[[]int]], contract[places[any]],
	contract[places[map[int8]float64]], contract[places[map[uint]User]],
	contract[places[map[color][]byte]], contract[places[map[string]*int]],
	contract[places[netip.Addr]], contract[places[color]], contract[places[raw]],
	contract[places[byPtr]], contract[places[fmt.Stringer]], contract[places[json.RawMessage]],
	contract[places[held]], contract[places[hidden]], contract[places[*hidden]],
	contract[embedding], contract[tagged], contract[tree], contract[[]tree], contract[labels],
	contract[ping], contract[page[User]], contract[page[page[map[string]int8]]],
	contract[shared], contract[map[string]held], contract[nested], contract[struct{}],
	contract[*User], contract[[]float64], contract[map[uint8]*bool], contract[string],
	contract[[3]User], contract[names], contract[time.Time], contract[[]byte],
}

type (
	// A places has a type in each place in which a struct may have it.
	places[T any] struct {
		Plain T
		//lint:ignore SA5008 encoding/json ignores the option for other types
		Quoted  T  `json:",string"`
		Empty   T  `json:",omitempty"`
		Zero    T  `json:"zero,omitzero"`
		Pointer *T `json:",string"`
		Twice   **T
		List    []T
		Array   [2]T
		Map     map[string]T
		Deep    *map[string][][2]*T
	}
	Base   struct{ ID int64 }
	Other  struct{ Zone, Shard string }
	Deeper struct {
		*Other
		Depth uint16
	}
	embedding struct {
		Base
		*Deeper
		Name string
	}
	tagged struct {
		A time.Duration  `json:"a_s" log:"unit=s"`
		B time.Duration  `json:"b_us" log:"unit=us"`
		C *time.Duration `json:"c_ms,omitempty" log:"unit=ms"`
		D string         `log:"mask"`
		E *User          `log:"mask" json:",omitempty"`
		F string         `log:"-"`
		G string         `json:"-"`
		H time.Duration  `json:",string" log:"unit=ms"`
		I *time.Duration `json:",string" log:"unit=ns"`
	}
	hidden struct{ Word string }
	color  int
	raw    struct{ N int }
	byPtr  struct{ N int }
	held   struct{ P byPtr }
	tree   struct {
		Value    int16            `json:"value"`
		Children []tree           `json:"children"`
		By       map[string]*tree `json:"by,omitempty"`
	}
	labels map[string]labels
	ping   struct {
		N    uint8
		Pong *pong
	}
	pong struct {
		S     string
		Pings [2]*ping
	}
	page[T any] struct {
		Items []T      `json:"items"`
		Next  *page[T] `json:"next,omitempty"`
	}
	shared struct {
		A, B  User
		C     []User
		D     map[string]User
		E     *User
		F     held
		G     map[string]held
		H     *held
		Other other
	}
	other  struct{ User User }
	nested struct {
		A struct {
			B struct {
				C [2]struct{ D *struct{ E int8 } }
			}
		}
	}
	names struct {
		A int    `json:"a b/c~d%e#f"`
		B string `json:"日本"`
		C bool   `json:"<&>"`
		D int    `json:"$ref"`
	}
)

func (hidden) IsSecret()                      {}
func (c color) MarshalText() ([]byte, error)  { return fmt.Appendf(nil, "color %d", int(c)), nil }
func (c color) String() string                { return "color" }
func (r raw) MarshalJSON() ([]byte, error)    { return json.Marshal([]int{r.N}) }
func (p *byPtr) MarshalJSON() ([]byte, error) { return json.Marshal(fmt.Sprint(p.N)) }

// values is how many of each type are encoded.
const values = 40

func TestEncoderKeepsToItsSchema(t *testing.T) {
	for _, check := range contracts {
		check(t)
	}
}

// contract encodes random values of T and validates them.
func contract[T any](t *testing.T) {
	name := reflect.TypeFor[T]().String()
	t.Run(name, func(t *testing.T) {
		codec, err := schema.For[T]()
		if err != nil {
			t.Fatal(err)
		}
		text := codec.JSONSchema()
		compiled := compile(t, map[string]string{"schema.json": string(text)}, "schema.json")
		random := rand.New(rand.NewPCG(seed.Of(t), uint64(len(name))))
		for i := range values {
			v := new(T)
			if i > 0 {
				fill(reflect.ValueOf(v).Elem(), random, 4)
			}
			line, err := codec.AppendJSON(nil, v)
			if err != nil {
				t.Fatalf("%+v: %v", v, err)
			}
			if err := validate(compiled, line); err != nil {
				t.Fatalf("%s\nis not valid: %v\nschema: %s", line, err, text)
			}
		}
	})
}

// The validator must reject lines that the encoder would not write.
func TestDamagedLinesAreNotValid(t *testing.T) {
	text := string(schema.MustFor[Line]().JSONSchema())
	compiled := compile(t, map[string]string{"schema.json": text}, "schema.json")
	if err := validate(compiled, []byte(wantServed)); err != nil {
		t.Fatalf("%s: %v", wantServed, err)
	}
	for _, change := range []struct{ old, new string }{
		{`"status":201,`, ``},
		{`"status":201`, `"status":"201"`},
		{`"bytes":48213`, `"bytes":1.5`},
		{`"attempt":2`, `"attempt":256`},
		{`"attempt":2`, `"attempt":-1`},
		{`"cached":true`, `"cached":null`},
		{`"time":"2026-11`, `"time":"2026-13`},
		{`["web"`, `[true`},
		{`"id":8123,`, ``},
		{`"labels":{}`, `"labels":{"a":1}`},
	} {
		line := strings.Replace(wantServed, change.old, change.new, 1)
		if line == wantServed || validate(compiled, []byte(line)) == nil {
			t.Errorf("%s in place of %s passes: %s", change.new, change.old, line)
		}
	}
}

// compile compiles the named schema of several texts.
func compile(t *testing.T, texts map[string]string, name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	for name, text := range texts {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err == nil {
			err = c.AddResource(name, doc)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := c.Compile(name) // checks it against the metaschema
	if err != nil {
		t.Fatalf("%v\n%s", err, texts)
	}
	if compiled.DraftVersion != 2020 {
		t.Errorf("draft %d", compiled.DraftVersion)
	}
	return compiled
}

func validate(s *jsonschema.Schema, line []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
	if err != nil {
		return err
	}
	return s.Validate(v)
}

// fill gives v a random value. Nilable values are sometimes nil.
func fill(v reflect.Value, r *rand.Rand, depth int) {
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Unix(r.Int64N(250e9), r.Int64N(1e9)).In(time.FixedZone("", r.IntN(24*60)*60-12*3600))
		return
	case *json.Number:
		*x = json.Number([]string{"", "0", "-1", "1.5", "1e300", "-2.5E-3"}[r.IntN(6)])
		return
	case *json.RawMessage:
		*x = []json.RawMessage{nil, []byte("null"), []byte(" [1, {}]"), []byte(`"x"`)}[r.IntN(4)]
		return
	case *netip.Addr:
		*x = netip.AddrFrom4([4]byte{10, 0, 0, byte(r.Uint32())})
		return
	case *fmt.Stringer:
		*x = []fmt.Stringer{nil, color(1)}[r.IntN(2)]
		return
	case *any:
		*x = []any{nil, 1, "x", []any{true}, map[string]any{"a": 1.5}, User{ID: 1}}[r.IntN(6)]
		return
	}
	fillKind(v, r, depth)
}

func fillKind(v reflect.Value, r *rand.Rand, depth int) {
	switch k := v.Kind(); k {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.String:
		v.SetString([]string{"", "x", "\"quoted\"\n", "日本\u2028", "\xff\x00", strings.Repeat("long ", 30)}[r.IntN(6)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1.5, -1e30, 1e-7, 12345.678, math.Inf(1), math.Inf(-1),
			math.NaN()}[r.IntN(8)])
	case reflect.Pointer:
		if v.SetZero(); depth > 0 && r.IntN(4) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), r, depth-1)
		}
	case reflect.Slice:
		if v.SetZero(); depth > 0 && r.IntN(4) > 0 {
			v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		}
		fillAll(v, r, depth-1)
	case reflect.Array:
		fillAll(v, r, depth)
	case reflect.Map:
		if v.SetZero(); depth > 0 && r.IntN(4) > 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range r.IntN(3) {
				key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(key, r, depth-1)
				fill(elem, r, depth-1)
				v.SetMapIndex(key, elem)
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), r, depth)
			}
		}
	default:
		fillInteger(v, r)
	}
}

func fillAll(v reflect.Value, r *rand.Rand, depth int) {
	for i := range v.Len() {
		fill(v.Index(i), r, depth)
	}
}

// fillInteger prefers the bounds of the type.
func fillInteger(v reflect.Value, r *rand.Rand) {
	bits := v.Type().Bits()
	if v.CanInt() {
		v.SetInt([]int64{0, 1, -1, -1 << (bits - 1), 1<<(bits-1) - 1, r.Int64() >> (64 - bits)}[r.IntN(6)])
		return
	}
	v.SetUint([]uint64{0, 1, ^uint64(0) >> (64 - bits), r.Uint64() >> (64 - bits)}[r.IntN(4)])
}
