// SPDX-License-Identifier: Apache-2.0

package view

import (
	"context"
	"sort"

	"github.com/nib-log/nib/internal/logread"
)

// nextError returns the row of the next line at level error or above, after row
// or, if back is set, before it. It reads only blocks that have such a line.
func (x *index) nextError(
	ctx context.Context, s *scanner, row int64, back bool,
) (int64, bool, error) {
	step := int64(1)
	if back {
		step = -1
	}
	row += step
	for ctx.Err() == nil {
		part, ok := x.errorsFrom(row, back)
		if !ok {
			break
		}
		if back {
			row = min(row, part.last-1)
		} else {
			row = max(row, part.first)
		}
		result, ok := int64(0), false
		at := part.first
		err := s.each(x, part.block, func(_ int64, l *logread.Line) bool {
			here := at
			at++
			if classOf(l.Level()) < classError || !back && here < row || back && here > row {
				return true
			}
			result, ok = here, true
			return back // going back, the last one is wanted, else the first
		})
		if err != nil || ok {
			return result, ok, err
		}
		row = part.last
		if back {
			row = part.first - 1
		}
	}
	return 0, false, ctx.Err()
}

// errorsFrom returns the first block with an error, beginning with the block of
// row.
func (x *index) errorsFrom(row int64, back bool) (s stretch, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		if s, ok = x.stretch(row); !ok || s.errors > 0 {
			return s, ok
		}
		if row = s.last; back {
			row = s.first - 1
		}
	}
}

// rowAt returns the row of the first selected line at or after an offset. It
// reports false if the index does not have it yet.
func (x *index) rowAt(s *scanner, offset int64) (row int64, ok bool, err error) {
	part, ok := x.stretchAt(offset)
	if !ok {
		return 0, false, nil
	}
	if row = part.first; part.first == part.last {
		return row, true, nil
	}
	err = s.each(x, part.block, func(at int64, _ *logread.Line) bool {
		if at < offset {
			row++
		}
		return at < offset
	})
	return row, true, err
}

func (x *index) stretchAt(offset int64) (s stretch, ok bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	list, i := x.forward, 0
	if offset < x.doc.origin {
		list = x.back
		i = sort.Search(len(list), func(i int) bool { return list[i].start <= offset })
	} else {
		i = sort.Search(len(list), func(i int) bool { return list[i].end > offset })
	}
	return newStretch(list, i, offset < x.doc.origin)
}
