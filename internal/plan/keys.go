// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/binary"
	"slices"
	"strings"
)

// A key is the name of a member of an object that is written from a map, and
// where its value is found.
type key struct {
	front uint64 // the first 8 bytes of name, first one highest: most comparisons need no more
	name  string
	i     int
}

func makeKey(name string, i int) key { return key{frontOf(name), name, i} }

// frontOf returns the first 8 bytes of s as a number that is ordered as s is. A
// shorter s ends in zeros.
func frontOf(s string) uint64 {
	if len(s) >= 8 {
		return binary.BigEndian.Uint64(viewBytes(s))
	}
	var b [8]byte
	copy(b[:], s)
	return binary.BigEndian.Uint64(b[:])
}

func (k *key) less(other *key) bool {
	if k.front != other.front {
		return k.front < other.front
	}
	return k.name < other.name
}

// maxInsertion is up to which length insertion is the fastest way to sort.
const maxInsertion = 16

// sortKeys sorts by name.
func sortKeys(keys []key) {
	if len(keys) > maxInsertion {
		slices.SortFunc(keys, func(a, b key) int {
			if a.front != b.front {
				if a.front < b.front {
					return -1
				}
				return 1
			}
			return strings.Compare(a.name, b.name)
		})
		return
	}
	for i := 1; i < len(keys); i++ {
		k := keys[i]
		j := i
		for ; j > 0 && k.less(&keys[j-1]); j-- {
			keys[j] = keys[j-1]
		}
		keys[j] = k
	}
}
