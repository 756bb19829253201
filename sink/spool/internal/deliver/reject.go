// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"errors"
	"io/fs"
	"os"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/deadletter"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

const (
	RejectedExt = deadletter.Ext
	maxOpens    = 100 // of a file that others move, before a batch is counted instead
)

// A refusal is a record that the destination will never accept.
type refusal struct {
	r      *nib.Record
	reason string
}

// putRejected appends records to the file NAME.rejected, as JSON lines from
// which nib relay --rejected can deliver them again. Records that do not fit or
// cannot be written are counted, and delivery continues. After a crash, records
// may be in the file twice.
func (d *account) putRejected(list []refusal) {
	kept, err := 0, error(nil)
	if d.dir != nil {
		file := rejectedFile{d.dir, d.Options.Name, d.Options.RejectedSize}
		if kept, err = file.append(list); err != nil {
			d.spool.Fault("keep rejected lines", err)
		}
	}
	d.chain.Lock()
	d.Unsaved += uint64(len(list) - kept)
	d.chain.Unlock()
}

// A rejectedFile is the file NAME.rejected of a destination.
type rejectedFile struct {
	dir  *store.Dir
	name string // of the destination
	most int64  // maximum size, with the file that nib relay delivers now; negative: no file
}

// append appends the records that fit.
func (x *rejectedFile) append(list []refusal) (kept int, err error) {
	if x.most < 0 {
		return 0, nil
	}
	f, info, err := x.open()
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	if err := store.CheckOwner(info, x.name+RejectedExt); err != nil {
		return 0, err
	}
	retried, err := x.retriedSize()
	if err != nil {
		return 0, err
	}
	text := endLine(f, info.Size)
	for _, refused := range list {
		n := len(text)
		entry := deadletter.Entry{Record: *refused.r, Reason: refused.reason}
		text = deadletter.Append(text, &entry)
		if retried+info.Size+int64(len(text)) > x.most {
			text = text[:n] // a shorter one may fit
			continue
		}
		kept++
	}
	if kept == 0 {
		return 0, nil
	}
	for len(text) > 0 {
		n, err := f.Write(text)
		if err != nil {
			return 0, err
		}
		text = text[n:]
	}
	return kept, nil
}

// retriedSize returns the size of the file that nib relay --rejected delivers
// now: what is rejected again comes back.
func (x *rejectedFile) retriedSize() (int64, error) {
	info, err := x.dir.FS.Lstat(x.dir.Name(x.name + deadletter.RetryExt))
	return info.Size, store.Ignore(err, fs.ErrNotExist)
}

// errMoved indicates that a file has another name by now, or is locked.
var errMoved = errors.New("another process moves or locks the file of rejected records")

// open opens the file, and locks it where files can be locked. It is opened for
// each batch, so that it can be moved away at any time: a process that moves it
// and then locks it exclusively has all of its lines.
func (x *rejectedFile) open() (f vfs.File, info vfs.Info, err error) {
	name := x.dir.Name(x.name + RejectedExt)
	for range maxOpens {
		if f, err = x.dir.FS.Open(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return nil, info, err
		}
		if info, err = x.lockNamed(f, name); err == nil {
			return f, info, nil
		}
		_ = f.Close() // nothing was written
		if err != errMoved {
			break
		}
	}
	return nil, info, err
}

// lockNamed locks f and ensures that it has the name.
func (x *rejectedFile) lockNamed(f vfs.File, name string) (vfs.Info, error) {
	err := f.Lock(vfs.Shared)
	if errors.Is(err, vfs.ErrLocked) {
		return vfs.Info{}, errMoved // it is locked after it was moved
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return vfs.Info{}, err
	}
	info, err := f.Stat()
	if err != nil {
		return vfs.Info{}, err
	}
	named, err := x.dir.FS.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && named.ID != info.ID {
		err = errMoved
	}
	return info, err
}

// endLine returns the text to write before the next line: a newline if the last
// line was cut off.
func endLine(f vfs.File, size int64) []byte {
	var last [1]byte
	if size == 0 {
		return nil
	}
	if _, _ = f.ReadAt(last[:], size-1); last[0] == '\n' {
		return nil
	}
	return []byte{'\n'}
}
