// SPDX-License-Identifier: Apache-2.0

package jsonenc

// textHead is how much of a Text is copied whatever its length: two moves of 16
// bytes, where a loop would have to find out how many.
const textHead = 32

// A Text is constant JSON text, such as a comma, a key and a colon, laid out for
// being written many times: it is copied without a look at its bytes. MakeText
// makes one; it never changes and may be used by any number of goroutines.
type Text struct {
	head [textHead]byte
	long *string // the whole text if it does not fit into head
	n    uint32
}

// MakeText prepares s, which must be JSON text already: nothing is escaped.
func MakeText(s string) Text {
	t := Text{n: uint32(len(s))}
	if copy(t.head[:], s) < len(s) {
		t.long = &s
	}
	return t
}

// String returns the text.
func (t *Text) String() string {
	if t.long != nil {
		return *t.long
	}
	return string(t.head[:t.n])
}

// AppendText appends t.
func AppendText(dst []byte, t *Text) []byte {
	j := len(dst)
	if cap(dst)-j < int(t.n)+textHead {
		dst = grow(dst, int(t.n)+textHead)
	}
	b := dst[:cap(dst)]
	*(*[textHead]byte)(b[j:]) = t.head
	if t.long != nil {
		copy(b[j:], *t.long)
	}
	return b[:j+int(t.n)]
}

// AppendTextString appends t, which ends with a quote, and s as the rest of the
// string that the quote begins.
func AppendTextString(dst []byte, t *Text, s string) []byte {
	j, n := len(dst), len(s)
	if cap(dst)-j < int(t.n)+textHead+n {
		return AppendTextString(grow(dst, int(t.n)+textHead+n), t, s)
	}
	b := dst[:cap(dst)]
	*(*[textHead]byte)(b[j:]) = t.head
	if t.long != nil {
		copy(b[j:], *t.long)
	}
	j += int(t.n)
	var bad uint64
	if uint(n-8) <= 8 {
		w, v := load64(s, 0), load64(s, n-8)
		store64(b, j, w)
		store64(b, j+n-8, v)
		bad = mark(w) | mark(v)
	} else if n > 16 {
		if load8(s, 0) >= 0x80 {
			return appendEscaped(b[:j], s, 0)
		}
		return appendLong(b[:j], s)
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
		return appendEscaped(b[:j], s, 0)
	}
	j += n
	store8(b, j, '"')
	return b[:j+1]
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

// appendTextNumber appends t and v, behind a sign if minus is 1, not 0.
func appendTextNumber(dst []byte, t *Text, minus, v uint64) []byte {
	j := len(dst)
	if cap(dst)-j < int(t.n)+textHead+maxIntLen {
		dst = grow(dst, int(t.n)+textHead+maxIntLen)
	}
	b := dst[:cap(dst)]
	*(*[textHead]byte)(b[j:]) = t.head
	if t.long != nil {
		copy(b[j:], *t.long)
	}
	j += int(t.n)
	store8(b, j, '-')
	j += int(minus)
	b = b[:j+decimalLen(v)]
	if v >= 1e8 {
		return putLarge(b, v)
	}
	i := len(b)
	for v >= 100 {
		q := v / 100
		i -= 2
		store16(b, i, twoDigits(v-q*100))
		v = q
	}
	if v >= 10 {
		store16(b, i-2, twoDigits(v))
	} else {
		store8(b, i-1, '0'+v)
	}
	return b
}
