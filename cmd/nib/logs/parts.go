// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"io"

	"github.com/nib-log/nib/internal/jsonread"
	"github.com/nib-log/nib/internal/logread"
)

// A joiner joins the lines that the runtimes of containers cut into parts: of
// Kubernetes (TIME stdout P PART), which may be cut within a rune, and of
// Docker ({"log":"PART","stream":…}, without a line break in it). It joins the
// two lines of a record of java.util.logging with a space, also in lines of
// these. A line of OTLP with several records becomes one line for each. Other
// lines are unchanged.
type joiner struct {
	r     io.Reader
	buf   []byte
	rest  []byte            // the beginning of a line
	out   []byte            // lines that have not been read
	lines []byte            // the memory of out
	parts map[string][]byte // the beginnings of lines, by their stream
	heads map[string]head   // the first lines of records, by their stream
	err   error
	begun bool
	plain bool // no line is a part
}

// A head is the first line of a record, and the offset where its text ends.
type head struct {
	line []byte
	end  int
}

// mayHaveParts reports whether lines may be parts, or records of several lines,
// if a file begins with first. JSON and logfmt have none.
func mayHaveParts(first []byte) bool {
	if bytes.HasPrefix(first, []byte{'{'}) {
		return bytes.HasPrefix(first, []byte(`{"log":`)) ||
			bytes.HasPrefix(first, []byte(`{"resourceLogs"`))
	}
	word, _, _ := bytes.Cut(first, []byte{' '})
	return len(first) > 0 && bytes.IndexByte(word, '=') < 0
}

// firstLen is the number of bytes at the beginning of a file in which hasParts
// looks for a record of several lines.
const firstLen = 4 << 10

// hasParts reports whether a file has lines that may be parts, for a reader
// that skips some of them.
func hasParts(file io.ReaderAt) bool {
	var buf [firstLen]byte
	n, _ := file.ReadAt(buf[:], 0) // a file may be short
	first := buf[:n]
	if !mayHaveParts(first) {
		return false
	}
	if first[0] == '{' || bytes.Contains(first[:min(n, sampleLen)], []byte(" std")) {
		return true
	}
	for line := range bytes.Lines(first) {
		if logread.IsJavaHead(bytes.TrimRight(line, "\r\n")) {
			return true
		}
	}
	return false
}

// joined returns a reader of whole lines.
func joined(r io.Reader) *joiner {
	return &joiner{
		r: r, buf: make([]byte, 64<<10), parts: map[string][]byte{}, heads: map[string]head{},
	}
}

// joinedFrom returns a reader of whole lines of a file, which begins anywhere
// in the file. If isKnown is set, hasParts has returned true for it.
func joinedFrom(r io.Reader, isKnown bool) *joiner {
	j := joined(r)
	j.begun = isKnown
	return j
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
			for _, head := range j.heads {
				j.lines = append(j.lines, head.line...)
			}
			for _, part := range j.parts { // the end of the line is missing
				j.lines = append(append(j.lines, part...), '\n')
			}
			clear(j.heads)
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
	if len(j.parts)+len(j.heads) == 0 && !bytes.Contains(block, []byte("stdout P ")) &&
		!bytes.Contains(block, []byte(", 20")) && // Nov 26, 2026
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
		if bytes.HasPrefix(line, []byte(`{"resourceLogs":`)) {
			j.records(line)
		} else {
			j.part(line)
		}
	}
}

// part appends a line, or keeps it if it goes on.
func (j *joiner) part(line []byte) {
	stream, from, end, goesOn := textOf(line)
	part := j.parts[stream]
	if goesOn && len(part) < maxPart {
		if part == nil {
			part = bytes.Clone(line[:from])
			if line[0] != '{' {
				part[from-len("P ")] = 'F' // the whole line does not go on
			}
		}
		j.parts[stream] = append(part, line[from:end]...)
		return
	}
	if part != nil {
		delete(j.parts, stream)
		line = append(part, line[from:]...)
		_, from, end, _ = textOf(line)
	}
	j.add(stream, line, from, end)
}

// add appends a line of a stream, whose text is line[from:end], or keeps it if
// it may be the first one of a record.
func (j *joiner) add(stream string, line []byte, from, end int) {
	text := line[from:end]
	if first, ok := j.heads[stream]; ok {
		delete(j.heads, stream)
		if logread.IsJavaLevel(text) {
			j.lines = append(append(j.lines, first.line[:first.end]...), ' ')
			j.lines = append(j.lines, line[from:]...)
			return
		}
		j.lines = append(j.lines, first.line...)
	}
	if logread.IsJavaHead(text) {
		j.heads[stream] = head{bytes.Clone(line), end}
		return
	}
	j.lines = append(j.lines, line...)
}

// joinedPair returns the record of two lines, or nil if they are no record.
func joinedPair(lines []byte) []byte {
	j := joiner{parts: map[string][]byte{}, heads: map[string]head{}}
	if j.join(lines); logread.LineLen(j.lines) < len(j.lines) {
		return nil
	}
	return j.lines
}

// textOf returns the stream of a line of a runtime of containers, the place of
// its text, line[from:end], and whether the line goes on in the next one of
// that stream. Other lines have an empty stream.
func textOf(line []byte) (stream string, from, end int, goesOn bool) {
	if stream, from, end, goesOn = dockerText(line); stream != "" {
		return stream, from, end, goesOn
	}
	if from = textAt(line); from > 0 {
		end = len(bytes.TrimSuffix(line, []byte{'\n'}))
		return string(line[from-9 : from-3]), from, end, line[from-2] == 'P'
	}
	return "", 0, len(bytes.TrimRight(line, "\r\n")), false
}

// dockerText is textOf for the lines of Docker, in which a line without a line
// break goes on.
func dockerText(line []byte) (stream string, from, end int, goesOn bool) {
	if !bytes.HasPrefix(line, []byte(`{"log":`)) {
		return "", 0, 0, false
	}
	_, end, ok := jsonread.Locate(line, "log")
	raw, hasStream := jsonread.Lookup(line, "stream")
	if !ok || !hasStream || line[end-1] != '"' {
		return "", 0, 0, false
	}
	from, end = len(`{"log":"`), end-1
	text, isWhole := bytes.CutSuffix(line[from:end], []byte(`\n`))
	return "docker" + string(raw), from, from + len(text), !isWhole
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
	for from > 0 && hasParts(f) {
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
			line := block[at : at+n]
			stream, from, end, goesOn := textOf(line)
			_, isCut := cuts[stream]
			switch {
			case logread.IsJavaHead(line[from:end]), goesOn && !isCut:
				cuts[stream] = begin + at
			case !goesOn:
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

// records appends a line for each record of a line of OTLP.
func (j *joiner) records(line []byte) {
	from := len(j.lines)
	list, _ := jsonread.Lookup(line, "resourceLogs")
	for resource := range jsonread.Elements(list) {
		scopes, _ := jsonread.Lookup(resource, "scopeLogs")
		for scope := range jsonread.Elements(scopes) {
			records, _ := jsonread.Lookup(scope, "logRecords")
			for record := range jsonread.Elements(records) {
				j.lines = append(append(j.lines, record...), '\n')
			}
		}
	}
	if len(j.lines) == from {
		j.lines = append(j.lines, line...)
	}
}
