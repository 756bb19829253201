// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/nib-log/nib/sink/spool"
)

// spoolPoll is the interval at which a live spool is read again.
const spoolPoll = 200 * time.Millisecond

// spoolSources returns the spools in a directory.
func spoolSources(root string, follow bool) (list []Source, err error) {
	dirs, err := spool.Find(root)
	if len(dirs) == 0 && err == nil {
		err = fmt.Errorf("%s is a directory without a spool; for the files in it, write %s/*", root,
			root)
	}
	for _, dir := range dirs {
		s := spoolSource(dir, follow, place{}, place{}, Selection{})
		s.split = func(s Selection) (Source, Source, error) { return splitSpool(dir, s) }
		list = append(list, s)
	}
	return list, err
}

// A place is a record of a spool: the number it has, or would have next.
type place struct{ spool, number uint64 }

// spoolSource returns a source that reads a spool from one place to another, or
// to its end if the other has no spool.
func spoolSource(dir string, follow bool, from, to place, s Selection) Source {
	open := func(ctx context.Context) (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { // a reader that is closed ends it
			_ = w.CloseWithError(copySpool(ctx, w, dir, follow, from, to, &s)) // arrives at r
		}()
		return r, nil
	}
	return Source{Name: dir, Live: true, spool: dir, Open: open}
}

// tailPlace returns the place of the last n selected records of a spool. It
// reads segments from the last one on, and no more than it needs.
func tailPlace(dir string, s Selection, n int) (place, error) {
	v, err := spool.Inspect(dir)
	if err != nil {
		return place{}, err
	}
	w := s.newWorker(nil, false)
	end := uint64(0)
	for i, g := range slices.Backward(v.Segments) {
		if i == len(v.Segments)-1 {
			end = g.End
		}
		if n == 0 {
			break
		}
		var found []uint64
		for r, gap := range v.Records(g.First) {
			if gap.Kind != "" {
				continue
			}
			if r.Seq >= end {
				break
			}
			if w.line.Reset(r.Line); w.query.Match(&w.line) {
				found = append(found, r.Seq)
			}
		}
		if len(found) >= n {
			return place{v.ID, found[len(found)-n]}, nil
		}
		n -= len(found)
		end = g.First
	}
	return place{v.ID, end}, nil
}

// copySpool writes the records of a spool between two places, and with follow
// those that are added later, by whichever process has it. It waits for records
// that another process is writing, so that none is left out. With follow, it
// reports the records that were deleted before.
func copySpool(
	ctx context.Context, w io.Writer, dir string, follow bool, from, to place, s *Selection,
) error {
	next, id := from.number, from.spool
	out := bufio.NewWriterSize(w, 256<<10)
	var unreadable uint64
	for {
		v, err := spool.Inspect(dir)
		switch {
		case follow && errors.Is(err, fs.ErrNotExist):
			v = new(spool.View) // the spool may be created again
		case err != nil:
			return err
		case v.ID != id && v.ID != 0:
			next, id = 0, v.ID // another spool, with other numbers
		}
		removed := removedBefore(v, next) // since the last look
		next += removed
		for r, g := range v.Records(next) {
			if ctx.Err() != nil || follow && mayBeFinished(v, g) ||
				v.ID == to.spool && max(r.Seq, g.First) >= to.number {
				break
			}
			switch g.Kind {
			case "":
				next = r.Seq + 1
				if err := writeLine(out, r.Line); err != nil {
					return err
				}
				continue
			case spool.GapUnfinished:
			case spool.GapRemoved:
				removed += g.Numbers
			default:
				unreadable += max(g.Numbers, 1)
			}
			next = max(next, g.First+g.Numbers)
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if !follow {
			break
		}
		if removed > 0 {
			s.report("up to %d records of %s, %s, were gone before they were read",
				removed, dir, amount(0))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(spoolPoll):
		}
	}
	if unreadable > 0 {
		return fmt.Errorf("%d records are damaged or missing; see nib spool verify", unreadable)
	}
	return ctx.Err()
}

// removedBefore returns how many numbers from next on were used by records that
// have been deleted. A spool that has not been read yet has none of them.
func removedBefore(v *spool.View, next uint64) uint64 {
	if next == 0 || len(v.Segments) == 0 {
		return 0
	}
	first := v.Segments[0].First - v.Segments[0].Skipped
	return max(first, next) - next
}

// mayBeFinished reports whether the process that has begun to write a record
// may still be doing so.
func mayBeFinished(v *spool.View, g spool.Gap) bool {
	if g.Kind != spool.GapUnfinished || v.Owner == spool.OwnerNone {
		return false
	}
	for _, s := range v.Segments {
		if g.First >= s.First && g.First < s.End {
			return s.Generation == v.Segments[len(v.Segments)-1].Generation
		}
	}
	return true
}

// writeLine writes the line of a record, and a line break that it lacks.
func writeLine(w *bufio.Writer, line []byte) error {
	_, err := w.Write(line)
	if n := len(line); err == nil && n > 0 && line[n-1] != '\n' {
		err = w.WriteByte('\n')
	}
	return err
}
