// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"io"

	"github.com/nib-log/nib/internal/jsonread"
)

// A joiner joins the lines that the runtimes of containers cut into parts: of
// Kubernetes (TIME stdout P PART), which may be cut within a rune, and of
// Docker ({"log":"PART","stream":…}, without a line break in it). A line of
// OTLP with several records becomes one line for each. Other lines are
// unchanged.
type joiner struct {
	r     io.Reader
	buf   []byte
	rest  []byte            // the beginning of a line
	out   []byte            // lines that have not been read
	lines []byte            // the memory of out
	parts map[string][]byte // the beginnings of lines, by their stream
	err   error
	begun bool
	plain bool // no line is a part
}

// mayHaveParts reports whether lines that begin like first may be parts.
func mayHaveParts(first []byte) bool {
	return len(first) > 0 && (first[0]-'0' <= 9 || bytes.HasPrefix(first, []byte(`{"log":`)) ||
		bytes.HasPrefix(first, []byte(`{"resourceLogs"`)))
}

// isPart reports whether a file that begins with first has lines that may be
// parts, for a reader that skips some of them.
func isPart(first []byte) bool {
	return mayHaveParts(first) && (first[0] == '{' || bytes.Contains(first, []byte(" std")))
}

// joined returns a reader of whole lines.
func joined(r io.Reader) *joiner {
	return &joiner{r: r, buf: make([]byte, 64<<10), parts: map[string][]byte{}}
}

