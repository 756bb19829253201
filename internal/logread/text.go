// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/linevalue"
)

// A header is what the beginning of a line of text says.
type header struct {
	time     time.Time
	level    nib.Level
	hasTime  bool
	hasLevel bool
	end      int  // where the message begins
	isExact  bool // the message is all that follows
}

// readText reads the time, level and message of a line of text.
func (l *Line) readText() {
	if l.known&factText != 0 {
		return
	}
	l.known |= factText
	h := l.clock.header(l.body)
	if !h.hasLevel {
		h.level, h.hasLevel = logrLevel(l.body[h.end:])
	}
	if !h.hasLevel {
		h.level, h.hasLevel = phpLevel(skipBetween(l.body[h.end:]))
	}
	l.message = messageOf(l.body, h)
	if !h.hasLevel {
		h.level, h.hasLevel = leadingLevel(l.body)
	}
	if !h.hasTime {
		h.time, h.hasTime = l.clock.accessTime(l.body)
	}
	if h.hasTime {
		l.time, l.found = h.time, l.found|factTime
	}
	if h.hasLevel {
		l.level, l.found = h.level, l.found|factLevel
	}
}

// maxHeader bounds the words that are examined for a time and a level.
const maxHeader = 8

// header reads words from the beginning of text until one is neither a time nor
// a level nor a part of what loggers put between these.
func (c *clock) header(text []byte) (h header) {
	if h, ok := c.fixedHeader(text); ok {
		return h
	}
	h.end = skipStyle(text)
	at := h.end
	if len(text) > 4 && text[0]-'A' < 26 && string(text[1:4]) == ", [" {
		at += len("E, ") // Ruby
	}
	for words := 0; words < maxHeader && at < len(text); words++ {
		at = skipSeparators(text, at)
		rest := text[at:]
		if n, t, ok := c.leadingTime(rest); ok && !h.hasTime {
			h.time, h.hasTime = t, true
			at += n
			h.end = at
			continue
		}
		end := at + wordLen(rest)
		isDelimited := isDelimited(text, at, end)
		from := at
		if h.hasTime {
			from += ownerLen(text[at:end], isDelimited)
		}
		level, n, ok := levelWord(text[from:end], h.hasTime, isDelimited)
		switch {
		case ok && !h.hasLevel:
			h.level, h.hasLevel = level, true
			at = from + n
			if n := at + skipStyle(text[at:]); n < len(text) && text[n] == '[' {
				at = c.afterLevel(&h, text, n)
			}
			h.end = at
			if h.hasTime {
				return h
			}
			continue
		case h.hasLevel && !h.hasTime:
			if end = timeBehind(text, at); end == 0 {
				return h
			}
		case h.hasTime && !isBetween(text, at, end):
			return h // what follows is the message
		case !h.hasTime:
			n := prefixEnd(text[at:])
			if words > 0 || n == 0 {
				return h
			}
			end = at + n
		}
		at = end
	}
	return h
}

// timeBehind returns the offset of what may be a time behind a word in brackets
// at offset from, as in "INFO  [main] 2026-11-26" of Cassandra, or 0.
func timeBehind(text []byte, from int) int {
	n := bytes.Index(text[from:], []byte("] "))
	if from == 0 || text[from-1] != '[' || n < 0 {
		return 0
	}
	end := from + n + len("] ")
	if end == len(text) || text[end]-'0' > 9 {
		return 0
	}
	return end
}

// isBetween reports whether a word between the time and the level is the name
// of a thread or logger, or a number: in brackets, or with a separator behind.
// So are user@database of PostgreSQL, and key=value of it and of Elixir.
func isBetween(text []byte, from, end int) bool {
	rest := bytes.TrimLeft(text[end:], " ")
	return from > 0 && (text[from-1] == '[' || text[from-1] == '(') ||
		bytes.HasPrefix(rest, []byte("- ")) || bytes.HasPrefix(rest, []byte{'|'}) ||
		bytes.HasPrefix(rest, []byte{'\t'}) || bytes.ContainsAny(text[from:end], "@=") ||
		len(bytes.Trim(text[from:end], "#0123456789")) == 0
}

