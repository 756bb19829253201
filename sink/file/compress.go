// SPDX-License-Identifier: Apache-2.0

package file

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
	"time"

	"github.com/nib-log/nib/internal/usercode"
	"github.com/nib-log/nib/internal/vfs"
)

// A Compressor compresses old files. The zero Compressor compresses none.
type Compressor struct {
	// Extension is the suffix of the names of compressed files: a dot, letters
	// and digits.
	Extension string

	// Compress reads src to its end and writes the compressed data to dst. It
	// must return an error of either, and must not retain them. A sink calls it
	// from one goroutine at a time.
	Compress func(dst io.Writer, src io.Reader) error

	level int // of Gzip
}

// Gzip returns a Compressor that uses compress/gzip, at a level from 1 to 9 or,
// if level is 0, at the default one.
func Gzip(level int) Compressor {
	compress := func(dst io.Writer, src io.Reader) error {
		w, err := gzip.NewWriterLevel(dst, cmp.Or(level, gzip.DefaultCompression))
		if err != nil {
			return err
		}
		if _, err := io.Copy(w, src); err != nil {
			return err
		}
		return w.Close()
	}
	return Compressor{Extension: gzipExtension, Compress: compress, level: level}
}

const gzipExtension = ".gz"

var (
	errBroken = errors.New("interrupted by Close")
	errEnded  = errors.New("the compressor did not return")
)

// compress replaces an old file by a compressed one, which is written under a
// temporary name, synced and renamed before the old one is deleted. Whenever
// the program ends, the lines are in at least one file; temporary files are
// completed or deleted the next time.
//
// The rename takes the turn of rotations: a rotation that has not seen the
// compressed file could otherwise use the name of the old one, which is free
// soon, and the next compression would replace the compressed file.
func (r *retention) compress(b backup) error {
	src, info, err := r.seize(b.name)
	if src == nil {
		return err
	}
	defer src.Close()
	packed := r.pathOf(b.name + r.naming.packs)
	temp := packed + tempExtension
	if err := r.compressInto(temp, src, info); err != nil {
		_ = r.fs.Remove(temp) // if this fails, the file is deleted the next time
		return err
	}
	if now, err := src.Stat(); err != nil || now.Size != info.Size {
		_ = r.fs.Remove(temp)
		return fmt.Errorf("%s was replaced: %w", b.name, errors.Join(err, errMoved))
	}
	turn, err := r.awaitTurn()
	if err != nil {
		_ = r.fs.Remove(temp)
		return err
	}
	err = r.fs.Rename(temp, packed)
	_ = turn.Close() // nothing was written
	if err != nil {
		return err
	}
	if err := r.fs.SyncDir(r.dir); err != nil {
		return err
	}
	return r.unlink(b.name, src, info)
}

// awaitTurn waits for the turn to rotate, which processes keep for the time of
// a rotation. If it takes too long, compressing is repeated later.
func (r *retention) awaitTurn() (turn io.Closer, err error) {
	for range turnTries {
		turn, err = r.takeTurn()
		if !errors.Is(err, vfs.ErrLocked) {
			return turn, err
		}
		if r.quit.Load() {
			return nil, errBroken
		}
		time.Sleep(rotateStep)
	}
	r.failed.Store(true)
	return nil, vfs.ErrLocked
}

// turnTries is the number of attempts of awaitTurn, rotateStep apart: a second.
const turnTries = 1000

// compressInto writes the compressed file.
func (r *retention) compressInto(temp string, src vfs.File, info vfs.Info) (err error) {
	// No other process compresses this file while it is locked, so an existing
	// temporary file is a leftover.
	if err := r.fs.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	dst, err := r.fs.Open(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode.Perm())
	if err != nil {
		return err
	}
	// A deferred call runs even if the compressor ends its goroutine.
	defer func() { err = errors.Join(err, dst.Close()) }()
	made, err := dst.Stat()
	if err != nil {
		return err
	}
	if err := keepRights(dst, made, info); err != nil {
		r.errors.reportNow("compress", err) // fewer users than before can read the file
	}
	if err = r.runCompressor(dst, io.NewSectionReader(src, 0, info.Size)); err == nil {
		err = dst.Sync()
	}
	return err
}

// runCompressor calls user code, and the methods of its results. An error of
// the disk is returned as is.
func (r *retention) runCompressor(file vfs.File, in io.Reader) (err error) {
	src, dst := &stoppable{r: in, quit: &r.quit}, &whole{f: file}
	err = errEnded // recover does not show panic(nil) with GODEBUG=panicnil=1
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the compressor panicked: " + usercode.PanicText(p))
		}
	}()
	err = r.c.Compress.Compress(dst, src)
	switch {
	case src.err != nil:
		err = src.err
	case dst.err != nil:
		err = dst.err
	case err != nil:
		err = &compressorError{err, err.Error()}
	}
	return err
}

// A compressorError is an error of user code, whose methods may panic. So its
// text is taken once, and it is compared with others here and not by Unwrap.
type compressorError struct {
	err  error
	text string
}

func (e *compressorError) Error() string { return e.text }

// Is is called by errors.Is.
func (e *compressorError) Is(target error) (is bool) {
	defer func() { _ = recover() }() // after a panic, the error is not target
	return errors.Is(e.err, target)
}

// As is called by errors.As.
func (e *compressorError) As(target any) (is bool) {
	defer func() { _ = recover() }()
	return errors.As(e.err, target)
}

// A stoppable reader fails when quit is set. It records its error.
type stoppable struct {
	r    io.Reader
	quit *atomic.Bool
	err  error
}

func (r *stoppable) Read(p []byte) (n int, err error) {
	if r.quit.Load() {
		r.err = errBroken
		return 0, errBroken
	}
	if n, err = r.r.Read(p); err != nil && err != io.EOF {
		r.err = err
	}
	return n, err
}

// A whole writer continues after short writes, as an io.Writer must. It records
// its error.
type whole struct {
	f   vfs.File
	err error
}

func (w *whole) Write(p []byte) (n int, err error) {
	for n < len(p) {
		m, err := w.f.Write(p[n:])
		if m <= 0 && err == nil {
			err = io.ErrShortWrite
		}
		if n += m; err != nil {
			w.err = err
			return n, err
		}
	}
	return n, nil
}
