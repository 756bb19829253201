// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"time"

	"github.com/nib-log/nib"
)

// The formatter that java.util.logging has by default writes two lines for a
// record, in English:
//
//	Nov 26, 2026 1:00:00 PM com.shop.API main
//	SEVERE: boom
//
// A reader of files joins them with a space.

// javaLevels are the levels of java.util.logging.
var javaLevels = [...]struct {
	prefix string
	level  nib.Level
}{
	{"INFO:", nib.LevelInfo}, {"WARNING:", nib.LevelWarn}, {"SEVERE:", nib.LevelError},
	{"CONFIG:", nib.LevelDebug}, {"FINE:", nib.LevelDebug}, {"FINER:", nib.LevelTrace},
	{"FINEST:", nib.LevelTrace},
}

// javaLevel reads the level at the beginning of text, and returns its length.
func javaLevel(text []byte) (n int, level nib.Level) {
	for _, l := range javaLevels {
		if bytes.HasPrefix(text, []byte(l.prefix)) {
			return len(l.prefix), l.level
		}
	}
	return 0, 0
}

// javaTime reads Nov 26, 2026 1:00:00 PM.
func (c *clock) javaTime(text []byte) (n int, t time.Time, ok bool) {
	const date, least = len("Nov 26, 2026 "), len("Nov 26, 2026 1:00:00 PM")
	if len(text) < least || text[3] != ' ' || text[6] != ',' || text[7] != ' ' ||
		text[date-1] != ' ' || month(text[:3]) == 0 {
		return 0, t, false
	}
	n = date + wordLen(text[date:])
	hour, rest, _ := bytes.Cut(text[date:n], []byte{':'})
	if len(rest) != len("00:00") || len(text) < n+len(" PM") {
		return 0, t, false
	}
	h, ok := hour12(hour, text[n+1:])
	if !ok {
		return 0, t, false
	}
	var buf [len("13:00:00")]byte
	clock := append(append(buf[:0], '0'+byte(h/10), '0'+byte(h%10), ':'), rest...)
	year := number2(text[8:])*100 + number2(text[10:])
	t, ok = c.timeOf(year, month(text[:3]), number2(text[4:]), clock)
	return n + len(" PM"), t, ok && year > 0
}

// javaHeader reads the time and level of a record of java.util.logging whose
// lines have been joined.
func (c *clock) javaHeader(text []byte) (h header, ok bool) {
	at, t, ok := c.javaTime(text)
	if !ok {
		return h, false
	}
	for range 3 { // the class, the method and the level
		if at = skipSpaces(text, at); at == len(text) {
			break
		}
		if n, level := javaLevel(text[at:]); n > 0 {
			at = skipSpaces(text, at+n)
			h = header{time: t, level: level, hasTime: true, hasLevel: true, end: at, isExact: true}
			return h, true
		}
		at += wordLen(text[at:])
	}
	return h, false
}

func skipSpaces(text []byte, at int) int {
	for at < len(text) && text[at] == ' ' {
		at++
	}
	return at
}

// IsJavaHead reports whether a line may be the first one of a record of
// java.util.logging: a time, and one or two words.
func IsJavaHead(line []byte) bool {
	n, _, ok := new(clock).javaTime(line)
	if !ok || n == len(line) || line[n] != ' ' {
		return false
	}
	words := bytes.TrimSuffix(line[n+1:], []byte{' '})
	return len(words) > 0 && bytes.Count(words, []byte{' '}) < 2
}

// IsJavaLevel reports whether a line may be the second one of a record of
// java.util.logging.
func IsJavaLevel(line []byte) bool {
	n, _ := javaLevel(line)
	return n > 0 && (n == len(line) || line[n] == ' ')
}
