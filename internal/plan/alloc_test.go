// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/must"
)

// quiet is a marshaler that allocates nothing itself.
type quiet struct{ N int }

var quietText = []byte(`{"n":1}`)

func (q quiet) MarshalJSON() ([]byte, error)         { return quietText, nil }
func (q quiet) IsZero() bool                         { return q.N == 0 }
func (q *quietPointer) MarshalText() ([]byte, error) { return quietText, nil }

type quietPointer struct{ N int }

type quietKey struct{ N int }

func (q quietKey) MarshalText() ([]byte, error) { return quietText[q.N : q.N+1], nil }

type line struct {
	Service string `json:"service"`
	Note    string `json:"note,omitempty"`
	Status  int    `json:"status"`
	Size    int64
	Attempt uint8
	Took    float64
	Cached  bool
	Time    time.Time `json:",omitzero"`
	Local   *time.Time
	Tags    []string
	User    *struct {
		ID   int64
		Name string
	}
	Labels map[string]string
	Quoted int    `json:",string"`
	Text   string `json:",string"`
	*Inner
	Nested struct {
		A, B float32
		C    struct{ D []int }
	}
	Wait  time.Duration `log:"unit=ms"`
	Bytes []byte
	Zero  [3]float64 `json:",omitzero"`
}

func newLine() line {
	now := time.Date(2026, 11, 21, 6, 30, 15, 123456789, time.FixedZone("x", 3600))
	l := line{Service: "checkout", Status: 200, Size: -48213, Took: 12.75, Time: now, Local: &now, Tags: []string{"web", "canary"},
		Labels: map[string]string{"a": "b", "c": "d"}, Text: "quo\"ted", Inner: &Inner{A: 1}, Bytes: []byte("bytes"), Wait: time.Second}
	l.Nested.C.D = []int{1, 2}
	l.Nested.A = 1.25
	return l
}

// manyKeys has more entries than are sorted on the stack.
func manyKeys[V any](value V) map[string]V {
	m := map[string]V{}
	for i := range 40 {
		m[fmt.Sprintf("key%d", i*7919%40)] = value
	}
	return m
}

func TestNoAllocations(t *testing.T) {
	n := 5
	pn := &n
	var anyN any = "x"
	values := []any{
		newLine(), []line{newLine()}, map[string]any{"a": 1, "b": "x", "c": 1.5, "d": true, "e": nil, "f": newLine()},
		manyKeys[any](1), manyKeys("x"), manyKeys(1), manyKeys(1.5), manyKeys(true), manyKeys([]int{1}), manyKeys(map[string]any{"x": map[string]any{"y": 1}}),
		map[int]string{3: "c", 1: "a", 20: "b"}, map[uint8]any{1: 1, 2: "x"}, map[quietKey]int{{1}: 1, {2}: 2}, map[*quietPointer]bool{{1}: true},
		map[namedString]flat{"a": {}, "b": {}}, map[string]quietPointer{"a": {}}, map[string][2]any{"x": {1, 2}}, map[string]struct{}{"a": {}},
		[]any{1, "x", int64(1 << 40), uint8(3), 2.5, []int{1}, []string{"a"}, &n, &pn, &anyN, time.Second, time.Now(), flat{}, &flat{}, onePointer{&n}, [1]*int{&n}, oneMap{}, padded{}},
		[]any{quiet{1}, &quiet{2}, &quietPointer{3}, quietPointer{4}, json.Number("12.5"), json.RawMessage(`{"a": 1}`), hidden{}},
		[]json.Marshaler{quiet{}, &quiet{}}, struct {
			Q quiet `json:",omitzero"`
			P quietPointer
		}{Q: quiet{1}},
		[]map[string]any{{"a": 1}, {}, nil}, [][]float64{{1, 2.25}, nil}, tree{Children: []tree{{}, {}}, Named: map[string]*tree{"x": {}, "y": {}}},
		[]float32{1.5}, []bool{true}, []uint16{1}, []time.Duration{1}, [3]string{"a"}, []*int{&n, nil}, "text", 17, nil,
		struct {
			A netip.Addr
			B []any
			C net.IP
		}{netip.MustParseAddr("fe80::1%eth0"), []any{netip.MustParsePrefix("10.0.0.0/8")}, net.IPv4(1, 2, 3, 4)},
	}
	dst := make([]byte, 0, 1<<16)
	for _, v := range values {
		t.Run(fmt.Sprintf("%.40T", v), func(t *testing.T) {
			alloctest.Zero(t, func() {
				out, err := AppendAny(dst, v, top)
				must.Succeed(t, err)
				dst = out[:0]
			})
			if v == nil {
				return
			}
			p := reflect.New(reflect.TypeOf(v))
			p.Elem().Set(reflect.ValueOf(v))
			at, plan := p.UnsafePointer(), Of(p.Elem().Type())
			alloctest.Zero(t, func() {
				out, _ := plan.Append(dst, at, top)
				dst = out[:0]
			})
		})
	}
}

func TestNoAllocationsByValue(t *testing.T) {
	dst := make([]byte, 0, 1<<16)
	l := newLine()
	m := map[string]any{"a": 1, "b": "x"}
	zero := func(name string, f func() ([]byte, error)) {
		t.Run(name, func(t *testing.T) {
			alloctest.Zero(t, func() {
				if _, err := f(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
	zero("struct", func() ([]byte, error) { return appendValue(dst, l, MaxDepth) })
	zero("literal", func() ([]byte, error) {
		return appendValue(dst, flat{Name: "x", Count: int32(len(l.Tags))}, MaxDepth)
	})
	zero("string", func() ([]byte, error) { return appendValue(dst, l.Service, MaxDepth) })
	zero("int", func() ([]byte, error) { return appendValue(dst, l.Status, MaxDepth) })
	zero("time", func() ([]byte, error) { return appendValue(dst, l.Time, MaxDepth) })
	zero("slice", func() ([]byte, error) { return appendValue(dst, l.Tags, MaxDepth) })
	zero("map", func() ([]byte, error) { return appendValue(dst, m, MaxDepth) })
	zero("pointer", func() ([]byte, error) { return appendValue(dst, &l, MaxDepth) })
	zero("array", func() ([]byte, error) { return appendValue(dst, [2]string{l.Service}, MaxDepth) })
	zero("interface", func() ([]byte, error) { return appendValue[any](dst, m, MaxDepth) })
	zero("struct with interfaces", func() ([]byte, error) { return appendValue(dst, struct{ A, B any }{m, &l}, MaxDepth) })
	zero("pointer to a marshaler", func() ([]byte, error) { return appendValue(dst, struct{ Q *quiet }{}, MaxDepth) })
}

func TestOneAllocationForValuesWithMethods(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("allocations are not counted in this build")
	}
	dst := make([]byte, 0, 1000)
	q := struct{ Q quiet }{}
	if got, _ := alloctest.Count(func() { _, _ = appendValue(dst, q, MaxDepth) }, 1000); got != 1 {
		t.Errorf("got %v mallocs, want 1: the copy that the methods may keep", got)
	}
}

func TestPlansAreFoundWithoutAllocations(t *testing.T) {
	typ := reflect.TypeFor[line]()
	alloctest.Zero(t, func() { _ = Of(typ); _ = For[line]() })
}
