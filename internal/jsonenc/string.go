// SPDX-License-Identifier: Apache-2.0

package jsonenc

// AppendString appends s as a quoted JSON string.
func AppendString(dst []byte, s string) []byte {
	j := len(dst)
	if need := len(s) + 2 + slack; cap(dst)-j < need {
		dst = grow(dst, need)
	}
	b := dst[:cap(dst)]
	b[j] = '"'
	j++
	if i := copyClean(b, j, s); i < len(s) {
		return append(appendText(b[:j+i], s, i), '"')
	}
	j += len(s)
	b[j] = '"'
	return b[:j+1]
}

// AppendBytes appends the text in b as a quoted JSON string.
func AppendBytes(dst, b []byte) []byte {
	return AppendString(dst, viewString(b))
}

// AppendKey appends a comma, the quoted key and a colon.
func AppendKey(dst []byte, key string) []byte {
	j := len(dst)
	if need := len(key) + 4 + slack; cap(dst)-j < need {
		dst = grow(dst, need)
	}
	b := dst[:cap(dst)]
	b[j] = ','
	b[j+1] = '"'
	j += 2
	if i := copyClean(b, j, key); i < len(key) {
		return append(appendText(b[:j+i], key, i), '"', ':')
	}
	j += len(key)
	b[j] = '"'
	b[j+1] = ':'
	return b[:j+2]
}

// AppendKeyString appends a comma, the quoted key, a colon and the quoted
// string val.
func AppendKeyString(dst []byte, key, val string) []byte {
	j := len(dst)
	if need := len(key) + len(val) + 6 + slack; cap(dst)-j < need {
		dst = grow(dst, need)
	}
	b := dst[:cap(dst)]
	b[j] = ','
	b[j+1] = '"'
	j += 2
	if i := copyClean(b, j, key); i < len(key) {
		return AppendString(append(appendText(b[:j+i], key, i), '"', ':'), val)
	}
	j += len(key)
	store32(b, j, '"'|':'<<8|'"'<<16)
	j += 3
	if i := copyClean(b, j, val); i < len(val) {
		return append(appendText(b[:j+i], val, i), '"')
	}
	j += len(val)
	b[j] = '"'
	return b[:j+1]
}

// AppendKeyInt appends a comma, the quoted key, a colon and v in decimal.
func AppendKeyInt(dst []byte, key string, v int64) []byte {
	return AppendInt(AppendKey(dst, key), v)
}

// AppendKeyUint appends a comma, the quoted key, a colon and v in decimal.
func AppendKeyUint(dst []byte, key string, v uint64) []byte {
	return AppendUint(AppendKey(dst, key), v)
}

// Every byte of a word set to the same value.
const (
	all01 = 0x0101010101010101
	all02 = 0x02 * all01
	all20 = 0x20 * all01
	all21 = 0x21 * all01
	all5c = 0x5c * all01
	all80 = 0x80 * all01
)

// special marks the bytes of w that cannot be copied unseen: control bytes, the
// quote, the backslash, DEL and everything that is not ASCII. The lowest bit of
// the result lies in the first such byte; it is 0 if there is none. Above the
// lowest bit it may be wrong, as carries and borrows run upwards.
//
//   - x^0x02 moves the quote (0x22) to 0x20 and leaves the control bytes below
//     0x20, so one subtraction of 0x21 finds both;
//   - x^0x5c makes the backslash 0;
//   - x+1 carries 0x7f and more into the top bit. 0xff becomes 0 there, but the
//     first subtraction finds it.
func special(w uint64) uint64 {
	return ((w ^ all02 - all21) | (w ^ all5c - all01) | (w + all01)) & all80
}

// copyClean copies s to b[j:] up to the first word that holds a special byte
// and returns the number of bytes that are done, len(s) if s is clean. b must
// have slack bytes of room behind s.
func copyClean(b []byte, j int, s string) int {
	n := len(s)
	if n < 8 {
		w := loadShort(s)
		store64(b, j, w)
		if special(w) != 0 {
			return 0
		}
		return n
	}
	i := 0
	for ; i+16 <= n; i += 16 {
		w, v := load64(s, i), load64(s, i+8)
		store64(b, j+i, w)
		store64(b, j+i+8, v)
		if special(w)|special(v) != 0 {
			return i
		}
	}
	if i+8 < n {
		w := load64(s, i)
		store64(b, j+i, w)
		if special(w) != 0 {
			return i
		}
	}
	w := load64(s, n-8)
	store64(b, j+n-8, w)
	if special(w) != 0 {
		return i
	}
	return n
}

// loadShort returns s, which is shorter than 8 bytes, as a little-endian word
// filled up with spaces.
func loadShort(s string) uint64 {
	n := len(s)
	pad := uint64(all20) << (8 * n & 63)
	if n >= 4 {
		return load32(s, 0) | load32(s, n-4)<<(8*(n-4)&63) | pad
	}
	if n > 0 {
		return uint64(s[0]) | uint64(s[n>>1])<<(8*(n>>1)&63) | uint64(s[n-1])<<(8*(n-1)&63) | pad
	}
	return pad
}
