// SPDX-License-Identifier: Apache-2.0

//go:build invariants

package jsonenc

import "encoding/binary"

// The functions of unsafe.go with bounds checks, so that the tests show every
// access to be in bounds.

func load64(s string, i int) uint64 {
	return binary.LittleEndian.Uint64([]byte(s[i : i+8]))
}

func load32(s string, i int) uint64 {
	return uint64(binary.LittleEndian.Uint32([]byte(s[i : i+4])))
}

func load16(s string, i int) uint64 {
	return uint64(binary.LittleEndian.Uint16([]byte(s[i : i+2])))
}

func load8(s string, i int) uint64 { return uint64(s[i]) }

func store64(b []byte, i int, w uint64) {
	binary.LittleEndian.PutUint64(b[i:i+8:len(b)], w)
}

func store32(b []byte, i int, w uint64) {
	binary.LittleEndian.PutUint32(b[i:i+4:len(b)], uint32(w))
}

func store16(b []byte, i int, w uint64) {
	binary.LittleEndian.PutUint16(b[i:i+2:len(b)], uint16(w))
}

func store8(b []byte, i int, w uint64) { b[i] = byte(w) }

func viewString(b []byte) string { return string(b) }
