// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// A badDisk is a file system on which some pages of files cannot be read.
type badDisk struct {
	vfs.FS
	bad map[string]map[int64]error // by the base name, the first offset
}

type badFile struct {
	vfs.File
	bad map[int64]error
}

func (d badDisk) Open(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.FS.Open(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return badFile{f, d.bad[name[len(memPath)+1:]]}, nil
}

func (f badFile) ReadAt(p []byte, at int64) (int, error) {
	for page, err := range f.bad {
		if page < at+int64(len(p)) && at < page+segment.PageSize {
			return 0, err
		}
	}
	return f.File.ReadAt(p, at)
}

// everyPage has the same error for each page of a segment.
func everyPage(err error) map[int64]error {
	bad := map[int64]error{}
	for at := int64(0); at < segment.MinSize; at += segment.PageSize {
		bad[at] = err
	}
	return bad
}

// TestBytesReadsAroundBadPages reads a file with pages that fail.
func TestBytesReadsAroundBadPages(t *testing.T) {
	const size = 5*segment.PageSize + 20
	text := make([]byte, size)
	for i := range text {
		text[i] = byte(i>>8 | 1)
	}
	for _, c := range []struct {
		name       string
		bad        map[int64]error
		limit      int64
		bytes      int
		partial    bool
		err        error
		at, failed int64 // of a partial error
	}{
		{"whole", nil, 1 << 20, size &^ 7, false, nil, 0, 0},
		{"a part", nil, 100, 96, false, nil, 0, 0},
		{"a bad page", map[int64]error{4096: syscall.EIO}, 1 << 20, size &^ 7, true, syscall.EIO, 4096, 4096},
		{"two bad pages", map[int64]error{4096: syscall.EIO, 3 * 4096: syscall.EIO}, 1 << 20, size &^ 7, true, syscall.EIO, 4096, 2 * 4096},
		{"a bad page at the end", map[int64]error{5 * 4096: syscall.EIO}, 1 << 20, size &^ 7, true, syscall.EIO, 5 * 4096, 16},
		{"a bad page at the end of a part", map[int64]error{4096: syscall.EIO}, 2 * 4096, 2 * 4096, true, syscall.EIO, 4096, 4096},
		{"all pages", everyPage(syscall.EIO), 1 << 20, 0, false, syscall.EIO, 0, 0},
		{"another error", map[int64]error{4096: syscall.ESTALE}, 1 << 20, 0, false, syscall.ESTALE, 0, 0},
		{"another error after a bad page", map[int64]error{0: syscall.EIO, 4096: syscall.ESTALE}, 1 << 20, 0, false, syscall.ESTALE, 0, 0},
	} {
		m := vfstest.NewMem(nil)
		d, _ := opened(t, m, 1)
		f, err := m.Open(d.Name("x"), os.O_RDWR|os.O_CREATE, 0o600)
		noError(t, err)
		_, err = f.WriteAt(text, 0)
		noError(t, err, f.Close())
		d.FS = badDisk{m, map[string]map[int64]error{"x": c.bad}}
		b, err := d.Bytes("x", c.limit)
		if !errors.Is(err, c.err) || c.err == nil && err != nil || IsPartial(err) != c.partial || IsPageError(err) != errors.Is(c.err, syscall.EIO) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.err)
		}
		if len(b) != c.bytes && !(c.bytes == 0 && err != nil) {
			t.Errorf("%s: got %d bytes, want %d", c.name, len(b), c.bytes)
			continue
		}
		if want := fmt.Sprintf("%d bytes of x, from offset %d on: %v", c.failed, c.at, c.err); c.partial && err.Error() != want {
			t.Errorf("%s: got error %q, want %q", c.name, err, want)
		}
		if c.bytes > 0 {
			wantPoison(t, c.name, b, text, c.bad)
		}
		noError(t, d.Unlock())
		if n := m.Opened(); n != 0 {
			t.Errorf("%s: %d files are open", c.name, n)
		}
	}
}

