// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"

	"github.com/nib-log/nib/internal/logread"
)

// A journal reads the export format of the systemd journal (journalctl -o
// export) as lines of JSON, one for each entry. An entry whose message is a
// line of JSON with a time and a level is that line.
type journal struct {
	in   *bufio.Reader
	line []byte // the line that is being read
}

// The bounds of the memory for a field, and for an entry as JSON, which escapes
// bytes.
const (
	maxField = 64 << 20
	maxEntry = 8 * maxField
)

var errJournal = errors.New("not in the export format of the journal")

func newJournal(r *bufio.Reader) io.Reader { return &journal{in: r} }

func (j *journal) Read(p []byte) (int, error) {
	for len(j.line) == 0 {
		if err := j.entry(); err != nil {
			return 0, err
		}
	}
	n := copy(p, j.line)
	j.line = j.line[n:]
	return n, nil
}

// entry reads the fields up to an empty line.
func (j *journal) entry() error {
	var out, message []byte
	for {
		name, value, err := j.field()
		if err != nil && (err != io.EOF || out == nil) {
			return err
		}
		if name == nil {
			if out == nil {
				continue
			}
			break
		}
		if string(name) == "MESSAGE" {
			message = value
		}
		key, _ := json.Marshal(string(name)) // strings cannot fail to encode
		text, _ := json.Marshal(string(value))
		out = append(append(append(append(out, ','), key...), ':'), text...)
		if len(out) > maxEntry {
			return errJournal
		}
	}
	if m := bytes.TrimSpace(message); isComplete(m) {
		j.line = append(bytes.ReplaceAll(m, []byte{'\n'}, []byte{' '}), '\n')
		return nil
	}
	out[0] = '{'
	j.line = append(out, '}', '\n')
	return nil
}

// isComplete reports whether a message is a line of JSON that needs nothing of
// its entry.
func isComplete(message []byte) bool {
	if len(message) == 0 || message[0] != '{' || !json.Valid(message) {
		return false
	}
	var l logread.Line
	l.Reset(message)
	_, hasTime := l.Time()
	_, hasLevel := l.Level()
	return hasTime && hasLevel
}

// field reads a field: NAME=text, or the name, a length and bytes. The name is
// nil at the end of an entry.
func (j *journal) field() (name, value []byte, err error) {
	line, err := j.readLine()
	if len(line) == 0 {
		return nil, nil, err
	}
	line = bytes.TrimSuffix(line, []byte{'\n'})
	if len(line) == 0 {
		return nil, nil, nil
	}
	if i := bytes.IndexByte(line, '='); i > 0 {
		return line[:i], line[i+1:], nil
	}
	var size [8]byte
	if _, err := io.ReadFull(j.in, size[:]); err != nil {
		return nil, nil, errJournal
	}
	n := binary.LittleEndian.Uint64(size[:])
	if n > maxField {
		return nil, nil, errJournal
	}
	value = make([]byte, n+1) // one more byte for the line break
	if _, err := io.ReadFull(j.in, value); err != nil {
		return nil, nil, errJournal
	}
	return line, value[:n], nil
}

// readLine reads a line with its line break.
func (j *journal) readLine() (line []byte, err error) {
	for {
		part, err := j.in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxField {
			return nil, errJournal
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}
