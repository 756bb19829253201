// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/nib-log/nib/internal/logread"
)

func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// Last returns sources that are the last n selected lines of the given ones.
// Of a rotated set, only the last file is read. Files stay open for one call of
// Open.
func Last(sources []Source, s Selection, n int) ([]Source, error) {
	var list []Source
	var errs []error
	for _, source := range sources {
		if source.Path == "" {
			list = append(list, lastLines(source, s, n))
			continue
		}
		f, _, err := openTail(source.Path, s, n)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		last := Source{Name: source.Path, Open: func(context.Context) (io.ReadCloser, error) {
			return joinedFrom(f, hasParts(f)), nil
		}}
		list = append(list, lastLines(last, s, n))
	}
	return list, errors.Join(errs...)
}

// lastLines returns the last n selected lines of a source that ends.
func lastLines(source Source, s Selection, n int) Source {
	return Source{Name: source.Name, Open: func(ctx context.Context) (io.ReadCloser, error) {
		r, err := source.Open(ctx)
		if err != nil {
			return nil, err
		}
		return &lastReader{ReadCloser: r, worker: s.newWorker(nil, false), n: n}, nil
	}}
}

// A lastReader reads all lines and returns the last n selected ones.
type lastReader struct {
	io.ReadCloser
	worker  *worker
	n       int
	lines   bytes.Reader
	err     error // after the lines; nil before they are read
	skipped Counts
}

func (r *lastReader) leftOut() Counts { return r.skipped }

func (r *lastReader) Read(p []byte) (int, error) {
	if r.err == nil {
		r.err = r.find()
	}
	if r.lines.Len() == 0 {
		return 0, r.err
	}
	return r.lines.Read(p)
}

// find reads the lines, and returns the error that ended them.
func (r *lastReader) find() error {
	if r.n == 0 {
		return io.EOF
	}
	var ring [][]byte
	at, end := 0, io.EOF // at is the index of the oldest line
	for l, err := range logread.Lines(r.ReadCloser) {
		if err != nil {
			end = err
			break
		}
		line := &r.worker.line
		if line.Reset(l.Bytes()); !r.worker.query.Match(line) {
			r.skipped.Lines++
			r.skipped.leaveOut(line, r.worker.query)
			continue
		}
		if len(ring) < r.n {
			ring = append(ring, append(bytes.Clone(l.Bytes()), '\n'))
			continue
		}
		ring[at] = append(append(ring[at][:0], l.Bytes()...), '\n')
		at = (at + 1) % r.n
	}
	r.lines.Reset(bytes.Join(slices.Concat(ring[at:], ring[:at]), nil))
	return end
}
