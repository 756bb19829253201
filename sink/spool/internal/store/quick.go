// SPDX-License-Identifier: Apache-2.0

package store

import (
	"os"

	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// QuickEnd returns what a segment begins with, with the first record, and the
// number and the offset behind the last one, if that can be found out in the
// time of a start: all records lie one behind the other, and behind them is
// nothing but zeros, or the file ends. It reads through a window that stays in
// the processor's cache, for a start waits for it. Anything else is for read
// and a scanner, which find the same number in such a segment.
func (d *Dir) QuickEnd(g *segment.Old) (head []byte, next uint64, used int, ok bool) {
	if g.Copied && (g.Boot != d.Boot || d.Boot == 0) {
		return nil, 0, 0, false // the copy may know more
	}
	f, err := d.FS.Open(d.Name(SegmentName(g.Number)), os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, 0, false
	}
	defer f.Close()
	head = make([]byte, min(segment.HeaderSize+segment.Window, g.Size))
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, 0, 0, false
	}
	next, used, ok = g.RunToEnd(f)
	return head, next, used, ok
}
