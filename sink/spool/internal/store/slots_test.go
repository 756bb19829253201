// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs/vfstest"
)

// homeWith returns the home memPath of a process in slot 1, with these files.
// Files of a slot have the slot's name in front.
func homeWith(t *testing.T, names ...string) (*vfstest.Mem, *Home) {
	t.Helper()
	m := vfstest.NewMem(nil)
	h := NewHome(m, memPath)
	noError(t, h.Check())
	for _, name := range names {
		noError(t, m.MkdirAll(filepath.Join(memPath, filepath.Dir(name)), 0o700))
		touch(t, m, name)
	}
	if path, _ := h.Choose(1); path != filepath.Join(memPath, SlotName(1)) {
		t.Fatalf("got %q for slot 1", path)
	}
	return m, h
}

func inSlot(n int, name string) string { return filepath.Join(SlotName(n), name) }

// TestChoose looks for the directory of a slot.
func TestChoose(t *testing.T) {
	m, h := homeWith(t, inSlot(2, "lock"))
	if _, err := h.Choose(2); err != nil {
		t.Errorf("an existing slot: got %v", err)
	}
	if _, err := h.Choose(3); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new slot: got %v, want that it does not exist", err)
	}
	m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: SlotName(2), Err: syscall.EACCES})
	if _, err := h.Choose(2); !errors.Is(err, syscall.EACCES) {
		t.Errorf("a slot that cannot be looked at: got %v, want %v", err, syscall.EACCES)
	}
}

// TestSlots lists the slots with and without segments, except this process's
// slot.
func TestSlots(t *testing.T) {
	home := filepath.Clean(memPath)
	slot := func(n int) string { return filepath.Join(home, SlotName(n)) }
	for _, c := range []struct {
		name         string
		files        []string
		paths, empty []string
	}{
		{"none", nil, nil, nil},
		{"segments in the home", []string{SegmentName(1), "lock"}, []string{home}, nil},
		{"a copy in the home", []string{CopyName(1)}, []string{home}, nil},
		{"only a lock in the home", []string{"lock"}, nil, []string{home}},
		{"a stray file in the home", []string{"notes"}, nil, nil},
		{"the slot of this process", []string{inSlot(1, SegmentName(1))}, nil, nil},
		{"segments in a slot", []string{inSlot(2, SegmentName(1))}, []string{slot(2)}, nil},
		{"an empty slot", []string{inSlot(2, "lock"), inSlot(2, formerName), inSlot(2, "c"+CursorExt), inSlot(2, SegmentName(1)+MadeSuffix)}, nil, []string{slot(2)}},
		{"rejected lines in a slot", []string{inSlot(2, "c.rejected"), inSlot(2, "lock")}, nil, nil},
		{"a quarantined segment in a slot", []string{inSlot(2, SegmentName(1)+BadExt)}, nil, nil},
		{"no slots", []string{"slot-2/lock", "slot-0000/lock", "slot-00002/lock", "slot--001/lock", "other/lock", "Slot-0002/lock"}, nil, nil},
		{"a file with the name of a slot", []string{SlotName(3), inSlot(2, SegmentName(1))}, []string{slot(2)}, nil},
		{"both kinds", []string{inSlot(2, SegmentName(1)), inSlot(3, "lock"), SegmentName(1)}, []string{home, slot(2)}, []string{slot(3)}},
	} {
		_, h := homeWith(t, c.files...)
		paths, empty, err := h.Slots()
		if err != nil || !slices.Equal(paths, c.paths) || !slices.Equal(empty, c.empty) {
			t.Errorf("%s: got %q, empty %q and %v, want %q and %q", c.name, paths, empty, err, c.paths, c.empty)
		}
	}
}

// TestSlotsThatCannotBeListed makes listing fail: the other slots are found,
// and the error is returned, unless the slot is gone.
func TestSlotsThatCannotBeListed(t *testing.T) {
	for _, c := range []struct {
		path      string
		err, want error
		found     int
	}{
		{"spool", syscall.EACCES, syscall.EACCES, 0},
		{SlotName(2), syscall.EACCES, syscall.EACCES, 1},
		{SlotName(2), fs.ErrNotExist, nil, 1},
	} {
		m, h := homeWith(t, inSlot(2, SegmentName(1)), inSlot(3, SegmentName(1)))
		m.Fail(vfstest.Fault{Op: vfstest.OpReadDir, Path: c.path, Err: c.err})
		if paths, _, err := h.Slots(); !errors.Is(err, c.want) || c.want == nil && err != nil || len(paths) != c.found {
			t.Errorf("%s: %v: got %q and %v, want %d slots and %v", c.path, c.err, paths, err, c.found, c.want)
		}
		bytes, err := h.BytesOfOthers()
		if !errors.Is(err, c.want) || c.want == nil && (err != nil || bytes != 4) {
			t.Errorf("%s: %v: got %d bytes and %v, want %v", c.path, c.err, bytes, err, c.want)
		}
	}
}

