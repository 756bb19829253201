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
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
	"github.com/nib-log/nib/sink/spool/internal/store"
)

// left returns a spool directory with undelivered lines.
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

// copyOf returns a copy of the directory of a closed spool.
func copyOf(t testing.TB, dir string) string {
	t.Helper()
	other := spoolDir(t)
	must(t, os.MkdirAll(other, 0o700), os.CopyFS(other, os.DirFS(dir)))
	return other
}

// originOf reads the file origin.
func originOf(t testing.TB, dir string) store.Origin {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, store.OriginName))
	must(t, err)
	o, ok, err := store.ReadOrigin(b)
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
		if o := originOf(t, dir); o.ID != id || o.Host != c.host || o.Boot != c.boot {
			t.Errorf("start %d: got %+v", n, o)
		}
	}
	moved := filepath.Join(t.TempDir(), "moved")
	must(t, os.Rename(dir, moved))
	if s := open(t, moved, nil, Config{SegmentSize: segment.MinSize, host: 2, boot: 2}); s.id != id {
		t.Errorf("after a rename: got spool %x, want %x", s.id, id)
	}
}

// TestCopiedDirectoryIsAnotherSpool opens a directory and two copies of it at
// the same time (reliability row 41).
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

// TestCopiesOnOneDestinationLoseNoLine delivers the lines of a spool and of its
// copy to one destination that can determine which records it has.
func TestCopiesOnOneDestinationLoseNoLine(t *testing.T) {
	dir, _ := left(t, 10)
	other := copyOf(t, dir) // now, since an open spool renames files
	c := &clerk{}
	seen := map[[2]uint64][]byte{} // by spool and number
	one := open(t, dir, c, Config{SegmentSize: segment.MinSize, host: 1, boot: 1})
	two := open(t, other, c, Config{SegmentSize: segment.MinSize, host: 1, boot: 1})
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

// TestSpoolWithoutOrigin opens a spool of a version without the file origin.
func TestSpoolWithoutOrigin(t *testing.T) {
	dir, id := left(t, 10)
	must(t, os.Remove(filepath.Join(dir, store.OriginName)))
	f := &far{}
	s := open(t, dir, f, Config{SegmentSize: segment.MinSize, host: 1, boot: 1})
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, 10, 100)
	if o := originOf(t, dir); s.id != id || o.ID != id {
		t.Errorf("got spool %x and %+v, want %x", s.id, o, id)
	}
}

// TestDamagedOriginIsACopy checks that a spool whose origin is damaged takes a
// new id.
func TestDamagedOriginIsACopy(t *testing.T) {
	for name, harm := range map[string]func(b []byte) []byte{
		"empty": func([]byte) []byte { return nil },
		"short": func(b []byte) []byte { return b[:64] },
		"flip":  func(b []byte) []byte { b[30] ^= 1; return b },
	} {
		dir, id := left(t, 10)
		path := filepath.Join(dir, store.OriginName)
		b, err := os.ReadFile(path)
		must(t, err, os.WriteFile(path, harm(b), 0o600))
		f := &far{}
		s := open(t, dir, f, Config{SegmentSize: segment.MinSize, host: 1, boot: 1})
		must(t, s.Flush(context.Background()))
		checkLines(t, f.take(), 0, 10, 100)
		if o := originOf(t, dir); s.id == id || o.ID != s.id || o.Spool != id {
			t.Errorf("%s: got spool %x and %+v, before it was %x", name, s.id, o, id)
		}
	}
}

func TestLaterVersionOfOriginIsRefused(t *testing.T) {
	dir, id := left(t, 1)
	path := filepath.Join(dir, store.OriginName)
	o := originOf(t, dir)
	b := make([]byte, store.OriginSize)
	store.PutOrigin(b, &o)
	binary.LittleEndian.PutUint32(b[8:], store.OriginVersion+1)
	binary.LittleEndian.PutUint32(b[store.OriginSize-4:], segment.Checksum(b[:store.OriginSize-4]))
	must(t, os.WriteFile(path, b, 0o600))
	if _, ok, err := store.ReadOrigin(b); ok || !errors.Is(err, ErrVersion) {
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

// TestOriginThatCannotBeWritten checks that Open succeeds if the file cannot be
// written: the disk may be full.
func TestOriginThatCannotBeWritten(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpCreate, vfstest.OpStat, vfstest.OpWrite, vfstest.OpSync} {
		m := vfstest.NewMem(nil)
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m})
		must(t, s.Close(), m.Remove(filepath.Join(memDir, store.OriginName)))
		m.Fail(vfstest.Fault{Op: op, Path: store.OriginName, Err: syscall.ENOSPC})
		again := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m, OnError: func(error) {}})
		if again.id != s.id {
			t.Errorf("%v: got spool %x, want %x", op, again.id, s.id)
		}
		if again.Stats().Errors == 0 {
			t.Errorf("%v: no error is counted", op)
		}
	}
}

