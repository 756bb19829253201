// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/cmd/nib/term"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/sink/spool"
)

const (
	rejectedExt  = ".rejected"
	retryExt     = ".retry" // a file of rejected records while they are delivered
	retryRecords = 1000     // in a batch
	retryPause   = 200 * time.Millisecond
)

// A refusal is a line of a file of rejected records.
type refusal struct {
	Seq    uint64          `json:"seq"`
	Spool  string          `json:"spool"`
	Time   int64           `json:"time"`
	Level  nib.Level       `json:"level"`
	Logger string          `json:"logger,omitempty"`
	Reason string          `json:"reason"`
	Line   json.RawMessage `json:"line"`
}

// Rejected delivers the records that the destinations have rejected. Services
// may have the spools open. What is rejected again, or cannot be delivered,
// goes back to the file that it was in. If a run is killed, the next one
// delivers the whole file again; the records have the identities that they had.
func Rejected(ctx context.Context, c Config) (Counts, error) {
	r := relay{Config: c}
	dirs, err := spool.Find(c.Root)
	if err != nil {
		return r.Counts, err
	}
	var errs []error
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
func RejectedFiles(dir string) ([]string, error) {
	return filepath.Glob(filepath.Join(dir, "*"+rejectedExt))
}

// rejectedFiles returns the paths of the files of a destination, without their
// extension; those of the only one, if the name is "".
func rejectedFiles(dir, name string) ([]string, error) {
	var files []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), rejectedExt)
		if !ok {
			base, ok = strings.CutSuffix(e.Name(), retryExt)
		}
		if path := filepath.Join(dir, base); ok && (name == "" || base == name) && (len(files) == 0 || files[len(files)-1] != path) {
			files = append(files, path)
		}
	}
	if len(files) > 1 && name == "" {
		return nil, fmt.Errorf("%s has rejected records of several destinations; say which one this is: --to NAME=TARGET", dir)
	}
	return files, err
}

// retry delivers a file.
func (r *relay) retry(ctx context.Context, base string, to *Target) error {
	if _, err := os.Lstat(base + retryExt); errors.Is(err, fs.ErrNotExist) { // none of a run that was killed
		if err := os.Rename(base+rejectedExt, base+retryExt); err != nil {
			return err
		}
	}
	text, err := os.ReadFile(base + retryExt)
	if err != nil {
		return err
	}
	dest, err := to.Open(nil)
	if err == nil {
		if c, ok := dest.(io.Closer); ok {
			defer c.Close() // what it has accepted is safe
		}
	} else {
		dest = failing{err}
	}
	delivered := r.Delivered
	left, deliverErr := r.retryAll(ctx, dest, text)
	if err := putBack(base+rejectedExt, left); err != nil {
		return errors.Join(deliverErr, err)
	}
	if err := os.Remove(base + retryExt); err != nil {
		return errors.Join(deliverErr, err)
	}
	r.Report(filepath.Dir(base), "%s rejected records delivered to %s, %d are in %s", term.Count(r.Delivered-delivered), to.Text,
		bytes.Count(left, []byte{'\n'}), filepath.Base(base)+rejectedExt)
	return deliverErr
}

// failing is a destination that cannot be opened.
type failing struct{ err error }

func (f failing) Deliver(context.Context, []nib.Record) (delivery.Result, error) {
	return delivery.Result{}, f.err
}

// retryAll delivers the lines of a file, and returns those that must stay
// there.
func (r *relay) retryAll(ctx context.Context, dest delivery.Destination, text []byte) (left []byte, err error) {
	var batch []nib.Record
	var lines []refusal
	for in := bufio.NewReader(bytes.NewReader(text)); ; {
		line, readErr := in.ReadBytes('\n')
		if record, x, ok := parseRefusal(line); ok {
			batch, lines = append(batch, record), append(lines, x)
		} else {
			left = append(left, line...) // not written by a spool, or truncated
		}
		if len(batch) == retryRecords || readErr != nil {
			if err == nil {
				left, err = r.retryBatch(ctx, dest, batch, lines, left)
			} else {
				left = appendRefusals(left, lines)
				r.Pending += uint64(len(lines))
			}
			batch, lines = batch[:0], lines[:0]
		}
		if readErr != nil {
			return left, err
		}
	}
}

// retryBatch delivers records until they are settled, or the destination has
// accepted none for DeliverTimeout.
func (r *relay) retryBatch(ctx context.Context, dest delivery.Destination, batch []nib.Record, lines []refusal, left []byte) ([]byte, error) {
	for moved := time.Now(); len(batch) > 0; {
		res, err := dest.Deliver(ctx, batch)
		for _, x := range res.Rejected {
			lines[x.Index].Reason = fmt.Sprint(x.Reason)
			left = appendRefusals(left, lines[x.Index:x.Index+1])
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

// parseRefusal makes the record of a line.
func parseRefusal(line []byte) (nib.Record, refusal, bool) {
	var x refusal
	if json.Unmarshal(line, &x) != nil || len(x.Line) == 0 {
		return nib.Record{}, x, false
	}
	id, _ := strconv.ParseUint(x.Spool, 16, 64) // 0 in files of earlier versions
	content := []byte(x.Line)
	if text := ""; json.Unmarshal(x.Line, &text) == nil { // it was no object
		content = []byte(text)
	}
	return nib.Record{
		Time: x.Time, Level: x.Level, Logger: x.Logger, Line: append(bytes.Clone(content), '\n'), Spool: id, Seq: x.Seq,
	}, x, true
}

func appendRefusals(dst []byte, lines []refusal) []byte {
	for i := range lines {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(&lines[i]) // it was decoded from JSON
		dst = append(dst, b.Bytes()...)
	}
	return dst
}

// putBack appends lines to a file, which the service may have created again.
func putBack(name string, lines []byte) error {
	if len(lines) == 0 {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(lines)
	return errors.Join(err, f.Sync(), f.Close())
}
