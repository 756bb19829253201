// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"os"
	"slices"
	"time"
)

// A file that has been left stays open for a while after its last line, as one
// of so many files: a process that does not reopen its log still writes to it.
const (
	lateTime = time.Minute
	maxLeft  = 16
)

// A lateLines has the lines that are added to files after these have been left
// for the next file of their name.
type lateLines struct {
	files []leftFile // the file that was left last is the last one
	lines []byte     // late lines that have not been read
}

// A leftFile is a file that has been read up to an offset.
type leftFile struct {
	file   *os.File
	offset int64
	at     time.Time // when it was left, or had another line
}

// add adds a file that has been read up to an offset.
func (r *lateLines) add(file *os.File, offset int64) {
	r.files = append(r.files, leftFile{file, offset, time.Now()})
}

// read reads the lines that look has found.
func (r *lateLines) read(p []byte) int {
	n := copy(p, r.lines)
	r.lines = r.lines[n:]
	return n
}

// look reads what was added to the files, and closes the ones to which nothing
// has been added for a while, after calling left with each.
func (r *lateLines) look(left func(*os.File)) {
	r.lines = nil
	var open []leftFile
	for i, l := range r.files {
		isOver := i < len(r.files)-maxLeft || time.Since(l.at) > lateTime
		switch lines := l.added(isOver); {
		case len(lines) > 0:
			r.lines, l.at = append(r.lines, lines...), time.Now()
		case isOver:
			left(l.file)
			_ = l.file.Close() // only read
			continue
		}
		open = append(open, l)
	}
	r.files = open
}

// added returns the lines that were added since the last call, with all also a
// line without its end.
func (l *leftFile) added(all bool) []byte {
	info, err := l.file.Stat()
	if err != nil || info.Size() <= l.offset {
		return nil
	}
	buf := make([]byte, min(info.Size()-l.offset, maxPart))
	n, _ := l.file.ReadAt(buf, l.offset) // the next call reads the rest
	lines := buf[:bytes.LastIndexByte(buf[:n], '\n')+1]
	if len(lines) == 0 && (all || n == maxPart) {
		lines = buf[:n]
	}
	l.offset += int64(len(lines))
	if n := len(lines); n > 0 && lines[n-1] != '\n' {
		lines = append(lines, '\n')
	}
	return lines
}

// has reports whether a file is among them.
func (r *lateLines) has(info os.FileInfo) bool {
	return slices.ContainsFunc(r.files, func(l leftFile) bool { return isFile(l.file, info) })
}

func (r *lateLines) close() {
	for _, l := range r.files {
		_ = l.file.Close() // only read
	}
}
