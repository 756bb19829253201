// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nib-log/nib/internal/seed"
)

type (
	guarded          struct{ sync.Mutex }
	guardedField     struct{ Mu sync.RWMutex }
	guardedByPointer struct{ *sync.Mutex }
	guardedText      struct{ Mu [2]sync.Mutex }
	guardedValue     struct{ Mu sync.Mutex }
	unmarshaled      struct{ sync.Mutex }
	noCopy           struct{}
	uncopied         struct {
		_ noCopy
		N int
	}
)

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

func (g *guarded) MarshalJSON() ([]byte, error)          { return []byte("1"), nil }
func (g *guardedField) MarshalJSON() ([]byte, error)     { return []byte("1"), nil }
func (g *guardedByPointer) MarshalJSON() ([]byte, error) { return []byte("1"), nil }
func (g *guardedText) MarshalText() ([]byte, error)      { return []byte("1"), nil }
func (u *uncopied) MarshalJSON() ([]byte, error)         { return []byte("1"), nil }

// The facts about a type, as bits.
const (
	plain = 1 << iota
	hideable
	locked
	isStruct
)

var facts = []struct {
	typ  reflect.Type
	want int
}{
	{reflect.TypeFor[int](), plain | hideable},
	{reflect.TypeFor[line](), plain | hideable | isStruct},
	{reflect.TypeFor[tree](), plain | hideable | isStruct},
	{reflect.TypeFor[time.Time](), plain | hideable},
	{reflect.TypeFor[*time.Time](), plain | hideable},
	{reflect.TypeFor[json.RawMessage](), plain | hideable},
	{reflect.TypeFor[json.Number](), plain | hideable},
	{reflect.TypeFor[map[string][]int](), plain | hideable},
	{reflect.TypeFor[struct {
		T time.Time  `json:",omitzero"`
		P *time.Time `json:",omitzero"`
	}](), plain | hideable | isStruct},
	{reflect.TypeFor[struct{ A netip.Addr }](), plain | hideable | isStruct},
	{reflect.TypeFor[any](), hideable},
	{reflect.TypeFor[error](), hideable},
	{reflect.TypeFor[struct{ V any }](), hideable | isStruct},
	{reflect.TypeFor[map[string]any](), hideable},
	{reflect.TypeFor[[]any](), hideable},
	{reflect.TypeFor[byValue](), 0},
	{reflect.TypeFor[*byValue](), hideable},
	{reflect.TypeFor[*byPointer](), hideable},
	{reflect.TypeFor[[]byValue](), hideable},
	{reflect.TypeFor[[2]byValue](), 0},
	{reflect.TypeFor[struct{ A struct{ B textValue } }](), isStruct},
	{reflect.TypeFor[struct{ A *struct{ B textValue } }](), hideable | isStruct},
	{reflect.TypeFor[map[textInt]int](), hideable},
	{reflect.TypeFor[struct {
		Z zeroable `json:",omitzero"`
	}](), isStruct},
	{reflect.TypeFor[struct {
		Z *zeroable `json:",omitzero"`
	}](), hideable | isStruct},
	{reflect.TypeFor[struct {
		A struct {
			X int
			Z zeroable `json:",omitzero"`
		}
	}](), isStruct},
	{reflect.TypeFor[struct {
		A struct {
			X int
			Z *zeroable `json:",omitzero"`
		}
	}](), hideable | isStruct},
	{reflect.TypeFor[struct {
		*flat
		A struct {
			X int
			G guarded
		}
	}](), locked | isStruct},
	{reflect.TypeFor[guarded](), locked},
	{reflect.TypeFor[*guarded](), hideable},
	{reflect.TypeFor[guardedField](), locked},
	{reflect.TypeFor[guardedByPointer](), 0},
	{reflect.TypeFor[guardedText](), locked},
	{reflect.TypeFor[guardedValue](), plain | hideable | isStruct},
	{reflect.TypeFor[unmarshaled](), plain | hideable | isStruct},
	{reflect.TypeFor[uncopied](), 0},
	{reflect.TypeFor[struct{ G guarded }](), locked | isStruct},
	{reflect.TypeFor[struct{ G [1]guardedField }](), locked | isStruct},
	{reflect.TypeFor[struct{ G []guarded }](), hideable | isStruct},
}