// wantPoison compares b with text, which is poisoned in bad pages.
func wantPoison(t *testing.T, name string, b, text []byte, bad map[int64]error) {
	t.Helper()
	for i := range b {
		want := text[i]
		if bad[int64(i)&^4095] != nil {
			want = segment.Poison
		}
		if b[i] != want {
			t.Fatalf("%s: byte %d is %#x, want %#x", name, i, b[i], want)
		}
	}
}

// A shortening reader is cut off after some bytes, and fails at first.
type shortening struct {
	bytes []byte
	fails int
}

func (s *shortening) ReadAt(p []byte, at int64) (int, error) {
	if s.fails > 0 {
		s.fails--
		return 0, syscall.EIO
	}
	return bytes.NewReader(s.bytes).ReadAt(p, at)
}

// TestReadAroundStopsAtTheEnd reads a file that is shorter than it was.
func TestReadAroundStopsAtTheEnd(t *testing.T) {
	for _, c := range []struct {
		bytes, fails, want int
		err                error
	}{
		{3 * segment.PageSize, 0, 3 * segment.PageSize, nil},
		{2*segment.PageSize + 100, 0, 2*segment.PageSize + 100, nil},
		{2 * segment.PageSize, 0, 2 * segment.PageSize, nil},
		{0, 0, 0, nil},
		{2 * segment.PageSize, 1, 2 * segment.PageSize, syscall.EIO},
		{0, 1, 0, syscall.EIO},
	} {
		r := &shortening{make([]byte, c.bytes), c.fails}
		if n, err := readAround(r, make([]byte, 3*segment.PageSize), "x"); n != c.want || !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("%d bytes, %d failures: got %d and %v, want %d and %v", c.bytes, c.fails, n, err, c.want, c.err)
		}
	}
}

// copiedSegment returns a directory with a segment and its copy, opened in a
// boot of the system. The segment is of boot 1, unless boots are not known.
func copiedSegment(t *testing.T, m vfs.FS, boot uint64, records int) (*Dir, []segment.Old) {
	t.Helper()
	d, _ := opened(t, m, min(boot, 1))
	put(t, d, 1, 1, records)
	noError(t, d.Unlock())
	d, old := opened(t, m, boot)
	g := reopened(t, d, &old[0])
	end, _, _ := g.Claimed()
	f, err := d.Copies.Make(g, segment.HeaderSize, end)
	noError(t, err, f.Close())
	g.Done(nil)
	noError(t, d.Unlock())
	d, old = opened(t, m, boot)
	old[0].End, old[0].Sure = uint64(records)+1, uint64(records)+1
	return d, old
}

// A readCase is a segment with a copy. Something is missing in one of them.
type readCase struct {
	name   string
	change func(m vfs.FS)
	bad    map[string]map[int64]error
	boot   uint64
	reads  bool // the copy
	whole  bool // all records are returned
	err    error
	noted  int
}

// unknown ends the names of cases in which the number of records is not known.
const unknown = ", the end is unknown"