// Close closes the reader below.
func (j *joiner) Close() error {
	if c, ok := j.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// maxPart bounds a line that is joined.
const maxPart = 64 << 20

func (j *joiner) Read(p []byte) (int, error) {
	if j.plain && len(j.out) == 0 && j.err == nil {
		return j.r.Read(p)
	}
	for len(j.out) == 0 {
		if j.err != nil {
			return 0, j.err
		}
		n, err := j.r.Read(j.buf)
		j.rest = append(j.rest, j.buf[:n]...)
		enough := len(j.rest) >= len(`{"resourceLogs"`) || bytes.HasSuffix(j.rest, []byte{'\n'})
		if !j.begun && enough {
			j.begun = true
			if !mayHaveParts(j.rest) {
				j.plain, j.out, j.err = true, j.rest, err
				break
			}
		}
		end := bytes.LastIndexByte(j.rest, '\n') + 1
		if err != nil || len(j.rest) > maxPart {
			end = len(j.rest)
		}
		j.lines = j.lines[:0]
		j.join(j.rest[:end])
		if err != nil {
			j.err = err
			for _, part := range j.parts { // the end of the line is missing
				j.lines = append(append(j.lines, part...), '\n')
			}
			clear(j.parts)
		}
		j.rest = append(j.rest[:0], j.rest[end:]...)
		j.out = j.lines
	}
	n := copy(p, j.out)
	j.out = j.out[n:]
	return n, nil
}

// join appends the lines of a block.
func (j *joiner) join(block []byte) {
	if len(j.parts) == 0 && !bytes.Contains(block, []byte("stdout P ")) &&
		!bytes.Contains(block, []byte("stderr P ")) &&
		!bytes.Contains(block, []byte(`","stream":"std`)) &&
		!bytes.Contains(block, []byte(`{"resourceLogs":`)) {
		j.lines = append(j.lines, block...)
		return
	}
	for len(block) > 0 {
		line := block
		if n := bytes.IndexByte(block, '\n'); n >= 0 {
			line = block[:n+1]
		}
		block = block[len(line):]
		switch {
		case bytes.HasPrefix(line, []byte(`{"log":`)):
			j.docker(line)
		case bytes.HasPrefix(line, []byte(`{"resourceLogs":`)):
			j.records(line)
		default:
			j.kubernetes(line)
		}
	}
}

// streamOf returns the stream of a line of a runtime of containers, and whether
// the line goes on in the next one of that stream. The stream of other lines is
// empty.
func streamOf(line []byte) (stream string, goesOn bool) {
	if bytes.HasPrefix(line, []byte(`{"log":`)) {
		_, end, ok := jsonread.Locate(line, "log")
		raw, hasStream := jsonread.Lookup(line, "stream")
		if !ok || !hasStream || line[end-1] != '"' {
			return "", false
		}
		return "docker" + string(raw), !bytes.HasSuffix(line[:end-1], []byte(`\n`))
	}
	at := textAt(line)
	if at == 0 {
		return "", false
	}
	return string(line[at-9 : at-3]), line[at-2] == 'P'
}

// textAt returns the offset of the text of a line of the runtimes of Kubernetes
// (TIME stdout F TEXT), or 0.
func textAt(line []byte) int {
	const tag = len(" stdout F ")
	n := bytes.IndexByte(line, ' ')
	if n < 20 || len(line) < n+tag || string(line[n:n+4]) != " std" || line[n+tag-3] != ' ' {
		return 0
	}
	return n + tag
}

// beforeParts returns the last offset up to from at which no line is cut: from,
// or where the first part of a line begins that goes on behind it.
func beforeParts(f io.ReaderAt, from int64) (int64, error) {
	for from > 0 {
		begin := max(from-tailBlock, 0)
		block := make([]byte, from-begin)
		if _, err := f.ReadAt(block, begin); err != nil && err != io.EOF {
			return 0, err
		}
		cuts := map[string]int64{} // where lines begin that go on
		for at := int64(0); at < int64(len(block)); {
			n := int64(len(block)) - at
			if end := bytes.IndexByte(block[at:], '\n'); end >= 0 {
				n = int64(end) + 1
			}
			stream, goesOn := streamOf(block[at : at+n])
			if _, ok := cuts[stream]; goesOn && !ok {
				cuts[stream] = begin + at
			} else if !goesOn && stream != "" {
				delete(cuts, stream)
			}
			at += n
		}
		if len(cuts) == 0 {
			return from, nil
		}
		for _, at := range cuts {
			from = min(from, at) // of the line, or of a part behind the first one
		}
	}
	return from, nil
}

// kubernetes appends a line, or keeps a part.
func (j *joiner) kubernetes(line []byte) {
	at := textAt(line)
	if at == 0 {
		j.lines = append(j.lines, line...)
		return
	}
	stream, text, goesOn := string(line[at-9:at-3]), line[at:], line[at-2] == 'P'
	part := j.parts[stream]
	if part == nil && goesOn {
		part = append(append(part, line[:at-2]...), "F "...)
	}
	switch {
	case part == nil:
		j.lines = append(j.lines, line...)
	case goesOn && len(part) < maxPart:
		j.parts[stream] = append(part, bytes.TrimSuffix(text, []byte{'\n'})...)
	default:
		j.lines = append(append(j.lines, part...), text...)
		delete(j.parts, stream)
	}
}

// docker appends a line, or keeps a part.
func (j *joiner) docker(line []byte) {
	_, end, ok := jsonread.Locate(line, "log")
	stream, hasStream := jsonread.Lookup(line, "stream")
	if !ok || !hasStream || line[end-1] != '"' {
		j.lines = append(j.lines, line...)
		return
	}
	from := len(`{"log":"`)
	text := line[:end-1]
	key := "docker" + string(stream)
	part := j.parts[key]
	switch isWhole := bytes.HasSuffix(text, []byte(`\n`)); {
	case part == nil && isWhole:
		j.lines = append(j.lines, line...)
	case part == nil:
		j.parts[key] = append(part, text...)
	case !isWhole && len(part) < maxPart:
		j.parts[key] = append(part, text[from:]...)
	default:
		j.lines = append(append(append(j.lines, part...), text[from:]...), line[end-1:]...)
		delete(j.parts, key)
	}
}

// records appends a line for each record of a line of OTLP.
func (j *joiner) records(line []byte) {
	from := len(j.lines)
	list, _ := jsonread.Lookup(line, "resourceLogs")
	for resource := range elements(list) {
		scopes, _ := jsonread.Lookup(resource, "scopeLogs")
		for scope := range elements(scopes) {
			records, _ := jsonread.Lookup(scope, "logRecords")
			for record := range elements(records) {
				j.lines = append(append(j.lines, record...), '\n')
			}
		}
	}
	if len(j.lines) == from {
		j.lines = append(j.lines, line...)
	}
}

// elements iterates over the elements of an array, and over none of another
// value.
func elements(raw []byte) func(func([]byte) bool) {
	if len(raw) == 0 || raw[0] != '[' {
		return func(func([]byte) bool) {}
	}
	return jsonread.Elements(raw)
}
