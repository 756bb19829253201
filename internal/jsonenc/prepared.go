// SPDX-License-Identifier: Apache-2.0

package jsonenc

import (
	"math"
	"math/bits"
)

// textHead is the number of bytes of a Text that are copied whatever its
// length: always four words, without a loop.
const textHead = 32

// A Text is constant JSON text, such as a comma, a key and a colon, prepared to
// be written many times: it is copied without inspecting its bytes. MakeText
// makes one; it never changes and may be used by any number of goroutines.
//
// The functions that write one are built like string.go: one comparison
// finds all unusual cases, which are left to a tail call, so that no
// value has to be saved across it.
type Text struct {
	head [textHead / 8]uint64
	long *string // the whole text if it does not fit into head
	need int     // required room, for head and the text; for a long text, more than any buffer has
}

// len returns the length of a text that fits into head.
func (t *Text) len() int { return t.need - textHead }

// put writes head to b[j:j+textHead].
func (t *Text) put(b []byte, j int) {
	store64(b, j, t.head[0])
	store64(b, j+8, t.head[1])
	store64(b, j+16, t.head[2])
	store64(b, j+24, t.head[3])
}

// MakeText prepares s, which must be JSON text already: nothing is escaped.
func MakeText(s string) Text {
	t := Text{need: len(s) + textHead}
	if len(s) > textHead {
		t.long = &s
		t.need = math.MaxInt - 1<<10 // so that adding to it does not overflow
		return t
	}
	for i := range len(s) {
		t.head[i/8] |= uint64(s[i]) << (i % 8 * 8)
	}
	return t
}

// String returns the text.
func (t *Text) String() string {
	if t.long != nil {
		return *t.long
	}
	var b [textHead]byte
	for i := range b {
		b[i] = byte(t.head[i/8] >> (i % 8 * 8))
	}
	return string(b[:t.len()])
}

// AppendText appends t.
func AppendText(dst []byte, t *Text) []byte {
	j := len(dst)
	if cap(dst)-j < t.need {
		return appendTextSlowly(dst, t)
	}
	b := dst[:cap(dst)]
	t.put(b, j)
	return b[:j+t.len()]
}

// appendTextSlowly is AppendText for a long text, or without room.
//
//go:noinline
func appendTextSlowly(dst []byte, t *Text) []byte {
	if t.long != nil {
		return append(dst, *t.long...)
	}
	return AppendText(grow(dst, t.need), t)
}

// AppendTextBool appends t and true or false.
func AppendTextBool(dst []byte, t *Text, v bool) []byte {
	j := len(dst)
	if cap(dst)-j < t.need {
		return AppendBool(appendTextSlowly(dst, t), v)
	}
	b := dst[:cap(dst)]
	t.put(b, j)
	j += t.len()
	if v {
		store32(b, j, 't'|'r'<<8|'u'<<16|'e'<<24)
		return b[:j+4]
	}
	store64(b, j, 'f'|'a'<<8|'l'<<16|'s'<<24|'e'<<32)
	return b[:j+5]
}

// AppendTextString appends t, which ends with a quote, and s as the rest of the
// string that the quote begins.
func AppendTextString(dst []byte, t *Text, s string) []byte {
	j, n := len(dst), len(s)
	if cap(dst)-j-n < t.need { // cannot overflow in this order
		return appendTextStringSlowly(dst, t, s)
	}
	b := dst[:cap(dst)]
	t.put(b, j)
	j += t.len()
	var bad uint64
	if uint(n-8) <= 8 {
		w, v := load64(s, 0), load64(s, n-8)
		store64(b, j, w)
		store64(b, j+n-8, v)
		bad = mark(w) | mark(v)
	} else if n > 32 {
		if load8(s, 0) >= 0x80 {
			return appendUnicode(b[:j], s)
		}
		return appendLong(b[:j], s)
	} else if n > 16 {
		w, v, x, y := load64(s, 0), load64(s, 8), load64(s, n-16), load64(s, n-8)
		store64(b, j, w)
		store64(b, j+8, v)
		store64(b, j+n-16, x)
		store64(b, j+n-8, y)
		bad = mark(w) | mark(v) | mark(x) | mark(y)
	} else if n >= 4 {
		w := load4to7(s)
		store4to7(b, j, n, w)
		bad = mark(w)
	} else if n > 0 {
		w := load1to3(s)
		store1to3(b, j, n, w)
		bad = mark(w)
	}
	if bad&all80 != 0 {
		if load8(s, 0) >= 0x80 {
			return appendUnicode(b[:j], s)
		}
		return appendEscaped(b[:j], s, 0)
	}
	j += n
	store8(b, j, '"')
	return b[:j+1]
}

//go:noinline
func appendTextStringSlowly(dst []byte, t *Text, s string) []byte {
	dst = appendTextSlowly(dst, t)
	return AppendString(dst[:len(dst)-1], s)
}

// AppendTextInt appends t and v in decimal.
func AppendTextInt(dst []byte, t *Text, v int64) []byte {
	minus := uint64(v) >> 63
	return appendTextNumber(dst, t, minus, (uint64(v)^-minus)+minus)
}

// AppendTextUint appends t and v in decimal.
func AppendTextUint(dst []byte, t *Text, v uint64) []byte {
	return appendTextNumber(dst, t, 0, v)
}

// appendTextNumber appends t and v, with a minus sign if minus is 1.
func appendTextNumber(dst []byte, t *Text, minus, v uint64) []byte {
	j := len(dst)
	if cap(dst)-j < t.need {
		return appendTextNumberSlowly(dst, t, minus, v)
	}
	b := dst[:cap(dst)]
	t.put(b, j)
	j += t.len()
	store8(b, j, '-')
	j += int(minus)
	// All digits at once, without the leading zeros: no branch depends on the
	// length, which differs from line to line.
	if v < 1e4 {
		u := uint32(v)
		high := u * 5243 >> 19 // u / 100
		digits := pair(high) | pair(u-high*100)<<16
		zeros := bits.TrailingZeros32(uint32(digits&0x0f0f0f0f)|1<<24) &^ 7
		store32(b, j, digits>>(zeros&31))
		return b[:j+4-zeros>>3]
	}
	if v >= 1e8 {
		return putLarge(b[:j+decimalLen(v)], v)
	}
	digits := eightDigits(uint32(v))
	zeros := bits.TrailingZeros64(digits) &^ 7
	store64(b, j, (digits|'0'*all01)>>(zeros&63))
	return b[:j+8-zeros>>3]
}

//go:noinline
func appendTextNumberSlowly(dst []byte, t *Text, minus, v uint64) []byte {
	dst = appendTextSlowly(dst, t)
	return AppendUint(append(dst, "-"[:minus]...), v)
}
