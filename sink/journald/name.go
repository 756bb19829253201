// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"
)

// maxName is the longest name of a field that journald accepts.
const maxName = 64

// inName maps a byte of a key to its byte in a name.
var inName = func() (t [256]byte) {
	for c := range t {
		switch {
		case c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
			t[c] = byte(c)
		case c >= 'a' && c <= 'z':
			t[c] = byte(c) - 'a' + 'A'
		default:
			t[c] = '_'
		}
	}
	return t
}()

// isName reports whether journald accepts s as the name of a program's field.
func isName(s []byte) bool {
	for _, c := range s {
		if inName[c] != c {
			return false
		}
	}
	return len(s) > 0 && len(s) <= maxName && s[0] >= 'A' && s[0] <= 'Z'
}

// reserved lists the names that this package writes itself and those with which
// journald or journalctl would attribute an entry to another program.
var reserved = []string{
	"MESSAGE", "PRIORITY", "CODE_FILE", "CODE_LINE", "CODE_FUNC", "OBJECT_PID", "NIB_LINE",
	"SYSLOG_IDENTIFIER", "SYSLOG_PID", "SYSLOG_FACILITY", "SYSLOG_TIMESTAMP", "SYSLOG_RAW",
}

func isReserved(name []byte) bool {
	return slices.ContainsFunc(reserved, func(r string) bool { return string(name) == r })
}

const fieldPrefix = "FIELD_"

// A usedName is a name that is already in an entry.
type usedName struct {
	from, to int // bounds of the name in the entry
	count    int // number of other keys with this name
}

// appendName appends the name for a key, which is given as written in the line,
// without its quotes.
func (e *encoder) appendName(dst, key []byte) []byte {
	if bytes.IndexByte(key, '\\') >= 0 {
		e.text = appendText(e.text[:0], key)
		key = e.text
	}
	from := len(dst)
	dst = appendUpper(append(dst, e.prefix...), key, from)
	if name := dst[from:]; !isName(name) || isReserved(name) || string(name) == e.lineName {
		dst = append(append(dst[:from], fieldPrefix...), e.prefix...)
		dst = appendUpper(dst, key, from)
	}
	return e.claim(dst, from)
}

// appendUpper appends the characters of key until the name, which begins at
// from, is full.
func appendUpper(dst, key []byte, from int) []byte {
	for _, c := range key {
		if len(dst)-from == maxName {
			break
		}
		if utf8.RuneStart(c) { // one _ for each character
			dst = append(dst, inName[c])
		}
	}
	return dst
}

// claim notes the name dst[from:], and appends a number to it if the entry
// already has that name.
func (e *encoder) claim(dst []byte, from int) []byte {
	first := e.find(dst, from)
	if first >= 0 {
		base := len(dst)
		for {
			e.names[first].count++
			var digits [8]byte
			suffix := strconv.AppendInt(append(digits[:0], '_'), int64(e.names[first].count)+1, 10)
			dst = append(dst[:min(base, from+maxName-len(suffix))], suffix...)
			if e.find(dst, from) < 0 && string(dst[from:]) != e.lineName {
				break
			}
		}
	}
	e.names = append(e.names, usedName{from: from, to: len(dst)})
	return dst
}

// find returns the index of the name dst[from:] among the names of the entry
// dst, or -1.
func (e *encoder) find(dst []byte, from int) int {
	name := dst[from:]
	return slices.IndexFunc(e.names, func(n usedName) bool {
		return bytes.Equal(dst[n.from:n.to], name)
	})
}
