// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

func TestSlotRoundTrip(t *testing.T) {
	long := bytes.Repeat([]byte{7}, MaxMark)
	for _, mark := range [][]byte{nil, {1}, long} {
		slot := bytes.Repeat([]byte{0xff}, SlotSize)
		want := Position{5, 6}
		PutSlot(slot, 9, want, mark)
		if n, got, ok, _ := readSlot(slot); !ok || n != 9 || got != want || !bytes.Equal(MarkIn(slot), mark) {
			t.Errorf("got slot %d %+v, mark %x and %v, want 9 %+v and %x", n, got, MarkIn(slot), ok, want, mark)
		}
		fresh := make([]byte, SlotSize)
		if PutSlot(fresh, 9, want, mark); !bytes.Equal(slot, fresh) {
			t.Errorf("mark %x: what was there before is in the slot", mark)
		}
		for bit := range SlotSize * 8 {
			b := bytes.Clone(slot)
			b[bit/8] ^= 1 << (bit % 8)
			if _, _, ok, _ := readSlot(b); ok {
				t.Errorf("bit %d of a slot is not checked", bit)
			}
		}
		for n := range slot {
			if _, _, ok, _ := readSlot(slot[:n]); ok {
				t.Errorf("a slot of %d bytes is taken for whole", n)
			}
		}
	}
}

// TestOnlySlotsAreRead has files with valid checksums that are not slots.
func TestOnlySlotsAreRead(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"another magic": func(b []byte) { b[0]++ },
		"version 0":     func(b []byte) { binary.LittleEndian.PutUint32(b[8:], 0) },
	} {
		b := make([]byte, SlotSize)
		PutSlot(b, 9, Position{5, 6}, nil)
		change(b)
		binary.LittleEndian.PutUint32(b[SlotSize-4:], segment.Checksum(b[:SlotSize-4]))
		if n, p, ok, err := readSlot(b); ok || err != nil {
			t.Errorf("%s: got slot %d, %+v, %v", name, n, p, err)
		}
	}
	later := make([]byte, SlotSize)
	PutSlot(later, 9, Position{5, 6}, nil)
	binary.LittleEndian.PutUint32(later[8:], cursorVersion+1)
	binary.LittleEndian.PutUint32(later[SlotSize-4:], segment.Checksum(later[:SlotSize-4]))
	if _, _, ok, err := readSlot(later); ok || !errors.Is(err, segment.ErrVersion) {
		t.Errorf("a later version: got %v and %v, want segment.ErrVersion", ok, err)
	}
	first := make([]byte, SlotSize)
	PutSlot(first, 0, Position{5, 6}, nil)
	if slot, _, p, err := ReadSlots(bytes.NewReader(first)); slot == nil || p.Seq != 6 || err != nil {
		t.Errorf("a slot with the count 0: got %x, %+v, %v", slot, p, err)
	}
	slot, count, p, err := ReadSlots(bytes.NewReader(bytes.Repeat([]byte{1}, SlotGap+SlotSize)))
	if slot != nil || count != 0 || p != (Position{}) || err != nil {
		t.Errorf("no slots: got %x, %d, %+v, %v", slot, count, p, err)
	}
}

// TestMarkThatIsNone has slots without a mark, and with an impossible one: both
// are nil for a destination.
func TestMarkThatIsNone(t *testing.T) {
	b := make([]byte, SlotSize)
	for _, n := range []uint32{0, MaxMark + 1, 1 << 31} {
		PutSlot(b, 9, Position{5, 6}, nil)
		binary.LittleEndian.PutUint32(b[12:], n)
		if got := MarkIn(b); got != nil {
			t.Errorf("of length %d: got mark %x, want nil", n, got)
		}
	}
	PutSlot(b, 9, Position{5, 6}, []byte{1})
	binary.LittleEndian.PutUint32(b[8:], 1)
	if got := MarkIn(b); got != nil {
		t.Errorf("of version 1: got mark %x, want nil", got)
	}
}

