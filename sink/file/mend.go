// SPDX-License-Identifier: Apache-2.0

package file

import (
	"errors"
	"io"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/file/internal/mark"
)

// A batch begins with the first line that is not in the file. Before it is
// written, repairEnd and completeRecord handle the rest of a batch whose
// process died while writing it.
//
// A partial line that is the beginning of the first record is completed, if no
// other process has the file open: then the file has the whole record,
// whichever process wrote it. The same applies to the first lines of a record
// of several lines, if they are after the position. If everything after the
// position equals the bytes to be written now, except for sectors that read as
// zeros, it was written by a process that died with the machine, and is
// truncated. Anything else is left unchanged, and the next writer ends it with
// a newline.

// repairEnd truncates the damaged end that a power failure may leave, and
// returns the number of bytes of the first record of batch with which the file
// then ends.
func (d *destination) repairEnd(batch []nib.Record) (there int64, err error) {
	if d.w.file == nil || d.w.tainted {
		d.inDoubt = false
		return 0, nil
	}
	if d.w.unseen {
		d.w.seeEnd()
	}
	isDoubtful := d.inDoubt && d.position.ID == d.w.id &&
		(d.doubtEnd == 0 || d.doubtEnd == d.w.size)
	if isDoubtful {
		if err := d.truncateHoled(batch); err != nil {
			return 0, err
		}
	}
	from := int64(0)
	switch {
	case d.w.torn && d.settledIn == d.w.id:
		from = d.settledEnd
	case d.w.torn:
	case isDoubtful: // the file may still end after one of several lines
		from = max(d.position.At, d.doubtFrom)
	default:
		d.inDoubt = false
		return 0, nil
	}
	there, err = d.partialRecord(batch[0].Line, from)
	d.inDoubt = there > 0 || err != nil
	return there, err
}

// completeRecord completes record, whose first there bytes are at the end of
// the file. It returns the number of records that are then in the file.
func (d *destination) completeRecord(record []byte, there int64) (n int, err error) {
	if there == 0 {
		return 0, nil
	}
	defer d.share()
	switch err := d.w.file.Lock(vfs.Exclusive); {
	case err == vfs.ErrLocked:
		d.inDoubt = false
		return 0, nil // two processes could complete the line; it is ended with a newline
	case err != nil && !errors.Is(err, errors.ErrUnsupported):
		return 0, d.w.fail("lock", err)
	}
	if there, err = d.partialRecord(record, d.w.size-there); there > 0 {
		if _, err = d.w.put(record[there:]); err == nil {
			n = 1
		}
	}
	d.inDoubt = err != nil // if it fails, the next call checks again
	return n, err
}

// partialRecord returns the number of bytes of record with which the file ends,
// from offset from on: fewer than all, and starting at the beginning of a line.
func (d *destination) partialRecord(record []byte, from int64) (n int64, err error) {
	n, err = mark.Begun(d.w.file, record, from)
	return n, d.readError(err)
}

// share takes the shared lock again. It fails only if another process takes the
// lock at that moment.
func (d *destination) share() {
	if err := d.w.file.Lock(vfs.Shared); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		d.w.errors.report("lock", err)
	}
}

// readError records err as a failure of the file, unless it is io.EOF: the file
// has just become shorter.
func (d *destination) readError(err error) error {
	if err == nil || err == io.EOF {
		return nil
	}
	return d.w.fail("read", err)
}

// truncateHoled truncates the file at the position if the bytes after it are
// batch with holes. No other process may have the file open, since it might
// write at that moment.
func (d *destination) truncateHoled(batch []nib.Record) error {
	at := d.position.At
	info, err := d.w.file.Stat()
	if err != nil {
		return d.w.fail("read", err)
	}
	if holed, err := mark.Holed(d.w.file, batch, at, info.Size); !holed {
		return d.readError(err)
	}
	defer d.share()
	switch err := d.w.file.Lock(vfs.Exclusive); {
	case err == vfs.ErrLocked || errors.Is(err, errors.ErrUnsupported):
		return nil // the file stays as it is
	case err != nil:
		return d.w.fail("lock", err)
	}
	if now, err := d.w.file.Stat(); err != nil || now.Size != info.Size {
		return nil
	}
	if err := d.w.file.Truncate(at); err != nil {
		return d.w.fail("truncate", err)
	}
	d.w.size, d.w.torn = at, false
	return nil
}
