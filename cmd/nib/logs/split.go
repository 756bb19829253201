// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/nib-log/nib/cmd/nib/internal/lineindex"
)

// Split returns sources that end where the given ones end now, to be merged by
// [Cat], and sources that continue there and never end, for [Follow]. The given
// sources come from [Find] without follow. A source to which nothing can be
// added has no second part. What Follow may have lost is reported. A file stays
// open for one call of Open of each part, the first one before the second is
// closed.
func Split(sources []Source, s Selection) (now, later []Source, err error) {
	var errs []error
	for _, source := range sources {
		if source.split == nil {
			now = append(now, source)
			continue
		}
		first, rest, err := source.split(s)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		now, later = append(now, first), append(later, rest)
	}
	return now, later, errors.Join(errs...)
}

// unfinished is the time for which a line without a line break at the end of a
// file may still be written.
const unfinished = 2 * time.Second

// splitFile splits a set of files at the end of the last one, which is plain.
func splitFile(paths []string, s Selection) (now, later Source, err error) {
	last := paths[len(paths)-1]
	next := newFollower(last, s, every)
	f, err := os.Open(last)
	if err != nil {
		return now, later, err
	}
	end, err := endOf(f)
	if err != nil {
		return now, later, errors.Join(err, f.Close())
	}
	now = Source{Name: last, Open: func(context.Context) (io.ReadCloser, error) {
		return &chain{paths: paths, end: io.NewSectionReader(f, 0, end)}, nil
	}}
	return now, next.source(f, end), nil
}

// endOf returns the end of the last whole line of a file.
func endOf(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := info.Size()
	if time.Since(info.ModTime()) < unfinished {
		if end, err = lineindex.LastBreak(f, 0, end); err != nil {
			return 0, err
		}
	}
	return beforeParts(f, end)
}

// splitSpool splits a spool after its last record.
func splitSpool(dir string, s Selection) (now, later Source, err error) {
	end, err := tailPlace(dir, Selection{}, 0)
	if err != nil {
		return now, later, err
	}
	now = spoolSource(dir, false, place{}, end, s)
	return now, spoolSource(dir, true, end, place{}, s), nil
}

// split splits a partition at its present end.
func (k kafkaRange) split(name string) (now, later Source, err error) {
	rest := k
	rest.start, rest.follow = k.end, true
	return Source{Name: name, Open: k.open}, Source{Name: name, Live: true, Open: rest.open}, nil
}
