// SPDX-License-Identifier: Apache-2.0

package list

import (
	"reflect"
	"runtime"
	"testing"
	"weak"

	"github.com/nib-log/nib/alloctest"
)

// collected reports whether the collector frees the target of p. The runtime
// may need several rounds for it.
func collected[T any](p weak.Pointer[T]) bool {
	for range 10 {
		if p.Value() == nil {
			return true
		}
		runtime.GC()
	}
	return false
}

// large is too large to share a block with other objects, and has a pointer.
type large struct {
	_ [64]byte
	_ *large
}

func TestValueIsCollected(t *testing.T) {
	cases := []struct {
		name string
		// f is called with a list of two values, and drops the first one.
		f func(l *List[*large], e Element[*large])
	}{
		{"Remove", func(l *List[*large], e Element[*large]) { l.Remove(e) }},
		{"SetValue", func(l *List[*large], e Element[*large]) { e.SetValue(nil) }},
		{"Init", func(l *List[*large], e Element[*large]) { l.Init() }},
		{"Init and PushBack", func(l *List[*large], e Element[*large]) { l.Init().PushBack(nil) }},
		{"Remove while iterating", func(l *List[*large], _ Element[*large]) {
			for e := range l.All() {
				l.Remove(e)
			}
		}},
		{"Remove and Trim", func(l *List[*large], e Element[*large]) { l.Remove(e); l.Trim() }},
	}
	for _, c := range cases {
		l := new(List[*large])
		e := l.PushBack(new(large))
		l.PushBack(new(large))
		value := weak.Make(e.Value())
		if runtime.GC(); value.Value() == nil {
			t.Fatalf("%s: the value was collected before the call", c.name)
		}
		c.f(l, e)
		if !collected(value) {
			t.Errorf("%s: got a value that is kept, want it to be collected", c.name)
		}
		runtime.KeepAlive(l)
		runtime.KeepAlive(e)
	}
}

func TestStaleElementOfATrimmedChunkKeepsNothingElse(t *testing.T) {
	l := new(List[*large])
	for range 1000 {
		l.PushBack(nil)
	}
	stale := l.Front()
	other := weak.Make(l.Back().n)
	l.Init().Trim()
	value := weak.Make(l.PushBack(new(large)).Value())
	list := weak.Make(l)
	runtime.KeepAlive(l)
	if !collected(list) || !collected(value) {
		t.Error("got a list that is kept by a stale element, want it to be collected")
	}
	if !collected(other) {
		t.Error("got a chunk that is kept by a stale element of another one, want it to be collected")
	}
	runtime.KeepAlive(stale)
}

func TestTrimmedChunksAreCollected(t *testing.T) {
	l := new(List[int])
	var elements []Element[int]
	for i := range 5000 {
		elements = append(elements, l.PushBack(i))
	}
	before := len(l.chunks)
	var nodes []weak.Pointer[node[int]]
	for _, chunk := range l.chunks {
		nodes = append(nodes, weak.Make(&chunk[0]))
	}
	keep := elements[4000]
	for _, e := range elements {
		if e != keep {
			l.Remove(e)
		}
	}
	clear(elements) // which would keep the chunks
	l.Trim()
	if got := len(l.chunks); got != 1 || before < 10 {
		t.Errorf("got %d chunks of %d, want 1 of at least 10", got, before)
	}
	if cap(l.chunks) > 2 {
		t.Errorf("got a table for %d chunks, want at most 2", cap(l.chunks))
	}
	for i, n := range nodes {
		if n.Value() != &l.chunks[0][0] && !collected(n) {
			t.Errorf("chunk %d: got it kept, want it to be collected", i)
		}
	}
	if !keep.Valid() || keep.Value() != 4000 || l.Front() != keep || l.Back() != keep {
		t.Errorf("got value %d, valid %v, want 4000, true", keep.Value(), keep.Valid())
	}
}

