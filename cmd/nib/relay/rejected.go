// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/deadletter"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool"
)

const (
	rejectedExt  = deadletter.Ext
	retryExt     = deadletter.RetryExt
	markExt      = ".retry.mark" // the file with the offset up to which it was retried
	retryRecords = 1000          // maximum number of records in a batch
	retryPause   = 200 * time.Millisecond
	lockPause    = time.Millisecond // a service appends a batch within microseconds
)

// A refusal is an entry of a file of rejected records.
type refusal struct {
	deadletter.Entry
	text []byte // its line in the file
}

// Rejected delivers the records that the destinations have rejected. Services
// may have the spools open. Records that are rejected again or cannot be
// delivered go back to their file; lines that are not entries stay there, and
// count as damaged. If a run is killed, the next one continues after the
// records that were settled; those of the batch under way may be delivered
// again, with the identities that they had.
func Rejected(ctx context.Context, c Config) (Counts, error) {
	r := relay{Config: c}
	dirs, err := spool.Find(c.Root)
	errs := []error{err}
	for _, dir := range dirs {
		for i := range c.Targets {
			files, err := rejectedFiles(dir, c.Targets[i].Name)
			errs = append(errs, err)
			for _, base := range files {
				if err := r.retry(ctx, base, &c.Targets[i]); err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", base+rejectedExt, err))
				}
			}
		}
	}
	return r.Counts, errors.Join(errs...)
}

// RejectedFiles returns the files of rejected records in a spool.
func RejectedFiles(dir string) (files []string, err error) {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), rejectedExt) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, err
}

// rejectedFiles returns the paths of the files of a destination, without their
// extension. If the name is empty, there must be only one destination.
func rejectedFiles(dir, name string) ([]string, error) {
	var files []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), rejectedExt)
		if !ok {
			base, ok = strings.CutSuffix(e.Name(), retryExt)
		}
		if path := filepath.Join(dir, base); ok && (name == "" || base == name) &&
			(len(files) == 0 || files[len(files)-1] != path) {
			files = append(files, path)
		}
	}
	if len(files) > 1 && name == "" {
		return nil, fmt.Errorf(
			"%s has rejected records of several destinations; say which one this is: --to "+
				"NAME=TARGET", dir)
	}
	return files, err
}

// retry delivers a file.
func (r *relay) retry(ctx context.Context, base string, to *Target) error {
	m, err := lockMark(base + markExt)
	if err != nil {
		return err
	}
	defer m.Close() // m has no buffer
	// No file is left from a run that was killed.
	if _, err := os.Lstat(base + retryExt); errors.Is(err, fs.ErrNotExist) {
		if err := m.set(0); err != nil {
			return err
		}
		if err := os.Rename(base+rejectedExt, base+retryExt); errors.Is(err, fs.ErrNotExist) {
			return m.remove() // another run has just delivered it
		} else if err != nil {
			return err
		}
	}
	text, unlock, err := r.readAlone(ctx, base+retryExt)
	if err != nil {
		return err
	}
	defer unlock()
	var mark []byte
	if v, err := spool.Inspect(filepath.Dir(base)); err == nil { // otherwise as without a mark
		mark = markOf(v, filepath.Base(base))
	}
	dest := &ascending{open: func() (delivery.Destination, error) { return to.Open(mark) }}
	defer dest.Close() // accepted records are safe
	delivered := r.Delivered
	r.room = 0
	left, deliverErr := r.retryAll(ctx, dest, text, base+rejectedExt, m)
	if errors.Is(deliverErr, errPutBack) {
		return deliverErr
	}
	if err := errors.Join(os.Remove(base+retryExt), m.remove()); err != nil {
		return errors.Join(deliverErr, err)
	}
	r.Report(filepath.Dir(base), "%s rejected records delivered to %s, %d are in %s",
		term.Count(r.Delivered-delivered), to.Text,
		left, filepath.Base(base)+rejectedExt)
	return deliverErr
}

