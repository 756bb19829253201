// SPDX-License-Identifier: Apache-2.0

package store

import (
	"os"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestQuickEnd finds the end of a segment without its copy, unless the copy may
// have more.
func TestQuickEnd(t *testing.T) {
	const records = 3
	for _, c := range []struct {
		name   string
		copied bool
		boot   uint64 // of the segment
		now    uint64
		ok     bool
	}{
		{"no copy", false, 1, 1, true},
		{"no copy, another boot", false, 1, 2, true},
		{"no copy, unknown boots", false, 0, 0, true},
		{"copy", true, 1, 1, true},
		{"copy, another boot", true, 1, 2, false},
		{"copy, unknown boots", true, 0, 0, false},
	} {
		m := vfstest.NewMem(nil)
		d, _ := opened(t, m, c.boot)
		put(t, d, 1, 10, records)
		noError(t, d.Unlock())
		d, old := opened(t, m, c.now)
		old[0].Copied = c.copied
		head, next, used, _, ok := d.QuickEnd(&old[0])
		if ok != c.ok || ok && (next != 10+records || used != segment.HeaderSize+records*56 || !old[0].HasNotice(head)) {
			t.Errorf("%s: got number %d at %d and %v, want %d and %v", c.name, next, used, ok, 10+records, c.ok)
		}
		noError(t, d.Unlock())
		if n := m.Opened(); n != 0 {
			t.Errorf("%s: %d files are open", c.name, n)
		}
	}
}

// TestQuickEndNeedsAWholeFile cuts off a segment, makes it unreadable, and
// removes it.
func TestQuickEndNeedsAWholeFile(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 1, 1, 3)
	noError(t, d.Unlock())
	d, old := opened(t, m, 1)
	fails := func(name string) {
		t.Helper()
		if head, _, _, _, ok := d.QuickEnd(&old[0]); ok {
			t.Errorf("%s: the end was found, in %d bytes", name, len(head))
		}
	}
	for skip := range 2 {
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpRead, Path: SegmentName(1), Skip: skip, Err: syscall.EIO})
		fails("unreadable")
		heal()
	}
	f, err := m.Open(d.Name(SegmentName(1)), os.O_RDWR, 0)
	noError(t, err, f.Truncate(segment.MinSize-8), f.Close())
	fails("cut off")
	noError(t, m.Remove(d.Name(SegmentName(1))))
	fails("gone")
	noError(t, d.Unlock())
}
