// SPDX-License-Identifier: Apache-2.0

package list_test

import (
	stdlist "container/list"
	"math/rand/v2"
	"testing"

	"github.com/nib-log/nib/internal/seed"
	"github.com/nib-log/nib/pool/list"
)

// maxLen keeps the lists of the model short: each step compares everything.
const maxLen = 24

// A model does the same to two lists here and two of container/list.
type model struct {
	t     testing.TB
	here  [2]list.List[int]
	there [2]stdlist.List
	// elements are all elements ever made. byThere finds them by their
	// counterpart in container/list, and live are those that are in a list.
	elements []both
	byThere  map[*stdlist.Element]list.Element[int]
	live     map[*stdlist.Element]bool
	next     int // value
}

// both is an element and its counterpart.
type both struct {
	here  list.Element[int]
	there *stdlist.Element
}

func newModel(t testing.TB) *model {
	// The zero Element, as stale as a removed element.
	elements := []both{{there: new(stdlist.Element)}}
	return &model{t: t, elements: elements, byThere: map[*stdlist.Element]list.Element[int]{}}
}

// steps are the names of a model's operations.
var steps = []string{
	"PushFront", "PushBack", "InsertBefore", "InsertAfter", "Remove", "MoveToFront", "MoveToBack", "MoveBefore",
	"MoveAfter", "SetValue", "Remove", "PushBackList", "PushFrontList", "Remove", "Trim", "Init",
}

// step does the operation encoded in three numbers and compares the lists.
// Elements of the other list and stale ones occur as well. Stale elements are
// not passed to container/list: it returns the value that it still has, and
// after Init it would remove an element that is not there.
func (m *model) step(what byte, a, b int) {
	k := what >> 7
	here, there := &m.here[k], &m.there[k]
	e, mark := m.elements[a%len(m.elements)], m.elements[b%len(m.elements)]
	eLive, markLive := m.live[e.there], m.live[mark.there]
	name := steps[int(what)%len(steps)]
	m.next++
	switch name {
	case "PushFront":
		m.inserted(name, here.PushFront(m.next), there.PushFront(m.next))
	case "PushBack":
		m.inserted(name, here.PushBack(m.next), there.PushBack(m.next))
	case "InsertBefore":
		m.inserted(name, here.InsertBefore(m.next, mark.here), onlyLive(markLive, there.InsertBefore, m.next, mark.there))
	case "InsertAfter":
		m.inserted(name, here.InsertAfter(m.next, mark.here), onlyLive(markLive, there.InsertAfter, m.next, mark.there))
	case "PushBackList", "PushFrontList":
		m.pushList(name, here, there, a%2)
	case "Remove":
		want := 0
		if eLive {
			want = there.Remove(e.there).(int)
		}
		if got := here.Remove(e.here); got != want {
			m.t.Fatalf("Remove: got %d, want %d", got, want)
		}
	case "SetValue":
		e.here.SetValue(m.next)
		if eLive {
			e.there.Value = m.next
		}
	case "Trim":
		here.Trim()
	case "Init":
		here.Init()
		there.Init()
	default:
		m.move(name, k, e, mark, eLive, markLive)
	}
	m.compare(name)
}

// onlyLive inserts a value into a container/list next to a mark if the mark is
// live.
func onlyLive(live bool, insert func(any, *stdlist.Element) *stdlist.Element, v int, mark *stdlist.Element) *stdlist.Element {
	if !live {
		return nil
	}
	return insert(v, mark)
}

// inserted compares the results of an insertion.
func (m *model) inserted(name string, here list.Element[int], there *stdlist.Element) {
	if here.Valid() != (there != nil) {
		m.t.Fatalf("%s: got %v, want %v", name, here, there)
	}
	if there != nil {
		m.know(here, there)
	}
}

func (m *model) know(here list.Element[int], there *stdlist.Element) {
	m.elements = append(m.elements, both{here, there})
	m.byThere[there] = here
}

func (m *model) pushList(name string, here *list.List[int], there *stdlist.List, other int) {
	if there.Len()+m.there[other].Len() > maxLen {
		return
	}
	if name == "PushBackList" {
		here.PushBackList(&m.here[other])
		there.PushBackList(&m.there[other])
	} else {
		here.PushFrontList(&m.here[other])
		there.PushFrontList(&m.there[other])
	}
}