// TestCursorSlots reads the newer slot, and the older one if the newer one is
// torn.
func TestCursorSlots(t *testing.T) {
	d := &Dir{FS: vfs.OS(), Path: t.TempDir(), Spool: 5}
	name := filepath.Join(d.Path, "c.cursor")
	for n := uint64(1); n < 6; n++ {
		c, _, _, err := OpenCursor(d, "c")
		noError(t, err, c.Put(Position{5, 10 * n}, &Losses{}), c.File.Close())
		whole, err := os.ReadFile(name)
		noError(t, err)
		torn := bytes.Clone(whole)
		torn[int64(n%2)*SlotGap+35]++
		for _, r := range []struct {
			b    []byte
			want uint64
		}{{torn, 10 * (n - 1)}, {whole, 10 * n}} {
			noError(t, os.WriteFile(name, r.b, 0o600))
			c, seq, ok, err := OpenCursor(d, "c")
			noError(t, err, c.File.Close())
			if ok != (r.want > 0) || ok && seq != r.want {
				t.Errorf("write %d: got position %d and %v, want %d", n, seq, ok, r.want)
			}
		}
	}
}

// firstCursor returns a cursor of version 1: one slot, with number 40 of spool
// 5.
func firstCursor() []byte {
	b := make([]byte, firstSlotSize)
	copy(b, segment.Magic)
	binary.LittleEndian.PutUint32(b[8:], 1)
	binary.LittleEndian.PutUint64(b[16:], 3)
	binary.LittleEndian.PutUint64(b[24:], 5)
	binary.LittleEndian.PutUint64(b[32:], 40)
	binary.LittleEndian.PutUint32(b[60:], segment.Checksum(b[:60]))
	return b
}

// TestCursorOfVersion1 reads a cursor of version 1 in either slot, and then
// overwrites the slots in turn.
func TestCursorOfVersion1(t *testing.T) {
	for _, at := range []int{0, SlotGap} {
		d := &Dir{FS: vfs.OS(), Path: t.TempDir(), Spool: 5}
		noError(t, os.WriteFile(filepath.Join(d.Path, "c.cursor"), append(make([]byte, at), firstCursor()...), 0o600))
		for n, want := range []uint64{40, 41, 42} {
			c, seq, ok, err := OpenCursor(d, "c")
			noError(t, err)
			if !ok || seq != want || n > 0 && string(c.Mark) != "here" || n == 0 && c.Mark != nil {
				t.Errorf("at %d, time %d: got number %d, mark %q and %v, want %d", at, n, seq, c.Mark, ok, want)
			}
			c.Mark = []byte("here")
			noError(t, c.Put(Position{5, want + 1}, &Losses{}), c.File.Close())
		}
	}
}

func noError(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPositionSurvivesWritesThatFail makes writes of a cursor stop half-way:
// the last position that was written whole is read.
func TestPositionSurvivesWritesThatFail(t *testing.T) {
	m := vfstest.NewMem(nil)
	d, _ := opened(t, m, 1)
	c, _, _, err := OpenCursor(d, "c")
	noError(t, err, c.Put(Position{d.Spool, 5}, &Losses{}), c.Put(Position{d.Spool, 6}, &Losses{}))
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Half: true, Err: syscall.EIO})
	for range 3 {
		if err := c.Put(Position{d.Spool, 7}, &Losses{}); err == nil {
			t.Fatal("the write has not failed")
		}
	}
	heal()
	read := func(want uint64) {
		t.Helper()
		other, seq, ok, err := OpenCursor(d, "c")
		noError(t, err, other.File.Close())
		if !ok || seq != want {
			t.Errorf("got %d and %v, want %d", seq, ok, want)
		}
	}
	read(6)
	noError(t, c.Put(Position{d.Spool, 8}, &Losses{}))
	read(8)
	noError(t, c.File.Close(), d.Unlock())
}

