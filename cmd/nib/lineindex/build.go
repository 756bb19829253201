// SPDX-License-Identifier: Apache-2.0

package lineindex

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/nib-log/nib/logread"
)

// zoneless is the zone of times without one. They mean another time to each
// reader.
var zoneless = time.FixedZone("zoneless", 0)

// maxRest is how much of a line beyond the end of its block is read. The block
// of a longer line is always read.
const maxRest = 1 << 20

// extend adds the blocks of what the log has behind the covered part, up to
// its last line break. When ctx ends, the blocks by then stay.
func (x *Index) extend(ctx context.Context, f *os.File, info os.FileInfo) (err error) {
	if x.head, err = sumOf(f, 0, headSize); err != nil {
		return err
	}
	x.size, x.modified = info.Size(), info.ModTime().UnixNano()
	if time.Since(info.ModTime()) < settleTime {
		x.modified = 0 // it may be modified again without a change of size and time
	}
	end, err := LastBreak(f, x.covered, x.size)
	if err != nil {
		return err
	}
	scanners := make([]*scanner, runtime.GOMAXPROCS(0))
	for i := range scanners {
		scanners[i] = newScanner()
	}
	for x.covered < end && err == nil && ctx.Err() == nil {
		var wait sync.WaitGroup
		first := x.covered
		for i, s := range scanners {
			wait.Go(func() { s.scan(f, min(first+int64(i)*stride, end), min(first+int64(i+1)*stride, end), end) })
		}
		wait.Wait()
		for _, s := range scanners {
			if s.err != nil {
				err = s.err
				break
			}
			x.blocks, x.covered = append(x.blocks, s.entries...), x.covered+s.length
		}
	}
	tail, sumErr := sumOf(f, max(0, x.covered-tailSize), x.covered)
	if x.tail = tail; err == nil {
		err = sumErr
	}
	return err
}

// stride is how much a goroutine scans at a time.
const stride = 16 * blockSize

// LastBreak returns the offset behind the last line break in [from, to), or
// from.
func LastBreak(f io.ReaderAt, from, to int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for to > from {
		at := max(from, to-int64(len(buf)))
		n, err := f.ReadAt(buf[:to-at], at)
		if n < int(to-at) {
			return from, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		to = at
	}
	return from, nil
}

// A scanner makes entries.
type scanner struct {
	buf     []byte
	line    logread.Line
	entries []entry
	length  int64
	err     error
}

func newScanner() *scanner {
	s := &scanner{buf: make([]byte, 1+blockSize+maxRest)}
	s.line.SetZone(zoneless)
	return s
}

// scan makes an entry for each block of lines that begin in [from, to). All
// lines end before end.
func (s *scanner) scan(f io.ReaderAt, from, to, end int64) {
	s.entries, s.length, s.err = s.entries[:0], 0, nil
	at, err := lineAt(f, from, end)
	for at < to && err == nil {
		var e entry
		if e, err = s.block(f, at, min(at+blockSize, to), end); err == nil {
			s.entries = append(s.entries, e)
			s.length += int64(e.length)
			at += int64(e.length)
		}
	}
	s.err = err
}

// lineAt returns where the first line at or behind from begins.
func lineAt(f io.ReaderAt, from, end int64) (int64, error) {
	if from == 0 || from >= end {
		return from, nil
	}
	buf := make([]byte, 4<<10)
	for at := from - 1; at < end; at += int64(len(buf)) {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), end-at)], at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		if err != nil {
			return 0, err
		}
	}
	return end, nil
}

// block makes the entry of the lines that begin in [from, to); from is the
// beginning of one.
func (s *scanner) block(f io.ReaderAt, from, to, end int64) (e entry, err error) {
	want := min(to-from+maxRest, end-from)
	n, err := f.ReadAt(s.buf[:want], from)
	if int64(n) < want {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF // the log was truncated
		}
		return e, err
	}
	e = entry{from: math.MaxInt64, to: math.MinInt64}
	for at := int64(0); at < to-from; {
		data := s.buf[at:want]
		i := bytes.IndexByte(data, '\n')
		if i < 0 { // a very long line
			next, err := lineAt(f, from+want, end)
			if next-from > math.MaxUint32 {
				return e, io.ErrShortBuffer
			}
			e.length, e.from, e.to = uint32(next-from), always, math.MaxInt64
			return e, err
		}
		s.add(&e, data[:i])
		at += int64(i) + 1
		e.length = uint32(at)
	}
	return e, nil
}

// add adds a line to an entry.
func (s *scanner) add(e *entry, text []byte) {
	s.line.Reset(text)
	e.lines++
	if s.line.Format() == logread.FormatText && len(s.line.Bytes()) > 0 {
		e.foreign++
	}
	e.levels |= LevelBit(s.line.Level())
	t, ok := s.line.Time()
	switch {
	case !ok || e.from == always:
	case t.Location() == zoneless || t.Year() <= 1678 || t.Year() >= 2262:
		e.from, e.to = always, math.MaxInt64
	default:
		n := t.UnixNano()
		e.from, e.to = min(e.from, n), max(e.to, n)
	}
}
