// SPDX-License-Identifier: Apache-2.0

package logread

import (
	"bytes"
	"iter"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/linevalue"
)

// A Format is the syntax of a line.
type Format uint8

// The formats.
const (
	FormatText   Format = iota // neither JSON nor logfmt
	FormatJSON                 // a JSON object, perhaps after a prefix
	FormatLogfmt               // key=value
)

func (f Format) String() string {
	return [...]string{"text", "json", "logfmt"}[f]
}

// A Line is one line of a log. Its methods decode their results when they are
// first called, and allocate nothing. The slices that they return are valid
// until the next Reset. A Line is for one goroutine. The zero Line is an empty
// line of text.
type Line struct {
	Own Keys // of the program, looked for before the known keys; Reset keeps them

	text   []byte // the line
	body   []byte // the line without its envelopes
	format Format

	known   fact // facts that have been searched for
	found   fact // facts that were found
	derived fact // facts that are not as in the field of their key
	time    time.Time
	level   nib.Level
	message []byte
	keys    [roles]string // keys of time, level and message
	raws    [2][]byte     // values of the fields of time and level

	last struct { // the text of the level of an earlier line, and its value
		text  []byte
		level nib.Level
	}

	clock   clock
	scratch []byte // a decoded text
	filled  []byte // a message made of a template

	layers int // the number of envelopes
	outer  outer

	matching
}

// A matching is the state of a query that looks at a line.
type matching struct {
	query  *Query
	asked  uint64 // the fields of the query that have been looked up
	values [maxFields][]byte
	// In Query.Lacks, missing is 1, or -1 inside a not, and a comparison with a
	// missing time or level is true if missing is 1. lacks has the facts for which
	// one was.
	missing int8
	lacks   fact
}

// A fact is a set of properties of a line.
type fact uint8

const (
	factTime fact = 1 << iota
	factLevel
	factMessage
	factText // all that a line of text says
)

// maxScratch bounds the memory that a Line keeps after a huge one.
const maxScratch = 64 << 10

// Reset makes l the line text, which is not copied. A line break at the end is
// left out.
func (l *Line) Reset(text []byte) {
	if n := len(text); n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
	}
	if n := len(text); n > 0 && text[n-1] == '\r' {
		text = text[:n-1]
	}
	l.text, l.body = text, text
	l.known, l.found, l.derived, l.query = 0, 0, 0, nil
	l.raws = [2][]byte{}
	if cap(l.scratch) > maxScratch || cap(l.filled) > maxScratch {
		l.scratch, l.filled = nil, nil
	}
	if o := &l.outer; l.layers > 0 || o.name != nil || o.host != nil || o.holes > 0 {
		l.layers, l.outer = 0, outer{buffers: l.outer.buffers}
	}
	if len(text) > 2 && text[0] == '{' {
		// Most lines are decided by one byte of their first key.
		if c := text[2]; c == 't' || c == 'm' || !mayWrap(text) {
			l.format = FormatJSON
			return
		}
	}
	l.unwrap()
}

// SetZone sets the zone of times that have none. The default is UTC.
func (l *Line) SetZone(zone *time.Location) { l.clock.zone = zone }

// Bytes returns the line without its line break, and without what is skipped
// before it: a byte order mark, and NUL bytes.
func (l *Line) Bytes() []byte { return l.text }

// Holes returns the number of NUL bytes before the line, which copytruncate
// leaves in a file whose writer does not append.
func (l *Line) Holes() int { return l.outer.holes }

// Body returns the line without its envelopes and without a prefix, as added by
// programs that show the lines of several others.
func (l *Line) Body() []byte { return l.body }

// Format returns the format of the line.
func (l *Line) Format() Format { return l.format }

// maxPrefix is the length of a prefix such as the name of a container.
const maxPrefix = 200

// prefixLen returns the length of the text before a JSON object that ends the
// line.
func prefixLen(text []byte) int {
	if n := len(text); n == 0 || text[n-1] != '}' {
		return 0
	}
	at := bytes.Index(text[:min(len(text), maxPrefix)], []byte(` {"`))
	return at + 1
}

// Fields iterates over the fields of the line in their order. The key is as in
// the line, without quotes. The value is raw JSON; an unquoted value of logfmt
// is unquoted. A line of text has no fields.
func (l *Line) Fields() iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) { l.each(yield) }
}

func (l *Line) each(yield func(key, value []byte) bool) {
	switch l.format {
	case FormatJSON:
		jsonread.Fields(l.body)(yield)
	case FormatLogfmt:
		logfmtFields(l.body)(yield)
	}
}

