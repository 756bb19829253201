// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// An acting calls a function when it is encoded, as a value and as a key.
type acting struct {
	Name string
	act  *func()
}

func (a acting) do() []byte {
	if a.act != nil {
		(*a.act)()
	}
	return []byte(a.Name)
}

func (a acting) MarshalText() ([]byte, error) { return a.do(), nil }

type actingJSON struct{ acting }

func (a actingJSON) MarshalJSON() ([]byte, error) { return fmt.Appendf(nil, "%q", a.do()), nil }

// actors returns values of all shapes that need memory of a pool, with an
// acting in each.
func actors(act *func()) []any {
	key, value := acting{"k", act}, actingJSON{acting{"v", act}}
	small := map[string]any{"a": value, "b": 1, "c": map[string]string{"d": "e"}}
	large := map[string]any{}
	for i := range 20 {
		large[fmt.Sprint("key", i)] = i
	}
	large["m"] = value
	return []any{
		small, large, map[acting]int{key: 1}, map[int]any{1: value, 2: 2}, map[string][]actingJSON{"x": {value}},
		map[string]struct{ V any }{"x": {value}}, []any{small, large}, map[string]actingJSON{"p": value, "q": value},
	}
}

func TestMethodsThatEncode(t *testing.T) {
	calls := 0
	act := func() {
		if calls++; calls%3 != 0 {
			return
		}
		inner := func() {}
		for _, v := range actors(&inner) {
			checkEncodes(t, v)
		}
	}
	for range 5 {
		for _, v := range actors(&act) {
			checkEncodes(t, v)
		}
	}
}

// checkEncodes compares the encoding of v with encoding/json's.
func checkEncodes(t *testing.T, v any) {
	t.Helper()
	got, err := AppendAny(nil, v, top)
	want, wantErr := oracle(v)
	if err != nil || wantErr != nil || string(got) != string(want) {
		t.Errorf("%T: got %s and %v, want %s and %v", v, got, err, want, wantErr)
	}
}

func TestMethodsThatPanic(t *testing.T) {
	panics := func() { panic("on purpose") }
	calm := func() {}
	for range 20 {
		bad, good := actors(&panics), actors(&calm)
		for i := range bad {
			func() {
				defer func() {
					if r := recover(); r != "on purpose" {
						t.Errorf("%T: got panic %v, want the method's", bad[i], r)
					}
				}()
				_, err := AppendAny(nil, bad[i], top)
				t.Errorf("%T: got error %v, want a panic", bad[i], err)
			}()
			checkEncodes(t, good[i])
		}
	}
}

func TestMethodsThatEndTheGoroutine(t *testing.T) {
	calm, end := func() {}, runtime.Goexit
	var wg sync.WaitGroup
	for i := range actors(&calm) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			_, _ = AppendAny(nil, actors(&end)[i], top)
			t.Error("got a call that returned, want the end of the goroutine")
		}()
		wg.Wait()
		checkEncodes(t, actors(&calm)[i])
	}
}

func TestMethodsThatFail(t *testing.T) {
	for range 5 {
		for _, v := range []any{
			map[string]any{"a": 1, "b": failing{}}, map[string]failing{"a": {}}, map[failingText]int{{"x"}: 1, {"y"}: 2},
			map[int]failing{1: {}, 2: {}}, []failing{{}},
		} {
			if got, err := AppendAny(nil, v, top); err == nil {
				t.Errorf("%T: got %s, want an error", v, got)
			}
			checkEncodes(t, map[string]any{"a": 1, "z": map[int]string{3: "x", 1: "y"}})
		}
	}
}

func TestMethodsOfKeysThatChangeTheMap(t *testing.T) {
	m := map[acting]int{}
	n := 0
	grow := func() {
		if n++; n < 50 {
			m[acting{Name: fmt.Sprint("new", n)}] = n
		}
	}
	for i := range 5 {
		m[acting{fmt.Sprint(i), &grow}] = i
	}
	got, err := AppendAny(nil, m, top)
	if err != nil || !json.Valid(got) {
		t.Errorf("got %s and %v, want an object", got, err)
	}
}

func TestNilReceivers(t *testing.T) {
	v := struct {
		A *byValue
		B *byPointer
		C *textValue
		D *textPointer
		E json.Marshaler
		F jsonMap
		G jsonSlice
		H jsonFunc
		I **byValue
		J map[string]*byValue
		K []*textPointer
		L any
	}{J: map[string]*byValue{"a": nil}, K: []*textPointer{nil}, L: (*byPointer)(nil)}
	const want = `{"A":null,"B":null,"C":null,"D":null,"E":null,"F":0,"G":0,"H":"nil","I":null,"J":{"a":null},"K":[null],"L":null}`
	if got := mustAppend(t, v); got != want {
		t.Errorf("\ngot  %s\nwant %s", got, want)
	}
}

func TestWhatMethodsReturnIsOneLine(t *testing.T) {
	for text, want := range map[badJSON]string{
		" {\n\"a\" :\t[ 1 , 2 ]\r\n} ": `{"a":[1,2]}`, "\"\u2028\x7f\"": "\"\\u2028\\u007f\"", `"\u003c<"`: `"\u003c<"`, "1.50e+01": "1.50e+01", "null": "null",
	} {
		if got := mustAppend(t, text); got != want {
			t.Errorf("%q: got %s, want %s", string(text), got, want)
		}
	}
	for _, text := range []badJSON{"", " ", "{", "[1,]", "1 2", "nul", "\"\n\"", "01", badJSON(strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1))} {
		if got, err := append1(text, MaxDepth); err == nil {
			t.Errorf("%q: got %s, want an error", string(text), got)
		}
	}
}

func TestConcurrentFirstUse(t *testing.T) {
	types := make([]reflect.Type, 20)
	for i := range types {
		types[i] = reflect.StructOf([]reflect.StructField{
			{Name: "A", Type: reflect.ArrayOf(i+100, reflect.TypeFor[int8]())}, {Name: "B", Type: reflect.TypeFor[*tree]()},
			{Name: "C", Type: reflect.MapOf(reflect.TypeFor[string](), reflect.ArrayOf(i+200, reflect.TypeFor[any]()))},
		})
	}
	var wg sync.WaitGroup
	plans := make([][]*Plan, 8)
	for g := range plans {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range types {
				typ := types[(i+g)%len(types)]
				p := Of(typ)
				v := reflect.New(typ)
				if _, err := p.Append(nil, v.UnsafePointer(), top); err != nil {
					t.Error(err)
				}
				if _, err := AppendAny(nil, v.Elem().Interface(), top); err != nil {
					t.Error(err)
				}
			}
			for _, typ := range types {
				plans[g] = append(plans[g], Of(typ))
			}
		}()
	}
	wg.Wait()
	for _, list := range plans[1:] {
		if !reflect.DeepEqual(list, plans[0]) {
			t.Error("got different plans for one type")
		}
	}
}
