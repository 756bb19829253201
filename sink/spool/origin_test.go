// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// left returns a directory with lines that were not delivered.
func left(t testing.TB, lines int) (dir string, id uint64) {
	t.Helper()
	dir = spoolDir(t)
	s := open(t, dir, nil, Config{SegmentSize: segment.MinSize, host: 1, boot: 1})
	for n := range lines {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
	}
	must(t, s.Close())
	return dir, s.id
}

// copyOf returns a copy of a directory.
func copyOf(t testing.TB, dir string) string {
	t.Helper()
	other := spoolDir(t)
	must(t, os.MkdirAll(other, 0o700), os.CopyFS(other, os.DirFS(dir)))
	return other
}

// originOf reads the file.
func originOf(t testing.TB, dir string) origin {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, originName))
	must(t, err)
	o, ok, err := readOrigin(b)
	must(t, err)
	if !ok {
		t.Fatalf("%s has no origin: %x", dir, b)
	}
	return o
}

func TestRestartKeepsTheSpoolID(t *testing.T) {
	dir, id := left(t, 1)
	for n, c := range []Config{
		{host: 1, boot: 1}, // another process
		{host: 2, boot: 1}, // in another container
		{host: 2, boot: 2}, // after a restart of the machine
		{host: 2, boot: 2, Shared: false, DeliverOnly: true},
	} {
		c.SegmentSize = segment.MinSize
		s := open(t, dir, nil, c)
		if s.id != id {
			t.Errorf("start %d: got spool %x, want %x", n, s.id, id)
		}
		must(t, s.Close())
		if o := originOf(t, dir); o.id != id || o.host != c.host || o.boot != c.boot {
			t.Errorf("start %d: got %+v", n, o)
		}
	}
	moved := filepath.Join(t.TempDir(), "moved")
	must(t, os.Rename(dir, moved))
	if s := open(t, moved, nil, Config{SegmentSize: segment.MinSize, host: 2, boot: 2}); s.id != id {
		t.Errorf("after a rename: got spool %x, want %x", s.id, id)
	}
}

// TestCopiedDirectoryIsAnotherSpool opens a directory and two copies of it at the same time
// (reliability row 41).
func TestCopiedDirectoryIsAnotherSpool(t *testing.T) {
	dir, id := left(t, 10)
	ids := []uint64{id}
	for n, path := range []string{dir, copyOf(t, dir), copyOf(t, dir)} {
		f := &far{}
		c := Config{SegmentSize: segment.MinSize, host: 1, boot: 1}
		s := open(t, path, f, c)
		must(t, s.WriteRecord(record(nib.LevelInfo, 10, 100)), s.Flush(context.Background()))
		if got := s.id == id; got != (n == 0) || n > 0 && slices.Contains(ids, s.id) {
			t.Errorf("directory %d delivers as spool %x, those before as %x", n, s.id, ids)
		}
		ids = append(ids, s.id)
		for _, from := range f.ids {
			if from != s.id {
				t.Errorf("directory %d: a record is of spool %x, want %x", n, from, s.id)
			}
		}
		checkLines(t, f.take(), 0, 11, 100)
		must(t, s.Close())
		if v := inspected(t, path); v.ID != s.id || !v.Destinations[0].Known {
			t.Errorf("directory %d: Inspect shows spool %x, want %x, and %+v", n, v.ID, s.id, v.Destinations)
		}
		again := open(t, path, f, c)
		must(t, again.WriteRecord(record(nib.LevelInfo, 11, 100)), again.Flush(context.Background()))
		checkLines(t, f.take(), 11, 12, 100)
		if again.id != s.id {
			t.Errorf("directory %d: got spool %x after a restart, want %x", n, again.id, s.id)
		}
	}
}