func readCases(t *testing.T) []readCase {
	t.Helper()
	erase := func(m vfs.FS, name string, from, to int64) {
		f, err := m.Open(memPath+"/"+name, os.O_RDWR, 0)
		noError(t, err)
		_, err = f.WriteAt(make([]byte, to-from), from)
		noError(t, err, f.Close())
	}
	seg, kept := SegmentName(1), CopyName(1)
	remove := func(m vfs.FS, name string) { noError(t, m.Remove(memPath+"/"+name)) }
	page := func(name string) map[string]map[int64]error {
		return map[string]map[int64]error{name: {8192: syscall.EIO}}
	}
	all := func(name string, err error) map[string]map[int64]error {
		return map[string]map[int64]error{name: everyPage(err)}
	}
	return []readCase{
		{"cut off" + unknown, func(m vfs.FS) {
			f, err := m.Open(memPath+"/"+seg, os.O_RDWR, 0)
			noError(t, err, f.Truncate(8192), f.Close())
		}, nil, 1, true, true, nil, 0},
		{"a bad page" + unknown, nil, page(seg), 1, true, true, syscall.EIO, 0},
		{"whole", nil, nil, 1, false, true, nil, 0},
		{"whole, of an earlier boot", nil, nil, 2, true, true, nil, 0},
		{"whole, boots are unknown", nil, nil, 0, true, true, nil, 0},
		{"records are gone", func(m vfs.FS) { erase(m, seg, 5000, 9000) }, nil, 1, true, true, nil, 0},
		{"records are gone from the copy", func(m vfs.FS) { erase(m, kept, 5000, 9000) }, nil, 2, true, true, nil, 0},
		{"the file is gone", func(m vfs.FS) { remove(m, seg) }, nil, 1, true, true, nil, 0},
		{"the copy is gone", func(m vfs.FS) { remove(m, kept) }, nil, 2, true, true, nil, 0},
		{"both are gone", func(m vfs.FS) { remove(m, seg); remove(m, kept) }, nil, 1, true, false, fs.ErrNotExist, 0},
		{"a bad page", nil, page(seg), 1, true, true, nil, 1},
		{"a bad page, and the copy is gone", func(m vfs.FS) { remove(m, kept) }, page(seg), 1, true, false, syscall.EIO, 0},
		{"a bad page, and records are gone from the copy", func(m vfs.FS) { erase(m, kept, 8192, 9000) }, page(seg), 1, true, false, syscall.EIO, 0},
		{"a bad page of the copy", nil, page(kept), 2, true, true, nil, 1},
		{"a bad page of the copy, and records are gone", func(m vfs.FS) { erase(m, seg, 8192, 9000) }, page(kept), 1, true, false, syscall.EIO, 0},
		{"the copy cannot be read", nil, all(kept, syscall.EIO), 2, true, false, syscall.EIO, 0},
		{"the copy cannot be read now", nil, all(kept, syscall.ENOMEM), 2, true, false, syscall.ENOMEM, 0},
	}
}

// TestReadIsCompletedFromTheCopy reads segments whose records, pages or whole
// file are only in the copy.
func TestReadIsCompletedFromTheCopy(t *testing.T) {
	const records = 200 // in three pages
	kept := CopyName(1)
	for _, c := range readCases(t) {
		m := vfstest.NewMem(nil)
		d, old := copiedSegment(t, m, c.boot, records)
		if c.change != nil {
			c.change(m)
		}
		all := old[0]
		if strings.HasSuffix(c.name, unknown) {
			old[0].End, old[0].Sure = 0, 0
		}
		read := false
		m.Fail(vfstest.Fault{Fits: func(op vfstest.Op, base string) bool {
			read = read || op == vfstest.OpOpen && base == kept
			return false
		}})
		d.FS = badDisk{m, c.bad}
		b, err := d.Read(&old[0])
		if !errors.Is(err, c.err) || c.err == nil && err != nil || read != c.reads || all.HasAll(b) != c.whole {
			t.Errorf("%s: got %v, all records %v, the copy was read %v; want %v, %v, %v", c.name, err, all.HasAll(b), read, c.err, c.whole, c.reads)
		}
		noted := d.TakeNoted()
		if len(noted) != c.noted || c.noted > 0 && (noted[0].Op != readInstead || !errors.Is(noted[0].Err, syscall.EIO)) || len(d.TakeNoted()) != 0 {
			t.Errorf("%s: got reports %v, want %d, once", c.name, noted, c.noted)
		}
		noError(t, d.Unlock())
	}
}

