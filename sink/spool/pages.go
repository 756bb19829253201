// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// An error of a read is no damage. What it means for the records decides the
// errno:
//
//   - EIO of some pages of a file, while the rest of it can be read, is
//     probably a bad sector. The file is read around these pages. If the
//     records in them are not in the copy either, delivery waits and reads
//     again, with growing pauses. When that has failed for giveUpTime and at
//     least giveUpTries times, the pages count as damaged: their records are
//     counted, the rest of the segment is delivered, and its file is
//     quarantined rather than deleted.
//   - Any other error, and EIO of a whole file, is about the process, the
//     system, or the device: too many open files, no memory, a stale handle, no
//     rights. Delivery reads again, with growing pauses, for as long as it
//     takes.
//
// A start does not wait. It fails if it cannot read what it needs, but for bad
// sectors behind the header of the last segment: there it skips the numbers
// that may have been used.

const (
	giveUpTime  = 30 * time.Second
	giveUpTries = 10
)

// A pageError means that some pages of a file cannot be read, and others can.
type pageError struct {
	name  string
	at    int64 // of the first page
	bytes int   // in all of them
	err   error
}

func (e *pageError) Error() string {
	return fmt.Sprintf("%d bytes of %s, from offset %d on: %v", e.bytes, e.name, e.at, e.err)
}

func (e *pageError) Unwrap() error { return e.err }

// isPageError reports whether err may be that of a bad sector.
func isPageError(err error) bool { return errors.Is(err, syscall.EIO) }

// isPartial reports whether the rest of the file could be read.
func isPartial(err error) bool {
	var e *pageError
	return errors.As(err, &e)
}

// read returns what there is of a segment, with the help of its copy if that is
// needed. The bytes are what can be read if the error is a pageError, and all
// there is if it is fs.ErrNotExist.
func (d *dir) read(g *segment.Old) ([]byte, error) {
	b, err := d.bytes(segmentName(g.Number), g.Size)
	if !g.Copied || err == nil && g.Boot == d.boot && d.boot != 0 && int64(len(b)) >= g.Size && g.IsWhole(b) {
		return b, err
	}
	kept, e := d.bytes(copyName(g.Number), g.Size)
	switch {
	case errors.Is(e, fs.ErrNotExist):
		return b, err
	case e != nil && !isPartial(e):
		return nil, e
	}
	b = g.Complete(b, kept)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = e
	}
	if err != nil && g.End > g.First && g.End == g.Sure && g.HasAll(b) {
		d.note(readInstead, err) // no record is where it cannot be read, or the other file has it
		err = nil
	}
	return b, err
}

// bytes returns the first size bytes of a file, or as many as there are. With a
// pageError, the pages that cannot be read are full of poison.
func (d *dir) bytes(name string, size int64) ([]byte, error) {
	f, err := d.fs.Open(d.name(name), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b := make([]byte, min(info.Size, size)&^7)
	n, err := f.ReadAt(b, 0)
	if isPageError(err) {
		n, err = readAround(f, b, name)
	}
	if err == io.EOF {
		err = nil
	}
	info, e := f.Stat()
	switch {
	case e != nil:
		return nil, e
	case info.Links == 0:
		err = fs.ErrNotExist // and it may be truncated concurrently
	}
	return b[:n&^7], err
}

// readAround reads a file page by page.
func readAround(f io.ReaderAt, b []byte, name string) (n int, err error) {
	bad := &pageError{name: name}
	for at := 0; at < len(b); at += segment.PageSize {
		page := b[at:min(at+segment.PageSize, len(b))]
		switch m, err := f.ReadAt(page, int64(at)); {
		case isPageError(err):
			if bad.err == nil {
				bad.at, bad.err = int64(at), err
			}
			bad.bytes += len(page)
			for i := range page {
				page[i] = segment.Poison
			}
			n = at + len(page)
		case err != nil && err != io.EOF:
			return 0, err
		default:
			if m > 0 {
				n = at + m
			}
			if m < len(page) {
				b = b[:at] // the file ends
			}
		}
	}
	switch {
	case bad.err == nil:
		return n, nil // it was well a moment later
	case bad.bytes >= n:
		return 0, bad.err // no page is left
	}
	return n, bad
}

// readInstead is the operation of an error of a segment whose copy has
// everything: a disk that begins to fail is to be replaced before the copy is
// needed.
const readInstead = "read a segment, whose copy is read instead"

// note notes an error for reportNoted. Sink.mu may be held.
func (d *dir) note(op string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.noted = append(d.noted, opError{op, err, err.Error()})
}

// close closes a file that was written to: some systems report only then that
// they could not write.
func (d *dir) close(what string, f vfs.File) {
	if err := f.Close(); err != nil {
		d.note("close "+what, err)
	}
}

// reportNoted counts and reports what was noted.
func (s *Sink) reportNoted() {
	if s.dir == nil {
		return
	}
	s.dir.mu.Lock()
	noted := s.dir.noted
	s.dir.noted = nil
	s.dir.mu.Unlock()
	for _, e := range noted {
		s.fault(e.op, e.err)
	}
}

// A rereading is the state of a delivery that cannot read a segment.
type rereading struct {
	since time.Time
	tries int
}

// readOld reads an old segment. If that fails, ok is false, and the delivery
// has waited before it reads again. given reports that pages have failed for so
// long that they count as damaged.
func (d *deliverer) readOld(g *segment.Old) (b []byte, given, ok bool) {
	b, err := d.s.dir.read(g)
	d.s.reportNoted()
	if errors.Is(err, fs.ErrNotExist) {
		if e := d.s.dir.held(); e != nil {
			err = e // the directory was replaced, or that cannot be determined
		} else {
			d.s.fault("read a segment", err)
			d.again, d.pause = rereading{}, 0
			return nil, true, true
		}
	}
	if err == nil {
		if d.again.tries > 0 {
			d.again, d.pause = rereading{}, 0
		}
		return b, int64(len(b)) < g.Size&^7, true
	}
	if d.again.tries == 0 {
		d.again.since = time.Now()
	}
	d.again.tries++
	if isPartial(err) && d.again.tries >= giveUpTries && time.Since(d.again.since) >= giveUpTime {
		d.s.fault("give up pages of a segment that could not be read for "+giveUpTime.String(), err)
		d.again, d.pause = rereading{}, 0
		d.quarantine()
		return b, true, true
	}
	d.s.fault("read a segment", err)
	d.wait()
	return nil, false, false
}

// quarantine has the file quarantined, rather than deleted, when it is settled.
func (d *deliverer) quarantine() {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if !d.reading.bad {
		d.reading.bad = true
		d.s.stats.Bad++
	}
}
