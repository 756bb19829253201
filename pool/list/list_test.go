// SPDX-License-Identifier: Apache-2.0

package list_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nib-log/nib/alloctest"
	"github.com/nib-log/nib/internal/invariants"
	"github.com/nib-log/nib/pool/list"
)

// filled returns a list of values and their elements.
func filled[T any](values ...T) (*list.List[T], []list.Element[T]) {
	l := new(list.List[T])
	var elements []list.Element[T]
	for _, v := range values {
		elements = append(elements, l.PushBack(v))
	}
	return l, elements
}

// expect compares a list with values, using all methods that read it.
func expect[T comparable](t *testing.T, name string, l *list.List[T], want ...T) {
	t.Helper()
	if got := l.Len(); got != len(want) {
		t.Errorf("%s: Len: got %d, want %d", name, got, len(want))
	}
	var forward, backward []T
	for e := l.Front(); e.Valid(); e = e.Next() {
		forward = append(forward, e.Value())
	}
	for e := l.Back(); e.Valid(); e = e.Prev() {
		backward = append(backward, e.Value())
	}
	if !slices.Equal(forward, want) {
		t.Errorf("%s: got %v, want %v", name, forward, want)
	}
	if slices.Reverse(backward); !slices.Equal(backward, want) {
		t.Errorf("%s: from the back: got %v, want %v", name, backward, want)
	}
}

// In each case the list contains 1 to 4, in the elements with these indexes.
func TestMethods(t *testing.T) {
	type (
		l = *list.List[int]
		e = []list.Element[int]
	)
	cases := []struct {
		name string
		f    func(l l, e e)
		want []int
	}{
		{"PushFront", func(l l, e e) { l.PushFront(5) }, []int{5, 1, 2, 3, 4}},
		{"PushBack", func(l l, e e) { l.PushBack(5) }, []int{1, 2, 3, 4, 5}},
		{"InsertBefore the first", func(l l, e e) { l.InsertBefore(5, e[0]) }, []int{5, 1, 2, 3, 4}},
		{"InsertBefore", func(l l, e e) { l.InsertBefore(5, e[2]) }, []int{1, 2, 5, 3, 4}},
		{"InsertAfter", func(l l, e e) { l.InsertAfter(5, e[1]) }, []int{1, 2, 5, 3, 4}},
		{"InsertAfter the last", func(l l, e e) { l.InsertAfter(5, e[3]) }, []int{1, 2, 3, 4, 5}},
		{"Remove the first", func(l l, e e) { l.Remove(e[0]) }, []int{2, 3, 4}},
		{"Remove", func(l l, e e) { l.Remove(e[1]) }, []int{1, 3, 4}},
		{"Remove the last", func(l l, e e) { l.Remove(e[3]) }, []int{1, 2, 3}},
		{"Remove all", func(l l, e e) { l.Remove(e[1]); l.Remove(e[3]); l.Remove(e[0]); l.Remove(e[2]) }, nil},
		{"MoveToFront", func(l l, e e) { l.MoveToFront(e[2]) }, []int{3, 1, 2, 4}},
		{"MoveToFront the first", func(l l, e e) { l.MoveToFront(e[0]) }, []int{1, 2, 3, 4}},
		{"MoveToFront the last", func(l l, e e) { l.MoveToFront(e[3]) }, []int{4, 1, 2, 3}},
		{"MoveToBack", func(l l, e e) { l.MoveToBack(e[1]) }, []int{1, 3, 4, 2}},
		{"MoveToBack the first", func(l l, e e) { l.MoveToBack(e[0]) }, []int{2, 3, 4, 1}},
		{"MoveToBack the last", func(l l, e e) { l.MoveToBack(e[3]) }, []int{1, 2, 3, 4}},
		{"MoveBefore an earlier one", func(l l, e e) { l.MoveBefore(e[3], e[1]) }, []int{1, 4, 2, 3}},
		{"MoveBefore a later one", func(l l, e e) { l.MoveBefore(e[0], e[3]) }, []int{2, 3, 1, 4}},
		{"MoveBefore the next", func(l l, e e) { l.MoveBefore(e[1], e[2]) }, []int{1, 2, 3, 4}},
		{"MoveBefore the previous", func(l l, e e) { l.MoveBefore(e[2], e[1]) }, []int{1, 3, 2, 4}},
		{"MoveBefore itself", func(l l, e e) { l.MoveBefore(e[1], e[1]) }, []int{1, 2, 3, 4}},
		{"MoveAfter an earlier one", func(l l, e e) { l.MoveAfter(e[3], e[0]) }, []int{1, 4, 2, 3}},
		{"MoveAfter a later one", func(l l, e e) { l.MoveAfter(e[0], e[2]) }, []int{2, 3, 1, 4}},
		{"MoveAfter the next", func(l l, e e) { l.MoveAfter(e[1], e[2]) }, []int{1, 3, 2, 4}},
		{"MoveAfter the previous", func(l l, e e) { l.MoveAfter(e[2], e[1]) }, []int{1, 2, 3, 4}},
		{"MoveAfter itself", func(l l, e e) { l.MoveAfter(e[0], e[0]) }, []int{1, 2, 3, 4}},
		{"PushBackList of itself", func(l l, e e) { l.PushBackList(l) }, []int{1, 2, 3, 4, 1, 2, 3, 4}},
		{"PushFrontList of itself", func(l l, e e) { l.PushFrontList(l) }, []int{1, 2, 3, 4, 1, 2, 3, 4}},
		{"PushBackList of an empty one", func(l l, e e) { l.PushBackList(new(list.List[int])) }, []int{1, 2, 3, 4}},
		{"PushFrontList of an empty one", func(l l, e e) { l.PushFrontList(new(list.List[int])) }, []int{1, 2, 3, 4}},
		{"SetValue", func(l l, e e) { e[2].SetValue(5) }, []int{1, 2, 5, 4}},
		{"Init", func(l l, e e) { l.Init() }, nil},
		{"Init and PushBack", func(l l, e e) { l.Init().PushBack(5) }, []int{5}},
		{"Trim", func(l l, e e) { l.Trim() }, []int{1, 2, 3, 4}},
	}
	for _, c := range cases {
		l, e := filled(1, 2, 3, 4)
		c.f(l, e)
		expect(t, c.name, l, c.want...)
	}
}