// TestHeaderIsInTheCopy looks at segments whose header is not in their file, or
// not there yet.
func TestHeaderIsInTheCopy(t *testing.T) {
	seg, kept := SegmentName(1), CopyName(1)
	for _, c := range []struct {
		name         string
		first        uint64 // of the segment; 0: it was not used
		bad          string // a file whose first page cannot be read
		err          error
		damage, gone string // a file that is damaged, or gone
		used         bool
		copied       bool
		damaged      []string
		want         error
	}{
		{"both", 7, "", nil, "", "", true, true, nil, nil},
		{"only the copy", 7, "", nil, "", seg, true, true, nil, nil},
		{"only the segment", 7, "", nil, "", kept, true, false, nil, nil},
		{"the segment is damaged", 7, "", nil, seg, "", true, true, nil, nil},
		{"the copy of an unused segment is damaged", 0, "", nil, kept, "", false, false, []string{kept}, nil},
		{"the segment is damaged, and there is no copy", 7, "", nil, seg, kept, false, false, []string{seg}, nil},
		{"the segment has a bad page", 7, seg, syscall.EIO, "", "", true, true, nil, nil},
		{"the segment has a bad page, and the copy is damaged", 7, seg, syscall.EIO, kept, "", false, false, nil, syscall.EIO},
		{"the segment has a bad page, and there is no copy", 7, seg, syscall.EIO, "", kept, false, false, nil, syscall.EIO},
		{"the segment cannot be read now", 7, seg, syscall.ENOMEM, "", "", false, false, nil, syscall.ENOMEM},
		{"the copy has a bad page, and there is no segment", 7, kept, syscall.EIO, "", seg, false, false, nil, syscall.EIO},
		{"the copy of an unused segment has a bad page", 0, kept, syscall.EIO, "", "", false, false, nil, syscall.EIO},
	} {
		m := vfstest.NewMem(nil)
		d, _ := opened(t, m, 1)
		put(t, d, 1, 7, 3)
		noError(t, m.Rename(d.Name(seg), d.Name(kept)))
		put(t, d, 1, c.first, 3*min(int(c.first), 1))
		noError(t, d.Unlock())
		if c.gone != "" {
			noError(t, m.Remove(d.Name(c.gone)))
		}
		if c.damage != "" {
			touch(t, m, c.damage)
		}
		bad := map[string]map[int64]error{}
		if c.bad != "" {
			bad[c.bad] = map[int64]error{0: c.err}
		}
		d, old, err := OpenDir(memPath, &Options{FS: badDisk{m, bad}, Boot: 1})
		if !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
		if err != nil {
			continue
		}
		if len(old) == 1 != c.used || c.used && (old[0].Copied != c.copied || old[0].First != 7) || !slices.Equal(d.damaged, c.damaged) {
			t.Errorf("%s: got %+v, damaged %q, want it used: %v, with a copy: %v, damaged %q", c.name, old, d.damaged, c.used, c.copied, c.damaged)
		}
		if noted := d.TakeNoted(); len(noted) != map[bool]int{true: 1}[c.bad != ""] {
			t.Errorf("%s: got reports %v", c.name, noted)
		}
		noError(t, d.Unlock())
	}
}

