// SPDX-License-Identifier: Apache-2.0

// Package deadletter writes and reads the entries of NAME.rejected, the file of
// a spool with the records that a destination has rejected.
// docs/spool-format.md describes them.
package deadletter

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
)

const (
	Ext      = ".rejected" // of the file to which a spool appends entries
	RetryExt = ".retry"    // of the same file while its entries are delivered again

	MaxReason = 1024
	maxDepth  = 1000 // of an object that an entry embeds, so that readers accept the entry
)

// An Entry is a rejected record.
type Entry struct {
	Record nib.Record
	Reason string // the first 1024 bytes are written
}

// Append appends e as a line with one JSON object. [Parse] returns the same
// record for any bytes in its line, except that a message that is not a part of
// the line is left out, and that the name of the logger is UTF-8.
//
// The line of the record is embedded if it is a JSON object on one line. Other
// text becomes a string, and bytes that are neither text nor a whole line
// become base64.
func Append(dst []byte, e *Entry) []byte {
	r := &e.Record
	dst = append(dst, `{"seq":`...)
	dst = jsonenc.AppendUint(dst, r.Seq)
	dst = append(dst, `,"spool":`...)
	dst = jsonenc.AppendString(dst, fmt.Sprintf("%016x", r.Spool))
	dst = append(dst, `,"time":`...)
	dst = strconv.AppendInt(dst, r.Time, 10)
	dst = append(dst, `,"level":`...)
	dst = jsonenc.AppendString(dst, r.Level.String())
	if r.Logger != "" {
		dst = append(dst, `,"logger":`...)
		dst = jsonenc.AppendString(dst, r.Logger)
	}
	dst = append(dst, `,"reason":`...)
	dst = jsonenc.AppendString(dst, e.Reason[:min(len(e.Reason), MaxReason)])
	if at := offsetOf(r.Line, r.Message); at >= 0 {
		dst = jsonenc.AppendUint(append(dst, `,"message":[`...), uint64(at))
		dst = append(jsonenc.AppendUint(append(dst, ','), uint64(len(r.Message))), ']')
	}
	switch line, whole := bytes.CutSuffix(r.Line, []byte{'\n'}); {
	case whole && isObject(line):
		dst = append(append(dst, `,"line":`...), line...)
	case whole && utf8.Valid(line):
		dst = jsonenc.AppendString(append(dst, `,"line":`...), string(line))
	default:
		dst = append(base64.StdEncoding.AppendEncode(append(dst, `,"base64":"`...), r.Line), '"')
	}
	return append(dst, "}\n"...)
}

// isObject reports whether line is one JSON object on one line, in UTF-8.
func isObject(line []byte) bool {
	return len(line) > 0 && line[0] == '{' && line[len(line)-1] == '}' &&
		bytes.IndexByte(line, '\n') < 0 &&
		utf8.Valid(line) && jsonread.ErrorOffset(line, maxDepth) < 0
}

// offsetOf returns the offset of part, a part of line and not only equal to
// one, or -1.
func offsetOf(line, part []byte) int {
	for at := 0; len(part) > 0; at++ {
		i := bytes.Index(line[at:], part)
		if i < 0 {
			break
		}
		if at += i; &line[at] == &part[0] {
			return at
		}
	}
	return -1
}

// members are the members of an entry in their order.
var members = []struct {
	name     string
	optional bool
}{
	{"seq", false}, {"spool", true}, {"time", false}, {"level", false}, {"logger", true},
	{"reason", false}, {"message", true},
	{"line", false}, // or base64
}

// Parse reads an entry, with or without its newline. It reports whether text is
// one: a JSON object with the members that Append writes, each once and in the
// same order, so that no part of a line can pass for another member. The line
// and the message of the record are copies.
func Parse(text []byte) (e Entry, ok bool) {
	if !jsonread.Valid(text) {
		return Entry{}, false
	}
	var message []byte
	next := 0
	for name, value := range jsonread.Fields(text) {
		key := string(name)
		if key == "base64" {
			key = "line"
		}
		for next < len(members) && members[next].optional && members[next].name != key {
			next++
		}
		if next == len(members) || members[next].name != key {
			return Entry{}, false
		}
		next++
		if key == "message" {
			message = value
		} else if !e.set(string(name), value) {
			return Entry{}, false
		}
	}
	if next != len(members) {
		return Entry{}, false
	}
	return e, message == nil || e.setMessage(message)
}

// set sets the field of a member, and reports whether the value is valid.
func (e *Entry) set(name string, value []byte) (ok bool) {
	r := &e.Record
	var err error
	text, isText := jsonread.AppendUnquoted(nil, value)
	switch name {
	case "seq":
		r.Seq, err = strconv.ParseUint(string(value), 10, 64)
		return err == nil
	case "time":
		r.Time, err = strconv.ParseInt(string(value), 10, 64)
		return err == nil
	case "line":
		switch {
		case value[0] == '{':
			text = slices.Clone(value)
		case !isText:
			return false
		}
		r.Line = append(text, '\n')
		return true
	case "spool":
		r.Spool, err = strconv.ParseUint(string(text), 16, 64)
	case "level":
		err = r.Level.UnmarshalText(text)
	case "logger":
		r.Logger = string(text)
	case "reason":
		e.Reason = string(text)
	case "base64":
		r.Line, err = base64.StdEncoding.AppendDecode(nil, text)
	}
	return isText && err == nil
}

// setMessage sets the message, [offset,length] in the line.
func (e *Entry) setMessage(value []byte) bool {
	var place []int
	for number := range jsonread.Elements(value) {
		n, err := strconv.Atoi(string(number))
		if err != nil || n < 0 {
			return false
		}
		place = append(place, n)
	}
	line := e.Record.Line
	if len(place) != 2 || place[0] > len(line) || place[1] > len(line)-place[0] {
		return false
	}
	e.Record.Message = line[place[0] : place[0]+place[1]]
	return true
}