func (m *model) move(name string, k byte, e, mark both, eLive, markLive bool) {
	here, there := &m.here[k], &m.there[k]
	switch name {
	case "MoveToFront":
		here.MoveToFront(e.here)
		if eLive {
			there.MoveToFront(e.there)
		}
	case "MoveToBack":
		here.MoveToBack(e.here)
		if eLive {
			there.MoveToBack(e.there)
		}
	case "MoveBefore":
		here.MoveBefore(e.here, mark.here)
		if eLive && markLive {
			there.MoveBefore(e.there, mark.there)
		}
	case "MoveAfter":
		here.MoveAfter(e.here, mark.here)
		if eLive && markLive {
			there.MoveAfter(e.there, mark.there)
		}
	}
}

// compare compares all lists and elements.
func (m *model) compare(name string) {
	m.live = map[*stdlist.Element]bool{}
	for k := range m.there {
		m.compareList(name, &m.here[k], &m.there[k])
	}
	for _, e := range m.elements {
		if got, want := e.here.Valid(), m.live[e.there]; got != want {
			m.t.Fatalf("%s: Valid of %d: got %v, want %v", name, e.there.Value, got, want)
		}
		if !e.here.Valid() && (e.here.Value() != 0 || e.here.Next().Valid() || e.here.Prev().Valid()) {
			m.t.Fatalf("%s: a stale element: got value %d, next %v, previous %v, want none",
				name, e.here.Value(), e.here.Next(), e.here.Prev())
		}
	}
}

// compareList walks through a list in both directions. It records elements that
// were not returned by the step.
func (m *model) compareList(name string, here *list.List[int], there *stdlist.List) {
	if here.Len() != there.Len() {
		m.t.Fatalf("%s: got %d elements, want %d", name, here.Len(), there.Len())
	}
	h := here.Front()
	for e := there.Front(); e != nil; e = e.Next() {
		if _, known := m.byThere[e]; !known {
			m.know(h, e)
		}
		m.live[e] = true
		if h != m.byThere[e] || h.Value() != e.Value.(int) {
			m.t.Fatalf("%s: got element %v with value %d, want %v with %d", name, h, h.Value(), m.byThere[e], e.Value)
		}
		h = h.Next()
	}
	if h.Valid() {
		m.t.Fatalf("%s: got an element behind the last: %d", name, h.Value())
	}
	h = here.Back()
	for e := there.Back(); e != nil; e = e.Prev() {
		if h != m.byThere[e] {
			m.t.Fatalf("%s: backward: got element %v, want %v", name, h, m.byThere[e])
		}
		h = h.Prev()
	}
	if h.Valid() {
		m.t.Fatalf("%s: got an element before the first: %d", name, h.Value())
	}
}

func TestSameAsContainerList(t *testing.T) {
	r := rand.New(rand.NewPCG(seed.Of(t), 2))
	for range 300 {
		m := newModel(t)
		for range 200 {
			what := byte(r.Uint32())
			if name := steps[int(what)%len(steps)]; name == "Init" && r.IntN(4) > 0 {
				what-- // or the lists would always be short
			}
			// Half of the time an element that is not old.
			a, b := r.IntN(len(m.elements)), r.IntN(len(m.elements))
			if r.IntN(2) == 0 {
				a = len(m.elements) - 1 - r.IntN(min(len(m.elements), 10))
			}
			m.step(what, a, b)
		}
	}
}

func FuzzSameAsContainerList(f *testing.F) {
	f.Add([]byte{0, 0, 0, 1, 0, 0, 4, 1, 0, 4, 1, 0})        // push, push, remove twice
	f.Add([]byte{1, 0, 0, 1, 0, 0, 7, 2, 1, 11, 0, 0})       // move, append the list to itself
	f.Add([]byte{1, 0, 0, 129, 0, 0, 4, 2, 0, 12, 1, 0})     // two lists
	f.Add([]byte{1, 0, 0, 1, 0, 0, 15, 0, 0, 4, 1, 0})       // a stale element after Init
	f.Add([]byte{1, 0, 0, 4, 1, 0, 14, 0, 0, 0, 0, 0, 4, 1}) // a stale element after Trim
	f.Fuzz(func(t *testing.T, script []byte) {
		m := newModel(t)
		for steps := 0; len(script) >= 3 && steps < 300; steps++ {
			m.step(script[0], int(script[1]), int(script[2]))
			script = script[3:]
		}
	})
}
