// SPDX-License-Identifier: Apache-2.0

package sink

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"unicode/utf8"

	"github.com/nib-log/nib"
)

// A key identifies the source of a line: its call site or, if unknown, a hash
// of its message, and optionally its level. Two messages with the same
// 64-bit hash count as one.
type key struct {
	pc      uintptr
	message uint64
	level   int8
	used    bool // false in a slot that was never used
}

// A table is a set-associative cache with an account for each of a bounded
// number of keys. A key belongs to one of many small sets; when the set is
// full, the key with the lowest rank in it is evicted. So nothing is ever
// moved, a lookup compares at most waysPerSet keys, and goroutines contend only
// if they use the same set.
type table struct {
	sets  []set // a power of two
	shift uint
	seed  maphash.Seed
}

const waysPerSet = 8

type set struct {
	mu    sync.Mutex // protects the fields below
	uses  uint64     // counter, by which slots are ranked
	slots [waysPerSet]slot
}

type slot struct {
	key   key
	rank  uint64
	value account
}

// newTable makes a table for at least n keys.
func newTable(n int) table {
	b := bits.Len(uint(max(n-1, 0) / waysPerSet))
	return table{sets: make([]set, 1<<b), shift: uint(64 - b), seed: maphash.MakeSeed()}
}

// site returns the key of a line by its call site, or by its message if the
// call site is unknown.
func (t *table) site(r *nib.Record) key {
	if r.PC != 0 {
		return key{pc: r.PC, used: true}
	}
	return t.message(r)
}

// message returns the key of a line by its message.
func (t *table) message(r *nib.Record) key {
	return key{message: maphash.Bytes(t.seed, r.Message), used: true}
}

// set returns the set of a key.
func (t *table) set(k key) *set {
	// The golden ratio mixes the upper bits well.
	h := (uint64(k.pc) ^ k.message + uint64(k.level)) * 0x9E3779B97F4A7C15
	return &t.sets[h>>t.shift]
}

// find returns the slot of k or, if k is not known, the slot to overwrite. The
// set is locked.
func (s *set) find(k key) (found *slot, known bool) {
	for i := range s.slots {
		w := &s.slots[i]
		switch {
		case w.key == k:
			return w, true
		case !w.key.used:
			return w, false // the following slots were not used either
		case found == nil || w.rank < found.rank:
			found = w
		}
	}
	return found, false
}

// A text is the beginning of a message, escaped as in the line.
type text struct {
	bytes [56]byte
	size  uint8
}

func (t *text) set(message []byte) {
	t.size = uint8(copy(t.bytes[:], message[:cut(message, len(t.bytes))]))
}

func (t *text) get() []byte { return t.bytes[:t.size] }

// cut returns the number of bytes of an escaped message that fit into limit
// bytes without splitting an escape sequence or a character.
func cut(message []byte, limit int) int {
	if len(message) <= limit {
		return len(message)
	}
	for i := 0; ; {
		size := 1
		switch c := message[i]; {
		case c == '\\' && i+1 < len(message) && message[i+1] == 'u':
			size = len(`\u0000`)
		case c == '\\':
			size = len(`\n`)
		case c >= utf8.RuneSelf:
			_, size = utf8.DecodeRune(message[i:])
		}
		if i+size > limit {
			return i
		}
		i += size
	}
}
