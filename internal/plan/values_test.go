// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"
)

// A generator makes values and types out of random numbers.
type generator struct {
	*rand.Rand
	hostile bool // strings that need escaping, NaN
}

func newGenerator(n uint64) *generator {
	return &generator{Rand: rand.New(rand.NewPCG(n, 1))}
}

// short returns how many types a test generates, out of n in the long run.
func short(n uint64) uint64 {
	if testing.Short() {
		return n / 4
	}
	return n
}

// value returns a value of type t.
func (g *generator) value(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	g.fill(v, 5)
	return v
}

// fill sets v, or leaves it zero in one of four cases.
func (g *generator) fill(v reflect.Value, depth int) {
	if g.IntN(4) == 0 || depth == 0 || !v.CanSet() {
		return
	}
	switch v.Type() {
	case typeTime:
		v.Set(reflect.ValueOf(g.time()))
		return
	case typeNumber:
		v.SetString(pick(g, "", "0", "-12", "3.25", "1e9", "-0.5E-3"))
		return
	case typeRaw:
		v.SetBytes([]byte(pick(g, `null`, `{"a": [1, 2 ]}`, ` "x" `, `17`, `[]`)))
		return
	}
	if isAddress(v.Type()) {
		v.Set(reflect.ValueOf(g.address(v.Type())))
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(g.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(g.bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(g.bits())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(g.float(v.Kind()))
	case reflect.String:
		v.SetString(g.text())
	case reflect.Struct:
		for i := range v.NumField() {
			g.fill(v.Field(i), depth-1)
		}
	case reflect.Array:
		for i := range v.Len() {
			g.fill(v.Index(i), depth-1)
		}
	default:
		g.fillReference(v, depth)
	}
}

func (g *generator) fillReference(v reflect.Value, depth int) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		g.fill(v.Elem(), depth-1)
	case reflect.Slice:
		n := g.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			g.fill(v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		n := g.IntN(20)
		if v.Type().Key().Kind() == reflect.Pointer { // two of them can have the same text
			n = min(n, 1)
		}
		for range n {
			key, elem := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			g.fill(key, depth-1)
			g.fill(elem, depth-1)
			if key.Kind() != reflect.Interface || !key.IsNil() {
				v.SetMapIndex(key, elem)
			}
		}
	case reflect.Interface:
		if x := g.any(depth - 1); x != nil && reflect.TypeOf(x).Implements(v.Type()) {
			// The methods of nil pointers panic, here as in encoding/json.
			if r := reflect.ValueOf(x); v.NumMethod() == 0 || r.Kind() != reflect.Pointer || !r.IsNil() {
				v.Set(r)
			}
		}
	}
}

// any returns a value for an interface.
func (g *generator) any(depth int) any {
	types := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[float64](), reflect.TypeFor[bool](),
		reflect.TypeFor[map[string]any](), reflect.TypeFor[[]any](), typeTime, typeDuration, reflect.TypeFor[[]string](),
		reflect.TypeFor[*int](), reflect.TypeFor[byValue](), reflect.TypeFor[byPointer](), reflect.TypeFor[*byPointer](),
		reflect.TypeFor[textValue](), reflect.TypeFor[onePointer](), reflect.TypeFor[[1]*string](), reflect.TypeFor[flat](),
		reflect.TypeFor[*flat](), reflect.TypeFor[uint8](), reflect.TypeFor[*any](), reflect.TypeFor[labels](),
		reflect.TypeFor[oneMap](), reflect.TypeFor[padded](),
	}
	v := reflect.New(types[g.IntN(len(types))]).Elem()
	g.fill(v, depth)
	return v.Interface()
}

// bits returns a number of any length.
func (g *generator) bits() uint64 { return g.Uint64() >> g.IntN(64) * (1 - 2*uint64(g.IntN(2))) }

func (g *generator) float(k reflect.Kind) float64 {
	if g.hostile && g.IntN(4) == 0 {
		return pick(g, math.NaN(), math.Inf(1), math.Inf(-1))
	}
	switch g.IntN(4) {
	case 0:
		return float64(g.IntN(100000)) / pick(g, 1.0, 2, 10, 100, 1000)
	case 1:
		return pick(g, 0, math.Copysign(0, -1), 1e21, 1e-6, 1e-7, 123456789, -1.5e300/1e280, 5e-9)
	case 2:
		return float64(float32(g.NormFloat64()))
	}
	if k == reflect.Float32 {
		return float64(math.Float32frombits(g.Uint32() & 0xbfffffff))
	}
	return math.Float64frombits(g.Uint64() & 0xbfffffffffffffff)
}

func (g *generator) time() time.Time {
	zone := pick(g, time.UTC, time.FixedZone("x", 3600), time.FixedZone("y", -12345), time.FixedZone("z", 30), time.FixedZone("far", 23*3600+59*60))
	t := time.Unix(g.Int64N(1<<36)-1<<35, 0)
	switch g.IntN(3) {
	case 0:
		t = t.Add(time.Duration(g.IntN(1e9)))
	case 1:
		t = t.Add(time.Duration(g.IntN(1000)) * time.Millisecond)
	}
	return t.In(zone)
}

