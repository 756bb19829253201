// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// maxWindow bounds the memory that a compressed file may ask for.
const maxWindow = 128 << 20

// formats are the compressed formats, by the first bytes of a file.
var formats = []struct {
	magic string
	open  func(r *bufio.Reader) (io.Reader, error)
}{
	{"\x1f\x8b", func(r *bufio.Reader) (io.Reader, error) { return newMembers(r) }},
	{"\x28\xb5\x2f\xfd", func(r *bufio.Reader) (io.Reader, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}},
	{"BZh", func(r *bufio.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"\xfd7zXZ\x00", func(r *bufio.Reader) (io.Reader, error) {
		return xz.ReaderConfig{DictCap: maxWindow}.NewReader(r)
	}},
	{"\x04\x22\x4d\x18", func(r *bufio.Reader) (io.Reader, error) { return lz4.NewReader(r), nil }},
	{"__CURSOR=", func(r *bufio.Reader) (io.Reader, error) { return newJournal(r), nil }},
	{"__REALTIME_TIMESTAMP=",
		func(r *bufio.Reader) (io.Reader, error) { return newJournal(r), nil }},
}

const longestMagic = len("__REALTIME_TIMESTAMP=")

// A members reads the members of a gzip file. Zeros behind a member, as tapes
// and block devices have, are skipped.
type members struct {
	in *bufio.Reader
	z  *gzip.Reader
}

func newMembers(r *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{r, z}, nil
}

func (m *members) Read(p []byte) (int, error) {
	n, err := m.z.Read(p)
	if err != io.EOF {
		return n, err
	}
	for {
		b, err := m.in.ReadByte()
		if err != nil {
			return n, err
		}
		if b != 0 {
			break
		}
	}
	if err := m.in.UnreadByte(); err != nil {
		return n, err
	}
	if err := m.z.Reset(m.in); err != nil {
		return n, err
	}
	m.z.Multistream(false)
	return n, nil
}

// decompress returns a reader of the lines in r, which may be compressed. It
// recognises the format by the first bytes, since the name of a file may be
// wrong.
func decompress(r io.ReadCloser) (io.ReadCloser, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	first, err := in.Peek(1)
	for err == nil && formatOf(first) == nil && isBeginning(first) {
		first, err = in.Peek(len(first) + 1)
	}
	if err != nil && err != io.EOF {
		return nil, err
	}
	open := formatOf(first)
	if open == nil {
		return &opened{joined(in), r}, nil
	}
	d, err := open(in)
	if err != nil {
		return nil, err
	}
	return &opened{joined(d), r}, nil
}

// isCompressed reports whether a file is in one of the formats.
func isCompressed(f io.ReaderAt) bool {
	var first [longestMagic]byte
	n, _ := f.ReadAt(first[:], 0) // a file may be short
	return formatOf(first[:n]) != nil
}

// formatOf returns the function that decompresses a file that begins with b, or
// nil if the file is not compressed.
func formatOf(b []byte) func(*bufio.Reader) (io.Reader, error) {
	for _, f := range formats {
		if bytes.HasPrefix(b, []byte(f.magic)) {
			return f.open
		}
	}
	return nil
}

// isBeginning reports whether a format begins with b.
func isBeginning(b []byte) bool {
	for _, f := range formats {
		if strings.HasPrefix(f.magic, string(b)) {
			return true
		}
	}
	return false
}

// opened is a reader and its underlying reader.
type opened struct {
	io.Reader
	file io.Closer
}

// Close closes both.
func (o *opened) Close() error {
	if c, ok := o.Reader.(io.Closer); ok {
		_ = c.Close() // only read
	}
	return o.file.Close()
}

// interrupt closes only the underlying reader: a decoder must not be closed
// while another goroutine reads from it.
func (o *opened) interrupt() { interrupt(o.file) }

// interrupt ends a Read of another goroutine, which then closes r.
func interrupt(r io.Closer) {
	if i, ok := r.(interface{ interrupt() }); ok {
		i.interrupt()
		return
	}
	_ = r.Close() // only read
}