// TestOriginIsStoredOnce starts again where the file cannot be written.
func TestOriginIsStoredOnce(t *testing.T) {
	m := vfstest.NewMem(nil)
	c := Config{SegmentSize: segment.MinSize, fs: m, Sync: SyncNever}
	must(t, open(t, memDir, nil, c).Close())
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Path: store.OriginName, Err: syscall.ENOSPC})
	s := open(t, memDir, nil, c)
	must(t, s.Close())
	if st := s.Stats(); st.Errors > 0 {
		t.Errorf("got %+v, want no write and no errors", st)
	}
}

// TestUnreadableOriginFailsOpen checks that Open fails instead of taking a new
// id.
func TestUnreadableOriginFailsOpen(t *testing.T) {
	for _, op := range []vfstest.Op{vfstest.OpOpen, vfstest.OpRead, vfstest.OpStat} {
		m := vfstest.NewMem(nil)
		s := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m})
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)), s.Close())
		stop := m.Fail(vfstest.Fault{Op: op, Path: store.OriginName, Err: syscall.EIO})
		if _, err := Open(memDir, nil, Config{SegmentSize: segment.MinSize, fs: m}); !errors.Is(err, syscall.EIO) {
			t.Errorf("%v: got %v, want EIO", op, err)
		}
		stop()
		d, opened := store.LookInto(m, memDir), m.Opened()
		if id := d.KnownID(s.id); id != s.id || m.Opened() != opened {
			t.Errorf("%v: from outside, it is spool %x, want %x; the file is open: %v", op, id, s.id, m.Opened() != opened)
		}
		if again := open(t, memDir, nil, Config{SegmentSize: segment.MinSize, fs: m}); again.id != s.id {
			t.Errorf("%v: got spool %x, want %x", op, again.id, s.id)
		}
	}
}

// TestSegmentOfAnotherSpoolIsQuarantined copies a segment of another spool into
// a directory, with a lower number than those of its own: it is quarantined,
// and the lines of the others arrive.
func TestSegmentOfAnotherSpoolIsQuarantined(t *testing.T) {
	dir, id := left(t, 10)
	f, stray := &far{}, store.SegmentName(1)
	s := open(t, dir, f, Config{SegmentSize: segment.MinSize, host: 1, boot: 1})
	must(t, s.Flush(context.Background()), s.Close())
	checkLines(t, f.take(), 0, 10, 100)
	s = open(t, dir, nil, Config{SegmentSize: 2 * segment.MinSize, host: 1, boot: 1}) // needs another segment
	for n := range 10 {
		must(t, s.WriteRecord(record(nib.LevelInfo, n, 100)))
	}
	must(t, s.Close())
	must(t, os.Remove(filepath.Join(dir, stray)), os.Remove(filepath.Join(dir, store.CopyName(1))))
	other, _ := left(t, 5)
	must(t, os.Link(filepath.Join(other, stray), filepath.Join(dir, stray)))
	v := inspected(t, dir)
	if v.ID != id || v.Numbers() != 10 || !slices.Equal(v.Bad, []string{stray}) || !v.Destinations[0].Known || v.Pending(DefaultName) != 10 {
		t.Errorf("Inspect shows %+v, want spool %x, 10 numbers and the bad file %s", v, id, stray)
	}

	s = open(t, dir, f, Config{SegmentSize: 2 * segment.MinSize, host: 1, boot: 1})
	must(t, s.Flush(context.Background()))
	checkLines(t, f.take(), 0, 10, 100)
	if st := s.Stats(); s.id != id || st.Bad != 1 || st.Lost() != 0 {
		t.Errorf("got spool %x and %+v, want %x, one quarantined file and no losses", s.id, st, id)
	}
	if _, err := os.Stat(filepath.Join(dir, stray+store.BadExt)); err != nil {
		t.Error(err)
	}
}
