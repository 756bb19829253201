// SPDX-License-Identifier: Apache-2.0

package pool

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/nib-log/nib/internal/invariants"
)

func TestShardsFillCacheLines(t *testing.T) {
	sizes := map[string]uintptr{
		"shard[int]":    unsafe.Sizeof(shard[int]{}),
		"shard[*int]":   unsafe.Sizeof(shard[*int]{}),
		"shard[[99]int": unsafe.Sizeof(shard[[99]int]{}),
		"slot[*Buffer]": unsafe.Sizeof(slot[*Buffer]{}),
	}
	for name, got := range sizes {
		if got != cacheLine {
			t.Errorf("%s: got %d bytes, want %d", name, got, cacheLine)
		}
	}
	// An object with pointers may begin with a word of the runtime.
	if got := unsafe.Offsetof(shard[int]{}.spare) + 8; got > cacheLine/2 {
		t.Errorf("what Get and Put touch: got %d bytes, want at most %d", got, cacheLine/2)
	}
	if got := unsafe.Offsetof(crowding{}.met) - unsafe.Offsetof(crowding{}.salt); got < cacheLine {
		t.Errorf("from salt to met: got %d bytes, want at least %d", got, cacheLine)
	}
}

func TestMemoryIsWhatAValueRefersTo(t *testing.T) {
	n := uint32(0x01010101)
	if got := memory(reflect.ValueOf(&n), unsafe.Sizeof(n)); string(got) != "\x01\x01\x01\x01" {
		t.Errorf("pointer: got %x", got)
	}
	b := []byte("0123456789")
	if got := memory(reflect.ValueOf(b[2:4:8]), 6); string(got) != "234567" {
		t.Errorf("slice: got %q", got)
	}
	if got := memory(reflect.ValueOf([]byte(nil)), 0); len(got) != 0 {
		t.Errorf("nil: got %x", got)
	}
}

// Otherwise some buffers would be on two cache lines, depending on their
// addresses.
func TestBufferFitsACacheLine(t *testing.T) {
	if got := unsafe.Sizeof(Buffer{}) - unsafe.Sizeof(invariants.Stack{}); got > 64 {
		t.Errorf("a Buffer has %d bytes, want at most 64", got)
	}
}
