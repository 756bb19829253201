// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"encoding/binary"
	"unsafe"
)

// The functions below omit the bounds checks that the compiler cannot remove
// from the copy loops; with them, a short field takes twice as long. Each
// compiles to one move instruction on processors that allow unaligned access.
// Their callers show that the access is in bounds; under the build tag
// invariants each is checked and panics otherwise.

// load64 returns s[i:i+8] as a little-endian word. In bounds because the caller
// has 0 <= i and i+8 <= len(s).
func load64(s string, i int) uint64 {
	if checked {
		_ = s[i : i+8]
	}
	return binary.LittleEndian.Uint64(
		(*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))[:])
}

// load32 returns s[i:i+4] as a little-endian word. In bounds because the caller
// has 0 <= i and i+4 <= len(s).
func load32(s string, i int) uint64 {
	if checked {
		_ = s[i : i+4]
	}
	return uint64(binary.LittleEndian.Uint32(
		(*[4]byte)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))[:]))
}

// load16 returns s[i:i+2] as a little-endian word. In bounds because the caller
// has 0 <= i and i+2 <= len(s).
func load16(s string, i int) uint64 {
	if checked {
		_ = s[i : i+2]
	}
	return uint64(binary.LittleEndian.Uint16(
		(*[2]byte)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i))[:]))
}

// load8 returns s[i]. In bounds because the caller has 0 <= i and i < len(s).
func load8(s string, i int) uint64 {
	if checked {
		_ = s[i : i+1]
	}
	return uint64(*(*byte)(unsafe.Add(unsafe.Pointer(unsafe.StringData(s)), i)))
}

// store64 writes w to b[i:i+8]. In bounds because the caller has 0 <= i and
// i+8 <= len(b).
func store64(b []byte, i int, w uint64) {
	if checked {
		_ = b[i : i+8 : len(b)]
	}
	binary.LittleEndian.PutUint64((*[8]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))[:],
		w)
}

// store32 writes the low half of w to b[i:i+4]. In bounds because the caller
// has 0 <= i and i+4 <= len(b).
func store32(b []byte, i int, w uint64) {
	if checked {
		_ = b[i : i+4 : len(b)]
	}
	binary.LittleEndian.PutUint32((*[4]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))[:],
		uint32(w))
}

// store16 writes the low two bytes of w to b[i:i+2]. In bounds because the
// caller has 0 <= i and i+2 <= len(b).
func store16(b []byte, i int, w uint64) {
	if checked {
		_ = b[i : i+2 : len(b)]
	}
	binary.LittleEndian.PutUint16((*[2]byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))[:],
		uint16(w))
}

// store8 writes the low byte of w to b[i]. In bounds because the caller has
// 0 <= i and i < len(b).
func store8(b []byte, i int, w uint64) {
	if checked {
		_ = b[i : i+1 : len(b)]
	}
	*(*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i)) = byte(w)
}

// View returns b as a string without a copy. It is valid as long as b does not
// change; callers use it only while they run and never keep it.
func View(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}
