// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/logread"
	"github.com/nib-log/nib/layout"
	"github.com/nib-log/nib/sink/console"
	"github.com/nib-log/nib/sink/logfmt"
)

// Outputs are the forms that lines can be written in.
var Outputs = []string{"console", "json", "logfmt", "csv", "raw"}

// A Form describes how lines are written.
type Form struct {
	Output   string   // one of Outputs
	Fields   []string // the fields to show; if empty, all
	Template string   // replaces Output: text with {field}
	Console  console.Config
	Terminal bool // the output is a terminal, which no byte may control
}

// NewRenderer returns a function that makes renderers, and the header to write
// before all lines.
func (f Form) NewRenderer() (newRenderer func() Renderer, header string, err error) {
	if f.Template != "" {
		t, err := parseTemplate(f.Template, f.Console.TimeZone)
		return func() Renderer { return t }, "", err
	}
	switch f.Output {
	case "csv":
		if len(f.Fields) == 0 {
			f.Fields = []string{"time", "level", "message"}
		}
		header := appendCSVRow(nil, len(f.Fields), func(i int) []byte {
			return []byte(f.Fields[i])
		})
		return func() Renderer { return &csvRenderer{fields: f.Fields} }, string(header), nil
	case "raw":
		newRenderer = func() Renderer { return rawRenderer{} }
		if f.Terminal {
			newRenderer = func() Renderer { return &safeRenderer{text: newPainters(f.Console)} }
		}
	case "json":
		newRenderer = func() Renderer { return jsonRenderer{} }
	case "logfmt":
		newRenderer = func() Renderer {
			return &logfmtRenderer{sink: logfmt.New(io.Discard, logfmt.Config{})}
		}
	case "console":
		newRenderer = func() Renderer { return newPainters(f.Console) }
	default:
		outputs := strings.Join(Outputs, ", ")
		return nil, "", fmt.Errorf("--output: %q is none of %s", f.Output, outputs)
	}
	if all := newRenderer; len(f.Fields) > 0 {
		newRenderer = func() Renderer { return &chooser{fields: f.Fields, next: all()} }
	}
	return newRenderer, "", nil
}

// rawRenderer writes lines unchanged.
type rawRenderer struct{}

func (rawRenderer) Append(dst []byte, l *logread.Line) []byte {
	return append(append(dst, l.Bytes()...), '\n')
}

// safeRenderer writes lines unchanged, except that it escapes everything that
// controls a terminal.
type safeRenderer struct{ text *painters }

func (r *safeRenderer) Append(dst []byte, l *logread.Line) []byte {
	if l.Format() == logread.FormatJSON && !l.IsWrapped() {
		if out, err := jsonread.AppendCompact(dst, l.Body(), maxNesting); err == nil {
			return append(out, '\n')
		}
	}
	return r.text.appendText(dst, l.Bytes())
}

// maxNesting is the maximum depth of JSON that is recognised.
const maxNesting = 10000

// appendJSON appends a line as one JSON object. The values of logfmt become
// strings, numbers, true, false or null, and a line of text becomes a message.
// Everything that controls a terminal is escaped.
func appendJSON(dst []byte, l *logread.Line) []byte {
	switch l.Format() {
	case logread.FormatJSON:
		if l.IsWrapped() && jsonread.Valid(l.Body()) {
			return appendPlain(dst, l)
		}
		if out, err := jsonread.AppendCompact(dst, l.Body(), maxNesting); err == nil {
			return out
		}
	case logread.FormatText:
		_, hasTime := l.Time()
		_, hasLevel := l.Level()
		if hasTime || hasLevel || l.IsWrapped() {
			return appendPlain(dst, l)
		}
	case logread.FormatLogfmt:
		if l.IsWrapped() {
			return appendPlain(dst, l)
		}
		dst = append(dst, '{')
		for key, value := range l.Fields() {
			dst = appendValue(appendKey(dst, key), l, value)
		}
		return append(dst, '}')
	}
	dst = append(dst, `{"message":`...)
	return append(jsonenc.AppendBytes(dst, l.Bytes()), '}')
}

// appendKey appends the key of a member to dst, which has the object up to this
// member, and at least its brace.
func appendKey(dst, key []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(jsonenc.AppendBytes(dst, key), ':')
}