// TestBytesOfOthers adds the sizes of all segments of other processes, also of
// segments that are being made.
func TestBytesOfOthers(t *testing.T) {
	m, h := homeWith(t,
		SegmentName(1), SegmentName(2)+MadeSuffix, // 4 bytes each
		CopyName(1), CopyName(1)+MadeSuffix, "lock", "notes", "notes"+SegmentExt, SegmentName(3)+BadExt,
		inSlot(1, SegmentName(1)),
		inSlot(2, SegmentName(1)), inSlot(2, SegmentName(2)+MadeSuffix), inSlot(2, CopyName(1)),
		"other/"+SegmentName(1), SlotName(3))
	if n, err := h.BytesOfOthers(); n != 16 || err != nil {
		t.Errorf("got %d bytes and %v, want 16", n, err)
	}
	for err, want := range map[error]error{fs.ErrNotExist: nil, syscall.EIO: syscall.EIO} {
		for path, n := range map[string]int64{SegmentName(2) + MadeSuffix: 8, SegmentName(1): 8} {
			heal := m.Fail(vfstest.Fault{Op: vfstest.OpLstat, Path: path, Err: err})
			if got, e := h.BytesOfOthers(); !errors.Is(e, want) || want == nil && (got != n || e != nil) {
				t.Errorf("%s: %v: got %d bytes and %v, want %d and %v", path, err, got, e, n, want)
			}
			heal()
		}
	}
}

// TestRefuseHome opens directories unshared.
func TestRefuseHome(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		want  error
	}{
		{"new", nil, nil},
		{"slots", []string{inSlot(2, "lock")}, errNotShared},
		{"slots beside other directories", []string{"zzz/lock", inSlot(2, "lock")}, errNotShared},
		{"slots, and a lock", []string{inSlot(2, "lock"), "lock"}, nil},
		{"slots, and a segment", []string{inSlot(2, "lock"), SegmentName(1)}, nil},
		{"slots, and a stray file", []string{inSlot(2, "lock"), "notes"}, errNotShared},
	} {
		m, _ := homeWith(t, c.files...)
		if err := RefuseHome(m, memPath); err != c.want {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	m, _ := homeWith(t)
	if err := RefuseHome(m, "/missing"); err != nil {
		t.Errorf("a missing directory: got %v", err)
	}
	m.Fail(vfstest.Fault{Op: vfstest.OpReadDir, Err: syscall.EACCES})
	if err := RefuseHome(m, memPath); !errors.Is(err, syscall.EACCES) {
		t.Errorf("got %v, want %v", err, syscall.EACCES)
	}
}

// TestRetire deletes slots that have no segments. Files for the operator stay,
// and with them the directory and its lock file.
func TestRetire(t *testing.T) {
	for _, c := range []struct {
		name  string
		home  bool
		files []string
		left  []string // nil: the directory is gone
	}{
		{"empty slot", false, []string{formerName, "c" + CursorExt, SegmentName(2) + MadeSuffix}, nil},
		{"segment in the slot", false, []string{SegmentName(1), formerName, "c" + CursorExt}, []string{SegmentName(1), "c" + CursorExt, "lock", formerName}},
		{"rejected lines in the slot", false, []string{"c.rejected", formerName}, []string{"c.rejected", "lock"}},
		{"home", true, []string{formerName, "c" + CursorExt}, []string{}},
		{"rejected lines in the home", true, []string{"c.rejected", formerName}, []string{"c.rejected"}},
	} {
		m := vfstest.NewMem(nil)
		d, _ := opened(t, m, 1)
		touch(t, m, c.files...)
		noError(t, d.Retire(c.home))
		got, err := m.ReadDir(memPath)
		if c.left == nil && !errors.Is(err, fs.ErrNotExist) || c.left != nil && (err != nil || !slices.Equal(got, c.left)) {
			t.Errorf("%s: got %q and %v, want %q", c.name, got, err, c.left)
		}
		noError(t, d.Retire(c.home), d.Unlock()) // again
	}
}

// TestRetireFails makes a call of Retire fail: the lock file stays as long as
// any other file, so that a later call deletes the rest.
func TestRetireFails(t *testing.T) {
	for _, f := range []vfstest.Fault{
		{Op: vfstest.OpReadDir}, {Op: vfstest.OpRemove, Path: formerName}, {Op: vfstest.OpRemove, Path: "c" + CursorExt},
		{Op: vfstest.OpRemove, Path: "lock"}, {Op: vfstest.OpRemove, Path: "spool"},
	} {
		for _, missing := range []bool{false, true} {
			m := vfstest.NewMem(nil)
			d, _ := opened(t, m, 1)
			touch(t, m, formerName, "c"+CursorExt)
			want := error(syscall.EIO)
			if f.Err = want; missing {
				f.Err, want = fs.ErrNotExist, nil
			}
			heal := m.Fail(f)
			err := d.Retire(false)
			heal()
			if !errors.Is(err, want) || want == nil && err != nil {
				t.Errorf("%s of %q: %v: got %v, want %v", f.Op, f.Path, f.Err, err, want)
			}
			if missing || f.Path == "spool" {
				continue
			}
			if got := namesIn(t, m); !slices.Contains(got, "lock") {
				t.Errorf("%s of %q fails: got %q, want the lock file", f.Op, f.Path, got)
			}
			noError(t, d.Retire(false))
			if _, err := m.ReadDir(memPath); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s of %q failed once: the slot is left, %v", f.Op, f.Path, err)
			}
		}
	}
}

