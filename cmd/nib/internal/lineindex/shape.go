// SPDX-License-Identifier: Apache-2.0

package lineindex

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/logread"
)

// A shape is the beginning of lines of one logger, second and level, without
// the decimals of the time:
//
//	{"time":"2026-11-22T09:00:00  .123456  Z","level":"info",
//	 before                                after
//
// A reader takes the time and the level from the first fields that have one, so
// every line that begins like this has the same.
type shape struct {
	before []byte
	digits int // number of digits that follow before: 3 for 1763802000 123
	after  []byte
	second int64 // Unix nanoseconds
	level  uint32
}

// A shapes has the shapes of the last lines: the levels of a few loggers.
type shapes struct {
	list   [8]shape
	last   int // index of the shape of the last line that had one
	next   int // index of the shape to replace next
	misses int // consecutive lines without a known shape
	probe  logread.Line
	plain  []byte // scratch space for a line without decimals
}

// longestShape bounds the memory of a shape.
const longestShape = 512

// find returns the shape of a line, or nil.
func (s *shapes) find(text []byte) *shape {
	for i := range s.list {
		if s.list[i].match(text) > 0 {
			s.last, s.misses = i, 0
			return &s.list[i]
		}
	}
	return nil
}

// match returns the length of the shape at the beginning of a line, or 0.
func (s *shape) match(text []byte) int {
	n := len(s.before)
	if n == 0 || len(text) < n+longestDecimals+len(s.after) ||
		string(text[:n]) != string(s.before) {
		return 0
	}
	if s.digits > 0 {
		if countDigits(text[n:]) != s.digits {
			return 0
		}
		n += s.digits
	}
	if text[n] == '.' {
		k := countDigits(text[n+1:])
		if k == 0 || k > longestDecimals/2 {
			return 0
		}
		n += 1 + k
	}
	if string(text[n:n+len(s.after)]) != string(s.after) {
		return 0
	}
	return n + len(s.after)
}

// longestDecimals is the maximum length of the text between before and after.
// Shorter lines are read in full.
const longestDecimals = 24

// countDigits returns the number of digits that b begins with. It examines
// eight bytes at a time, and sets the high bit of those that are not digits.
func countDigits(b []byte) (n int) {
	for ; len(b)-n >= 8; n += 8 {
		x := binary.LittleEndian.Uint64(b[n:]) ^ 0x3030303030303030
		if x = (x&0x7f7f7f7f7f7f7f7f + 0x7676767676767676 | x) & 0x8080808080808080; x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(b) && b[n]-'0' <= 9 {
		n++
	}
	return n
}

// learn adds the shape of a line that has a time, if it has one.
func (s *shapes) learn(text []byte, l *logread.Line) {
	if s.misses++; s.misses > 32 && s.misses%64 != 0 || text[0] != '{' {
		return
	}
	level, ok := l.Level()
	if !ok {
		return
	}
	t, _ := l.Time()
	at, end := parts(l)
	if end == 0 || end > longestShape {
		return
	}
	digits := 0
	switch {
	case text[at] == '0':
		return // the number of digits determines the unit
	case text[at] != '"':
		digits = countDigits(text[at:]) - len("1763802000")
		at += len("1763802000")
	case text[at+5] != '-':
		return
	default:
		at += len(`"2026-11-22T09:00:00`)
	}
	after := at + digits
	if digits < 0 || digits%3 != 0 || after >= end {
		return
	}
	if text[after] == '.' {
		after += 1 + countDigits(text[after+1:])
	}
	// The text after the level must not matter, nor whether there are decimals:
	// without digits behind the dot, a reader takes another field for the time.
	if after >= end || !s.reads(text[:end], t.Unix(), level) {
		return
	}
	other := `"level":"fatal"}` // a level behind a status of a request matters
	if level == nib.LevelFatal {
		other = `"level":"trace"}`
	}
	s.plain = append(append(s.plain[:0], text[:end]...), other...)
	if text[end-1] == ',' && !s.reads(s.plain, t.Unix(), level) {
		return
	}
	s.plain = append(append(s.plain[:0], text[:at+digits]...), text[after:end]...)
	if !s.reads(s.plain, t.Unix(), level) {
		return
	}
	c := &s.list[s.next]
	c.before = append(c.before[:0], text[:at]...)
	c.after = append(c.after[:0], text[after:end]...)
	c.digits, c.second, c.level = digits, t.Unix()*1e9, LevelBit(level, true)
	s.last, s.next = s.next, (s.next+1)%len(s.list)
}

// reads reports whether a reader finds a time in the second, and the level, in
// a line.
func (s *shapes) reads(text []byte, second int64, level nib.Level) bool {
	defer s.probe.Reset(nil)
	s.probe.Reset(text)
	t, ok := s.probe.Time()
	l, ok2 := s.probe.Level()
	return ok && ok2 && t.Unix() == second && l == level
}

// parts returns where the time begins in a line, and where the later one of
// time and level ends, with the byte after it. The end is 0 if they are not
// found.
func parts(l *logread.Line) (at, end int) {
	timeKey, levelKey := l.Key("time"), l.Key("level")
	body, pos, found := l.Body(), 0, 0
	for key, value := range l.Fields() {
		i := bytes.Index(body[pos:], key)
		j := bytes.Index(body[pos+i+len(key)+1:], value)
		if i < 0 || j < 0 {
			return 0, 0
		}
		from := pos + i + len(key) + 1 + j
		pos = from + len(value)
		switch string(key) {
		case timeKey:
			at = from
			found++
			timeKey = ""
		case levelKey:
			found++
			levelKey = ""
		}
		if found == 2 {
			return at, min(pos+1, len(body))
		}
	}
	return 0, 0
}