// TestLook reads headers of single files.
func TestLook(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 1, 1, 1)
	put(t, d, 2, 0, 0)
	put(t, d, 3, 0, 0)
	put(t, d, 4, 0, 0)
	put(t, d, 5, 1, 1)
	put(t, d, 6, 1, 1)
	change := func(n uint64, do func(f vfs.File) error) {
		f, err := m.Open(d.Name(SegmentName(n)), os.O_RDWR, 0)
		noError(t, err, do(f), f.Close())
	}
	change(3, func(f vfs.File) error { _, err := f.WriteAt([]byte{1}, 80); return err })
	change(4, func(f vfs.File) error { _, err := f.WriteAt([]byte{1}, segment.HeaderSize); return err })
	change(5, func(f vfs.File) error { return f.Truncate(88) })
	change(6, func(f vfs.File) error { return f.Truncate(87) })
	touch(t, m, SegmentName(7))
	put(t, d, 9, 0, 0)
	put(t, d, 10, 1, 1)
	put(t, d, 11, 1, 1)
	change(9, func(f vfs.File) error { return f.Truncate(segment.HeaderSize) })
	change(10, func(f vfs.File) error { _, err := f.WriteAt([]byte{0}, 0); return err })
	m.Chown(d.Name(SegmentName(11)), os.Geteuid()+1)
	noError(t, m.MkdirAll(d.Name(SegmentName(12)), 0o700))
	for _, c := range []struct {
		number uint64
		used   bool
		err    error
	}{
		{1, true, nil}, {2, false, nil}, {3, false, ErrStart}, {4, false, ErrStart}, {5, true, nil},
		{6, false, segment.ErrHeader}, {7, false, segment.ErrHeader}, {8, false, fs.ErrNotExist},
		{9, false, nil}, {10, false, segment.ErrHeader}, {11, false, ErrUnsafe}, {12, false, segment.ErrHeader},
	} {
		g, used, err := d.Look(SegmentName(c.number))
		if used != c.used || !errors.Is(err, c.err) || c.err == nil && (err != nil || g.Number != c.number) {
			t.Errorf("segment %d: got %d, used %v and %v, want used %v and %v", c.number, g.Number, used, err, c.used, c.err)
		}
	}
	for name, bad := range map[string]map[int64]error{
		"header": {0: syscall.ENOMEM}, "first record": {segment.HeaderSize: syscall.ENOMEM},
	} {
		d.FS = badDisk{m, map[string]map[int64]error{SegmentName(2): bad}}
		if _, used, err := d.Look(SegmentName(2)); used || !errors.Is(err, syscall.ENOMEM) {
			t.Errorf("the %s cannot be read: got used %v and %v, want %v", name, used, err, syscall.ENOMEM)
		}
	}
	noError(t, d.Unlock())
}

// TestLookBesideTheOwner looks into a directory of another process, which gives
// a file another name while it is read: a file that is being used again is not
// damaged.
func TestLookBesideTheOwner(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 2, 2, 1)
	other, err := d.Bytes(SegmentName(2), 88)
	noError(t, err)
	write := func(f vfs.File, b []byte, at int64) error { _, err := f.WriteAt(b, at); return err }
	for _, c := range []struct {
		name   string
		gone   bool
		change func(f vfs.File) error
		err    error
	}{
		{"unchanged", false, func(vfs.File) error { return nil }, nil},
		{"not used again yet", true, func(vfs.File) error { return nil }, nil},
		{"damaged", false, func(f vfs.File) error { return write(f, []byte{0}, 0) }, segment.ErrHeader},
		{"cleared", true, func(f vfs.File) error { return write(f, make([]byte, 88), 0) }, fs.ErrNotExist},
		{"start damaged", false, func(f vfs.File) error { return write(f, []byte{0}, 84) }, ErrStart},
		{"start cleared", true, func(f vfs.File) error { return write(f, []byte{0}, 84) }, fs.ErrNotExist},
		{"of another number", false, func(f vfs.File) error { return write(f, other, 0) }, nil},
		{"used again", true, func(f vfs.File) error { return write(f, other, 0) }, fs.ErrNotExist},
	} {
		noError(t, d.Remove(1, nil))
		put(t, d, 1, 1, 1)
		inside := LookInto(changedInRead{m, func(f vfs.File) error {
			if c.gone {
				noError(t, d.Remove(1, nil))
			}
			return c.change(f)
		}}, memPath)
		if _, used, err := inside.Look(SegmentName(1)); !errors.Is(err, c.err) || used != (c.err == nil) || c.err == nil && err != nil {
			t.Errorf("%s: got used %v and %v, want %v", c.name, used, err, c.err)
		}
	}
	noError(t, d.Unlock())
}

// TestShrunkFileIsReadToItsEnd truncates a file after its size was determined.
func TestShrunkFileIsReadToItsEnd(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 1, 1, 1)
	d.FS = changedInRead{m, func(f vfs.File) error { return f.Truncate(5000) }}
	if b, err := d.Bytes(SegmentName(1), segment.MinSize); len(b) != 5000 || err != nil {
		t.Errorf("got %d bytes and %v, want 5000", len(b), err)
	}
	noError(t, d.Unlock())
}

