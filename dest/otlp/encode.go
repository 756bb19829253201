// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
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
	e := &encoder{
		timeKey:    cmp.Or(c.Layout.TimeKey, "time"),
		levelKey:   cmp.Or(c.Layout.LevelKey, "level"),
		messageKey: cmp.Or(c.Layout.MessageKey, "message"),
		nameKey:    cmp.Or(c.Layout.LoggerKey, "logger"),

		resourceRoom: 3, scopeRoom: 3,
	}
	var at int
	e.b, at = open(nil, resourceLogsOne, 1)
	for _, k := range slices.Sorted(maps.Keys(c.Resource)) {
		e.b = appendTextValue(e.b, resourceAttributes, validText(k), validText(c.Resource[k]))
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
	e.endScope()
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
	return len(value) > 1 && len(value) == len(message)+2 && cap(message) > 0 &&
		&value[1] == &message[:1][0]
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
	if value == nil && line == nil && r.Message == nil {
		return
	}
	var at int
	e.b, at = open(e.b, recordBody, 2)
	switch {
	case line != nil:
		e.b = appendBytes(e.b, anyString, validBytes(line))
	case value != nil:
		e.appendValue(value, 0)
	default:
		e.b = appendBytes(e.b, anyString, e.text(r.Message))
	}
	e.b = shut(e.b, at, 2)
}

// validBytes returns b as UTF-8, as protobuf requires for strings: receivers
// refuse a request that has another one.
func validBytes(b []byte) []byte {
	if utf8.Valid(b) {
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
	var spool [8]byte
	binary.BigEndian.PutUint64(spool[:], r.Spool)
	var room [2*len(spool) + 1 + 20]byte
	uid := append(hex.AppendEncode(room[:0], spool[:]), '-')
	uid = strconv.AppendUint(uid, r.Seq, 10)
	e.b = appendTextValue(e.b, recordAttributes, uidAttribute, uid)
}

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
		e.b = binary.LittleEndian.AppendUint32(append(e.b, tag(recordFlags, fixed32Type)),
			uint32(flags[0]))
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

// unhex decodes text, which must be hexadecimal digits for all of dst.
func unhex(dst, text []byte) bool {
	if len(text) != 2*len(dst) {
		return false
	}
	_, err := hex.Decode(dst, text)
	return err == nil
}