// TestCopiesOnOneDestinationLoseNoLine gives the lines of a spool and of its copy to one
// destination that can find what it has.
func TestCopiesOnOneDestinationLoseNoLine(t *testing.T) {
	dir, _ := left(t, 10)
	c := &clerk{}
	seen := map[[2]uint64][]byte{} // by spool and number
	one := open(t, dir, c, Config{SegmentSize: segment.MinSize, host: 1, boot: 1})
	two := open(t, copyOf(t, dir), c, Config{SegmentSize: segment.MinSize, host: 1, boot: 1})
	for n := range 20 {
		must(t, one.WriteRecord(record(nib.LevelInfo, 10+n, 100)), two.WriteRecord(record(nib.LevelInfo, 30+n, 100)))
	}
	must(t, one.Flush(context.Background()), two.Flush(context.Background()))
	must(t, one.Close(), two.Close())
	for i, l := range c.lines {
		key := [2]uint64{c.ids[i], c.seqs[i]}
		if before, ok := seen[key]; ok && !bytes.Equal(before, l) {
			t.Errorf("two lines are number %d of spool %x", key[1], key[0])
		}
		seen[key] = l
	}
	for n := range 50 {
		if l := record(nib.LevelInfo, n, 100).Line; !slices.ContainsFunc(c.lines, func(got []byte) bool { return bytes.Equal(got, l) }) {
			t.Errorf("line %d is lost", n)
		}
	}
}

func TestCopiesAreToldFromMoves(t *testing.T) {
	at := site{inode: 1, device: 1, volume: 1, host: 1, boot: 1}
	for _, c := range []struct {
		name    string
		now     site
		mounted bool
		copied  bool
	}{
		{"another process", at, true, false},
		{"another container", site{1, 1, 1, 2, 1}, true, false},
		{"another container on another copy of the volume", site{1, 2, 1, 2, 1}, false, true},
		{"mounted again, with another device number", site{1, 2, 1, 1, 1}, false, false},
		{"a snapshot beside the volume", site{1, 2, 1, 1, 1}, true, true},
		{"a snapshot with an id of its own", site{1, 1, 2, 1, 1}, false, true},
		{"a copied file", site{2, 1, 1, 1, 1}, true, true},
		{"the machine was restarted", site{1, 2, 1, 1, 2}, true, false},
		{"another machine", site{1, 1, 1, 2, 2}, true, true},
	} {
		mounted := func(device uint64) bool { return device == at.device && c.mounted }
		if got := at.isCopy(c.now, mounted); got != c.copied {
			t.Errorf("%s: got copy: %v, want %v", c.name, got, c.copied)
		}
	}
	unknown := site{inode: 1, host: 1} // no run of the system is known
	if unknown.isCopy(unknown, isMounted) || !unknown.isCopy(site{inode: 1, host: 2}, isMounted) {
		t.Error("without the run of the system, the host decides")
	}
}

func TestMountedDevices(t *testing.T) {
	if _, err := os.Stat("/proc/self/mountinfo"); err != nil {
		t.Skip(err)
	}
	f, err := vfs.OS().Open("/proc/self/mountinfo", os.O_RDONLY, 0)
	must(t, err)
	defer f.Close()
	info, err := f.Stat()
	must(t, err)
	if !isMounted(info.ID.Device) {
		t.Errorf("device %#x has /proc, and is not mounted", info.ID.Device)
	}
	if isMounted(0xfff<<8 | 0xff) {
		t.Error("a device is mounted that there is none of")
	}
}

// TestSpoolWithoutOrigin opens a spool of a version that had no such file.
func TestSpoolWithoutOrigin(t *testing.T) {
	dir, id := left(t, 10)
	must(t, os.Remove(filepath.Join(dir, originName)))
	f := &far{}
	s := open(t, dir, f, Config{SegmentSize: segment.MinSize, host: 1, boot: 1})
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, 10, 100)
	if o := originOf(t, dir); s.id != id || o.id != id {
		t.Errorf("got spool %x and %+v, want %x", s.id, o, id)
	}
}

// TestDamagedOriginIsACopy takes a new id when nobody knows any more which one it was.
func TestDamagedOriginIsACopy(t *testing.T) {
	for name, harm := range map[string]func(b []byte) []byte{
		"empty": func([]byte) []byte { return nil },
		"short": func(b []byte) []byte { return b[:64] },
		"flip":  func(b []byte) []byte { b[30] ^= 1; return b },
	} {
		dir, id := left(t, 10)
		path := filepath.Join(dir, originName)
		b, err := os.ReadFile(path)
		must(t, err, os.WriteFile(path, harm(b), 0o600))
		f := &far{}
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, host: 1, boot: 1})
		must(t, s.Flush(context.Background()))
		checkLines(t, f.take(), 0, 10, 100)
		if o := originOf(t, dir); s.id == id || o.id != s.id || o.spool != id {
			t.Errorf("%s: got spool %x and %+v, before it was %x", name, s.id, o, id)
		}
	}
}