func TestFacts(t *testing.T) {
	for _, c := range facts {
		p, got := Of(c.typ), 0
		for bit, is := range map[int]bool{plain: p.Plain(), hideable: p.Hideable(), locked: p.Locked(), isStruct: p.IsStruct()} {
			if is {
				got |= bit
			}
		}
		if got != c.want {
			t.Errorf("%v: got facts %04b, want %04b (struct, locked, hideable, plain)", c.typ, got, c.want)
		}
	}
}

func TestPlansOfOneType(t *testing.T) {
	if For[line]() != Of(reflect.TypeFor[line]()) || For[any]() != Of(reflect.TypeFor[any]()) || For[*line]() != Of(reflect.TypeFor[*line]()) {
		t.Error("got different plans from For and Of")
	}
	if got := For[line]().Type(); got != reflect.TypeFor[line]() {
		t.Errorf("got type %v", got)
	}
}

func TestTableHoldsManyPlans(t *testing.T) {
	var tab table
	if tab.find(8) != nil {
		t.Error("got a plan from an empty table")
	}
	keys := map[uintptr]*Plan{}
	random := rand.New(rand.NewPCG(seed.Of(t), 1))
	for range 100 {
		var batch []*Plan
		at := map[*Plan]uintptr{}
		for range random.IntN(10) {
			p, key := &Plan{}, uintptr(random.Uint32N(1<<20)*8+8)
			if keys[key] == nil {
				keys[key], at[p] = p, key
				batch = append(batch, p)
			}
		}
		tab.add(batch, func(p *Plan) uintptr { return at[p] })
		for key, p := range keys {
			if got := tab.find(key); got != p {
				t.Fatalf("key %d: got %p, want %p", key, got, p)
			}
			if tab.find(key+1) != nil {
				t.Fatalf("key %d: got a plan, want none", key+1)
			}
		}
	}
}

func TestSortingFewNames(t *testing.T) {
	g := newGenerator(seed.Of(t))
	for range 20000 {
		var names [few]string
		n := g.IntN(few + 1)
		for i := range n {
			names[i] = pick(g, "", "same", "common/prefix/", "zz") + letters(g, g.IntN(12))
			if i > 0 && g.IntN(4) == 0 {
				names[i] = names[0] + pick(g, "", "\x00", "1", "\xff")
			}
		}
		var places [few]place
		for i, name := range names[:n] {
			places[i] = makePlace(name, i)
		}
		sortFew(&places, n, func(i int) string { return names[i] })
		var got []string
		for _, p := range places[:n] {
			got = append(got, names[p.index()])
		}
		want := slices.Clone(names[:n])
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func TestSortingManyNames(t *testing.T) {
	g := newGenerator(seed.Of(t))
	for _, n := range []int{0, 1, 9, 100, 1000, 1<<16 + 1} {
		var o order
		for range n {
			o.names = append(o.names, pick(g, "", "same", "common/prefix/", "zz")+letters(g, g.IntN(12)))
		}
		o.sort()
		var got []string
		for _, p := range o.places {
			got = append(got, o.name(p))
		}
		want := slices.Clone(o.names)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%d names: got another order than package slices", n)
		}
	}
}

func TestFrontsAreOrderedAsNames(t *testing.T) {
	g := newGenerator(seed.Of(t))
	for range 20000 {
		a, b := letters(g, g.IntN(11)), letters(g, g.IntN(11))
		if fa, fb := frontOf(a), frontOf(b); fa != fb && fa < fb != (strings.Compare(a, b) < 0) {
			t.Fatalf("%q and %q: got fronts %x and %x", a, b, fa, fb)
		}
		if len(a) >= 8 && frontOf(a) != frontOf(a[:8]) {
			t.Fatalf("%q: got a front that depends on more than 8 bytes", a)
		}
	}
}