func TestPushListCopiesValues(t *testing.T) {
	a, _ := filled(1, 2)
	b, _ := filled(3, 4)
	a.PushBackList(b)
	expect(t, "PushBackList", a, 1, 2, 3, 4)
	expect(t, "the other list", b, 3, 4)
	b.PushFrontList(a)
	expect(t, "PushFrontList", b, 1, 2, 3, 4, 3, 4)
	expect(t, "the other list", a, 1, 2, 3, 4)
	b.Remove(b.Back())
	expect(t, "after a change of the other list", a, 1, 2, 3, 4)
}

func TestZeroListIsEmptyAndUsable(t *testing.T) {
	cases := []struct {
		name string
		f    func(l *list.List[int])
		want []int
	}{
		{"nothing", func(l *list.List[int]) {}, nil},
		{"PushFront", func(l *list.List[int]) { l.PushFront(1) }, []int{1}},
		{"PushBack", func(l *list.List[int]) { l.PushBack(1) }, []int{1}},
		{"PushBackList", func(l *list.List[int]) { o, _ := filled(1, 2); l.PushBackList(o) }, []int{1, 2}},
		{"PushFrontList", func(l *list.List[int]) { o, _ := filled(1, 2); l.PushFrontList(o) }, []int{1, 2}},
		{"PushBackList of itself", func(l *list.List[int]) { l.PushBackList(l) }, nil},
		{"Init", func(l *list.List[int]) { l.Init() }, nil},
		{"Trim", func(l *list.List[int]) { l.Trim() }, nil},
		{"Trim and PushBack", func(l *list.List[int]) { l.Trim(); l.PushBack(1) }, []int{1}},
		{"Remove", func(l *list.List[int]) { l.Remove(l.Front()) }, nil},
		{"MoveToFront", func(l *list.List[int]) { l.MoveToFront(l.Back()) }, nil},
		{"InsertBefore", func(l *list.List[int]) { l.InsertBefore(1, l.Front()) }, nil},
		{"All", func(l *list.List[int]) {
			for e := range l.All() {
				panic(e)
			}
		}, nil},
	}
	for _, c := range cases {
		var l list.List[int]
		c.f(&l)
		expect(t, c.name, &l, c.want...)
	}
}

func TestInsertionsReturnTheirElement(t *testing.T) {
	l, e := filled("a")
	for _, c := range []struct {
		name string
		got  list.Element[string]
		want string
	}{
		{"PushFront", l.PushFront("b"), "b"},
		{"PushBack", l.PushBack("c"), "c"},
		{"InsertBefore", l.InsertBefore("d", e[0]), "d"},
		{"InsertAfter", l.InsertAfter("e", e[0]), "e"},
	} {
		if !c.got.Valid() || c.got.Value() != c.want {
			t.Errorf("%s: got %q, valid %v, want %q, true", c.name, c.got.Value(), c.got.Valid(), c.want)
		}
	}
	expect(t, "all", l, "b", "d", "a", "e", "c")
}

