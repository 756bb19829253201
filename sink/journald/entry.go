// SPDX-License-Identifier: Apache-2.0

package journald

import (
	"bytes"
	"encoding/binary"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/level"
)

// maxFields is the maximum number of fields of a line in an entry. journald
// drops entries of more than 1024 fields.
const maxFields = 1000

// wholeLine is the field for a line that has more.
const wholeLine = "NIB_LINE"

// An encoder encodes entries, one at a time.
type encoder struct {
	head     string // the fields common to all entries
	prefix   string
	lineName string // Config.Line

	buf   []byte
	text  []byte // scratch space
	names []usedName
}

// entry returns the entry of a record, in memory of the encoder.
func (e *encoder) entry(r *nib.Record, site string) []byte {
	e.names = e.names[:0]
	line := bytes.TrimRight(r.Line, "\n")
	b := append(e.buf[:0], "MESSAGE"...)
	if r.Message != nil {
		b = appendValue(b, r.Message, true)
	} else {
		b = appendValue(b, line, false)
	}
	b = append(b, "PRIORITY="...)
	b = append(b, '0'+byte(level.Severity(int(r.Level))), '\n')
	b = append(b, e.head...)
	b = append(b, site...)
	lineName := e.lineName
	for key, value := range r.Fields() {
		if r.Message != nil && isMessage(value, r.Message) {
			continue
		}
		if len(e.names) == maxFields {
			if lineName == "" {
				lineName = wholeLine
			}
			break
		}
		b = e.appendName(b, key)
		if value[0] == '"' {
			b = appendValue(b, value[1:len(value)-1], true)
		} else {
			b = appendValue(b, value, false)
		}
	}
	if lineName != "" {
		b = appendValue(append(b, lineName...), line, false)
	}
	e.buf = b
	return b
}

// isMessage reports whether value, a string with its quotes, is the message of
// its line: the same bytes, not just equal ones.
func isMessage(value, message []byte) bool {
	return len(value) > 1 && cap(message) > 0 && &value[1] == &message[:1][0]
}

// appendValue appends the part after the name of a field: = and a value without
// line breaks, or a line break, the length in eight bytes, and any value.
func appendValue(dst, value []byte, isText bool) []byte {
	const length = 8
	at := len(dst)
	dst = append(dst, '=')
	if isText {
		dst = appendText(dst, value)
	} else {
		dst = append(dst, value...)
	}
	if size := len(dst) - at - 1; bytes.IndexByte(dst[at:], '\n') >= 0 {
		dst = append(dst, make([]byte, length)...)
		copy(dst[at+1+length:], dst[at+1:at+1+size])
		dst[at] = '\n'
		binary.LittleEndian.PutUint64(dst[at+1:], uint64(size))
	}
	return append(dst, '\n')
}
