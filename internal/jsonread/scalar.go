// SPDX-License-Identifier: Apache-2.0

package jsonread

// IsScalar reports whether text is a number, true, false or null, without white
// space around it. Its last byte rules out most texts.
func IsScalar(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	c := text[len(text)-1]
	return (c-'0' <= 9 || c == 'e' || c == 'l') && scalarLen(text) == len(text)
}

// scalarLen returns the length of the number, true, false or null at the front
// of b, or minus the offset where b stops being one.
func scalarLen(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case 't':
		return literalLen(b, "true")
	case 'f':
		return literalLen(b, "false")
	case 'n':
		return literalLen(b, "null")
	}
	return numberLen(b)
}

func literalLen(b []byte, word string) int {
	if len(b) >= len(word) && string(b[:len(word)]) == word {
		return len(word)
	}
	return 0
}

// numberLen is scalarLen for numbers.
func numberLen(b []byte) int {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if n := digits(b[i:]); n > 0 {
		i += n
	} else {
		return -i
	}
	if i < len(b) && b[i] == '.' {
		n := digits(b[i+1:])
		if n == 0 {
			return -(i + 1)
		}
		i += 1 + n
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n := digits(b[i:])
		if n == 0 {
			return -i
		}
		i += n
	}
	return i
}

// digits returns the number of decimal digits at the front of b.
func digits(b []byte) int {
	i := 0
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}