// TestRemoveEmpty deletes an empty slot, unless a process has it, or it is gone
// or cannot be locked.
func TestRemoveEmpty(t *testing.T) {
	m, h := homeWith(t, inSlot(2, "lock"), inSlot(2, formerName))
	path := filepath.Join(memPath, SlotName(2))
	d, _, err := OpenDir(path, &Options{FS: m, Boot: 1})
	noError(t, err, h.RemoveEmpty(path))
	if names, err := m.ReadDir(path); err != nil || len(names) != 2 {
		t.Errorf("a process has it: got %q and %v, want both files", names, err)
	}
	noError(t, d.Unlock())
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpLock, Err: syscall.ENOLCK})
	if err := h.RemoveEmpty(path); !errors.Is(err, syscall.ENOLCK) {
		t.Errorf("got %v, want %v", err, syscall.ENOLCK)
	}
	heal()
	noError(t, h.RemoveEmpty(path), h.RemoveEmpty(path))
	if _, err := m.ReadDir(path); !errors.Is(err, fs.ErrNotExist) || m.Opened() != 0 {
		t.Errorf("got %v and %d open files, want that it is gone", err, m.Opened())
	}
	touch(t, m, "lock")
	noError(t, h.RemoveEmpty(memPath))
	if names := namesIn(t, m); len(names) != 0 {
		t.Errorf("got %q in the home, want that it stays, and is empty", names)
	}
}

// TestUnsafeHomes checks the mode and the kind of a directory.
func TestUnsafeHomes(t *testing.T) {
	m := vfstest.NewMem(nil)
	for mode, want := range map[fs.FileMode]error{0o700: nil, 0o755: nil, 0o720: ErrUnsafe, 0o702: ErrUnsafe} {
		name := filepath.Join("/", mode.String())
		noError(t, m.MkdirAll(name, mode))
		if err := NewHome(m, name).Check(); !errors.Is(err, want) || want == nil && err != nil {
			t.Errorf("%v: got %v, want %v", mode, err, want)
		}
	}
	f, err := m.Open("/file", os.O_RDWR|os.O_CREATE, 0o600)
	noError(t, err, f.Close())
	if err := NewHome(m, "/file").Check(); err == nil {
		t.Error("a file is taken for a directory")
	}
	for _, op := range []vfstest.Op{vfstest.OpMkdir, vfstest.OpLstat} {
		m := vfstest.NewMem(nil)
		m.Fail(vfstest.Fault{Op: op, Err: syscall.EACCES})
		if err := NewHome(m, memPath).Check(); !errors.Is(err, syscall.EACCES) {
			t.Errorf("%s fails: got %v, want %v", op, err, syscall.EACCES)
		}
	}
}
