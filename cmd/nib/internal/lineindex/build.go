// SPDX-License-Identifier: Apache-2.0

package lineindex

import (
	"bytes"
	"context"
	"hash/crc32"
	"io"
	"math"
	"os"
	"runtime"
	"sync"
	"time"
)

// maxRest is the number of bytes of a line that are read beyond the end of its
// block. The block of a longer line is always read.
const maxRest = 1 << 20

// extend adds the blocks of the log after the covered part, up to its last line
// break. If ctx ends, it keeps the blocks added so far.
func (x *Index) extend(ctx context.Context, f *os.File, info os.FileInfo) (err error) {
	x.size, x.modified = info.Size(), info.ModTime().UnixNano()
	if time.Since(info.ModTime()) < settleTime {
		x.modified = 0 // the file may be modified again without a change of size and time
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
			wait.Add(1)
			go func() {
				defer wait.Done()
				s.scan(f, min(first+int64(i)*stride, end), min(first+int64(i+1)*stride, end), end)
			}()
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
	return err
}

// stride is the number of bytes that a goroutine scans at a time.
const stride = 16 * BlockSize

// LastBreak returns the offset after the last line break in [from, to), or
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
	block   *block
	entries []entry
	length  int64
	err     error
}

func newScanner() *scanner {
	return &scanner{buf: make([]byte, BlockSize+maxRest), block: newBlock()}
}

// scan makes an entry for each block of lines that begin in [from, to). All
// lines end before end.
func (s *scanner) scan(f io.ReaderAt, from, to, end int64) {
	s.entries, s.length, s.err = s.entries[:0], 0, nil
	at, err := lineAt(f, from, end)
	for at < to && err == nil {
		s.block.begin()
		if err = s.read(f, at, min(at+BlockSize, to), end); err == nil {
			s.entries = append(s.entries, s.block.entry)
			s.length += int64(s.block.length)
			at += int64(s.block.length)
		}
	}
	s.err = err
}

// lineAt returns where the first line at or after from begins.
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

// read adds the lines that begin in [from, to) to the block; from is the
// beginning of one.
func (s *scanner) read(f io.ReaderAt, from, to, end int64) error {
	want := min(to-from+maxRest, end-from)
	n, err := f.ReadAt(s.buf[:want], from)
	if int64(n) < want {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF // the log was truncated
		}
		return err
	}
	b := s.block
	whole := int(to - from) // the length of the lines
	if i := bytes.IndexByte(s.buf[whole-1:want], '\n'); i >= 0 {
		b.add(s.buf[:whole+i])
		part := min(b.length, sampleLen)
		b.sample = crc32.Update(crc32.Checksum(s.buf[:part], castagnoli), castagnoli,
			s.buf[b.length-part:b.length])
		return nil
	}
	next, err := lineAt(f, from+want, end) // a very long line
	if err != nil {
		return err
	}
	if next-from > math.MaxUint32 {
		return io.ErrShortBuffer
	}
	b.length = uint32(next - from)
	b.readAlways()
	return b.takeSample(f, from, s.buf)
}
