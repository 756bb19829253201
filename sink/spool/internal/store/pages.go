// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A read error is not damage. Its meaning for the records depends on the errno:
//
//   - EIO of some pages of a file, while the rest of it can be read, is
//     probably a bad sector. The file is read around these pages. If the
//     records in them are not in the copy either, delivery waits and reads
//     again, with growing pauses. When that has failed for giveUpTime and at
//     least giveUpTries times, the pages count as damaged: their records are
//     counted, the rest of the segment is delivered, and its file is
//     quarantined rather than deleted.
//   - Any other error, and EIO of a whole file, is a problem of the process,
//     the system, or the device: too many open files, no memory, a stale
//     handle, no permission. Delivery retries without limit, with growing
//     pauses.
//
// A start does not wait. It fails if it cannot read a page that it needs,
// except for bad sectors after the header of the last segment: there it skips
// the numbers that may have been used.

// A pageError means that some pages of a file cannot be read, and others can.
type pageError struct {
	name  string
	at    int64 // offset of the first page
	bytes int   // bytes in all pages
	err   error
}

func (e *pageError) Error() string {
	return fmt.Sprintf("%d bytes of %s, from offset %d on: %v", e.bytes, e.name, e.at, e.err)
}

func (e *pageError) Unwrap() error { return e.err }

// IsPageError reports whether err may be caused by a bad sector.
func IsPageError(err error) bool { return errors.Is(err, syscall.EIO) }

// IsPartial reports whether the rest of the file could be read.
func IsPartial(err error) bool {
	var e *pageError
	return errors.As(err, &e)
}

// Read returns the contents of a segment, completed from its copy if necessary.
// If the error is a pageError, it returns the readable part; if it is
// fs.ErrNotExist, the part that exists.
func (d *Dir) Read(g *segment.Old) ([]byte, error) {
	b, err := d.Bytes(SegmentName(g.Number), g.Size)
	if !g.Copied ||
		err == nil && g.Boot == d.Boot && d.Boot != 0 && int64(len(b)) >= g.Size && g.IsWhole(b) {
		return b, err
	}
	kept, e := d.Bytes(CopyName(g.Number), g.Size)
	switch {
	case errors.Is(e, fs.ErrNotExist):
		return b, err
	case e != nil && !IsPartial(e):
		return nil, e
	}
	b = g.Complete(b, kept)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = e
	}
	if err != nil && g.End > 0 && g.HasAll(b) {
		d.note(readInstead, err) // the unreadable part has no records, or the other file has them
		err = nil
	}
	return b, err
}

// Beginning returns the first part of a segment, with more than its notices.
func (d *Dir) Beginning(g *segment.Old) (b []byte, err error) {
	b, err = d.Bytes(SegmentName(g.Number), segment.MinSize)
	if errors.Is(err, fs.ErrNotExist) && g.Copied {
		b, err = d.Bytes(CopyName(g.Number), segment.MinSize)
		b = g.Complete(slices.Clip(b[:min(len(b), segment.HeaderSize)]), b)
	}
	if IsPartial(err) {
		err = nil
	}
	return b, err
}

// Bytes returns the first size bytes of a file, or as many as there are. With a
// pageError, the pages that cannot be read are filled with Poison.
func (d *Dir) Bytes(name string, size int64) ([]byte, error) {
	f, err := d.FS.Open(d.Name(name), os.O_RDONLY, 0)
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
	if IsPageError(err) {
		n, err = readAround(f, b, name)
	}
	if err == io.EOF {
		err = nil
	}
	switch gone, e := d.isGone(f, name); {
	case e != nil:
		return nil, e
	case gone:
		err = fs.ErrNotExist
	}
	return b[:n&^7], err
}

// isGone reports whether an open file was deleted, and may be being truncated
// or used for another segment. In a directory that this process has locked, it
// reads no segment that may be used again.
func (d *Dir) isGone(f vfs.File, name string) (bool, error) {
	info, err := f.Stat()
	if info.Links == 0 || d.Lock != nil {
		return err == nil && info.Links == 0, err
	}
	named, err := d.FS.Lstat(d.Name(name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && named.ID != info.ID {
		return true, nil
	}
	return false, err
}

// readAround reads a file page by page.
func readAround(f io.ReaderAt, b []byte, name string) (n int, err error) {
	bad := &pageError{name: name}
	for at := 0; at < len(b); at += segment.PageSize {
		page := b[at:min(at+segment.PageSize, len(b))]
		switch m, err := f.ReadAt(page, int64(at)); {
		case IsPageError(err):
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
			n = at + m
			if m < len(page) {
				b = b[:at] // the file ends
			}
		}
	}
	switch {
	case bad.err == nil:
		return n, nil // the second attempt succeeded
	case bad.bytes >= n:
		return 0, bad.err // no page can be read
	}
	return n, bad
}

// readInstead is the operation reported if a segment cannot be read but its
// copy has everything: a disk that begins to fail should be replaced before
// data is lost.
const readInstead = "read a segment, whose copy is read instead"

// A Noted error is reported later by the spool, which may hold its lock now.
type Noted struct {
	Op  string
	Err error
}

// notes are the noted errors.
type notes struct {
	notesMu sync.Mutex
	noted   []Noted
}

// TakeNoted returns the errors that were noted since the last call.
func (n *notes) TakeNoted() []Noted {
	n.notesMu.Lock()
	defer n.notesMu.Unlock()
	list := n.noted
	n.noted = nil
	return list
}

// note notes an error, unless it is nil, for TakeNoted.
func (n *notes) note(op string, err error) {
	if err == nil {
		return
	}
	n.notesMu.Lock()
	defer n.notesMu.Unlock()
	n.noted = append(n.noted, Noted{op, err})
}

// Close closes a file that was written to and notes the error: some systems
// report failed writes only then.
func (n *notes) Close(what string, f vfs.File) {
	if err := f.Close(); err != nil {
		n.note("close "+what, err)
	}
}

// IsCutOff reports whether the file of g was truncated or removed.
func (d *Dir) IsCutOff(g *segment.Segment) bool {
	info, err := d.FS.Lstat(d.Name(SegmentName(g.Number)))
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size < g.Size
}

// QuickEnd returns the beginning of a segment, including the first record, and
// the number and the offset after the last record. ok is false unless the
// records are contiguous and followed only by zeros or the end of the file.
// Since Open waits for it, it reads through a window that stays in the
// processor's cache. All other segments need Read and a Scanner, which find the
// same number in such a segment.
func (d *Dir) QuickEnd(g *segment.Old) (head []byte, next uint64, used int, label uint32, ok bool) {
	if g.Copied && (g.Boot != d.Boot || d.Boot == 0) {
		return nil, 0, 0, 0, false // the copy may have more
	}
	f, err := d.FS.Open(d.Name(SegmentName(g.Number)), os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, 0, 0, false
	}
	defer f.Close()
	head = make([]byte, min(segment.HeaderSize+segment.Window, g.Size))
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, 0, 0, 0, false
	}
	next, used, label, ok = g.RunToEnd(f)
	return head, next, used, label, ok
}