func TestTrimReturnsAllMemoryOfAnEmptyList(t *testing.T) {
	l := new(List[int])
	for i := range 1000 {
		l.PushBack(i)
	}
	l.Init().Trim()
	if l.chunks != nil || l.free != nil || l.unused != 0 {
		t.Errorf("got %d chunks, free %v, unused %d, want none", len(l.chunks), l.free, l.unused)
	}
	if l.PushBack(1); len(l.chunks) != 1 || len(l.chunks[0]) != 1 {
		t.Errorf("after a push: got %d chunks, want 1 of 1 node", len(l.chunks))
	}
}

func TestNodesAreUsedAgainAfterInit(t *testing.T) {
	l := new(List[int])
	for range 10 {
		for i := range 1000 {
			l.PushBack(i)
		}
		for range 500 { // so that Init finds free nodes
			l.Remove(l.Front())
		}
		l.Init()
	}
	once := new(List[int])
	for i := range 1000 {
		once.PushBack(i)
	}
	if got, want := len(l.chunks), len(once.chunks); got != want {
		t.Errorf("got %d chunks, want %d", got, want)
	}
}

// After Trim all nodes of the chunks that are left are used again before there
// is a new chunk, in the order of their addresses.
func TestNodesAreUsedAgainAfterTrim(t *testing.T) {
	l := new(List[int])
	for i := range 1000 {
		l.PushBack(i)
	}
	for e, v := range l.All() {
		if v%7 != 0 {
			l.Remove(e)
		}
	}
	l.Trim()
	nodes := 0
	for _, chunk := range l.chunks {
		nodes += len(chunk)
	}
	chunks := len(l.chunks)
	var previous *node[int]
	inOrder := 0
	for l.Len() < nodes {
		n := l.PushBack(0).n
		if previous != nil && reflect.ValueOf(n).Pointer() > reflect.ValueOf(previous).Pointer() {
			inOrder++
		}
		previous = n
	}
	if got := len(l.chunks); got != chunks {
		t.Errorf("got %d chunks, want %d", got, chunks)
	}
	if inOrder < nodes/2 {
		t.Errorf("got %d of %d nodes in the order of addresses, want most", inOrder, nodes)
	}
	if l.PushBack(0); len(l.chunks) != chunks+1 {
		t.Errorf("got %d chunks, want one more than %d", len(l.chunks), chunks)
	}
}

func TestChunksGrow(t *testing.T) {
	var l List[int]
	for i := range 100_000 {
		l.PushBack(i)
	}
	limit := maxChunk / int(reflect.TypeFor[node[int]]().Size())
	want := 1
	for i, chunk := range l.chunks {
		// The allocator rounds up, by less than a quarter.
		if len(chunk) < want || len(chunk) > want+want/4 {
			t.Fatalf("chunk %d: got %d nodes, want %d", i, len(chunk), want)
		}
		want = min(2*len(chunk), limit)
	}
	if got, want := len(l.chunks), 100_000/limit+12; got > want {
		t.Errorf("got %d chunks, want at most %d", got, want)
	}
}

func TestChunkOfLargeValuesHasOneNode(t *testing.T) {
	var l List[[maxChunk]byte]
	for range 5 {
		l.PushBack([maxChunk]byte{})
	}
	for i, chunk := range l.chunks {
		if len(chunk) != 1 {
			t.Errorf("chunk %d: got %d nodes, want 1", i, len(chunk))
		}
	}
}

func TestListOfOneElementIsSmall(t *testing.T) {
	if !alloctest.Enabled {
		t.Skip("allocations are not counted in this build")
	}
	mallocs, bytes := alloctest.Count(func() {
		var l List[int]
		l.PushBack(1)
	}, 100)
	// The List, a chunk of one node, and the table of chunks.
	if mallocs > 3 || bytes > 168 {
		t.Errorf("got %v mallocs and %v bytes, want at most 3 and 168", mallocs, bytes)
	}
}

func TestElementIsTwoWords(t *testing.T) {
	if got, want := reflect.TypeFor[Element[string]]().Size(), reflect.TypeFor[*int]().Size()+8; got != want {
		t.Errorf("got %d bytes, want %d", got, want)
	}
}
