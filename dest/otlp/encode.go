// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nib-log/nib"
)

// The fields of the messages of logs.proto and resource.proto.
const (
	requestResourceLogs = 1
	resourceLogsOne     = 1 // the resource
	resourceLogsScopes  = 2
	resourceAttributes  = 1
	scopeLogsScope      = 1
	scopeLogsRecords    = 2
	scopeName           = 1

	recordTime         = 1
	recordSeverity     = 2
	recordSeverityText = 3
	recordBody         = 5
	recordAttributes   = 6
	recordFlags        = 8
	recordTraceID      = 9
	recordSpanID       = 10
	recordObserved     = 11
	recordEvent        = 12
)

// uidAttribute is the attribute that identifies a record: the id of its spool
// in 16 hexadecimal digits, and its number in the spool: "0123456789abcdef-42".
// A record that arrives twice has the same value.
const uidAttribute = "log.record.uid"

// An encoder appends records to a request, an ExportLogsServiceRequest.
type encoder struct {
	head                string // the tag of a ResourceLogs' resource and its value
	timeKey, levelKey   string
	messageKey, nameKey string

	b        []byte
	plain    []byte // text without its escapes
	uid      []byte // the KeyValue of uidAttribute with its tag, but without the number
	spool    uint64 // the spool that uid is for
	resource int    // offset of the length of the ResourceLogs
	scope    int    // offset of the length of the ScopeLogs
	name     string // name of the scope
	records  int

	// Room for the lengths of the long messages, as in the last request, so
	// that the messages need not be moved.
	resourceRoom, scopeRoom int
}

// recordRoom is the room for the length of a record.
const recordRoom = 2

// newEncoder makes an encoder for a complete Config.
func newEncoder(c *Config) *encoder {
	key := func(set, standard string) string {
		if set == "" {
			return standard
		}
		return set
	}
	e := &encoder{
		timeKey: key(c.Layout.TimeKey, "time"), levelKey: key(c.Layout.LevelKey, "level"),
		messageKey: key(c.Layout.MessageKey, "message"), nameKey: key(c.Layout.LoggerKey, "logger"),
		resourceRoom: 3, scopeRoom: 3,
	}
	var at int
	e.b, at = open(nil, resourceLogsOne, 1)
	for _, k := range slices.Sorted(maps.Keys(c.Resource)) {
		var kv, value int
		e.b, kv = open(e.b, resourceAttributes, 1)
		e.b = appendBytes(e.b, keyField, validText(k))
		e.b, value = open(e.b, valueField, 1)
		e.b = appendBytes(e.b, anyString, validText(c.Resource[k]))
		e.b = shut(e.b, value, 1)
		e.b = shut(e.b, kv, 1)
	}
	e.head, e.b = string(shut(e.b, at, 1)), nil
	return e
}

// begin starts a request.
func (e *encoder) begin() {
	e.b, e.resource = open(e.b[:0], requestResourceLogs, e.resourceRoom)
	e.b = append(e.b, e.head...)
	e.scope, e.records = 0, 0
}

// end completes the request and returns it, in memory of the encoder.
func (e *encoder) end() []byte {
	room := e.resourceRoom
	e.resourceRoom = sizeVarint(uint64(len(e.b) - e.resource - room))
	e.b = shut(e.b, e.resource, room)
	return e.b
}

func (e *encoder) endScope() {
	if e.scope > 0 {
		room := e.scopeRoom
		e.scopeRoom = sizeVarint(uint64(len(e.b) - e.scope - room))
		e.b = shut(e.b, e.scope, room)
		e.scope = 0
	}
}

// beginScope starts the records of a logger.
func (e *encoder) beginScope(name string) {
	e.endScope()
	e.b, e.scope = open(e.b, resourceLogsScopes, e.scopeRoom)
	if e.name = name; name != "" {
		var at int
		e.b, at = open(e.b, scopeLogsScope, 1)
		e.b = appendBytes(e.b, scopeName, validText(name))
		e.b = shut(e.b, at, 1)
	}
}

// add appends a record, unless the request would become longer than limit; the
// first record is appended in any case.
func (e *encoder) add(r *nib.Record, limit int) bool {
	if e.name != r.Logger {
		e.endScope() // this may move records, so it is not undone
	}
	before, scope := len(e.b), e.scope
	if scope == 0 {
		e.beginScope(r.Logger)
	}
	var at int
	e.b, at = open(e.b, scopeLogsRecords, recordRoom)
	e.record(r)
	e.b = shut(e.b, at, recordRoom)
	if e.records > 0 && len(e.b) > limit-2*binary.MaxVarintLen32 {
		e.b, e.scope = e.b[:before], scope
		return false
	}
	e.records++
	return true
}

// record appends the fields of a LogRecord.
func (e *encoder) record(r *nib.Record) {
	if r.Time > 0 {
		e.b = appendFixed64(e.b, recordTime, uint64(r.Time))
		e.b = appendFixed64(e.b, recordObserved, uint64(r.Time))
	}
	e.b = append(e.b, tag(recordSeverity, varintType), severity(r.Level))
	line, at := bytes.TrimSuffix(r.Line, newline), len(e.b)
	level, body, ok := e.fields(r, line)
	if ok {
		line = nil
	} else {
		e.b, level, body = e.b[:at], nil, nil
	}
	e.severityText(r, level)
	e.body(r, body, line)
	e.appendUID(r)
}