func TestRemoveReturnsTheValue(t *testing.T) {
	l, e := filled("a", "b")
	if got := l.Remove(e[1]); got != "b" {
		t.Errorf("got %q, want b", got)
	}
	if got := l.Remove(e[1]); got != "" {
		t.Errorf("a second time: got %q, want nothing", got)
	}
	expect(t, "the rest", l, "a")
}

func TestElementsCompareEqualWhenTheyAreTheSame(t *testing.T) {
	l, e := filled(1, 2, 3)
	if l.Front() != e[0] || e[0].Next() != e[1] || l.Back().Prev() != e[1] {
		t.Error("got different elements, want the same")
	}
	l.MoveToFront(e[2])
	if l.Front() != e[2] {
		t.Error("after a move: got a different element, want the same")
	}
	l.Remove(e[2])
	if again := l.PushFront(3); again == e[2] {
		t.Error("after it was removed and inserted again: got the same element, want another")
	}
}

// useless are operations on an element that is not in a list.
var useless = []struct {
	name string
	f    func(l *list.List[int], bad, good list.Element[int]) any
	want any
}{
	{"Remove", func(l *list.List[int], bad, _ list.Element[int]) any { return l.Remove(bad) }, 0},
	{"MoveToFront", func(l *list.List[int], bad, _ list.Element[int]) any { l.MoveToFront(bad); return nil }, nil},
	{"MoveToBack", func(l *list.List[int], bad, _ list.Element[int]) any { l.MoveToBack(bad); return nil }, nil},
	{"MoveBefore", func(l *list.List[int], bad, good list.Element[int]) any { l.MoveBefore(bad, good); return nil }, nil},
	{"MoveBefore it", func(l *list.List[int], bad, good list.Element[int]) any { l.MoveBefore(good, bad); return nil }, nil},
	{"MoveAfter", func(l *list.List[int], bad, good list.Element[int]) any { l.MoveAfter(bad, good); return nil }, nil},
	{"MoveAfter it", func(l *list.List[int], bad, good list.Element[int]) any { l.MoveAfter(good, bad); return nil }, nil},
	{"InsertBefore", func(l *list.List[int], bad, _ list.Element[int]) any { return l.InsertBefore(9, bad) }, list.Element[int]{}},
	{"InsertAfter", func(l *list.List[int], bad, _ list.Element[int]) any { return l.InsertAfter(9, bad) }, list.Element[int]{}},
	{"Valid", func(_ *list.List[int], bad, _ list.Element[int]) any { return bad.Valid() }, false},
	{"Value", func(_ *list.List[int], bad, _ list.Element[int]) any { return bad.Value() }, 0},
	{"SetValue", func(_ *list.List[int], bad, _ list.Element[int]) any { bad.SetValue(9); return nil }, nil},
	{"Next", func(_ *list.List[int], bad, _ list.Element[int]) any { return bad.Next() }, list.Element[int]{}},
	{"Prev", func(_ *list.List[int], bad, _ list.Element[int]) any { return bad.Prev() }, list.Element[int]{}},
}

func TestStaleElementDoesNothing(t *testing.T) {
	ways := []struct {
		name string
		// stale makes the element of 2 stale in a list of 1, 2, 3, which has
		// the same values in the end.
		stale func(l *list.List[int], e list.Element[int])
	}{
		{"removed", func(l *list.List[int], e list.Element[int]) {
			front := e.Prev()
			l.PushFront(1)
			l.Remove(front)
			l.InsertAfter(2, l.Front())
			l.Remove(e)
		}},
		{"its node is used again", func(l *list.List[int], e list.Element[int]) {
			l.Remove(e)
			l.InsertAfter(2, l.Front())
		}},
		{"its node was used often", func(l *list.List[int], e list.Element[int]) {
			l.Remove(e)
			for range 1000 {
				l.Remove(l.InsertAfter(2, l.Front()))
			}
			l.InsertAfter(2, l.Front())
		}},
		{"Init", func(l *list.List[int], e list.Element[int]) {
			l.Init()
			l.PushBack(1)
			l.PushBack(2)
			l.PushBack(3)
		}},
		{"Init and Trim", func(l *list.List[int], e list.Element[int]) {
			l.Init().Trim()
			l.PushBack(1)
			l.PushBack(2)
			l.PushBack(3)
		}},
	}
	for _, way := range ways {
		for _, c := range useless {
			l, e := filled(1, 2, 3)
			way.stale(l, e[1])
			if got := c.f(l, e[1], l.Back()); got != c.want {
				t.Errorf("%s, %s: got %v, want %v", way.name, c.name, got, c.want)
			}
			expect(t, way.name+", "+c.name, l, 1, 2, 3)
		}
	}
}

