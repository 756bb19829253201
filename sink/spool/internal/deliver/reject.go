// SPDX-License-Identifier: Apache-2.0

package deliver

import (
	"bytes"
	"fmt"
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
)

// A refusal is a record that the destination will never accept.
type refusal struct {
	r      *nib.Record
	reason string
}

// putRejected appends records to the file NAME.rejected, as JSON lines from
// which nib relay --rejected can deliver them again. The file is opened for
// each batch, so that it can be moved away at any time. Records that do not fit
// or cannot be written are counted, and delivery continues. After a crash,
// records may be in the file twice.
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
	f, err := d.dir.FS.Open(d.dir.Name(d.Options.Name+RejectedExt), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	info, err := f.Stat()
	if err == nil {
		err = store.CheckOwner(info, d.Options.Name+RejectedExt)
	}
	if err != nil {
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