// appendValue appends a raw value as JSON.
func appendValue(dst []byte, l *logread.Line, raw []byte) []byte {
	if l.Format() == logread.FormatJSON || raw[0] == '"' || isScalar(raw) {
		if out, err := jsonread.AppendCompact(dst, raw, maxNesting); err == nil {
			return out
		}
	}
	return jsonenc.AppendBytes(dst, l.Text(raw))
}

// isScalar reports whether a value of logfmt is a number, true, false or null.
func isScalar(raw []byte) bool {
	switch c := raw[0]; {
	case c == '-', c-'0' <= 9, c == 't', c == 'f', c == 'n':
		return jsonread.Valid(raw)
	}
	return false
}

type jsonRenderer struct{}

func (jsonRenderer) Append(dst []byte, l *logread.Line) []byte {
	return append(appendJSON(dst, l), '\n')
}

// logfmtRenderer writes logfmt. A line of logfmt stays unchanged, except for
// escapes.
type logfmtRenderer struct {
	sink *logfmt.Sink
	json []byte
}

func (r *logfmtRenderer) Append(dst []byte, l *logread.Line) []byte {
	if l.IsWrapped() {
		r.json = appendJSON(r.json[:0], l)
		return r.sink.Render(dst, r.json)
	}
	if l.Format() != logread.FormatJSON {
		return r.sink.Render(dst, l.Bytes())
	}
	return r.sink.Render(dst, l.Body())
}

// painters write lines as sink/console does, each with the keys of its format.
type painters struct {
	config console.Config
	byKeys []keyed
	last   *keyed
	json   []byte
	line   logread.Line // what plain returned
}

// keyed is a console for lines with certain keys.
type keyed struct {
	time, level, message string
	sink                 *console.Sink
}

func newPainters(c console.Config) *painters { return &painters{config: c} }

// of returns the console for a line.
func (p *painters) of(l *logread.Line) *console.Sink {
	at, level := l.Key("time"), l.Key("level")
	k := p.last
	if k != nil && (k.time != at || k.level != level) {
		k = nil
	}
	if k != nil && endsWithText(l.Body(), k.message) {
		return k.sink // without reading the members between
	}
	message := l.Key("message")
	if k != nil && k.message == message {
		return k.sink
	}
	i := slices.IndexFunc(p.byKeys, func(k keyed) bool {
		return k.time == at && k.level == level && k.message == message
	})
	if i < 0 {
		c := p.config
		c.Layout = layoutFor(at, level, message)
		i = len(p.byKeys)
		p.byKeys = append(p.byKeys, keyed{at, level, message, console.New(io.Discard, c)})
	}
	p.last = &p.byKeys[i]
	return p.last.sink
}

// endsWithText reports whether the last member of a JSON object is a text
// without quotes in it, under a key. An object that ends in one brace ends with
// a member of its own. Any console shows other values unchanged.
func endsWithText(object []byte, key string) bool {
	text, ok := bytes.CutSuffix(object, []byte(`"}`))
	if !ok {
		return false
	}
	name, ok := bytes.CutSuffix(text[:max(bytes.LastIndexByte(text, '"'), 0)], []byte(`":`))
	n := len(name) - len(key)
	return ok && n >= 2 && string(name[n:]) == key && name[n-1] == '"' &&
		(name[n-2] == ',' || name[n-2] == '{')
}

// layoutFor returns the layout of the logger that uses some keys.
func layoutFor(at, level, message string) nib.Layout {
	var l nib.Layout
	switch {
	case level == "log.level":
		l = layout.ECS()
	case level == "SeverityText":
		l = layout.OTel()
	case level == "status":
		l = layout.Datadog()
	case level == "severity":
		l = layout.GCP()
	case at == "ts":
		l = layout.Zap()
	case message == "msg":
		l = layout.Logrus()
		l.CallerKey, l.StackKey = "source", "stack"
	}
	l.TimeFormat, l.LevelName, l.Static, l.Error, l.Caller = "", nil, nil, nil, nil
	for _, k := range []struct {
		to   *string
		name string
	}{{&l.TimeKey, at}, {&l.LevelKey, level}, {&l.MessageKey, message}} {
		if k.name != "" {
			*k.to = k.name
		}
	}
	return l
}