func TestLaterVersionOfOriginIsRefused(t *testing.T) {
	dir, id := left(t, 1)
	path := filepath.Join(dir, originName)
	o := originOf(t, dir)
	b := make([]byte, originSize)
	putOrigin(b, &o)
	binary.LittleEndian.PutUint32(b[8:], originVersion+1)
	binary.LittleEndian.PutUint32(b[originSize-4:], segment.Checksum(b[:originSize-4]))
	must(t, os.WriteFile(path, b, 0o600))
	if _, ok, err := readOrigin(b); ok || !errors.Is(err, ErrVersion) {
		t.Errorf("got %v and %v, want ErrVersion", ok, err)
	}
	if _, err := Open(dir, nil, Config{}); !errors.Is(err, ErrVersion) {
		t.Errorf("got %v, want ErrVersion", err)
	}
	if v := inspected(t, dir); v.ID != id {
		t.Errorf("Inspect shows spool %x, want %x", v.ID, id)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, b) {
		t.Errorf("the file was changed (%v)", err)
	}
}

// TestOriginThatCannotBeWritten does not keep a spool from opening: the disk may be full.
func TestOriginThatCannotBeWritten(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpCreate, vfstest.OpStat, vfstest.OpWrite, vfstest.OpSync} {
		m := vfstest.NewMem(nil)
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m})
		must(t, s.Close(), m.Remove(filepath.Join(memDir, originName)))
		m.Fail(vfstest.Fault{Op: op, Path: originName, Err: syscall.ENOSPC})
		again := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, OnError: func(error) {}})
		if again.id != s.id {
			t.Errorf("%v: got spool %x, want %x", op, again.id, s.id)
		}
		if again.Stats().Errors == 0 {
			t.Errorf("%v: no error is counted", op)
		}
	}
}

// TestUnreadableOriginFailsOpen instead of making another spool of this one.
func TestUnreadableOriginFailsOpen(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpOpen, vfstest.OpRead, vfstest.OpStat} {
		m := vfstest.NewMem(nil)
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m})
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Close())
		stop := m.Fail(vfstest.Fault{Op: op, Path: originName, Err: syscall.EIO})
		if _, err := Open(memDir, nil, Config{SegmentSize: segment.MinSize, fs: m}); !errors.Is(err, syscall.EIO) {
			t.Errorf("%v: got %v, want EIO", op, err)
		}
		stop()
		d, opened := &dir{fs: m, path: memDir}, m.Opened()
		if id := d.knownAs(s.id); id != s.id || m.Opened() != opened {
			t.Errorf("%v: from outside, it is spool %x, want %x; the file is open: %v", op, id, s.id, m.Opened() != opened)
		}
		if again := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m}); again.id != s.id {
			t.Errorf("%v: got spool %x, want %x", op, again.id, s.id)
		}
	}
}

// TestOnlyWholeOriginsAreRead flips each bit of the file, cuts it off, and has one
// of another spool.
func TestOnlyWholeOriginsAreRead(t *testing.T) {
	whole := make([]byte, originSize)
	want := origin{spool: 5, id: 6, site: site{inode: 7, device: 8, volume: 9, host: 10, boot: 11}}
	putOrigin(whole, &want)
	if got, ok, err := readOrigin(whole); got != want || !ok || err != nil {
		t.Errorf("got %+v, %v, %v, want %+v", got, ok, err, want)
	}
	for bit := range 8 * originSize {
		b := bytes.Clone(whole)
		b[bit/8] ^= 1 << (bit % 8)
		if got, ok, err := readOrigin(b); ok || err != nil || got != (origin{}) {
			t.Fatalf("bit %d of the file is not checked: got %+v, %v", bit, got, err)
		}
	}
	for n := range whole {
		if _, ok, err := readOrigin(whole[:n]); ok || err != nil {
			t.Fatalf("%d bytes are taken for the file", n)
		}
	}
	other := bytes.Clone(whole)
	other[0]++
	binary.LittleEndian.PutUint32(other[originSize-4:], segment.Checksum(other[:originSize-4]))
	if _, ok, _ := readOrigin(other); ok {
		t.Error("another format is taken for the file")
	}
	d := &dir{fs: vfs.OS(), path: t.TempDir()}
	must(t, os.WriteFile(filepath.Join(d.path, originName), whole, 0o600))
	if ours, others := d.knownAs(5), d.knownAs(4); ours != 6 || others != 4 {
		t.Errorf("spool 5 is known as %d, want 6; and spool 4 as %d, want 4", ours, others)
	}
}
