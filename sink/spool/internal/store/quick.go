// SPDX-License-Identifier: Apache-2.0

package store

import (
	"os"

	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// QuickEnd returns the beginning of a segment, including the first record, and
// the number and the offset after the last record. ok is false unless the
// records are contiguous and followed only by zeros or the end of the file.
// Since Open waits for it, it reads through a window that stays in the
// processor's cache. All other segments need Read and a Scanner, which find the
// same number in such a segment.
func (d *Dir) QuickEnd(g *segment.Old) (head []byte, next uint64, used int, label uint32, ok bool) {
	if g.Copied && (g.Boot != d.Boot || d.Boot == 0) {
		return nil, 0, 0, 0, false // the copy may have more
	}
	f, err := d.FS.Open(d.Name(SegmentName(g.Number)), os.O_RDONLY, 0)
	if err != nil {
		return nil, 0, 0, 0, false
	}
	defer f.Close()
	head = make([]byte, min(segment.HeaderSize+segment.Window, g.Size))
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, 0, 0, 0, false
	}
	next, used, label, ok = g.RunToEnd(f)
	return head, next, used, label, ok
}