func TestZeroElementDoesNothing(t *testing.T) {
	for _, c := range useless {
		l, e := filled(1, 2, 3)
		if got := c.f(l, list.Element[int]{}, e[2]); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		expect(t, c.name, l, 1, 2, 3)
	}
}

func TestElementOfAnotherListIsRefused(t *testing.T) {
	for _, c := range useless {
		switch c.name {
		case "Valid", "Value", "SetValue", "Next", "Prev":
			continue // these are not calls of a list
		}
		l, e := filled(1, 2, 3)
		other, o := filled(4, 5)
		want := c.want
		if c.name == "Remove" {
			want = 5 // as in container/list
		}
		if got := c.f(l, o[1], e[2]); got != want {
			t.Errorf("%s: got %v, want %v", c.name, got, want)
		}
		expect(t, c.name, l, 1, 2, 3)
		expect(t, c.name+", the other list", other, 4, 5)
		if !o[1].Valid() {
			t.Errorf("%s: got a stale element in the other list, want a valid one", c.name)
		}
	}
}

func TestValuesOfAnySize(t *testing.T) {
	empty, _ := filled(struct{}{}, struct{}{})
	empty.Remove(empty.Front())
	expect(t, "no bytes", empty, struct{}{})
	type page [20_000]byte // more than a chunk
	large, e := filled(page{1}, page{2}, page{3})
	large.Remove(e[1])
	large.PushFront(page{0, 4})
	expect(t, "a large value", large, page{0, 4}, page{1}, page{3})
	texts, _ := filled("a", "b")
	texts.MoveToBack(texts.Front())
	expect(t, "text", texts, "b", "a")
}

func TestSteadyLoadDoesNotAllocate(t *testing.T) {
	l, e := filled("a", "b", "c")
	var twice list.List[string]
	cases := []struct {
		name string
		f    func()
	}{
		{"push and remove", func() { l.Remove(l.PushBack("d")); l.Remove(l.PushFront("d")) }},
		{"insert and remove", func() { l.Remove(l.InsertBefore("d", e[1])); l.Remove(l.InsertAfter("d", e[1])) }},
		{"queue", func() { l.PushBack("d"); l.Remove(l.Front()) }},
		{"move", func() { l.MoveToFront(l.Back()); l.MoveToBack(l.Front().Next()) }},
		{"set", func() { l.Front().SetValue("e") }},
		{"list and Init", func() { twice.PushBackList(l); twice.PushFrontList(l); twice.Init() }},
		{"All", func() {
			for e := range l.All() {
				if l.Remove(e) == "" {
					panic("an empty value")
				}
				l.PushFront("f")
			}
		}},
		{"Backward", func() {
			for e := range l.Backward() {
				e.SetValue("g")
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { alloctest.Zero(t, c.f) })
	}
}

// TestInitMakesACopyAListOfItsOwn checks that Init gives up the nodes of a
// copy: they belong to the original, and both would fill them.
func TestInitMakesACopyAListOfItsOwn(t *testing.T) {
	a, b := new(list.List[int]), new(list.List[int])
	for i := range 5 {
		a.PushBack(i)
	}
	a.Remove(a.Front())
	reflect.ValueOf(b).Elem().Set(reflect.ValueOf(a).Elem()) // go vet refuses *b = *a
	b.Init()
	for i := range 5 {
		b.PushBack(10 + i)
	}
	if got, want := valuesOf(a), []int{1, 2, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("the list has %d, want %d", got, want)
	}
	if got, want := valuesOf(b), []int{10, 11, 12, 13, 14}; !slices.Equal(got, want) {
		t.Errorf("the copy has %d, want %d", got, want)
	}
}

func TestCopyIsFoundInBuildsThatCheck(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("this build does not check for misuse")
	}
	for name, use := range map[string]func(l *list.List[int]){
		"PushBack":  func(l *list.List[int]) { l.PushBack(1) },
		"PushFront": func(l *list.List[int]) { l.PushFront(1) },
		"Trim":      func(l *list.List[int]) { l.Trim() },
	} {
		l, _ := filled(1, 2)
		var copied list.List[int]
		// go vet would report an assignment.
		reflect.ValueOf(&copied).Elem().Set(reflect.ValueOf(l).Elem())
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, "copied") {
					t.Errorf("%s: got %v, want a panic that says it was copied", name, got)
				}
			}()
			use(&copied)
		}()
		expect(t, name, l, 1, 2)
		copied.Init().PushBack(3)
		expect(t, name+", the copy after Init", &copied, 3)
		expect(t, name+", the list after Init of the copy", l, 1, 2)
	}
}