// Lookup returns the raw value of the last field with a key, or with a path of
// keys joined by dots.
func (l *Line) Lookup(path string) (raw []byte, ok bool) {
	switch l.format {
	case FormatJSON:
		if raw, ok = lookupPath(l.body, path); ok {
			return raw, true
		}
	case FormatLogfmt:
		for key, value := range logfmtFields(l.body) {
			if string(key) == path {
				raw, ok = value, true
			}
		}
	}
	if !ok && l.outer.host != nil && path == "host" {
		return l.outer.host, true
	}
	return raw, ok
}

// lookupPath looks for the whole path as a key first.
func lookupPath(object []byte, path string) (raw []byte, ok bool) {
	if raw, ok = jsonread.Lookup(object, path); ok {
		return raw, true
	}
	for i := range len(path) {
		if path[i] != '.' {
			continue
		}
		if inner, found := jsonread.Lookup(object, path[:i]); found && inner[0] == '{' {
			if raw, ok = lookupPath(inner, path[i+1:]); ok {
				return raw, true
			}
		}
	}
	return nil, false
}

// Text returns the text of a raw value: a string without its quotes and escape
// sequences, anything else unchanged, as is all of a line of text. It is valid
// until the next call.
func (l *Line) Text(raw []byte) []byte {
	n := len(raw)
	if n < 2 || raw[0] != '"' || raw[n-1] != '"' || l.format == FormatText {
		return raw
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : n-1]
	}
	text, ok := jsonread.AppendUnquoted(l.scratch[:0], raw)
	if !ok {
		return raw[1 : n-1]
	}
	l.scratch = text
	return text
}

// Time returns the time of the line, or the zero Time and false.
func (l *Line) Time() (t time.Time, ok bool) {
	if l.known&factTime == 0 {
		l.known |= factTime
		switch {
		case l.readTime():
			l.found |= factTime
		case l.outer.hasTime:
			l.time, l.keys[roleTime] = l.outer.time, ""
			l.found, l.derived = l.found|factTime, l.derived|factTime
		default:
			l.time = time.Time{}
		}
	}
	return l.time, l.found&factTime != 0
}

// Level returns the level of the line, or 0 and false.
func (l *Line) Level() (level nib.Level, ok bool) {
	if l.known&factLevel == 0 {
		l.known |= factLevel
		switch {
		case l.readLevel():
			l.found |= factLevel
		case l.outer.hasLevel:
			l.level, l.keys[roleLevel] = l.outer.level, ""
			l.found, l.derived = l.found|factLevel, l.derived|factLevel
		default:
			l.level = 0
		}
	}
	return l.level, l.found&factLevel != 0
}

// Message returns the raw value of the message, or nil. In a line of text it is
// the text behind the time and the level.
func (l *Line) Message() []byte {
	if l.format == FormatText {
		l.readText()
		return l.message
	}
	if l.known&factMessage == 0 {
		l.known |= factMessage
		l.message = nil
		if l.Own.readMessage(l) {
			return l.message
		}
		for key, value := range l.each {
			if name := messageKey(key); name != "" {
				l.addMessage(name, value)
			}
		}
	}
	return l.message
}

// addMessage makes the value of a key of messageKey the message, unless it is a
// field of its own in a line with another message.
func (l *Line) addMessage(name string, value []byte) {
	if l.message != nil && l.keys[roleMessage] != name && isWeak(name) {
		return
	}
	if value, name = l.messageIn(name, value); value != nil {
		l.message, l.keys[roleMessage] = value, name
	}
}

// messageIn returns the message in the value of a key of messageKey, and its
// path. It is nil if there is none.
func (l *Line) messageIn(name string, value []byte) (message []byte, path string) {
	switch {
	case name == "fields.message": // tracing of Rust
		if value[0] == '{' {
			message, _ = jsonread.Lookup(value, "message")
		}
		return message, name
	case name == "MESSAGE" && value[0] == '[':
		return l.bytesText(value), name
	case name == "event" && value[0] != '"':
		return nil, ""
	case name == "@mt", name == "MessageTemplate":
		return l.fill(value), name
	case (name == "body" || name == "Body") && value[0] == '{':
		message, _ = jsonread.Lookup(value, "stringValue")
		if message != nil && name == "body" { // OTLP
			return message, "body.stringValue"
		}
	}
	return value, name
}