// TestReadWithoutACopy reads a segment that had no copy when it was found: it
// looks for none.
func TestReadWithoutACopy(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, old := copiedSegment(t, m, 2, 3)
	old[0].Copied = false
	m.Fail(vfstest.Fault{Op: vfstest.OpOpen, Path: CopyName(1), Err: syscall.EIO})
	if b, err := d.Read(&old[0]); err != nil || !old[0].HasAll(b) {
		t.Errorf("got %d bytes and %v, want all records", len(b), err)
	}
	noError(t, d.Unlock())
}

// damageStart changes the checksum of a start.
func damageStart(t *testing.T, m vfs.FS, name string) {
	t.Helper()
	f, err := m.Open(memPath+"/"+name, os.O_RDWR, 0)
	noError(t, err)
	_, err = f.WriteAt([]byte{0}, 84)
	noError(t, err, f.Close())
}

// TestWhichFileIsTheSegment looks at files with the number of a segment that
// are not, or may not be, that segment.
func TestWhichFileIsTheSegment(t *testing.T) {
	seg, kept := SegmentName(2), CopyName(2)
	for _, c := range []struct {
		name         string
		make         func(d *Dir, m vfs.FS)
		used, copied bool
		damaged      []string
	}{
		{"start damaged", func(d *Dir, m vfs.FS) {
			put(t, d, 2, 5, 1)
			damageStart(t, m, seg)
		}, false, false, []string{seg}},
		{"copy without a start", func(d *Dir, m vfs.FS) {
			put(t, d, 2, 0, 0)
			noError(t, m.Rename(d.Name(seg), d.Name(kept)))
		}, false, true, nil},
		{"copy with a damaged start", func(d *Dir, m vfs.FS) {
			put(t, d, 2, 5, 1)
			damageStart(t, m, seg)
			noError(t, m.Rename(d.Name(seg), d.Name(kept)))
		}, false, true, []string{kept}},
		{"copy of an earlier segment", func(d *Dir, m vfs.FS) {
			put(t, d, 2, 5, 1)
			noError(t, m.Rename(d.Name(seg), d.Name(kept)))
			d.Gen++
			put(t, d, 2, 0, 0)
		}, false, true, nil},
		{"copy of the segment", func(d *Dir, m vfs.FS) {
			put(t, d, 2, 5, 1)
			noError(t, m.Rename(d.Name(seg), d.Name(kept)))
			put(t, d, 2, 0, 0)
		}, true, true, nil},
		{"segment of another spool, with a copy", func(d *Dir, m vfs.FS) {
			put(t, d, 2, 5, 1)
			noError(t, m.Rename(d.Name(seg), d.Name(kept)))
			d.Spool++
			put(t, d, 2, 5, 1)
		}, true, true, nil},
	} {
		m := vfstest.NewMem(nil)
		d, _ := opened(t, m, 1)
		put(t, d, 1, 1, 1)
		c.make(d, m)
		noError(t, d.Unlock())
		d, old := opened(t, m, 1)
		if len(old) == 2 != c.used || c.used && (old[1].Copied != c.copied || old[1].First != 5) || !slices.Equal(d.damaged, c.damaged) {
			t.Errorf("%s: got %+v, damaged %q, want it used: %v, damaged %q", c.name, old, d.damaged, c.used, c.damaged)
		}
		noError(t, d.Unlock())
	}
}

// TestUnreadableFileIsNoSegment cannot open or read a segment or its copy now.
func TestUnreadableFileIsNoSegment(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 2, 5, 1)
	touch(t, m, CopyName(2))
	for op, want := range map[vfstest.Op]error{vfstest.OpOpen: syscall.ENOMEM, vfstest.OpRead: syscall.EIO} {
		for _, name := range []string{SegmentName(2), CopyName(2)} {
			heal := m.Fail(vfstest.Fault{Op: op, Path: name, Err: want})
			for h := range d.Heads([]string{name}, d.Look) {
				if h.Used || h.OK || h.Number != 2 || len(h.Bad) > 0 || len(h.Unread) != 1 ||
					h.Unread[0].Op != name || !errors.Is(h.Unread[0].Err, want) {
					t.Errorf("%s of %s fails: got %+v, want it unread: %v", op, name, h, want)
				}
			}
			heal()
		}
	}
	noError(t, d.Unlock())
}

