// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/jsonenc"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

const (
	RejectedExt = ".rejected"
	MaxReason   = 1024
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
func (d *Delivery) putRejected(list []refusal) {
	kept, err := 0, error(nil)
	if d.dir != nil {
		if kept, err = d.appendRejected(list); err != nil {
			d.spool.Fault("keep rejected lines", err)
		}
	}
	d.spool.Lock()
	d.Unsaved += uint64(len(list) - kept)
	d.spool.Unlock()
}

func (d *Delivery) appendRejected(list []refusal) (kept int, err error) {
	if d.Options.RejectedSize < 0 {
		return 0, nil
	}
	f, info, err := d.openRejected()
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	if err := store.CheckOwner(info, d.Options.Name+RejectedExt); err != nil {
		return 0, err
	}
	text := endLine(f, info.Size)
	for _, x := range list {
		n := len(text)
		text = appendRefusal(text, x)
		if info.Size+int64(len(text)) > d.Options.RejectedSize {
			text = text[:n]
			break
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

// errMoved indicates that a file has another name by now, or is locked.
var errMoved = errors.New("another process moves or locks the file of rejected records")

// openRejected opens the file of rejected records, and locks it where files can
// be locked. It is opened for each batch, so that it can be moved away at any
// time: a process that moves it and then locks it exclusively has all of its
// lines.
func (d *Delivery) openRejected() (f vfs.File, info vfs.Info, err error) {
	name := d.dir.Name(d.Options.Name + RejectedExt)
	for range maxOpens {
		if f, err = d.dir.FS.Open(name, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600); err != nil {
			return nil, info, err
		}
		if info, err = d.lockNamed(f, name); err == nil {
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
func (d *Delivery) lockNamed(f vfs.File, name string) (vfs.Info, error) {
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
	named, err := d.dir.FS.Lstat(name)
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

// appendRefusal appends the JSON line of x. The line of the record is embedded
// as a JSON object, or as a string if it does not look like one; message is the
// offset and the length of the message in the line.
func appendRefusal(dst []byte, x refusal) []byte {
	dst = append(dst, `{"seq":`...)
	dst = jsonenc.AppendUint(dst, x.r.Seq)
	dst = append(dst, `,"spool":`...)
	dst = jsonenc.AppendString(dst, fmt.Sprintf("%016x", x.r.Spool))
	dst = append(dst, `,"time":`...)
	dst = strconv.AppendInt(dst, x.r.Time, 10)
	dst = append(dst, `,"level":`...)
	dst = jsonenc.AppendString(dst, x.r.Level.String())
	if x.r.Logger != "" {
		dst = append(dst, `,"logger":`...)
		dst = jsonenc.AppendString(dst, x.r.Logger)
	}
	dst = append(dst, `,"reason":`...)
	dst = jsonenc.AppendString(dst, x.reason[:min(len(x.reason), MaxReason)])
	if at := offsetOf(x.r.Line, x.r.Message); at >= 0 {
		dst = jsonenc.AppendUint(append(dst, `,"message":[`...), uint64(at))
		dst = append(jsonenc.AppendUint(append(dst, ','), uint64(len(x.r.Message))), ']')
	}
	dst = append(dst, `,"line":`...)
	line := bytes.TrimSuffix(x.r.Line, []byte{'\n'})
	if bytes.HasPrefix(line, []byte{'{'}) && bytes.HasSuffix(line, []byte{'}'}) && !bytes.ContainsRune(line, '\n') {
		dst = append(dst, line...)
	} else {
		dst = jsonenc.AppendString(dst, string(line))
	}
	return append(dst, "}\n"...)
}

// offsetOf returns the offset of part, a part of line and not only equal to
// one, or -1.
func offsetOf(line, part []byte) int {
	for at := 0; len(part) > 0; at++ {
		i := bytes.Index(line[at:], part)
		if i < 0 {
			break
		}
		if at += i; &line[at] == &part[0] {
			return at
		}
	}
	return -1
}
