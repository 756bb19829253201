// SPDX-License-Identifier: Apache-2.0

package view

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nib-log/nib/cmd/nib/internal/lineindex"
	"github.com/nib-log/nib/cmd/nib/logs"
	"github.com/nib-log/nib/internal/logread"
)

// A block has one entry in an index. A line longer than maxLine is cut.
// pollDelay is the interval at which a file is checked for new lines.
const (
	blockSize = 256 << 10
	maxLine   = 1 << 20
	pollDelay = 50 * time.Millisecond
)

// maxIdle is the number of times that extend waits for the end of an unfinished
// line.
const maxIdle = 20

// maxParts is the number of files that a document keeps open: the space of one
// that is deleted is free when it is closed.
const maxParts = 32

var (
	errTruncated = errors.New("the file was truncated")
	errRotated   = errors.New("the file was rotated many times")
)

// A document is a file that grows and, when it is rotated, continues in a new
// file. Offsets count the bytes of all its files together. Files that were
// rotated away stay open, up to maxParts; then the document has to be opened
// again. It always ends with a line break.
type document struct {
	path   string
	keys   logread.Keys // of the program whose lines it has
	origin int64        // the end when it was opened
	later  *logs.Successors

	mu    sync.Mutex
	parts []part
	end   int64         // end of the last whole line
	size  int64         // number of bytes of the last part that have been seen
	idle  int           // number of calls of extend since a line has been unfinished
	grown chan struct{} // closed when end changes
}

type reportFunc = func(format string, args ...any)

// A part is one file of a document.
type part struct {
	file *os.File
	base int64 // offset of its first byte
}

// openDocument opens a regular file. What may be lost in a rotation is reported
// unless report is nil.
func openDocument(path string, keys logread.Keys, report reportFunc) (*document, error) {
	later := logs.NewSuccessors(path, report)
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	d := &document{
		path: path, keys: keys, later: later, parts: []part{{file: f}}, grown: make(chan struct{}),
	}
	for i := range 2 {
		d.idle = i * maxIdle // the text after the last line break is a line, too
		if _, err := d.extend(); err != nil {
			return nil, errors.Join(err, f.Close())
		}
	}
	d.origin = d.end
	return d, nil
}

func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path) // opening a pipe would wait for its writer
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory", path)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	return os.Open(path)
}

// Close closes the files.
func (d *document) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, p := range d.parts {
		errs = append(errs, p.file.Close())
	}
	return errors.Join(errs...)
}

// state returns the end of the whole lines, and a channel that is closed when
// it changes.
func (d *document) state() (end int64, grown <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.end, d.grown
}

// follow reads appended lines until ctx ends or the document has to be opened
// again. Then it returns errTruncated or errRotated.
func (d *document) follow(ctx context.Context) error {
	tick := time.NewTicker(pollDelay)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if more, err := d.extend(); err != nil || more {
			if err != nil {
				return err
			}
			continue // the end of the file comes before the next file
		}
		if n%4 == 0 {
			if err := d.rotate(); err != nil {
				return err
			}
		}
	}
}

