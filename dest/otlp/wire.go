// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"encoding/binary"
	"math/bits"
)

// The wire types of protobuf.
const (
	varintType  = 0
	fixed64Type = 1
	bytesType   = 2
	fixed32Type = 5
)

// tag returns the tag of a field, whose number is below 16.
func tag(number, wireType byte) byte { return number<<3 | wireType }

// sizeVarint returns the length of v as a varint.
func sizeVarint(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// appendBytes appends a field of bytes or text.
func appendBytes[T []byte | string](dst []byte, number byte, v T) []byte {
	dst = append(dst, tag(number, bytesType))
	dst = binary.AppendUvarint(dst, uint64(len(v)))
	return append(dst, v...)
}

func appendFixed64(dst []byte, number byte, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(append(dst, tag(number, fixed64Type)), v)
}

// open begins a message within another one, with room bytes for its length. It
// returns the offset of the length.
func open(dst []byte, number byte, room int) ([]byte, int) {
	dst = append(dst, tag(number, bytesType))
	return append(dst, "\x00\x00\x00\x00\x00"[:room]...), len(dst)
}

// shut writes the length of the message that open has begun at offset at, and
// moves the message if the length needs more or fewer bytes than room.
func shut(dst []byte, at, room int) []byte {
	n := len(dst) - at - room
	size := sizeVarint(uint64(n))
	if size != room {
		for range size - room {
			dst = append(dst, 0)
		}
		copy(dst[at+size:], dst[at+room:at+room+n])
		dst = dst[:at+size+n]
	}
	binary.PutUvarint(dst[at:at+size], uint64(n))
	return dst
}

// A reader reads the fields of a message. It is for short responses. cut states
// that the end of the message may be missing.
type reader struct {
	b   []byte
	cut bool
}

// next returns the next field: its number, and the value as a number or as
// bytes. ok is false at the end, and at invalid data.
func (r *reader) next() (number, value uint64, text []byte, ok bool) {
	key, ok := r.varint()
	if !ok {
		return 0, 0, nil, false
	}
	switch key & 7 {
	case varintType:
		value, ok = r.varint()
	case fixed64Type:
		_, ok = r.take(8)
	case fixed32Type:
		_, ok = r.take(4)
	case bytesType:
		var n uint64
		if n, ok = r.varint(); ok {
			text, ok = r.take(n)
		}
	default:
		ok = false
	}
	return key >> 3, value, text, ok
}

func (r *reader) varint() (uint64, bool) {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		return 0, false
	}
	r.b = r.b[n:]
	return v, true
}

// take returns the next n bytes, or fewer if the rest may be missing.
func (r *reader) take(n uint64) (b []byte, ok bool) {
	if r.cut {
		n = min(n, uint64(len(r.b)))
	}
	if n > uint64(len(r.b)) {
		return nil, false
	}
	b, r.b = r.b[:n], r.b[n:]
	return b, true
}