func (g *generator) address(t reflect.Type) any {
	a := netip.MustParseAddr(pick(g, "10.0.0.1", "::1", "fe80::1%eth0", "fe80::1%zone\"with\nquotes", "2001:db8::a:b", "::ffff:1.2.3.4"))
	switch t {
	case reflect.TypeFor[netip.Addr]():
		return a
	case reflect.TypeFor[netip.AddrPort]():
		return netip.AddrPortFrom(a, uint16(g.bits()))
	case reflect.TypeFor[netip.Prefix]():
		return netip.PrefixFrom(a, g.IntN(33))
	}
	return net.IP(pick(g, a.AsSlice(), []byte{}, []byte{1, 2, 3})[:])
}

func (g *generator) text() string {
	n := g.IntN(pick(g, 4, 20, 60))
	if !g.hostile {
		return letters(g, n)
	}
	var b strings.Builder
	for range n {
		b.WriteString(pick(g, "a", "plain", "\"", "\\", "\n", "\x00", "\x1f", "\x7f", "é", "中", "\u2028", "\u202e", "\ufeff", "😀", "\xff", "\xe4\xb8", "\ud7ff", "\u0085", "<&>"))
	}
	return b.String()
}

// letters returns text that every encoder writes alike.
func letters(g *generator, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(pick(g, "a", "b", "z", "0", " ", "/", "<", "&", "é", "中", "\\", "\"", "\n", "-"))
	}
	return b.String()
}

func pick[T any](g *generator, list ...T) T { return list[g.IntN(len(list))] }

// atoms are the types that generated types are put together from.
var atoms = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](),
	reflect.TypeFor[int64](), reflect.TypeFor[uint](), reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](),
	reflect.TypeFor[uint64](), reflect.TypeFor[uintptr](), reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](),
	typeTime, typeDuration, typeNumber, typeRaw, reflect.TypeFor[[]byte](), reflect.TypeFor[any](), reflect.TypeFor[[]string](),
	reflect.TypeFor[map[string]any](), reflect.TypeFor[map[string]string](), reflect.TypeFor[map[string]int](),
	reflect.TypeFor[byValue](), reflect.TypeFor[byPointer](), reflect.TypeFor[textValue](), reflect.TypeFor[textPointer](),
	reflect.TypeFor[namedString](), reflect.TypeFor[namedBytes](), reflect.TypeFor[textByte](), reflect.TypeFor[labels](),
	reflect.TypeFor[zeroable](), reflect.TypeFor[zeroablePointer](), reflect.TypeFor[flat](), reflect.TypeFor[onePointer](),
	reflect.TypeFor[tree](), reflect.TypeFor[struct{}](), reflect.TypeFor[json.Marshaler](), reflect.TypeFor[error](),
	reflect.TypeFor[oneMap](), reflect.TypeFor[padded](), reflect.TypeFor[netip.Addr](), reflect.TypeFor[netip.Prefix](),
}

var keyTypes = []reflect.Type{
	reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[int8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint64](),
	reflect.TypeFor[namedString](), reflect.TypeFor[textValue](), reflect.TypeFor[textInt](), reflect.TypeFor[*textPointer](),
	reflect.TypeFor[uintptr](), reflect.TypeFor[textString](),
}

// typ returns a type of at most the given depth.
func (g *generator) typ(depth int) reflect.Type {
	if depth == 0 || g.IntN(3) == 0 {
		return pick(g, atoms...)
	}
	switch g.IntN(6) {
	case 0:
		return reflect.PointerTo(g.typ(depth - 1))
	case 1:
		return reflect.SliceOf(g.typ(depth - 1))
	case 2:
		return reflect.ArrayOf(g.IntN(4), g.typ(depth-1))
	case 3:
		return reflect.MapOf(pick(g, keyTypes...), g.typ(depth-1))
	}
	return g.structType(depth - 1)
}

// structType returns a struct type with up to eight fields, some of them
// embedded, some with tags that conflict.
func (g *generator) structType(depth int) reflect.Type {
	var fields []reflect.StructField
	for i := range g.IntN(9) {
		f := reflect.StructField{Name: string(rune('A'+i)) + "x", Type: g.typ(depth), Tag: g.tag()}
		if g.IntN(8) == 0 {
			e := pick(g, reflect.TypeFor[Inner](), reflect.TypeFor[Shadow](), reflect.TypeFor[Deep](), reflect.TypeFor[*Inner](), reflect.TypeFor[*Deep]())
			f.Type, f.Anonymous, f.Name = e, true, e.Name()
			if e.Kind() == reflect.Pointer {
				f.Name = e.Elem().Name()
			}
		}
		double := false
		for _, other := range fields {
			double = double || other.Name == f.Name
		}
		if !double {
			fields = append(fields, f)
		}
	}
	return reflect.StructOf(fields)
}

func (g *generator) tag() reflect.StructTag {
	name := pick(g, "", "", "", "a", "b", "c", "key", "with space", "ключ", "-", `bad\\name`, "a_name_of_more_than_thirty_two_bytes")
	if newOracle && name == `bad\\name` { // it takes the letters before the invalid character as the name
		name = "bad"
	}
	for _, option := range []string{"omitempty", "omitzero", "string", "other"} {
		if g.IntN(4) == 0 {
			name += "," + option
		}
	}
	if name == "" {
		return ""
	}
	return reflect.StructTag(`json:"` + name + `"`)
}
