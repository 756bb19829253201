// SPDX-License-Identifier: Apache-2.0

package keybytes

import "fmt"

var table = map[string]int{"a": 1, "b": 2}

func Lookup(b []byte) int {
	key := string(b) // want "convert it in place"
	if n, ok := table[key]; ok {
		return n
	}
	return -1
}

func Direct(b []byte) int {
	key := string(b) // want "convert it in place"
	return table[key]
}

func Equal(b []byte, s string) bool {
	t := string(b) // want "convert it in place"
	return t == s
}

// The key stays in the map.
func Store(b []byte) {
	key := string(b)
	table[key] = 3
}

func Twice(b []byte) int {
	key := string(b)
	return table[key] + len(key)
}

// change could write to b before the map is read.
func Called(b []byte) int {
	key := string(b)
	return change(b) + table[key]
}

func Commented(b []byte) int {
	key := string(b) // want "convert it in place"
	// What is said here is not lost.
	return table[key]
}

func change(b []byte) int { b[0] = 'z'; return 1 }

func Try() string {
	a := []byte("a")
	Store([]byte("c"))
	return fmt.Sprint(Lookup(a), Lookup([]byte("q")), Direct([]byte("b")), Direct(nil), Equal(a, "a"), Equal(a, "b"), Twice(a), Called([]byte("a")), Commented(a))
}