// TestCursorHasRoomOnAFullDisk writes losses, which no write had room for yet,
// when the disk is full: also if it was full when the cursor was opened.
func TestCursorHasRoomOnAFullDisk(t *testing.T) {
	for _, free := range []int64{-1, 0} {
		m := vfstest.NewMem(nil)
		d := &Dir{FS: m, Path: "/"}
		m.SetFree(free)
		c, _, _, err := OpenCursor(d, "x")
		noError(t, err)
		if free == 0 {
			m.SetFree(-1)
			noError(t, c.Put(Position{1, 2}, &Losses{}))
		}
		m.SetFree(0)
		var l Losses
		l.Lines.Add(segment.CauseFull, 0, 1)
		noError(t, c.Put(Position{1, 3}, &l), c.Put(Position{1, 4}, &l), c.File.Close())
	}
}

// TestLossesBelongToTheirSlot writes losses with a position, and then without:
// they count only while the newer slot was written with them, and only if they
// are whole.
func TestLossesBelongToTheirSlot(t *testing.T) {
	m := vfstest.NewMem(nil)
	d := &Dir{FS: m, Path: "/", Spool: 5}
	var want Losses
	want.Lines.Add(segment.CauseOldest, 0, 7)
	want.Drop = Drop{Segment: 3, End: 70, Lines: segment.Tally{}}
	want.Drop.Lines.Add(segment.CauseFull, 8, 9)
	reopen := func() *Cursor {
		c, _, _, err := OpenCursor(d, "d")
		noError(t, err)
		return c
	}
	c := reopen()
	noError(t, c.Put(Position{5, 10}, &Losses{Lines: want.Lines}))
	noError(t, c.PutDrop(&want.Drop), c.File.Close())
	c, seq, _, err := OpenCursor(d, "d")
	if noError(t, err); seq != 10 || *c.Losses() != want {
		t.Errorf("got position %d and %+v, want 10 and %+v", seq, *c.Losses(), want)
	}
	at := lossesAt + int64(c.Count%2)*lossesGap
	for i := range int64(lossesSize) {
		var b [1]byte
		_, err := c.File.ReadAt(b[:], at+i)
		noError(t, err)
		_, err = c.File.WriteAt([]byte{b[0] ^ 4}, at+i)
		noError(t, err)
		if got, err := readLosses(c.File, c.Count); got != (Losses{}) || err != nil {
			t.Fatalf("byte %d is damaged: got %+v, %v", i, got, err)
		}
		_, err = c.File.WriteAt(b[:], at+i)
		noError(t, err)
	}
	noError(t, c.Put(Position{5, 11}, &Losses{}), c.Put(Position{5, 12}, &Losses{}), c.File.Close())
	if c = reopen(); *c.Losses() != (Losses{}) {
		t.Errorf("got %+v after two writes without losses", *c.Losses())
	}
	noError(t, c.File.Close())
}

// TestLossesOfAFailedWriteDoNotCount writes losses, but not the slot that they
// belong to, and then a slot without losses, in the same process or in the next
// one.
func TestLossesOfAFailedWriteDoNotCount(t *testing.T) {
	for _, dies := range []bool{false, true} {
		m := vfstest.NewMem(nil)
		d := &Dir{FS: m, Path: "/", Spool: 5}
		reopen := func() (c *Cursor, seq uint64) {
			c, seq, _, err := OpenCursor(d, "d")
			noError(t, err)
			return c, seq
		}
		c, _ := reopen()
		noError(t, c.Put(Position{5, 4}, &Losses{}))
		var lost Losses
		lost.Lines.Add(segment.CauseRejected, 0, 7)
		heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Skip: 1, Err: syscall.EIO})
		if err := c.Put(Position{5, 9}, &lost); !errors.Is(err, syscall.EIO) {
			t.Fatalf("got %v, want that the second write fails", err)
		}
		heal()
		if dies {
			noError(t, c.File.Close())
			c, _ = reopen()
		}
		noError(t, c.Put(Position{5, 9}, &Losses{}), c.File.Close())
		c, seq := reopen()
		if *c.Losses() != (Losses{}) || seq != 9 {
			t.Errorf("dies=%v: got position %d and %+v, want 9 and none", dies, seq, *c.Losses())
		}
		noError(t, c.File.Close())
	}
}
