// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/nib-log/nib/internal/logread"
)

// The bounds of the texts in a row of the list.
const (
	maxMessage   = 1000
	maxRowFields = 24
	maxRowText   = 160
)

// A row is a line for the list. Its texts have no invisible characters.
type row struct {
	At      int64       `json:"at"`             // offset in the document
	Time    int64       `json:"time,omitempty"` // microseconds since 1970
	Class   class       `json:"level"`
	Message string      `json:"message"`
	Fields  [][2]string `json:"fields,omitempty"`
}

func newRow(at int64, l *logread.Line) row {
	r := row{At: at, Class: classOf(l.Level())}
	if t, ok := l.Time(); ok {
		r.Time = t.UnixMicro()
	}
	r.Message = visible(head(l.Text(l.Message()), maxMessage))
	for key, raw := range otherFields(l) {
		if len(r.Fields) == maxRowFields {
			break
		}
		field := [2]string{visible(head(key, maxRowText)), visible(head(l.Text(raw), maxRowText))}
		if isReason(key) { // a row has room for a reason in any window
			r.Fields = slices.Insert(r.Fields, 0, field)
			continue
		}
		r.Fields = append(r.Fields, field)
	}
	return r
}

// isReason reports whether a key is one of the text of an error.
func isReason(key []byte) bool {
	switch string(key) {
	case "error", "err", "error.message", "error_message", "exception.message", "panic":
		return true
	}
	return false
}

// otherFields returns the fields of a line other than its time, level and
// message.
func otherFields(l *logread.Line) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		if l.Format() == logread.FormatText {
			return
		}
		l.Time()
		l.Level()
		l.Message()
		at, level, message := l.Key("time"), l.Key("level"), l.Key("message")
		for key, value := range l.Fields() {
			if string(key) == at || string(key) == level || string(key) == message {
				continue
			}
			if !yield(key, value) {
				return
			}
		}
	}
}

// head returns the beginning of a text, with an ellipsis if the text is longer.
func head(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return append(text[:limit:limit], "…"...)
}

// A detail is a line for the pane.
type detail struct {
	row
	Raw    string     `json:"raw"`
	Pretty string     `json:"pretty,omitempty"` // JSON in several lines
	Format string     `json:"format"`
	All    []property `json:"all"`
	IDs    []property `json:"ids,omitempty"` // ids of the request and the trace
}

// idPaths are the fields in which loggers and tracers write the ids of requests
// and traces.
var idPaths = []string{
	"request_id", "requestId", "request.id", "req_id", "http.request.id", "x_request_id", "correlation_id", "correlationId",
	"trace_id", "traceId", "traceID", "trace.id", "traceid", "dd.trace_id", "logging.googleapis.com/trace",
}

// A property is a field of a detail.
type property struct {
	Key   string `json:"key"`   // the key as written in a query
	Shown string `json:"shown"` // the value without invisible characters
	Text  string `json:"text"`
	Block string `json:"block,omitempty"` // the part of a text with line breaks that is shown
	Value string `json:"value"`
	Kind  string `json:"kind"` // string, number, boolean, null, object, array
}

func newDetail(at int64, l *logread.Line) detail {
	d := detail{row: newRow(at, l), Raw: visible(l.Bytes()), Format: l.Format().String()}
	d.Message = visibleBlock(l.Text(l.Message()))
	d.Fields = nil
	for key, raw := range otherFields(l) {
		text := l.Text(raw)
		p := property{Key: string(key), Shown: visible(key), Text: string(text),
			Value: visible(text), Kind: kindOf(raw)}
		switch {
		case p.Kind == "object" || p.Kind == "array":
			p.Block = pretty(raw)
		case bytes.IndexByte(text, '\n') >= 0:
			p.Block = visibleBlock(text)
		}
		d.All = append(d.All, p)
	}
	for _, path := range idPaths {
		if raw, ok := l.Lookup(path); ok && kindOf(raw) != "object" && kindOf(raw) != "null" {
			text := l.Text(raw)
			d.IDs = append(d.IDs,
				property{Key: path, Shown: path, Text: string(text), Value: visible(text)})
		}
	}
	if l.Format() == logread.FormatJSON {
		d.Pretty = pretty(l.Body())
	}
	return d
}

func kindOf(raw []byte) string {
	if len(raw) == 0 {
		return "string"
	}
	switch c := raw[0]; {
	case c == '{':
		return "object"
	case c == '[':
		return "array"
	case string(raw) == "true" || string(raw) == "false":
		return "boolean"
	case string(raw) == "null":
		return "null"
	case json.Valid(raw) && c != '"':
		return "number"
	}
	return "string"
}

// pretty returns JSON in several lines, with its numbers and keys unchanged, or
// the text itself if it is not JSON.
func pretty(raw []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return visible(raw)
	}
	return visibleBlock(b.Bytes())
}

// visible returns a text for one line of the page. Control characters, those
// that change the direction of text, and invisible ones are escaped.
func visible(text []byte) string { return escape(text, "") }

// visibleBlock keeps line breaks and tabs.
func visibleBlock(text []byte) string {
	return escape(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), "\n\t")
}

func escape(text []byte, keep string) string {
	var b strings.Builder
	b.Grow(len(text))
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		switch {
		case r == '\n' && keep == "":
			b.WriteString("⏎") // visible, and different from the escape sequences in texts
		case r == '\t' && keep == "":
			b.WriteByte(' ')
		case strconv.IsPrint(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		case r < 0x10000:
			b.WriteString(`\u` + strconv.FormatInt(0x10000+int64(r), 16)[1:])
		default:
			b.WriteString(`\U` + strconv.FormatInt(0x100000000+int64(r), 16)[1:])
		}
	}
	return b.String()
}
