// SPDX-License-Identifier: Apache-2.0

package list_test

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/pool/list"
)

func valuesOf(l *list.List[int]) (values []int) {
	for _, v := range l.All() {
		values = append(values, v)
	}
	return values
}

func TestIterators(t *testing.T) {
	for _, values := range [][]int{nil, {1}, {1, 2}, {1, 2, 3}} {
		l, elements := filled(values...)
		i := 0
		for e, v := range l.All() {
			if e != elements[i] || v != values[i] {
				t.Errorf("All: got %v, %d, want %v, %d", e, v, elements[i], values[i])
			}
			i++
		}
		if i != len(values) {
			t.Errorf("All: got %d elements, want %d", i, len(values))
		}
		for e, v := range l.Backward() {
			i--
			if e != elements[i] || v != values[i] {
				t.Errorf("Backward: got %v, %d, want %v, %d", e, v, elements[i], values[i])
			}
		}
		if i != 0 {
			t.Errorf("Backward: got %d elements less, want %d", i, len(values))
		}
	}
}

func TestIteratorsCanBeLeftAndUsedAgain(t *testing.T) {
	l, _ := filled(1, 2, 3)
	all, backward := l.All(), l.Backward()
	for range 2 {
		for _, v := range all {
			if v == 2 {
				break
			}
		}
		for _, v := range backward {
			if v == 2 {
				break
			}
		}
	}
	if got, want := valuesOf(l), []int{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// visits returns the elements that a loop over 1 to 4 visits and leaves if its
// body changes the list at one of them.
func visits(all func(l *list.List[int]) iter.Seq2[list.Element[int], int], at int,
	do func(l *list.List[int], e []list.Element[int])) (visited, left []int) {
	l, elements := filled(1, 2, 3, 4)
	for e, v := range all(l) {
		if visited = append(visited, v); len(visited) > 20 {
			panic("the loop does not end")
		}
		if v == at && e == elements[at-1] {
			do(l, elements)
		}
	}
	return visited, valuesOf(l)
}

// A change is what the body of a loop does at an element, the elements that the
// loop visits, and the elements that are left.
type change struct {
	name          string
	at            int
	do            func(l *list.List[int], e []list.Element[int])
	visited, left []int
}

func checkChanges(t *testing.T, all func(l *list.List[int]) iter.Seq2[list.Element[int], int],
	changes []change) {
	t.Helper()
	for _, c := range changes {
		visited, left := visits(all, c.at, c.do)
		if !slices.Equal(visited, c.visited) || !slices.Equal(left, c.left) {
			t.Errorf("%s: visited %v, left %v, want %v, %v",
				c.name, visited, left, c.visited, c.left)
		}
	}
}

func TestChangesWhileIterating(t *testing.T) {
	type (
		l = *list.List[int]
		e = []list.Element[int]
	)
	checkChanges(t, l.All, []change{
		{"remove the current", 2, func(l l, e e) { l.Remove(e[1]) }, []int{1, 2, 3, 4}, []int{1, 3, 4}},
		{"remove the first", 1, func(l l, e e) { l.Remove(e[0]) }, []int{1, 2, 3, 4}, []int{2, 3, 4}},
		{"remove the last", 4, func(l l, e e) { l.Remove(e[3]) }, []int{1, 2, 3, 4}, []int{1, 2, 3}},
		{"remove the next", 2, func(l l, e e) { l.Remove(e[2]) }, []int{1, 2, 4}, []int{1, 2, 4}},
		{"remove the previous", 2, func(l l, e e) { l.Remove(e[0]) }, []int{1, 2, 3, 4}, []int{2, 3, 4}},
		{"remove the current and the previous", 2, func(l l, e e) { l.Remove(e[1]); l.Remove(e[0]) }, []int{1, 2, 3, 4}, []int{3, 4}},
		{"remove the current and the next", 2, func(l l, e e) { l.Remove(e[1]); l.Remove(e[2]) }, []int{1, 2, 4}, []int{1, 4}},
		{"remove the next and the current", 1, func(l l, e e) { l.Remove(e[1]); l.Remove(e[0]) }, []int{1, 3, 4}, []int{3, 4}},
		{"remove all three", 2, func(l l, e e) { l.Remove(e[0]); l.Remove(e[1]); l.Remove(e[2]) }, []int{1, 2}, []int{4}},
		{"remove all", 2, func(l l, e e) {
			for _, e := range e {
				l.Remove(e)
			}
		}, []int{1, 2}, nil},
		{"insert before", 2, func(l l, e e) { l.InsertBefore(9, e[1]) }, []int{1, 2, 3, 4}, []int{1, 9, 2, 3, 4}},
		{"insert behind", 2, func(l l, e e) { l.InsertAfter(9, e[1]) }, []int{1, 2, 9, 3, 4}, []int{1, 2, 9, 3, 4}},
		{"insert at the end", 4, func(l l, e e) { l.PushBack(9) }, []int{1, 2, 3, 4, 9}, []int{1, 2, 3, 4, 9}},
		{"replace", 2, func(l l, e e) { l.InsertBefore(9, e[1]); l.Remove(e[1]) }, []int{1, 2, 3, 4}, []int{1, 9, 3, 4}},
		{"replace the last", 4, func(l l, e e) { l.Remove(e[3]); l.PushBack(9) }, []int{1, 2, 3, 4}, []int{1, 2, 3, 9}},
		{"replace the first", 1, func(l l, e e) { l.Remove(e[0]); l.PushFront(9) }, []int{1, 2, 3, 4}, []int{9, 2, 3, 4}},
		{"move to the front", 3, func(l l, e e) { l.MoveToFront(e[2]) }, []int{1, 2, 3, 1, 2, 4}, []int{3, 1, 2, 4}},
		{"move to the back", 2, func(l l, e e) { l.MoveToBack(e[1]) }, []int{1, 2}, []int{1, 3, 4, 2}},
		{"set", 2, func(l l, e e) { e[2].SetValue(9) }, []int{1, 2, 9, 4}, []int{1, 2, 9, 4}},
		{"Init", 2, func(l l, e e) { l.Init() }, []int{1, 2}, nil},
		{"Init and PushBack", 1, func(l l, e e) { l.Init(); l.PushBack(9) }, []int{1}, []int{9}},
		{"Init and PushBack at the end", 4, func(l l, e e) { l.Init(); l.PushBack(9) }, []int{1, 2, 3, 4}, []int{9}},
		{"Init and Trim", 2, func(l l, e e) { l.Init(); l.Trim() }, []int{1, 2}, nil},
		{"remove two and Trim", 2, func(l l, e e) { l.Remove(e[1]); l.Remove(e[2]); l.Trim() }, []int{1, 2, 4}, []int{1, 4}},
	})
}

func TestChangesWhileIteratingBackward(t *testing.T) {
	type (
		l = *list.List[int]
		e = []list.Element[int]
	)
	checkChanges(t, l.Backward, []change{
		{"remove the current", 3, func(l l, e e) { l.Remove(e[2]) }, []int{4, 3, 2, 1}, []int{1, 2, 4}},
		{"remove the first", 1, func(l l, e e) { l.Remove(e[0]) }, []int{4, 3, 2, 1}, []int{2, 3, 4}},
		{"remove the last", 4, func(l l, e e) { l.Remove(e[3]) }, []int{4, 3, 2, 1}, []int{1, 2, 3}},
		{"remove the next one to visit", 3, func(l l, e e) { l.Remove(e[1]) }, []int{4, 3, 1}, []int{1, 3, 4}},
		{"remove the one visited before", 3, func(l l, e e) { l.Remove(e[2]); l.Remove(e[3]) }, []int{4, 3, 2, 1}, []int{1, 2}},
		{"remove the current and the next to visit", 3, func(l l, e e) { l.Remove(e[2]); l.Remove(e[1]) }, []int{4, 3, 1}, []int{1, 4}},
		{"remove the last two", 4, func(l l, e e) { l.Remove(e[3]); l.Remove(e[2]) }, []int{4, 2, 1}, []int{1, 2}},
		{"remove all three", 3, func(l l, e e) { l.Remove(e[1]); l.Remove(e[2]); l.Remove(e[3]) }, []int{4, 3}, []int{1}},
		{"insert before", 2, func(l l, e e) { l.InsertBefore(9, e[1]) }, []int{4, 3, 2, 9, 1}, []int{1, 9, 2, 3, 4}},
		{"insert behind", 2, func(l l, e e) { l.InsertAfter(9, e[1]) }, []int{4, 3, 2, 1}, []int{1, 2, 9, 3, 4}},
		{"replace the first", 1, func(l l, e e) { l.Remove(e[0]); l.PushFront(9) }, []int{4, 3, 2, 1}, []int{9, 2, 3, 4}},
		{"move to the front", 3, func(l l, e e) { l.MoveToFront(e[2]) }, []int{4, 3}, []int{3, 1, 2, 4}},
		{"Init and PushFront", 4, func(l l, e e) { l.Init(); l.PushFront(9) }, []int{4}, []int{9}},
		{"Init and PushFront at the end", 1, func(l l, e e) { l.Init(); l.PushFront(9) }, []int{4, 3, 2, 1}, []int{9}},
	})
}

func TestRemovalOfAllWhileIterating(t *testing.T) {
	for name, all := range map[string]func(l *list.List[int]) iter.Seq2[list.Element[int], int]{
		"All": (*list.List[int]).All, "Backward": (*list.List[int]).Backward,
	} {
		l, _ := filled(1, 2, 3, 4)
		n := 0
		for e := range all(l) {
			l.Remove(e)
			n++
		}
		if n != 4 || l.Len() != 0 {
			t.Errorf("%s: got %d visited, %d left, want 4, 0", name, n, l.Len())
		}
	}
}

// A body that removes elements at random sees each of the others once and in
// order, unless it removes the current one and both of its neighbours.
func TestRandomRemovalWhileIterating(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 4))
	for range 2000 {
		var l list.List[int]
		for v := range 12 {
			l.PushBack(v)
		}
		last := -1
		ended := false
		for e, v := range l.All() {
			if v <= last || !e.Valid() || ended {
				t.Fatalf("got %d after %d, valid %v, want a later one", v, last, e.Valid())
			}
			for skipped := last + 1; skipped < v; skipped++ {
				if slices.Contains(valuesOf(&l), skipped) {
					t.Fatalf("%d was left out", skipped)
				}
			}
			last = v
			before, behind := e.Prev(), e.Next()
			first := !before.Valid()
			for range r.IntN(4) {
				removed := l.Front()
				for range r.IntN(l.Len() + 1) {
					removed = removed.Next()
				}
				l.Remove(removed)
			}
			if r.IntN(2) == 0 {
				l.Remove(e)
			}
			ended = !e.Valid() && !behind.Valid() && !before.Valid() && !first
		}
		if rest := l.Back(); !ended && rest.Valid() && rest.Value() > last {
			t.Fatalf("ended behind %d, want to get to %d", last, rest.Value())
		}
	}
}

func TestNestedIteration(t *testing.T) {
	l, _ := filled(1, 2, 3)
	var got []int
	for outer, v := range l.All() {
		for inner, w := range l.All() {
			got = append(got, 10*v+w)
			if inner == outer {
				l.Remove(outer)
			}
		}
	}
	if want := []int{11, 12, 13, 22, 23, 33}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
