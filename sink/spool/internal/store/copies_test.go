// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

const copyRecords = 200 // of each segment

// copying opens a directory that keeps the files of copies.
func copying(t *testing.T) (*Dir, *vfstest.Mem) {
	t.Helper()
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	noError(t, d.SyncNames())
	d.Copies.OnRemoved(func() {})
	d.Spares.Allow(true)
	t.Cleanup(func() {
		d.Spares.Allow(false)
		noError(t, d.Unlock())
		if n := m.Opened(); n != 0 {
			t.Errorf("%d files are open", n)
		}
	})
	return d, m
}

// A copied is a full segment whose copy the copier owns.
type copied struct{ *segment.Segment }

func newCopied(t *testing.T, d *Dir, number uint64) copied {
	t.Helper()
	g, err := d.Create(number, segment.MinSize, noRest)
	noError(t, err)
	fill(t, g, firstOf(number), copyRecords)
	d.Copies.Own(number)
	return copied{g}
}

func firstOf(number uint64) uint64 { return 1 + (number-1)*copyRecords }

// make copies the records from skip on, and returns the ID of the file.
func (g copied) make(t *testing.T, d *Dir, skip int) vfs.ID {
	t.Helper()
	end, _, _ := g.Claimed()
	from := segment.HeaderSize + skip*(end-segment.HeaderSize)/copyRecords
	f, err := d.Copies.Make(g.Segment, from, end)
	noError(t, err)
	info, err := f.Stat()
	noError(t, err, f.Close())
	return info.ID
}

// settle deletes the segment and its copy.
func (g copied) settle(t *testing.T, d *Dir) {
	t.Helper()
	noError(t, d.Remove(g.Number, g.Segment), d.Copies.RemoveOwned(g.Number))
}

// TestCopyBecomesAnother makes a copy in the file of an earlier one, once the
// earlier name cannot come back, and cuts the power at each call. No start
// finds a copy with the header of another segment, and none misses a record of
// a copy that was made.
func TestCopyBecomesAnother(t *testing.T) {
	for seed := range uint64(20) {
		d, m := copying(t)
		first, second, third := newCopied(t, d, 1), newCopied(t, d, 2), newCopied(t, d, 3)
		first.Continued = true
		copy(first.Bytes()[segment.StreamsAt:segment.StreamsEnd], "a stream")
		id := first.make(t, d, 0)
		rng := rand.New(rand.NewPCG(seed, 0))
		var clones []*vfstest.Mem
		heal := m.Fail(vfstest.Fault{Fits: func(vfstest.Op, string) bool {
			clones = append(clones, m.CrashClone(rng.IntN))
			return false
		}})
		first.settle(t, d)
		if second.make(t, d, 0) == id {
			t.Fatal("a file is used again before its new name is synced")
		}
		if third.make(t, d, copyRecords/2) != id {
			t.Fatal("the file of the first copy is not used again")
		}
		heal()
		var old []segment.Old
		for i, clone := range append(clones, m.CrashClone(vfstest.Nothing)) {
			// A segment whose start was not synced yet is damaged, until its
			// copy has it.
			var c *Dir
			c, old = opened(t, clone, 2)
			for _, name := range c.damaged {
				if filepath.Ext(name) == CopyExt {
					t.Fatalf("seed %d, call %d: %s is damaged", seed, i, name)
				}
			}
		}
		noError(t, m.Remove(d.Name(SegmentName(3)))) // for the copy to be read
		b, err := d.Beginning(&old[1])
		noError(t, err)
		if rest := bytes.Trim(b[88:segment.HeaderSize+8], "\x00"); len(old) != 2 || len(rest) > 0 {
			t.Errorf("got %d segments, want 2, and no bytes of another copy", len(old))
		}
		lines, _ := old[1].LinesIn(b, firstOf(4))
		if len(lines) != copyRecords/2 || lines[0].Seq != firstOf(3)+copyRecords/2 {
			t.Errorf("got %d lines, want the last %d", len(lines), copyRecords/2)
		}
		second.settle(t, d)
		third.settle(t, d)
	}
}

// TestSpareCopies has settled copies that Make must not use, or cannot.
func TestSpareCopies(t *testing.T) {
	spare := CopyName(1) + MadeSuffix
	for _, c := range []struct {
		name   string
		change func(d *Dir, m *vfstest.Mem) error
		noted  error
		left   bool // the file stays, and Make may use it later
	}{
		{"its temporary name is not synced", nil, nil, true},
		{"another name", func(d *Dir, m *vfstest.Mem) error {
			return errors.Join(d.Spares.sync(), m.Link(d.Name(spare), d.Name("kept")))
		}, nil, false},
		{"another size", func(d *Dir, m *vfstest.Mem) error {
			f, err := m.Open(d.Name(spare), 2, 0)
			return errors.Join(d.Spares.sync(), err, f.Truncate(segment.MinSize-8), f.Close())
		}, nil, false},
		{"it cannot be renamed", func(d *Dir, m *vfstest.Mem) error {
			m.Fail(vfstest.Fault{Op: vfstest.OpRename, Path: spare, Times: 1, Err: syscall.EIO})
			return d.Spares.sync()
		}, syscall.EIO, false},
		{"it cannot be opened", func(d *Dir, m *vfstest.Mem) error {
			m.Fail(vfstest.Fault{
				Op: vfstest.OpOpen, Path: CopyName(2) + MadeSuffix, Times: 1, Err: syscall.EIO,
			})
			return d.Spares.sync()
		}, syscall.EIO, false},
	} {
		d, m := copying(t)
		first, second := newCopied(t, d, 1), newCopied(t, d, 2)
		id := first.make(t, d, 0)
		first.settle(t, d)
		if c.change != nil {
			noError(t, c.change(d, m))
		}
		used := second.make(t, d, 0) == id
		if left := slices.Contains(namesIn(t, m), spare); used || left != c.left {
			t.Errorf("%s: used: %v, left: %v, want false and %v", c.name, used, left, c.left)
		}
		second.settle(t, d)
		var noted error
		for _, x := range d.TakeNoted() {
			noted = x.Err
		}
		if !errors.Is(noted, c.noted) {
			t.Errorf("%s: got %v, want %v", c.name, noted, c.noted)
		}
	}
}

// TestSpareCopiesAreBounded settles more copies than are kept, one without a
// file, one of an earlier process, and one when none is kept any more.
func TestSpareCopiesAreBounded(t *testing.T) {
	d, m := copying(t)
	var all [mostSpares + 3]copied
	for i := range all {
		all[i] = newCopied(t, d, uint64(i+1))
		all[i].make(t, d, 0)
	}
	last := len(all) - 1
	noError(t, m.Remove(d.Name(CopyName(1))))
	touch(t, m, CopyName(9))
	noError(t, d.Copies.Remove(9))
	for _, g := range all[:last] {
		g.settle(t, d)
	}
	want := []string{CopyName(2) + MadeSuffix, CopyName(3) + MadeSuffix, CopyName(4) + MadeSuffix,
		CopyName(5) + MadeSuffix, CopyName(7), SegmentName(7), "lock"}
	if got := namesIn(t, m); !slices.Equal(got, want) || d.Spares.Unfreed() != mostSpares {
		t.Errorf("got %q, %d of them spares, want %q", got, d.Spares.Unfreed(), want)
	}
	if !d.Spares.FreeAll(true) {
		t.Error("spare copies are not freed for room")
	}
	d.Spares.Allow(false)
	all[last].settle(t, d)
	if got := namesIn(t, m); !slices.Equal(got, want[6:]) {
		t.Errorf("got %q, want only the lock", got)
	}
}