// A changedInRead is a file system whose files are changed before they are
// read.
type changedInRead struct {
	vfs.FS
	change func(f vfs.File) error
}

type changedFile struct {
	vfs.File
	change func(f vfs.File) error
}

func (d changedInRead) Open(name string, _ int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.FS.Open(name, os.O_RDWR, perm)
	return changedFile{f, d.change}, err
}

func (f changedFile) ReadAt(p []byte, at int64) (int, error) {
	if err := f.change(f.File); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, at)
}

// TestIsGone checks whether an open file still has its name. The process that
// has the directory needs to look only for whether it has any.
func TestIsGone(t *testing.T) {
	needsOpenFilesDeleted(t)
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	inside := LookInto(m, memPath)
	for _, c := range []struct {
		name         string
		change       func()
		gone, inside bool
		err, within  error
	}{
		{"unchanged", func() {}, false, false, nil, nil},
		{"removed", func() { noError(t, m.Remove(d.Name("x"))) }, true, true, nil, nil},
		{"renamed", func() { noError(t, m.Rename(d.Name("x"), d.Name("y"))) }, false, true, nil, nil},
		{"replaced", func() {
			noError(t, m.Link(d.Name("x"), d.Name("z")), m.Remove(d.Name("x")))
			touch(t, m, "x")
		}, false, true, nil, nil},
		{"no information on the file", func() { m.Fail(vfstest.Fault{Op: vfstest.OpStat, Path: "x", Times: 2, Err: syscall.EIO}) }, false, false, syscall.EIO, syscall.EIO},
		{"no information on the name", func() { m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: "x", Times: 1, Err: syscall.EIO}) }, false, false, nil, syscall.EIO},
	} {
		touch(t, m, "x")
		f, err := m.Open(d.Name("x"), os.O_RDONLY, 0)
		noError(t, err)
		c.change()
		if got, err := d.isGone(f, "x"); got != c.gone || !errors.Is(err, c.err) || c.err == nil && err != nil {
			t.Errorf("%s: got %v and %v, want %v and %v", c.name, got, err, c.gone, c.err)
		}
		if got, err := inside.isGone(f, "x"); got != c.inside || !errors.Is(err, c.within) || c.within == nil && err != nil {
			t.Errorf("%s: from outside, got %v and %v, want %v and %v", c.name, got, err, c.inside, c.within)
		}
		noError(t, f.Close())
	}
}

// TestClosedFilesAreNoted notes errors of Close, and no others.
func TestClosedFilesAreNoted(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	touch(t, m, "x")
	for _, want := range []error{nil, syscall.EDQUOT} {
		f, err := m.Open(d.Name("x"), os.O_RDWR, 0)
		noError(t, err)
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpClose, Path: "x", Err: want})
		d.Close("the cursor", f)
		heal()
		noted := d.TakeNoted()
		if want == nil && len(noted) != 0 || want != nil && (len(noted) != 1 || noted[0].Op != "close the cursor" || !errors.Is(noted[0].Err, want)) {
			t.Errorf("got %v, want %v", noted, want)
		}
	}
}

// TestIsCutOff truncates and removes the file of a segment.
func TestIsCutOff(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	put(t, d, 1, 1, 1)
	noError(t, d.Unlock())
	d, old := opened(t, m, 1)
	g := reopened(t, d, &old[0])
	defer g.Done(nil)
	check := func(name string, want bool) {
		t.Helper()
		if got := d.IsCutOff(g); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	check("whole", false)
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: SegmentName(1), Err: syscall.EACCES})
	check("not known", false)
	heal()
	f, err := m.Open(d.Name(SegmentName(1)), os.O_RDWR, 0)
	noError(t, err, f.Truncate(segment.MinSize-1), f.Close())
	check("truncated", true)
	noError(t, m.Remove(d.Name(SegmentName(1))))
	check("removed", true)
}