// fields appends the attributes of a line, and returns the level and the
// message. ok is false if the line is not an object.
func (e *encoder) fields(r *nib.Record, line []byte) (level, body []byte, ok bool) {
	if len(line) == 0 || line[0] != '{' {
		return nil, nil, false
	}
	var last []byte
	for key, value := range r.Fields() {
		last = value
		switch {
		case string(key) == e.timeKey:
		case string(key) == e.levelKey:
			level = value
		case string(key) == e.nameKey && r.Logger != "":
		case string(key) == e.messageKey || isMessage(value, r.Message):
			body = value
		case !e.context(key, value):
			e.appendKeyValue(recordAttributes, key, value, 0)
		}
	}
	return level, body, isObject(line, last)
}

// isObject reports whether line is an object, if last is the last value in it
// that could be read, nil if there is none.
func isObject(line, last []byte) bool {
	line, ok := bytes.CutSuffix(bytes.TrimRight(line, space), []byte{'}'})
	if line = bytes.TrimRight(line, space); !ok || len(last) == 0 {
		return ok && string(line) == "{"
	}
	return &line[len(line)-1] == &last[len(last)-1]
}

const space = " \t\r\n"

// isMessage reports whether value, a string with its quotes, is the message of
// its line: the same bytes, not just equal ones.
func isMessage(value, message []byte) bool {
	return len(value) > 1 && len(value) == len(message)+2 && cap(message) > 0 && &value[1] == &message[:1][0]
}

var newline = []byte{'\n'}

// severity returns the SeverityNumber of a level. There are four for each name.
func severity(l nib.Level) byte {
	return byte(min(max(l, nib.LevelTrace), nib.LevelTrace+23) - nib.LevelTrace + 1)
}

// severityText appends the name of the level, as written in the line.
func (e *encoder) severityText(r *nib.Record, level []byte) {
	if len(level) > 2 && level[0] == '"' {
		e.b = appendBytes(e.b, recordSeverityText, e.text(level[1:len(level)-1]))
		return
	}
	e.b = appendBytes(e.b, recordSeverityText, r.Level.String())
}

// body appends the body: the message of the line, a value under its key, or the
// text of a line that is not an object.
func (e *encoder) body(r *nib.Record, value, line []byte) {
	var at int
	switch {
	case value == nil && line == nil && r.Message == nil:
		return
	case line != nil:
		e.b, at = open(e.b, recordBody, 2)
		e.b = appendBytes(e.b, anyString, validBytes(line))
	case value != nil:
		e.b, at = open(e.b, recordBody, 2)
		e.appendValue(value, 0)
	default:
		e.b, at = open(e.b, recordBody, 2)
		e.b = appendBytes(e.b, anyString, e.text(r.Message))
	}
	e.b = shut(e.b, at, 2)
}

// isValid reports whether b is UTF-8, as protobuf requires for strings:
// receivers refuse a request that has another one.
func isValid(b []byte) bool { return utf8.Valid(b) }

func validBytes(b []byte) []byte {
	if isValid(b) {
		return b
	}
	return bytes.ToValidUTF8(b, []byte("\ufffd"))
}

func validText(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// appendUID appends the attribute that identifies the record.
func (e *encoder) appendUID(r *nib.Record) {
	if r.Spool == 0 {
		return
	}
	if e.spool != r.Spool {
		e.setSpool(r.Spool)
	}
	at := len(e.b) + 1
	e.b = strconv.AppendUint(append(e.b, e.uid...), r.Seq, 10)
	n := len(e.b) - at - 1
	e.b[at] = byte(n)                     // length of the KeyValue
	e.b[at+uidValue] = byte(n - uidValue) // length of the AnyValue
	e.b[at+uidText] = byte(n - uidText)   // length of its string
}

// setSpool makes the part of the attribute that is the same for all records of
// a spool. All lengths are below 128.
func (e *encoder) setSpool(id uint64) {
	b := append(e.uid[:0], tag(recordAttributes, bytesType), 0)
	b = appendBytes(b, keyField, uidAttribute)
	b = append(b, tag(valueField, bytesType), 0, tag(anyString, bytesType), 0)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[id>>shift&15])
	}
	e.uid, e.spool = append(b, '-'), id
}

// Distances from the length of the attribute to the other lengths in it.
const (
	uidValue = 1 + 1 + len(uidAttribute) + 1 + 1
	uidText  = uidValue + 1 + 1
)

// context appends a field that links the line to a trace, or names the event,
// as the corresponding field of the record. It reports whether it did.
func (e *encoder) context(key, value []byte) bool {
	if len(value) < 3 || value[0] != '"' {
		return false
	}
	text := value[1 : len(value)-1]
	switch string(key) {
	case "trace_id", "trace.id", "dd.trace_id":
		return e.traceID(recordTraceID, text, 16)
	case "span_id", "span.id", "dd.span_id":
		return e.traceID(recordSpanID, text, 8)
	case "trace_flags", "trace.flags":
		var flags [1]byte
		if !unhex(flags[:], text) {
			return false
		}
		e.b = binary.LittleEndian.AppendUint32(append(e.b, tag(recordFlags, fixed32Type)), uint32(flags[0]))
		return true
	case "event.name", "event_name":
		e.b = appendBytes(e.b, recordEvent, e.text(text))
		return true
	}
	return false
}

// traceID appends an id of size bytes, which must not be all zero.
func (e *encoder) traceID(number byte, text []byte, size int) bool {
	var room [16]byte
	id := room[:size]
	if !unhex(id, text) || room == [16]byte{} {
		return false
	}
	e.b = appendBytes(e.b, number, id)
	return true
}

// unhex decodes text, which must consist of hexadecimal digits.
func unhex(dst, text []byte) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return false
		}
		dst[i/2] = dst[i/2]<<4 | c
	}
	return true
}
