// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nib-log/nib/cmd/nib/internal/lineindex"
)

// Split returns sources that end where the given ones end now, to be merged by
// [Cat], and sources that continue there and never end, for [Follow]. The given
// sources come from [Find] without follow. A source to which nothing can be
// added has no second part. What Follow may have lost is reported.
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
	f, err := os.Open(last)
	if err != nil {
		return now, later, err
	}
	defer f.Close() // only read
	first := knownFile(f)
	if first.info == nil {
		return now, later, fmt.Errorf("%s: it cannot be examined", last)
	}
	end := first.info.Size()
	if time.Since(first.info.ModTime()) < unfinished {
		if end, err = lineindex.LastBreak(f, 0, end); err != nil {
			return now, later, err
		}
	}
	if hasParts(f) {
		if end, err = beforeParts(f, end); err != nil {
			return now, later, err
		}
	}
	now = Source{Name: last, Open: func(context.Context) (io.ReadCloser, error) {
		return &chain{paths: paths, end: end, limited: true, lastFile: first}, nil
	}}
	return now, follow(last, end, first, s), nil
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