// extend moves the end past the lines that were appended to the last file. For
// a limited time, it waits for the end of an unfinished line. Text that is
// appended to such a line later belongs to it: the list shows it, but the
// indexes have counted the line without it.
func (d *document) extend() (more bool, err error) {
	last := d.parts[len(d.parts)-1] // follow alone changes parts
	info, err := last.file.Stat()
	if err != nil {
		return false, err
	}
	size, end := info.Size(), d.end-last.base
	switch {
	case size < d.size:
		return false, errTruncated
	case size == d.size && (end >= size || d.idle < maxIdle):
		d.idle++
		return false, nil
	case size == d.size:
		end = size
	default:
		n, err := lineindex.LastBreak(last.file, max(end, 0), size)
		if err != nil {
			return false, err
		}
		end = max(end, n)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	more = size > d.size || last.base+end > d.end
	if size > d.size {
		d.idle = 0
	}
	d.size = size
	d.setEnd(last.base + end)
	return more, nil
}

func (d *document) setEnd(end int64) {
	if end != d.end {
		d.end = end
		close(d.grown)
		d.grown = make(chan struct{})
	}
}

// rotate continues with the files that took the path since the last one was
// opened, if there are any.
func (d *document) rotate() error {
	last := d.parts[len(d.parts)-1]
	before, err := last.file.Stat()
	if err != nil {
		return nil // extend returns it
	}
	now, err := os.Stat(d.path)
	if err != nil || os.SameFile(before, now) || now.Size() == 0 || !now.Mode().IsRegular() {
		return nil // the writer may still have the old file open
	}
	if more, err := d.extend(); more || err != nil {
		return nil
	}
	files := d.later.Of(last.file)
	for i, f := range files {
		if i > 0 {
			_, err = d.extend() // nothing is added to the file before this one
		}
		if len(d.parts) == maxParts {
			err = errRotated
		}
		if err != nil {
			for _, f := range files[i:] {
				_ = f.Close() // only read
			}
			return err
		}
		d.append(f)
	}
	return nil
}

// append adds a file behind the others.
func (d *document) append(f *os.File) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// The byte between the files reads as a line break.
	base := d.parts[len(d.parts)-1].base + d.size + 1
	d.parts = append(d.parts, part{file: f, base: base})
	d.size, d.idle = 0, 0
	d.setEnd(base)
}

// ReadAt reads below the end.
func (d *document) ReadAt(p []byte, at int64) (n int, err error) {
	d.mu.Lock()
	parts, end := d.parts, d.end
	d.mu.Unlock()
	p = p[:max(0, min(int64(len(p)), end-at))]
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].base > at {
			continue
		}
		for ; i < len(parts) && n < len(p); i++ {
			want := p[n:]
			limit := end
			if i+1 < len(parts) {
				limit = parts[i+1].base - 1
			}
			want = want[:max(0, min(int64(len(want)), limit-at-int64(n)))]
			m, err := parts[i].file.ReadAt(want, at+int64(n)-parts[i].base)
			n += m
			if m < len(want) {
				return n, err
			}
			if n < len(p) {
				p[n] = '\n'
				n++
			}
		}
		return n, nil
	}
	return 0, io.EOF
}

// lines calls yield for each line that begins in [from, to), until yield
// returns false. The line is valid during the call. lines reads into buf and
// returns it, or a larger buffer.
func (d *document) lines(
	buf []byte, from, to int64, yield func(at int64, line []byte) bool,
) ([]byte, error) {
	end, _ := d.state()
	at := max(from-1, 0)
	if to = min(to, end); at >= to {
		return buf, nil
	}
	buf, data, err := d.fill(buf, at, to)
	if err != nil {
		return buf, err
	}
	if from > 0 {
		i := bytes.IndexByte(data, '\n')
		if i < 0 {
			return buf, nil
		}
		data, at = data[i+1:], at+int64(i)+1
	}
	for len(data) > 0 {
		line := data
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			line = data[:i]
		} else if to < end {
			// The line begins at offset at and ends after to.
			if buf, line, err = d.rest(buf, at, end); err != nil {
				return buf, err
			}
			data = nil
		}
		if !yield(at, line[:min(len(line), maxLine)]) {
			break
		}
		n := min(len(line)+1, len(data))
		data, at = data[n:], at+int64(n)
	}
	return buf, nil
}

// rest reads the line that begins at offset at.
func (d *document) rest(buf []byte, at, end int64) (_, line []byte, err error) {
	for size := int64(16 << 10); ; size *= 8 {
		buf, line, err = d.fill(buf, at, min(at+size, end))
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			return buf, line[:i], err
		}
		if err != nil || size > maxLine || at+size >= end {
			return buf, line, err
		}
	}
}

// fill reads [from, to).
func (d *document) fill(buf []byte, from, to int64) (_, data []byte, err error) {
	if int64(cap(buf)) < to-from {
		buf = make([]byte, to-from)
	}
	n, err := d.ReadAt(buf[:to-from], from)
	if int64(n) == to-from {
		err = nil
	} else if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return buf, buf[:n], err
}
