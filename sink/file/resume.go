// SPDX-License-Identifier: Apache-2.0

package file

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// resumeAfter is Resume under the lock of the sink.
func (d *destination) resumeAfter(
	ctx context.Context, mark []byte, batch []nib.Record,
) (taken int, err error) {
	d.beginMarking()
	if p, ok := readMark(mark); ok {
		taken, err = d.resume(ctx, p, batch)
	} else {
		d.moveToEnd()
	}
	if 0 < taken && taken < len(batch) {
		d.claims.epoch++ // everything claimed before is settled
	}
	return taken, err
}

func (d *destination) resume(ctx context.Context, p position, batch []nib.Record) (taken int, err error) {
	sections, err := d.unsettledSections(p)
	defer func() {
		for _, t := range sections {
			t.close(d.w.file)
		}
	}()
	if err != nil {
		return 0, d.w.fail("read", err)
	}
	if len(sections) == 0 {
		d.moveToEnd()
		return 0, nil
	}
	d.position, d.stored = p, false
	for _, t := range sections {
		n, end, err := t.find(ctx, batch[taken:])
		if err == nil && n > 0 {
			err = t.f.SyncData() // the writer may have died before the sync
		}
		if err != nil {
			return 0, d.w.fail("read", err)
		}
		if taken += n; n > 0 {
			d.moveTo(t.f, t.id, end)
		}
	}
	if taken > 0 {
		err = d.w.sync() // syncs the directory, which has the names
	}
	if err != nil {
		return 0, err
	}
	return taken, nil
}

// A section is the part of a file between two offsets; the second one may be
// past its end.
type section struct {
	f       vfs.File
	id      vfs.ID
	at, end int64
}

// unsettledSections returns the parts of files that were written after a
// position and may not be settled, or none if the file of the position is not
// found.
func (d *destination) unsettledSections(p position) (sections []section, err error) {
	d.lockClaims()
	defer d.unlockClaims() // then others may write, but not to the claimed part
	in, start, end, known := d.inFlight(p)
	if sections, err = d.sectionsAfter(in); err != nil || len(sections) == 0 {
		return sections, err
	}
	d.doubt, d.from, d.until = true, start, 0
	if !known {
		return sections, nil
	}
	for _, t := range sections[1:] {
		t.close(d.w.file)
	}
	sections = sections[:1]
	t := &sections[0]
	info, err := t.f.Stat()
	if err == nil && start < t.at { // a partial line of another process may have been completed
		var within bool
		if within, err = isWithinLine(t.f, t.at); !within {
			start = t.at
		}
	}
	if err != nil {
		return sections, err
	}
	t.at, t.end = start, min(end, info.Size)
	d.doubt, d.until = end == openEnd, info.Size
	return sections, nil
}

// isWithinLine reports whether there is no newline before an offset of f.
func isWithinLine(f vfs.File, at int64) (bool, error) {
	var last [1]byte
	_, err := f.ReadAt(last[:], at-1)
	return last[0] != '\n', err
}

// sectionsAfter returns the sections that were written after a position: the
// rest of its file, the files that were rotated later, and the live file. It
// returns none if the file of the position is not found.
func (d *destination) sectionsAfter(p position) (sections []section, err error) {
	if d.w.file == nil {
		return nil, errNoFile
	}
	if d.w.id == p.id {
		if ok, err := p.isIn(d.w.file); !ok {
			return nil, err
		}
		return []section{{d.w.file, d.w.id, p.at, openEnd}}, nil
	}
	names, err := d.w.fs.ReadDir(d.w.dir)
	if err != nil {
		return nil, err
	}
	name, f, err := d.findFile(names, p)
	if f == nil {
		return nil, err
	}
	sections = []section{{f, p.id, p.at, openEnd}}
	if b, ok := d.w.naming.parse(name); ok {
		for _, later := range d.rotatedAfter(names, b) {
			f, err := d.w.fs.Open(d.w.pathOf(later.name), os.O_RDONLY, 0)
			if errors.Is(err, fs.ErrNotExist) {
				continue // just compressed, so it is older than the unsettled records
			}
			if err != nil {
				return sections, err
			}
			info, err := f.Stat()
			sections = append(sections, section{f, info.ID, 0, openEnd})
			if err != nil {
				return sections, err
			}
		}
	}
	return append(sections, section{d.w.file, d.w.id, 0, openEnd}), nil
}

// findFile searches for the file of a position under any name that begins like
// the log'd. An error means that one of these files cannot be read now, which
// may be the right one.
func (d *destination) findFile(names []string, p position) (name string, f vfs.File, err error) {
	for _, name := range names {
		if !strings.HasPrefix(name, d.w.naming.stem) {
			continue
		}
		path := d.w.pathOf(name)
		info, err := d.w.fs.Lstat(path)
		if err == nil && (info.ID != p.id || !info.Mode.IsRegular()) ||
			errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		f, err := d.w.fs.Open(path, os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", nil, err
		}
		ok, err := p.isIn(f)
		if ok {
			return name, f, nil
		}
		_ = f.Close() // nothing was written
		if err != nil {
			return "", nil, err
		}
	}
	return "", nil, nil
}

// rotatedAfter returns the old files that were rotated after b and are not
// compressed, oldest first.
func (d *destination) rotatedAfter(names []string, b backup) (later []backup) {
	for _, name := range names {
		if o, ok := d.w.naming.parse(name); ok && o.packed == "" && o.compare(b) < 0 {
			later = append(later, o)
		}
	}
	slices.SortFunc(later, func(a, b backup) int { return b.compare(a) })
	return later
}

func (t section) close(live vfs.File) {
	if t.f != live {
		_ = t.f.Close() // nothing was written
	}
}

// find searches for the records of batch, one after the other, and returns the
// number of records found and the end of the last one. A record may have
// several lines, like those of sink/console: it is found if all of them are,
// one after the other.
func (t section) find(ctx context.Context, batch []nib.Record) (n int, end int64, err error) {
	info, err := t.f.Stat()
	if err != nil {
		return 0, 0, err
	}
	last := min(info.Size, t.end)
	from := func(at int64) io.Reader { return io.NewSectionReader(t.f, at, max(last-at, 0)) }
	in := bufio.NewReaderSize(from(t.at), deliverySize)
	at := t.at
	for n < len(batch) {
		want := batch[n].Line
		same, line, size, err := nextIs(in, want)
		if err == io.EOF {
			return n, end, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return n, end, err
		}
		if same {
			at += size
			n, end = n+1, at
			continue
		}
		if at += line; line < size {
			in.Reset(from(at)) // the record may begin at the second line that was read
		}
	}
	return n, end, nil
}

// nextIs reads a line, and further lines of want while they are equal. line is
// the length of the first line, and size how much was read. A line without a
// newline does not count.
func nextIs(in *bufio.Reader, want []byte) (same bool, line, size int64, err error) {
	for {
		part, err := in.ReadSlice('\n')
		size += int64(len(part))
		want, same = bytes.CutPrefix(want, part)
		for !same && err == bufio.ErrBufferFull && line == 0 {
			part, err = in.ReadSlice('\n')
			size += int64(len(part))
		}
		if err == nil && line == 0 {
			line = size
		}
		switch {
		case err != nil && err != bufio.ErrBufferFull:
			return same, line, size, err
		case !same || len(want) == 0:
			return same, line, size, nil
		}
	}
}
