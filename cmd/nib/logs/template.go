// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"fmt"
	"strings"
	"time"

	"github.com/nib-log/nib/internal/logread"
)

// A template is text with fields in braces: "{time} {level} {user.id}:
// {message}". {{ and }} are braces. A field may have a layout for times:
// {time:15:04:05}.
type template struct {
	parts []part
	zone  *time.Location
}

// A part is a text and the field after it, if any.
type part struct {
	text   string
	field  string
	layout string
}

func parseTemplate(text string, zone *time.Location) (*template, error) {
	t := &template{zone: zone}
	text = strings.NewReplacer(`\n`, "\n", `\t`, "\t").Replace(text)
	var literal strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case (c == '{' || c == '}') && i+1 < len(text) && text[i+1] == c:
			literal.WriteByte(c)
			i++
		case c == '}':
			return nil, fmt.Errorf(
				"--template: the brace at character %d closes nothing; }} is a brace", i+1)
		case c == '{':
			end := strings.IndexByte(text[i:], '}')
			if end < 2 {
				return nil, fmt.Errorf(
					"--template: there is no field in the brace at character %d; {{ is a brace",
					i+1)
			}
			field, layout, _ := strings.Cut(text[i+1:i+end], ":")
			t.parts = append(t.parts, part{literal.String(), field, layout})
			literal.Reset()
			i += end
		default:
			literal.WriteByte(c)
		}
	}
	t.parts = append(t.parts, part{text: literal.String() + "\n"})
	return t, nil
}

func (t *template) Append(dst []byte, l *logread.Line) []byte {
	for _, p := range t.parts {
		dst = append(dst, p.text...)
		if p.field == "" {
			continue
		}
		if p.layout != "" && p.field == "time" {
			if at, ok := l.Time(); ok {
				dst = at.In(t.zone).AppendFormat(dst, p.layout)
			}
			continue
		}
		if p.field == "line" {
			dst = appendSafe(dst, l.Bytes())
			continue
		}
		raw, _ := valueOf(l, p.field)
		dst = appendSafe(dst, l.Text(raw))
	}
	return dst
}