func (p *painters) Append(dst []byte, l *logread.Line) []byte {
	if l.Format() == logread.FormatText && bytes.HasSuffix(l.Bytes(), l.Body()) {
		return p.appendText(dst, l.Bytes())
	}
	if name := l.Prefix(); name != nil {
		dst = p.appendText(dst, name)
		dst[len(dst)-1] = ' ' // replaces the line break
	}
	if body := p.plain(l); body != nil {
		p.line.Reset(body)
		return p.of(&p.line).Render(dst, body)
	}
	if l.Format() == logread.FormatLogfmt {
		p.json = appendJSON(p.json[:0], l)
		return p.of(l).Render(dst, p.json)
	}
	return p.of(l).Render(dst, l.Body())
}

// appendText appends a line that is not a log line, with tabs as spaces.
func (p *painters) appendText(dst, text []byte) []byte {
	if p.last == nil {
		p.of(new(logread.Line))
	}
	for {
		i := bytes.IndexByte(text, '\t')
		if i < 0 {
			break
		}
		dst = append(p.last.sink.Render(dst, text[:i]), "       "...)
		dst[len(dst)-8] = ' ' // replaces the line break
		text = text[i+1:]
	}
	return p.last.sink.Render(dst, text)
}

// A chooser keeps some fields of a line.
type chooser struct {
	fields []string
	next   Renderer
	json   []byte
	line   logread.Line
}

func (c *chooser) Append(dst []byte, l *logread.Line) []byte {
	c.json = append(c.json[:0], '{')
	for _, name := range c.fields {
		raw, ok := valueOf(l, name)
		if !ok {
			continue
		}
		if key := l.Key(name); key != "" {
			name = key
		}
		c.json = appendKey(c.json, []byte(name))
		if l.Format() == logread.FormatText {
			c.json = jsonenc.AppendBytes(c.json, raw)
		} else {
			c.json = appendValue(c.json, l, raw)
		}
	}
	c.json = append(c.json, '}')
	c.line.Reset(c.json)
	return c.next.Append(dst, &c.line)
}

// valueOf returns the raw value of a field. For time, level and message, it
// finds the field under any key.
func valueOf(l *logread.Line, name string) (raw []byte, ok bool) {
	if raw = logread.RawOf(l, name); raw != nil || name == "message" {
		return raw, raw != nil
	}
	return l.Lookup(name)
}

// csvRenderer writes RFC 4180.
type csvRenderer struct {
	fields []string
	text   []byte
}

func (r *csvRenderer) Append(dst []byte, l *logread.Line) []byte {
	return appendCSVRow(dst, len(r.fields), func(i int) []byte {
		raw, _ := valueOf(l, r.fields[i])
		r.text = appendSafe(r.text[:0], l.Text(raw))
		return r.text
	})
}

func appendCSVRow(dst []byte, n int, cell func(i int) []byte) []byte {
	for i := range n {
		if i > 0 {
			dst = append(dst, ',')
		}
		text := cell(i)
		if len(text) > 0 && !bytes.ContainsAny(text, "\",\n\r") && text[0] != ' ' &&
			text[len(text)-1] != ' ' {
			dst = append(dst, text...)
			continue
		}
		if len(text) == 0 {
			continue
		}
		dst = append(dst, '"')
		dst = append(dst, bytes.ReplaceAll(text, []byte{'"'}, []byte(`""`))...)
		dst = append(dst, '"')
	}
	return append(dst, '\n')
}

// appendSafe appends text and escapes everything that controls a terminal as in
// JSON, except for quotes and backslashes.
func appendSafe(dst, text []byte) []byte {
	for len(text) > 0 {
		n := jsonenc.CleanLen(text)
		dst = append(dst, text[:n]...)
		if text = text[n:]; len(text) == 0 {
			break
		}
		if text[0] == '"' || text[0] == '\\' {
			dst = append(dst, text[0])
			text = text[1:]
			continue
		}
		_, size := utf8.DecodeRune(text)
		quoted := jsonenc.AppendBytes(nil, text[:size])
		dst = append(dst, quoted[1:len(quoted)-1]...)
		text = text[size:]
	}
	return dst
}