// readAlone reads a file as soon as no service has it open to append rejected
// records, and locks it: a service that has opened it, and not yet locked it,
// opens the file that has its name now. Where files cannot be locked, such a
// service may append to the file until it is deleted.
func (r *relay) readAlone(
	ctx context.Context, name string,
) (text []byte, unlock func(), err error) {
	f, err := vfs.OS().Open(name, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	unlock = func() { _ = f.Close() } // nothing is written to it
	for end := time.Now().Add(r.DeliverTimeout); ; {
		err = f.Lock(vfs.Exclusive)
		if !errors.Is(err, vfs.ErrLocked) || ctx.Err() != nil || time.Now().After(end) {
			break
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
		}
	}
	if errors.Is(err, vfs.ErrLocked) {
		err = fmt.Errorf("a service appends to %s; is it stopped? The next run continues with it",
			filepath.Base(name))
	}
	if err == nil || errors.Is(err, errors.ErrUnsupported) {
		text, err = os.ReadFile(name)
	}
	if err != nil || !vfs.CanRenameOpen { // such a file can be removed only after it was closed
		unlock()
	}
	return text, unlock, err
}

// An ascending destination gets the records of a spool in the order of their
// numbers, as from the spool itself: for another record it is opened again,
// since it may take a number below the last one for a record that it has
// already. Records that were put back follow newer ones in their file.
type ascending struct {
	open func() (delivery.Destination, error)
	to   delivery.Destination // nil if it is not open
	last map[uint64]uint64    // the last settled number, by Spool
}

// Deliver delivers the first records of batch, as far as they have the same
// Spool and ascend.
func (a *ascending) Deliver(ctx context.Context, batch []nib.Record) (delivery.Result, error) {
	n, spool := 1, batch[0].Spool
	for n < len(batch) && batch[n].Spool == spool && batch[n].Seq >= batch[n-1].Seq {
		n++
	}
	if batch[0].Seq < a.last[spool] {
		a.Close()
	}
	if a.to == nil {
		to, err := a.open()
		if err != nil {
			return delivery.Result{}, err
		}
		a.to, a.last = to, map[uint64]uint64{}
	}
	res, err := a.to.Deliver(ctx, batch[:n])
	if res.Accepted > 0 {
		a.last[spool] = batch[res.Accepted-1].Seq
	}
	return res, err
}

// Close closes the destination, if it is open.
func (a *ascending) Close() {
	if c, ok := a.to.(io.Closer); ok {
		_ = c.Close()
	}
	a.to = nil
}

// retryAll delivers the lines of a file from the mark on. It appends those that
// remain to the file called rejected, and returns their number.
func (r *relay) retryAll(
	ctx context.Context, dest delivery.Destination, text []byte, rejected string, m *mark,
) (left int, err error) {
	var batch []nib.Record
	var lines []refusal
	var stay []byte
	at := m.get()
	if at > len(text) {
		at = 0 // the mark of another file
	}
	for in := bufio.NewReader(bytes.NewReader(text[at:])); ; {
		line, readErr := in.ReadBytes('\n')
		at += len(line)
		if e, ok := deadletter.Parse(line); ok {
			batch, lines = append(batch, e.Record), append(lines, refusal{e, line})
		} else if len(line) > 0 {
			stay = append(stay, line...) // not written by a spool, or truncated
			r.Damaged++
		}
		if len(batch) == retryRecords || readErr != nil {
			if err == nil {
				stay, err = r.retryBatch(ctx, dest, batch, lines, stay)
			} else {
				stay = appendRefusals(stay, lines)
				r.Pending += uint64(len(lines))
			}
			if putErr := errors.Join(putBack(rejected, stay), m.set(at)); putErr != nil {
				return left, errors.Join(err, fmt.Errorf("%w: %w", errPutBack, putErr))
			}
			left += bytes.Count(stay, []byte{'\n'})
			batch, lines, stay = batch[:0], lines[:0], stay[:0]
		}
		if readErr != nil {
			return left, err
		}
	}
}

// errPutBack indicates that records could not be put back. They stay in the
// file that is delivered.
var errPutBack = errors.New("records cannot be put back")

// retryBatch delivers records until they are settled, or the destination has
// accepted none for DeliverTimeout.
func (r *relay) retryBatch(
	ctx context.Context, dest delivery.Destination, batch []nib.Record, lines []refusal,
	left []byte,
) ([]byte, error) {
	for moved := time.Now(); len(batch) > 0; {
		res, err := dest.Deliver(ctx, batch)
		for i := range lines[:res.Accepted] {
			r.room += len(lines[i].text)
		}
		for _, x := range res.Rejected {
			r.room -= len(lines[x.Index].text)
		}
		for _, x := range res.Rejected {
			was := len(lines[x.Index].text)
			text := lines[x.Index].again(x.Reason, was+r.room)
			left, r.room = append(left, text...), r.room+was-len(text)
		}
		if res.Accepted > 0 {
			moved = time.Now()
		}
		r.Delivered += uint64(res.Accepted - len(res.Rejected))
		r.Counts.Rejected += uint64(len(res.Rejected))
		batch, lines = batch[res.Accepted:], lines[res.Accepted:]
		if err == nil {
			continue
		}
		if ctx.Err() != nil || time.Since(moved) >= r.DeliverTimeout {
			r.Pending += uint64(len(lines))
			return appendRefusals(left, lines), err
		}
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
		}
	}
	return left, nil
}

// again returns the line of a record that was rejected again: with the new
// reason, unless the line would be longer than room.
func (x *refusal) again(reason error, room int) []byte {
	e := x.Entry
	e.Reason = fmt.Sprint(reason)
	if text := deadletter.Append(nil, &e); len(text) <= room {
		return text
	}
	return x.text
}

func appendRefusals(dst []byte, lines []refusal) []byte {
	for i := range lines {
		dst = append(dst, lines[i].text...)
	}
	return dst
}

// putBack appends lines to a file, which the service may have created again.
func putBack(name string, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	f, err := openIn(name, os.O_RDWR|os.O_APPEND)
	if err != nil {
		return err
	}
	var last [1]byte
	if info, statErr := f.Stat(); statErr == nil && info.Size > 0 {
		if _, _ = f.ReadAt(last[:], info.Size-1); last[0] != '\n' {
			lines = append([]byte{'\n'}, lines...) // the last line was cut off
		}
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Sync(), f.Close())
}
