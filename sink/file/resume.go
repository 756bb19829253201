// SPDX-License-Identifier: Apache-2.0

package file

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/file/internal/mark"
)

// resumeAfter is Resume under the lock of the sink.
func (d *destination) resumeAfter(
	ctx context.Context, stored []byte, batch []nib.Record,
) (taken int, err error) {
	d.beginMarking()
	if p, ok := mark.Parse(stored); ok {
		taken, err = d.resume(ctx, p, batch)
	} else {
		d.moveToEnd()
	}
	if 0 < taken && taken < len(batch) {
		d.claims.Settle() // the claimed part has no record for a further call of Resume
	}
	return taken, err
}

func (d *destination) resume(
	ctx context.Context, p mark.Position, batch []nib.Record,
) (taken int, err error) {
	sections, err := d.unsettledSections(p)
	defer func() {
		for _, t := range sections {
			d.close(t)
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
		n, end, err := t.Find(ctx, batch[taken:])
		if err == nil && n > 0 {
			err = t.File.SyncData() // the writer may have died before the sync
		}
		if err != nil {
			return 0, d.w.fail("read", err)
		}
		if taken += n; n > 0 {
			d.moveTo(t.File, t.ID, end)
			d.settledIn, d.settledEnd = t.ID, end
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

// unsettledSections returns the parts of files that were written after a
// position and may not be settled, or none if the file of the position is not
// found.
func (d *destination) unsettledSections(p mark.Position) (sections []mark.Section, err error) {
	if d.mayClaim() {
		d.claims.Lock()
	}
	defer d.claims.Unlock() // then others may write, but not to the claimed part
	in, start, end, known := d.claims.InFlight(p)
	if sections, err = d.sectionsAfter(in); err != nil || len(sections) == 0 {
		return sections, err
	}
	d.inDoubt, d.doubtFrom, d.doubtEnd = true, start, 0
	if !known {
		return sections, nil
	}
	for _, t := range sections[1:] {
		d.close(t)
	}
	sections = sections[:1]
	t := &sections[0]
	info, err := t.File.Stat()
	if err == nil && start < t.At { // a partial line of another process may have been completed
		var within bool
		if within, err = mark.IsWithinLine(t.File, t.At); !within {
			start = t.At
		}
	}
	if err != nil {
		return sections, err
	}
	t.At, t.End = start, min(end, info.Size)
	d.inDoubt, d.doubtEnd = end == mark.End, info.Size
	return sections, nil
}

// sectionsAfter returns the sections that were written after a position: the
// rest of its file, the files that were rotated later, and the live file. It
// returns none if the file of the position is not found.
func (d *destination) sectionsAfter(p mark.Position) (sections []mark.Section, err error) {
	if d.w.file == nil {
		return nil, errNoFile
	}
	if d.w.id == p.ID {
		if ok, err := p.IsIn(d.w.file); !ok {
			return nil, err
		}
		return []mark.Section{d.live(p.At)}, nil
	}
	names, err := d.w.fs.ReadDir(d.w.dir)
	if err != nil {
		return nil, err
	}
	name, f, err := d.findFile(names, p)
	if f == nil {
		return nil, err
	}
	sections = []mark.Section{{File: f, ID: p.ID, At: p.At, End: mark.End}}
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
			sections = append(sections, mark.Section{File: f, ID: info.ID, End: mark.End})
			if err != nil {
				return sections, err
			}
		}
	}
	return append(sections, d.live(0)), nil
}

// live returns the section of the live file from an offset on.
func (d *destination) live(at int64) mark.Section {
	return mark.Section{File: d.w.file, ID: d.w.id, At: at, End: mark.End}
}

// findFile searches for the file of a position under any name that begins like
// the log's. An error means that one of these files cannot be read now, which
// may be the right one.
func (d *destination) findFile(
	names []string, p mark.Position,
) (name string, f vfs.File, err error) {
	for _, name := range names {
		if !strings.HasPrefix(name, d.w.naming.stem) {
			continue
		}
		path := d.w.pathOf(name)
		info, err := d.w.fs.Lstat(path)
		if err == nil && (info.ID != p.ID || !info.Mode.IsRegular()) ||
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
		ok, err := p.IsIn(f)
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

// close closes the file of a section, unless it is the live one.
func (d *destination) close(t mark.Section) {
	if t.File != d.w.file {
		_ = t.File.Close() // nothing was written
	}
}
