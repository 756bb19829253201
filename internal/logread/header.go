// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"

	"github.com/nib-log/nib"
)

// fixedHeader reads the beginning of a line whose logger has one form of it.
func (c *clock) fixedHeader(text []byte) (h header, ok bool) {
	if h, ok = c.klogHeader(text); ok {
		return h, true
	}
	if h, ok = c.redisHeader(text); ok {
		return h, true
	}
	return c.javaHeader(text)
}

var klogLevels = [...]nib.Level{nib.LevelInfo, nib.LevelWarn, nib.LevelError, nib.LevelFatal}

// phpLevels are the beginnings of messages of PHP.
var phpLevels = [...]struct {
	prefix string
	level  nib.Level
}{
	{"PHP Fatal error:", nib.LevelError}, {"PHP Parse error:", nib.LevelError},
	{"PHP Warning:", nib.LevelWarn}, {"PHP Notice:", nib.LevelInfo + 2},
	{"PHP Deprecated:", nib.LevelInfo + 2},
}

func phpLevel(text []byte) (nib.Level, bool) {
	for _, l := range phpLevels {
		if bytes.HasPrefix(text, []byte(l.prefix)) {
			return l.level, true
		}
	}
	return 0, false
}

// klogHeader reads the level and the time of klog and glog. Their year is not
// in the line.
func (c *clock) klogHeader(text []byte) (h header, ok bool) {
	const end = len("I1126 10:00:00.123456")
	if len(text) < end+4 || text[5] != ' ' || text[end] != ' ' || text[14] != '.' {
		return h, false
	}
	i := bytes.IndexByte([]byte("IWEF"), text[0])
	if i < 0 {
		return h, false
	}
	h = header{level: klogLevels[i], hasTime: true, hasLevel: true, end: end}
	h.time, ok = c.dayTime(text[1:], text[6:end])
	return h, ok
}

// redisHeader reads 1:M 26 Nov 2026 10:00:00.250 # before a text of Redis.
func (c *clock) redisHeader(text []byte) (h header, ok bool) {
	const date, mark = len(":M "), len(" #")
	rest := bytes.TrimLeft(text, "0123456789")
	if len(rest) == len(text) || len(rest) < date || rest[0] != ':' || rest[2] != ' ' ||
		bytes.IndexByte([]byte("MSXC"), rest[1]) < 0 {
		return h, false
	}
	n, t, ok := c.dayFirstTime(rest[date:])
	n += date
	if !ok || len(rest) < n+mark || rest[n] != ' ' {
		return h, false
	}
	i := bytes.IndexByte([]byte(".-*#"), rest[n+1])
	if i < 0 {
		return h, false
	}
	h = header{time: t, level: redisLevels[i], hasTime: true, hasLevel: true}
	h.end = len(text) - len(rest) + n + mark
	return h, true
}

var redisLevels = [...]nib.Level{
	nib.LevelDebug, nib.LevelInfo, nib.LevelInfo + 2, nib.LevelWarn,
}
