// SPDX-License-Identifier: Apache-2.0

// With the race detector, its runtime does atomic operations itself, outside of
// Go, where a page that is gone ends the process. Other processors have larger
// pages, and emulators of some do not report where a fault is.

//go:build amd64 && go1.25 && !race

package deliver

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// growMapped adds a segment with so many lines in a mapping of a file, and
// returns the directory of the file.
func growMapped(t *testing.T, s *chainSpool, lines int) (l *Link, dir string) {
	t.Helper()
	l, dir = s.grow(t, 0, 0), t.TempDir()
	f, err := vfs.OS().Open(filepath.Join(dir, store.SegmentName(l.Number)), os.O_RDWR|os.O_CREATE, 0o600)
	must(t, err, f.Preallocate(l.Size))
	l.Live, err = segment.NewMapped(f, l.Identity, func(_ []byte, unmap func(), _ vfs.File) { unmap() })
	must(t, err)
	l.Live.Begin(segment.Start{First: l.First})
	for range lines {
		log(t, l.Live, oldSize)
		s.next++
	}
	t.Cleanup(func() { must(t, f.Close()) })
	return l, dir
}

// hide makes a page unreadable.
func hide(t *testing.T, g *segment.Segment, page int) {
	t.Helper()
	b := g.Bytes()[page*segment.PageSize:][:segment.PageSize]
	must(t, syscall.Mprotect(b, syscall.PROT_NONE))
	t.Cleanup(func() { must(t, syscall.Mprotect(b, syscall.PROT_READ|syscall.PROT_WRITE)) })
}

// recordsBefore returns how many records begin in front of a page of a segment.
func recordsBefore(page int) (n int) {
	for recordAt(n) < page*segment.PageSize {
		n++
	}
	return n
}

// TestUnreadablePages has a page that cannot be read: the records that do not
// touch it are delivered, also if the page has records that are settled.
func TestUnreadablePages(t *testing.T) {
	const lines = 100
	for _, c := range []struct {
		name    string
		settled uint64
		page    int
	}{
		{"with settled records and others", 6, 1},
		{"with the first records", 1, 1},
		{"in the middle", 1, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &chainSpool{}
			l, dir := growMapped(t, s, lines)
			s.close()
			hide(t, l.Live, c.page)
			var got, want []uint64
			p := scripted(nil, func(batch []nib.Record) {
				for _, r := range batch {
					got = append(got, r.Seq)
				}
			})
			d := newChain(t, s, &p)
			d.dir, d.Settled = store.LookInto(vfs.OS(), dir), c.settled
			begin := time.Now()
			run(t, d)
			for seq := c.settled; seq <= lines; seq++ {
				if at := recordAt(int(seq) - 1); at >= (c.page+1)*segment.PageSize || recordAt(int(seq)) <= c.page*segment.PageSize {
					want = append(want, seq)
				}
			}
			if !slices.Equal(got, want) || d.Settled != lines+1 {
				t.Errorf("%s: got records %d and position %d, want %d and %d", c.name, got, d.Settled, want, lines+1)
			}
			if took := time.Since(begin); took < GiveUpTime {
				t.Errorf("%s: given up after %v", c.name, took)
			}
		})
	}
}

// TestEndOfATruncatedFile cuts off the file of a segment in use: the rest of
// the last page is zeros, as if calls had not written their records yet.
func TestEndOfATruncatedFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		l, dir := growMapped(t, s, 100)
		s.close()
		whole := recordsBefore(2) - 3
		must(t, os.Truncate(filepath.Join(dir, store.SegmentName(l.Number)), int64(recordAt(whole))))
		arrived := 0
		p := scripted(nil, func(batch []nib.Record) { arrived += len(batch) })
		d := newChain(t, s, &p)
		d.dir = store.LookInto(vfs.OS(), dir)
		run(t, d)
		if arrived != whole || d.Settled != 101 {
			t.Errorf("%d records arrived and the position is %d, want %d and 101", arrived, d.Settled, whole)
		}
	})
}

// TestPagesAreGivenUpLate reads a segment with an unreadable page again and
// again: it takes giveUpTries attempts, and the first one is not reported,
// since the page was reported before.
func TestPagesAreGivenUpLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &chainSpool{}
		l, dir := growMapped(t, s, 100)
		s.close()
		hide(t, l.Live, 2)
		d := newChain(t, s, &plain{})
		d.dir = store.LookInto(vfs.OS(), dir)
		for try := 1; try < giveUpTries; try++ {
			if _, ok := d.readRescued(l.Live); ok {
				t.Fatalf("given up at attempt %d", try)
			}
			if len(s.errors) != try-1 {
				t.Errorf("%d reports after attempt %d, want %d: %q", len(s.errors), try, try-1, s.errors)
			}
			d.again.since = d.again.since.Add(-GiveUpTime)
		}
		if _, ok := d.readRescued(l.Live); !ok || s.Quarantined != 1 {
			t.Errorf("not given up at attempt %d: %q", giveUpTries, s.errors)
		}
	})
}
