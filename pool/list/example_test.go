// SPDX-License-Identifier: Apache-2.0

package list_test

import (
	"fmt"

	"github.com/nib-log/nib/pool/list"
)

func Example() {
	var l list.List[string]
	b := l.PushBack("b")
	l.PushFront("a")
	l.InsertAfter("d", b)
	l.InsertAfter("c", b)
	for _, v := range l.All() {
		fmt.Print(v, " ")
	}
	fmt.Println(l.Len())
	// Output: a b c d 4
}

func ExampleElement() {
	var l list.List[string]
	a := l.PushBack("a")
	fmt.Printf("%q %v\n", l.Remove(a), a.Valid())

	// This one reuses the node of the first, which stays stale.
	b := l.PushBack("b")
	fmt.Printf("%q %v\n", l.Remove(a), a == b)
	fmt.Printf("%q %v\n", b.Value(), b.Valid())
	// Output:
	// "a" false
	// "" false
	// "b" true
}

func ExampleElement_Valid() {
	var l list.List[int]
	l.PushBack(1)
	l.PushBack(2)
	for e := l.Front(); e.Valid(); e = e.Next() {
		fmt.Println(e.Value())
	}
	// Output:
	// 1
	// 2
}

func ExampleList_All() {
	var l list.List[int]
	for i := range 10 {
		l.PushBack(i)
	}
	for e, v := range l.All() {
		if v%3 != 0 {
			l.Remove(e)
		}
	}
	for _, v := range l.Backward() {
		fmt.Print(v, " ")
	}
	// Output: 9 6 3 0
}

func ExampleList_Trim() {
	var l list.List[[1024]byte]
	for range 1000 {
		l.PushBack([1024]byte{})
	}
	for l.Len() > 1 {
		l.Remove(l.Back())
	}
	l.Trim() // keeps the chunk of the first element
	fmt.Println(l.Len(), l.Front().Valid())
	// Output: 1 true
}

// A cache keeps the values that were used most recently.
type cache struct {
	limit int
	order list.List[entry] // the one used last is the first
	byKey map[string]list.Element[entry]
}

type entry struct {
	key   string
	value int
}

func (c *cache) get(key string) (value int, ok bool) {
	e, ok := c.byKey[key]
	c.order.MoveToFront(e) // which ignores the zero Element
	return e.Value().value, ok
}

func (c *cache) put(key string, value int) {
	if e, ok := c.byKey[key]; ok {
		e.SetValue(entry{key, value})
		c.order.MoveToFront(e)
		return
	}
	if c.order.Len() == c.limit {
		delete(c.byKey, c.order.Remove(c.order.Back()).key)
	}
	c.byKey[key] = c.order.PushFront(entry{key, value})
}

// A cache that drops the least recently used value. When it is full it
// allocates nothing for the list.
func Example_cache() {
	c := cache{limit: 2, byKey: map[string]list.Element[entry]{}}
	c.put("a", 1)
	c.put("b", 2)
	c.get("a")
	c.put("c", 3) // takes the place of b
	for _, key := range []string{"a", "b", "c"} {
		value, ok := c.get(key)
		fmt.Println(key, value, ok)
	}
	// Output:
	// a 1 true
	// b 0 false
	// c 3 true
}