func (l *Line) readTime() bool {
	if l.format == FormatText {
		l.readText()
		return l.found&factTime != 0
	}
	if l.Own.readTime(l) {
		return true
	}
	zone := l.clock.location()
	var observed []byte // of OTLP, for a record without a time
	for key, value := range l.each {
		name := timeKey(key)
		if name == "observedTimeUnixNano" {
			observed = value
			continue
		}
		if name == "" {
			continue
		}
		t, ok := parseTime(name, value, zone)
		isDerived := name == "__REALTIME_TIMESTAMP" || name == "instant"
		if !ok {
			t, ok = l.clock.valueTime(value)
			isDerived = true
		}
		if ok {
			if isDerived {
				l.derived |= factTime
			}
			l.time, l.keys[roleTime], l.raws[roleTime] = t, name, value
			return true
		}
	}
	if observed != nil {
		t, ok := parseTime("observedTimeUnixNano", observed, zone)
		l.time, l.keys[roleTime], l.raws[roleTime] = t, "observedTimeUnixNano", observed
		return ok
	}
	return false
}

func (l *Line) readLevel() bool {
	if l.format == FormatText {
		l.readText()
		return l.found&factLevel != 0
	}
	if l.Own.readLevel(l) {
		return true
	}
	// A number of OTLP, or a status that is not of Datadog, is the last choice.
	var number, status, before []byte
	for key, value := range l.each {
		name := levelKey(key)
		isDatadog := string(before) == "timestamp"
		before = key
		switch {
		case name == "severityNumber":
			number = value
			continue
		case name == "status" && !isDatadog:
			status = value
			continue
		case name == "":
			continue
		}
		if name == "log.level" && len(key) == len("log") {
			inner, ok := jsonread.Lookup(value, "level")
			if !ok {
				continue
			}
			value, l.derived = inner, l.derived|factLevel
		}
		if isDerivedLevel(name, value) {
			l.derived |= factLevel
		}
		if l.last.text != nil && bytes.Equal(value, l.last.text) && name == l.keys[roleLevel] {
			l.level, l.raws[roleLevel] = l.last.level, value
			return true
		}
		if level, ok := parseLevel(name, value); ok {
			l.level, l.keys[roleLevel], l.raws[roleLevel] = level, name, value
			l.last.text, l.last.level = append(l.last.text[:0], value...), level
			return true
		}
	}
	if level, ok := parseLevel("status", status); ok {
		l.level, l.keys[roleLevel], l.raws[roleLevel] = level, "status", status
		return true
	}
	if level, ok := parseLevel("severityNumber", number); ok && number != nil {
		l.level, l.keys[roleLevel], l.raws[roleLevel] = level, "severityNumber", number
		l.derived |= factLevel
		return true
	}
	if level, ok := l.impliedLevel(); ok {
		l.level, l.keys[roleLevel] = level, ""
		l.derived |= factLevel
		return true
	}
	return false
}

// impliedLevel reads the level of a line of Serilog, logr or MongoDB in JSON.
func (l *Line) impliedLevel() (nib.Level, bool) {
	if l.format != FormatJSON {
		return 0, false
	}
	switch {
	case bytes.HasPrefix(l.body, []byte(`{"logger":`)): // as the function logrLevel
		if verbosity, ok := l.Lookup("level"); ok {
			return levelOfVerbosity(verbosity)
		}
		_, ok := l.Lookup("error")
		return nib.LevelError, ok
	case bytes.HasPrefix(l.body, []byte(`{"t":{"$date":`)):
		return mongoLevel(l.body)
	}
	_, ok := l.Time()
	return nib.LevelInfo, ok && l.keys[roleTime] == "@t" // Serilog leaves it out
}

// mongoLevel reads the level of a line of MongoDB: F, E, W, I, or D with a
// digit.
func mongoLevel(object []byte) (nib.Level, bool) {
	raw, ok := jsonread.Lookup(object, "s")
	if !ok || len(raw) < len(`"I"`) {
		return 0, false
	}
	if i := bytes.IndexByte([]byte("IWEF"), raw[1]); i >= 0 {
		return klogLevels[i], true
	}
	return nib.LevelDebug, raw[1] == 'D'
}

// isDerivedLevel reports whether only this package reads the value of a level.
func isDerivedLevel(key string, raw []byte) bool {
	switch key {
	case "PRIORITY", "@l", "Level", "LogLevel":
		return true
	}
	return key == "level" && raw[0]-'0' <= 9
}

// leadingLevel reads a level in capitals among the first words of a line of
// text.
func leadingLevel(text []byte) (nib.Level, bool) {
	for words := 0; words < 4 && len(text) > 0; words++ {
		end := bytes.IndexAny(text, " \t|")
		word := text
		if end >= 0 {
			word, text = text[:end], bytes.TrimLeft(text[end:], " \t|")
		} else {
			text = nil
		}
		word = bytes.Trim(word, "[]<>():")
		if len(word) < 3 || word[0] < 'A' || word[0] > 'Z' || word[1] < 'A' || word[1] > 'Z' {
			continue
		}
		if n := linevalue.FindLevel(word); n != nil {
			return n.Level, true
		}
	}
	return 0, false
}
