// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/seed"
)

// simple atoms can be decoded again.
var simple = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](),
	reflect.TypeFor[int64](), reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint64](), reflect.TypeFor[float32](),
	reflect.TypeFor[float64](), reflect.TypeFor[string](), typeTime, typeDuration, reflect.TypeFor[[]byte](), reflect.TypeFor[[]string](),
	reflect.TypeFor[map[string]string](), reflect.TypeFor[map[string]int](), reflect.TypeFor[flat](), reflect.TypeFor[tree](), reflect.TypeFor[map[int8][]bool](),
}

func TestDecodingGivesTheValueBack(t *testing.T) {
	from := seed.Of(t)
	for n := range short(200) {
		g := newGenerator(from + n)
		g.hostile = n%2 == 1
		var fields []reflect.StructField
		for i := range 1 + g.IntN(8) {
			typ := pick(g, simple...)
			switch g.IntN(6) {
			case 0:
				typ = reflect.PointerTo(typ)
			case 1:
				typ = reflect.SliceOf(typ)
			case 2:
				typ = reflect.ArrayOf(2, typ)
			case 3:
				typ = reflect.StructOf([]reflect.StructField{{Name: "In", Type: typ}, {Name: "Out", Type: typ, Tag: `json:",omitempty"`}})
			}
			tag := pick[reflect.StructTag](g, "", `json:",omitempty"`, `json:",omitzero"`)
			switch typ.Kind() {
			case reflect.Pointer, reflect.Struct, reflect.Array: // null, or an empty value within them, is decoded to less
				tag = ""
			}
			fields = append(fields, reflect.StructField{Name: string(rune('A' + i)), Type: typ, Tag: tag})
		}
		typ := reflect.StructOf(fields)
		for range 20 {
			checkRoundTrip(t, g.value(typ), g.hostile)
		}
	}
}

// checkRoundTrip encodes v, decodes the text and encodes again: nothing may
// differ that encoding/json distinguishes.
func checkRoundTrip(t *testing.T, v reflect.Value, hostile bool) {
	t.Helper()
	first, err := Of(v.Type()).Append(nil, v.Addr().UnsafePointer(), top)
	if err != nil {
		t.Errorf("%v: %v", v.Type(), err)
		return
	}
	if bytes.Contains(first, []byte(`"NaN"`)) || bytes.Contains(first, []byte(`Inf"`)) {
		return // it is a string now
	}
	back := reflect.New(v.Type())
	if err := json.Unmarshal(first, back.Interface()); err != nil {
		t.Errorf("%v: %v in %s", v.Type(), err, first)
		return
	}
	second, err := Of(v.Type()).Append(nil, back.UnsafePointer(), top)
	// A zone of less than a minute is written like UTC, but not as Z.
	same := bytes.Equal(bytes.ReplaceAll(first, []byte("+00:00"), []byte("Z")), bytes.ReplaceAll(second, []byte("+00:00"), []byte("Z")))
	if hostile { // bytes that are not UTF-8 in the keys of maps change their order
		same = sameValue(bytes.ReplaceAll(first, []byte("+00:00"), []byte("Z")), second)
	}
	if err != nil || !same {
		t.Errorf("%.200v:\nfirst  %.1000s\nsecond %.1000s, error %v", v.Type(), first, second, err)
	}
}

func TestDocumentedDifferences(t *testing.T) {
	type pair struct {
		A, B any
		F    float64 `json:",string"`
	}
	cases := []struct {
		v    any
		want string
	}{
		{math.NaN(), `"NaN"`}, {math.Inf(1), `"+Inf"`}, {float32(math.Inf(-1)), `"-Inf"`},
		{pair{math.NaN(), []float64{math.Inf(1)}, math.NaN()}, `{"A":"NaN","B":["+Inf"],"F":"NaN"}`},
		{map[string]float64{"a": math.NaN()}, `{"a":"NaN"}`},
		{"a\xffb", "\"a\ufffdb\""}, {map[string]int{"\xff": 1}, "{\"\ufffd\":1}"},
		{"<&>", `"<&>"`}, {"\x7f\u0085\u202e\ufeff\u2028", `"\u007f\u0085\u202e\ufeff\u2028"`},
		{json.RawMessage("\"\u202e\xff\""), "\"\\u202e\ufffd\""},
		{time.Date(9999, 12, 31, 23, 59, 59, 999999999, time.UTC), `"9999-12-31T23:59:59.999999999Z"`},
	}
	for _, c := range cases {
		if got := mustAppend(t, c.v); got != c.want {
			t.Errorf("%v: got %s, want %s", c.v, got, c.want)
		}
	}
}
