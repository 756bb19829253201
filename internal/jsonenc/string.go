// SPDX-License-Identifier: Apache-2.0

package jsonenc

// The functions of this file encode text that needs no escaping: they reserve
// once, then load, test and store whole words, and call the functions of
// escape.go at the first word that cannot be copied unchanged. They repeat the
// code for short lengths instead of calling a common function, and make tail
// calls only: so nothing is spilled to the stack, which halves the time of a
// short field.

// AppendString appends s as a quoted JSON string.
func AppendString(dst []byte, s string) []byte {
	j, n := len(dst), len(s)
	if cap(dst)-j < n+2 {
		return AppendString(grow(dst, n+2), s)
	}
	b := dst[:cap(dst)]
	store8(b, j, '"')
	j++
	var bad uint64
	if uint(n-8) <= 8 {
		w, v := load64(s, 0), load64(s, n-8)
		store64(b, j, w)
		store64(b, j+n-8, v)
		bad = mark(w) | mark(v)
	} else if n > 16 {
		if load8(s, 0) >= 0x80 { // most of the rest is then not ASCII either
			return appendUnicode(b[:j], s)
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
		if load8(s, 0) >= 0x80 {
			return appendUnicode(b[:j], s)
		}
		return appendEscaped(b[:j], s, 0)
	}
	j += n
	store8(b, j, '"')
	return b[:j+1]
}

// AppendBytes appends the text in b as a quoted JSON string.
func AppendBytes(dst, b []byte) []byte {
	return AppendString(dst, View(b))
}

// AppendKey appends a comma, the quoted key and a colon. The comma always comes
// first; to write an object, overwrite the first one with a brace.
func AppendKey(dst []byte, key string) []byte {
	j, n := len(dst), len(key)
	if cap(dst)-j < n+4 {
		return AppendKey(grow(dst, n+4), key)
	}
	b := dst[:cap(dst)]
	store16(b, j, ','|'"'<<8)
	j += 2
	var bad uint64
	if uint(n-4) < 4 {
		w := load4to7(key)
		store4to7(b, j, n, w)
		bad = mark(w)
	} else if uint(n-8) <= 8 {
		w, v := load64(key, 0), load64(key, n-8)
		store64(b, j, w)
		store64(b, j+n-8, v)
		bad = mark(w) | mark(v)
	} else if uint(n-1) < 3 {
		w := load1to3(key)
		store1to3(b, j, n, w)
		bad = mark(w)
	} else {
		return appendRareKey(dst, key)
	}
	if bad&all80 != 0 {
		return appendRareKey(dst, key)
	}
	j += n
	store16(b, j, '"'|':'<<8)
	return b[:j+2]
}

// AppendKeyString appends a comma, the quoted key, a colon and the quoted
// string val.
func AppendKeyString(dst []byte, key, val string) []byte {
	j, n, m := len(dst), len(key), len(val)
	if cap(dst)-j < n+m+6 {
		return AppendKeyString(grow(dst, n+m+6), key, val)
	}
	b := dst[:cap(dst)]
	store16(b, j, ','|'"'<<8)
	j += 2
	var bad uint64
	if uint(n-4) < 4 {
		w := load4to7(key)
		store4to7(b, j, n, w)
		bad = mark(w)
	} else if uint(n-8) <= 8 {
		w, v := load64(key, 0), load64(key, n-8)
		store64(b, j, w)
		store64(b, j+n-8, v)
		bad = mark(w) | mark(v)
	} else if uint(n-1) < 3 {
		w := load1to3(key)
		store1to3(b, j, n, w)
		bad = mark(w)
	} else {
		return appendRareKeyString(dst, key, val)
	}
	if bad&all80 != 0 {
		return appendRareKeyString(dst, key, val)
	}
	j += n
	store32(b, j, '"'|':'<<8|'"'<<16)
	j += 3
	if uint(m-8) <= 8 {
		w, v := load64(val, 0), load64(val, m-8)
		store64(b, j, w)
		store64(b, j+m-8, v)
		bad = mark(w) | mark(v)
	} else if m > 16 {
		if load8(val, 0) >= 0x80 {
			return appendUnicode(b[:j], val)
		}
		return appendLong(b[:j], val)
	} else if m >= 4 {
		w := load4to7(val)
		store4to7(b, j, m, w)
		bad = mark(w)
	} else if m > 0 {
		w := load1to3(val)
		store1to3(b, j, m, w)
		bad = mark(w)
	}
	if bad&all80 != 0 {
		if load8(val, 0) >= 0x80 {
			return appendUnicode(b[:j], val)
		}
		return appendEscaped(b[:j], val, 0)
	}
	j += m
	store8(b, j, '"')
	return b[:j+1]
}

// appendLong appends s, which is longer than 16 bytes, and the closing quote.
// dst has room for both.
//
//go:noinline
func appendLong(dst []byte, s string) []byte {
	j, n := len(dst), len(s)
	b := dst[:cap(dst)]
	i := 0
	for ; i+16 < n; i += 16 {
		w, v := load64(s, i), load64(s, i+8)
		store64(b, j+i, w)
		store64(b, j+i+8, v)
		if (mark(w)|mark(v))&all80 != 0 {
			return appendEscaped(b[:j+i], s, i)
		}
	}
	w, v := load64(s, n-16), load64(s, n-8)
	store64(b, j+n-16, w)
	store64(b, j+n-8, v)
	if (mark(w)|mark(v))&all80 != 0 {
		return appendEscaped(b[:j+i], s, i)
	}
	j += n
	store8(b, j, '"')
	return b[:j+1]
}

// appendRareKey is AppendKey for keys that are empty, long or need escaping.
//
//go:noinline
func appendRareKey(dst []byte, key string) []byte {
	return append(AppendString(append(dst, ','), key), ':')
}

// appendRareKeyString is AppendKeyString for keys that are empty, long or need
// escaping.
//
//go:noinline
func appendRareKeyString(dst []byte, key, val string) []byte {
	return AppendString(appendRareKey(dst, key), val)
}
