// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"reflect"
	"testing"

	"github.com/nib-log/nib/internal/must"
	"github.com/nib-log/nib/internal/seed"
)

// Types that contain each other: one by way of a pointer, slice or map, and
// the other by value, so that its plan is needed before it is complete.
type (
	cyclePointer struct {
		First int
		Next  *cycleInPointer
		Last  string
	}
	cycleInPointer struct {
		Value cyclePointer
		Own   int
	}
	cycleSlice struct {
		List []cycleInSlice // nothing before it
		Last string
	}
	cycleInSlice struct {
		Before string
		Value  cycleSlice
		Array  [2]cycleSlice
	}
	cycleMap struct {
		Text string `json:",omitempty"`
		Map  map[string]cycleInMap
		Last int
	}
	cycleInMap struct {
		cycleMap
		Value struct{ Deeper cycleMap }
		Zero  cycleMap `json:",omitzero"`
	}
	cycleEmbedded struct {
		*CycleEmbed
		Last int
	}
	CycleEmbed struct {
		Value struct{ Deeper []cycleEmbedded }
		Two   struct{ cycleSlice }
	}
)

// TestTypesThatContainEachOther makes the plans of each type anew, since they
// depend on which type of a cycle comes first.
func TestTypesThatContainEachOther(t *testing.T) {
	types := []reflect.Type{
		reflect.TypeFor[cyclePointer](), reflect.TypeFor[cycleInPointer](), reflect.TypeFor[cycleSlice](), reflect.TypeFor[cycleInSlice](),
		reflect.TypeFor[cycleMap](), reflect.TypeFor[cycleInMap](), reflect.TypeFor[cycleEmbedded](), reflect.TypeFor[CycleEmbed](),
	}
	from := seed.Of(t)
	for _, typ := range types {
		g := newGenerator(from)
		for range 60 {
			v := reflect.New(typ).Elem()
			g.fill(v, 7)
			want, err := oracle(v.Interface())
			must.Succeed(t, err)
			set := &Set{duration: codeInt64}
			got, err := set.makePlan(typ, true).Append(nil, v.Addr().UnsafePointer(), at(1000))
			if err != nil || string(got) != string(want) {
				t.Fatalf("%v at an address: got error %v and\n%s, want\n%s", typ, err, got, want)
			}
			set = &Set{duration: codeInt64}
			got, err = set.AppendAny(nil, v.Interface(), at(1000))
			if err != nil || string(got) != string(want) {
				t.Fatalf("%v in an interface: got error %v and\n%s, want\n%s", typ, err, got, want)
			}
		}
	}
}
