// SPDX-License-Identifier: Apache-2.0

package term

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Name returns the name of a file or directory for people, quoted if a terminal
// might interpret a part of it.
func Name(name string) string {
	if isShown(name) {
		return name
	}
	return strconv.Quote(name)
}

// Line returns a text for people on one line, with everything escaped that a
// terminal might interpret. Errors of the system contain file names, which
// anyone may have chosen.
func Line(text string) string {
	if isShown(text) {
		return text
	}
	quoted := strconv.Quote(text)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func isShown(text string) bool {
	return utf8.ValidString(text) &&
		strings.IndexFunc(text, func(r rune) bool { return !strconv.IsPrint(r) }) < 0
}

// WriteJSON writes a line of JSON in which everything is escaped that a
// terminal might interpret. (Package encoding/json leaves DEL, C1 controls and
// bidirectional controls as they are.)
func WriteJSON(w io.Writer, text []byte) error {
	var b strings.Builder
	for _, r := range strings.TrimSuffix(string(text), "\n") {
		switch {
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}