// ownerLen returns the length of the name before a level in a word, as in
// [core:error] of Apache and app.ERROR: of Monolog.
func ownerLen(word []byte, delimited bool) int {
	separator := byte('.')
	if delimited {
		separator = ':'
	} else if !bytes.HasSuffix(word, []byte{':'}) {
		return 0
	}
	n := bytes.LastIndexByte(word, separator) + 1
	if n == len(word) || !delimited && word[n]-'A' >= 26 {
		return 0
	}
	return n
}

// afterLevel returns the offset behind the brackets at offset at, which follow
// a level: INFO[0000] and INFO[2026-11-26T10:00:00Z] of logrus. It adds the
// time in them to h.
func (c *clock) afterLevel(h *header, text []byte, at int) int {
	if _, t, ok := c.leadingTime(text[at+1:]); ok && !h.hasTime {
		h.time, h.hasTime = t, true
	}
	if n := bytes.IndexByte(text[at:], ']'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}

// prefixEnd returns the length of the prefix of package log at the beginning of
// text, which a date follows, or 0. A prefix of several words ends with a colon
// or bracket.
func prefixEnd(text []byte) int {
	const most = 64
	for from := 0; from < min(len(text), most); {
		n := bytes.IndexByte(text[from:], ' ')
		if n < 0 {
			break
		}
		end := from + n
		rest := text[end:]
		isDate := len(rest) > 11 && rest[5] == '/' && rest[8] == '/'
		if isDate && end > 0 && (from == 0 || text[end-1] == ':' || text[end-1] == ']') {
			return end
		}
		from = end + 1
	}
	return 0
}

// logrLevel reads the level of a line of logr: it has no level for errors, and
// the verbosity of others.
func logrLevel(text []byte) (nib.Level, bool) {
	text, ok := logrFields(afterPlace(skipBetween(text)))
	if !ok {
		return 0, false
	}
	if verbosity, ok := bytes.CutPrefix(text, []byte(`"level"=`)); ok {
		return levelOfVerbosity(verbosity)
	}
	return nib.LevelError, bytes.Contains(text, []byte(` "error"=`))
}

// levelOfVerbosity returns the level for a verbosity of logr.
func levelOfVerbosity(digits []byte) (nib.Level, bool) {
	switch {
	case len(digits) == 0 || digits[0]-'0' > 9:
		return 0, false
	case digits[0] == '0':
		return nib.LevelInfo, true
	}
	return nib.LevelDebug, true
}

// logrFields returns the fields of a line of logr, which may be behind the name
// of a logger: `"msg"="text"` and `api: "level"=0 "msg"="text"`.
func logrFields(text []byte) (fields []byte, ok bool) {
	at := bytes.Index(text[:min(len(text), maxPrefix)], []byte(`: "`))
	if at > 0 && text[0] != '"' {
		text = text[at+len(": "):]
	}
	return text, bytes.HasPrefix(text, []byte(`"msg"=`)) ||
		bytes.HasPrefix(text, []byte(`"level"=`))
}

// accessTime reads the time in brackets of a web server's line.
func (c *clock) accessTime(text []byte) (t time.Time, ok bool) {
	at := bytes.IndexByte(text[:min(len(text), maxPrefix)], '[') + 1
	if rest := text[at:]; at > 0 && len(rest) > 11 && rest[2] == '/' {
		_, t, ok = c.dayFirstTime(rest)
	}
	return t, ok
}

// skipStyle returns the length of escape sequences that colour a terminal.
func skipStyle(text []byte) (n int) {
	for len(text)-n > 2 && text[n] == 0x1b && text[n+1] == '[' {
		end := bytes.IndexByte(text[n:], 'm')
		if end < 0 || end > 12 {
			break
		}
		n += end + 1
	}
	return n
}

// styleBefore returns the length of escape sequences that colour a terminal, at
// the end of text.
func styleBefore(text []byte) (n int) {
	for {
		at := bytes.LastIndexByte(text[:len(text)-n], 0x1b)
		if at < 0 || at+skipStyle(text[at:]) < len(text) {
			return n
		}
		n = len(text) - at
	}
}

// skipSeparators returns the offset of the next word.
func skipSeparators(text []byte, at int) int {
	for at < len(text) {
		switch text[at] {
		case ' ', '\t', '|', '[', ']', ':', '<', '>', '-', '(', ')':
			at++
			continue
		case 0x1b:
			if n := skipStyle(text[at:]); n > 0 {
				at += n
				continue
			}
		}
		break
	}
	return at
}

// wordLen returns the length of the word at the beginning of text.
func wordLen(text []byte) int {
	if n := bytes.IndexAny(text, " \t|]\x1b"); n >= 0 {
		return n
	}
	return len(text)
}

// isDelimited reports whether a word is in brackets or between tabs.
func isDelimited(text []byte, from, end int) bool {
	if from > 0 && text[from-1] == '\t' {
		return end < len(text) && text[end] == '\t'
	}
	from -= styleBefore(text[:from])
	for from > 1 && (text[from-1] == ':' || text[from-1] == ' ') {
		from-- // [:error] of Apache, [ warn] of Fluent Bit
	}
	if from == 0 || text[from-1] != '[' {
		return false
	}
	for end < len(text) && text[end] == ' ' { // structlog pads its levels
		end++
	}
	end += skipStyle(text[end:])
	return end < len(text) && text[end] == ']'
}

// levelWord reads a level at the beginning of a word, and returns its length. A
// level in small letters needs brackets or tabs around it, or a time before it
// and a colon behind it: else it may be a word of the message.
func levelWord(word []byte, afterTime, delimited bool) (level nib.Level, n int, ok bool) {
	for n < len(word) && word[n]|0x20 >= 'a' && word[n]|0x20 <= 'z' {
		n++
	}
	name, rest := word[:n], word[n:]
	if n > 2 && len(rest) > 1 && name[1] < 'a' { // WARN+2 of slog
		if base, _, by := linevalue.SplitOffset(word); base != nil {
			return base.Level + nib.Level(by), len(word), true
		}
	}
	colon := len(rest) > 0 && rest[0] == ':'
	switch {
	case n < 3, len(rest) > 0 && !colon && bytes.IndexByte([]byte("[)>"), rest[0]) < 0 &&
		!(afterTime && rest[0] == '/'): // INFO/MainProcess of Celery
		return 0, 0, false
	case name[0] >= 'a':
		if !delimited && !(colon && len(rest) == 1 && (afterTime || n == 4)) {
			return 0, 0, false
		}
	case name[1] >= 'a' && !delimited && !(colon && afterTime):
		return 0, 0, false
	}
	if f := linevalue.FindLevel(name); f != nil {
		return f.Level, n, true
	}
	for _, short := range shortLevels {
		if string(name) == short.name && (delimited || name[1] < 'a') ||
			!short.isWord && bytes.EqualFold(name, []byte(short.name)) {
			return short.level, n, true
		}
	}
	return 0, 0, false
}

// shortLevels are the names of the consoles of zerolog, .NET, Serilog, log15,
// PostgreSQL, java.util.logging, logrus, loguru, MySQL and others.
var shortLevels = [...]struct {
	name   string
	level  nib.Level
	isWord bool // in a line of text, a level only as written; Note and System in brackets
}{
	{"TRC", nib.LevelTrace, false}, {"VRB", nib.LevelTrace, false},
	{"TRCE", nib.LevelTrace, false}, {"VERBOSE", nib.LevelTrace, false},
	{"DBG", nib.LevelDebug, false}, {"DBUG", nib.LevelDebug, false},
	{"INF", nib.LevelInfo, false}, {"INFORMATION", nib.LevelInfo, false},
	{"WRN", nib.LevelWarn, false}, {"FAIL", nib.LevelError, false},
	{"EROR", nib.LevelError, false}, {"FTL", nib.LevelFatal, false},
	{"PNC", nib.LevelPanic, false}, {"LOG", nib.LevelInfo, true},
	{"SEVERE", nib.LevelError, true}, {"CONFIG", nib.LevelDebug, true},
	{"FINE", nib.LevelDebug, true}, {"FINER", nib.LevelTrace, true},
	{"FINEST", nib.LevelTrace, true}, {"ERRO", nib.LevelError, true},
	{"DEBU", nib.LevelDebug, true}, {"FATA", nib.LevelFatal, true},
	{"PANI", nib.LevelPanic, true}, {"TRAC", nib.LevelTrace, true},
	{"SUCCESS", nib.LevelInfo + 2, true}, {"Note", nib.LevelInfo, true},
	{"System", nib.LevelInfo, true},
}

// messageOf returns the part of a line of text that is its message.
func messageOf(text []byte, h header) []byte {
	if !h.hasTime && !h.hasLevel {
		return text
	}
	rest := text[h.end:]
	switch {
	case h.isExact:
		return rest
	case bytes.HasPrefix(rest, []byte{':'}): // ERROR:root:text of Python
		if name := rest[1:]; wordLen(name) > 1+bytes.IndexByte(name, ':') {
			rest = name[1+bytes.IndexByte(name, ':'):]
		}
	case h.hasTime && h.hasLevel && bytes.HasPrefix(text, []byte{'['}) &&
		bytes.IndexByte(text[:h.end], ']') < 0: // [TIME LEVEL name] text
		rest = rest[1+bytes.IndexByte(rest, ']'):]
	}
	isZap := bytes.HasPrefix(rest[skipStyle(rest):], []byte{'\t'})
	rest = skipBetween(rest)
	switch {
	case isZap && h.hasTime && h.hasLevel:
		rest = zapMessage(rest)
	case h.hasTime && h.hasLevel:
		rest = afterName(rest)
	}
	rest = afterPlace(rest)
	if fields, ok := logrFields(rest); ok {
		if _, value, ok := bytes.Cut(fields, []byte(`"msg"=`)); ok {
			rest = value
		}
	}
	if len(rest) > 1 && rest[0] == '"' { // klog and logr
		n := logfmtValueLen(rest)
		if n > 2 && (n == len(rest) || rest[n] == ' ' && bytes.IndexByte(rest[n:], '=') > 0) {
			rest = rest[1 : n-1]
		}
	}
	return rest
}

// skipBetween returns the text without what loggers put between a level and a
// message.
func skipBetween(text []byte) []byte {
	for len(text) > 0 {
		switch c := text[0]; {
		case bytes.IndexByte([]byte(" \t|]:"), c) >= 0,
			(c == '-' || c == '>') && len(text) > 1 && (text[1] == ' ' || text[1] == c):
			text = text[1:]
		case c == 0x1b && skipStyle(text) > 0:
			text = text[skipStyle(text):]
		default:
			return text
		}
	}
	return text
}

// afterName returns the text behind the name of a logger: "com.shop.API - ",
// "shop::api: " and "1 --- [main] c.s.API : ".
func afterName(text []byte) []byte {
	if at := bytes.Index(text[:min(len(text), 16)], []byte(" --- [")); at > 0 {
		if _, rest, ok := bytes.Cut(text, []byte(" : ")); ok {
			return rest
		}
	}
	name := text[:wordLen(text)]
	rest := text[len(name):]
	if bytes.Contains(name, []byte("::")) && bytes.HasSuffix(name, []byte{':'}) {
		return bytes.TrimLeft(rest, " ")
	}
	if dash := bytes.TrimLeft(rest, " "); bytes.HasPrefix(dash, []byte("- ")) ||
		bytes.HasPrefix(dash, []byte("-- ")) {
		return bytes.TrimLeft(dash, "- ")
	}
	return text
}

// zapMessage returns the message of zap's console, behind the name of the
// logger and the caller, and before the fields.
func zapMessage(text []byte) []byte {
	if at := bytes.Index(text, []byte("\t{")); at >= 0 {
		text = text[:at]
	}
	for range 2 {
		name, rest, ok := bytes.Cut(text, []byte{'\t'})
		if !ok || bytes.IndexByte(name, ' ') >= 0 {
			break
		}
		text = rest
	}
	return text
}

// afterPlace returns the text behind a number of a thread and the place in the
// program: "1 a.go:10] ", "a.go:10: " and "a.go:10 > ".
func afterPlace(text []byte) []byte {
	rest := bytes.TrimLeft(text, " 0123456789")
	if len(rest) == len(text) || !bytes.Contains(rest[:wordLen(rest)], []byte(".go:")) {
		rest = text
	}
	for _, end := range [...]string{"] ", ": ", " > "} {
		if at := bytes.Index(rest, []byte(end)); at > 0 && isPlace(rest[:at]) {
			return rest[at+len(end):]
		}
	}
	return text
}

// isPlace reports whether a text is a file and the number of a line.
func isPlace(text []byte) bool {
	name := bytes.TrimRight(text, "0123456789")
	return len(name) > 2 && len(name) < len(text) && name[len(name)-1] == ':' &&
		!bytes.ContainsAny(name, " \t") && bytes.IndexByte(name, '.') > 0
}
