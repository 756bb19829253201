// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/delivery"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/sink/spool/internal/segment"
)

// TestCursorSlots reads the younger slot, and the older one if that is torn.
func TestCursorSlots(t *testing.T) {
	d := &dir{fs: vfs.OS(), path: t.TempDir(), spool: 5}
	name := filepath.Join(d.path, "c.cursor")
	for n := uint64(1); n < 6; n++ {
		c, _, _, err := openCursor(d, "c")
		must(t, err, c.put(position{5, 10 * n}), c.file.Close())
		whole, err := os.ReadFile(name)
		must(t, err)
		torn := bytes.Clone(whole)
		torn[int64(n%2)*slotGap+35]++
		for _, r := range []struct {
			b    []byte
			want uint64
		}{{torn, 10 * (n - 1)}, {whole, 10 * n}} {
			must(t, os.WriteFile(name, r.b, 0o600))
			c, seq, ok, err := openCursor(d, "c")
			must(t, err, c.file.Close())
			if ok != (r.want > 0) || ok && seq != r.want {
				t.Errorf("write %d: got position %d and %v, want %d", n, seq, ok, r.want)
			}
		}
	}
}

func TestSlotRoundTrip(t *testing.T) {
	long := bytes.Repeat([]byte{7}, maxMark)
	for _, mark := range [][]byte{nil, {1}, long} {
		slot := bytes.Repeat([]byte{0xff}, slotSize)
		want := position{5, 6}
		putSlot(slot, 9, want, mark)
		if n, got, ok, _ := readSlot(slot); !ok || n != 9 || got != want || !bytes.Equal(markIn(slot), mark) {
			t.Errorf("got slot %d %+v, mark %x and %v, want 9 %+v and %x", n, got, markIn(slot), ok, want, mark)
		}
		fresh := make([]byte, slotSize)
		if putSlot(fresh, 9, want, mark); !bytes.Equal(slot, fresh) {
			t.Errorf("mark %x: what was there before is in the slot", mark)
		}
		for bit := range slotSize * 8 {
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

// TestOnlySlotsAreRead has files with valid checksums that are no slots.
func TestOnlySlotsAreRead(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"another magic": func(b []byte) { b[0]++ },
		"version 0":     func(b []byte) { binary.LittleEndian.PutUint32(b[8:], 0) },
	} {
		b := make([]byte, slotSize)
		putSlot(b, 9, position{5, 6}, nil)
		change(b)
		binary.LittleEndian.PutUint32(b[slotSize-4:], segment.Checksum(b[:slotSize-4]))
		if n, p, ok, err := readSlot(b); ok || err != nil {
			t.Errorf("%s: got slot %d, %+v, %v", name, n, p, err)
		}
	}
	later := make([]byte, slotSize)
	putSlot(later, 9, position{5, 6}, nil)
	binary.LittleEndian.PutUint32(later[8:], cursorVersion+1)
	binary.LittleEndian.PutUint32(later[slotSize-4:], segment.Checksum(later[:slotSize-4]))
	if _, _, ok, err := readSlot(later); ok || !errors.Is(err, ErrVersion) {
		t.Errorf("a later version: got %v and %v, want ErrVersion", ok, err)
	}
	first := make([]byte, slotSize)
	putSlot(first, 0, position{5, 6}, nil)
	if slot, _, p, err := readSlots(bytes.NewReader(first)); slot == nil || p.seq != 6 || err != nil {
		t.Errorf("a slot with the count 0: got %x, %+v, %v", slot, p, err)
	}
	slot, count, p, err := readSlots(bytes.NewReader(bytes.Repeat([]byte{1}, slotGap+slotSize)))
	if slot != nil || count != 0 || p != (position{}) || err != nil {
		t.Errorf("no slots: got %x, %d, %+v, %v", slot, count, p, err)
	}
}

// TestMarkThatIsNone has slots without a mark, and with one that cannot be: for a
// destination, no mark is nil.
func TestMarkThatIsNone(t *testing.T) {
	b := make([]byte, slotSize)
	for _, n := range []uint32{0, maxMark + 1, 1 << 31} {
		putSlot(b, 9, position{5, 6}, nil)
		binary.LittleEndian.PutUint32(b[12:], n)
		if got := markIn(b); got != nil {
			t.Errorf("of length %d: got mark %x, want nil", n, got)
		}
	}
	putSlot(b, 9, position{5, 6}, []byte{1})
	binary.LittleEndian.PutUint32(b[8:], 1)
	if got := markIn(b); got != nil {
		t.Errorf("of version 1: got mark %x, want nil", got)
	}
}

// firstCursor is what version 1 wrote: one slot, with the number 40 of spool 5.
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

// TestCursorOfVersion1 is read, in either place, and then written over in turns.
func TestCursorOfVersion1(t *testing.T) {
	for _, at := range []int{0, slotGap} {
		d := &dir{fs: vfs.OS(), path: t.TempDir(), spool: 5}
		must(t, os.WriteFile(filepath.Join(d.path, "c.cursor"), append(make([]byte, at), firstCursor()...), 0o600))
		for n, want := range []uint64{40, 41, 42} {
			c, seq, ok, err := openCursor(d, "c")
			must(t, err)
			if !ok || seq != want || n > 0 && string(c.mark) != "here" || n == 0 && c.mark != nil {
				t.Errorf("at %d, time %d: got number %d, mark %q and %v, want %d", at, n, seq, c.mark, ok, want)
			}
			c.mark = []byte("here")
			must(t, c.put(position{5, want + 1}), c.file.Close())
		}
	}
}

// TestSleeperIsWoken delivers lines one by one that nobody flushes.
func TestSleeperIsWoken(t *testing.T) {
	got := make(chan uint64, 1)
	f := &far{}
	f.set(func(_ context.Context, batch []nib.Record) (delivery.Result, error, bool) {
		got <- batch[0].Seq
		return delivery.Result{Accepted: 1}, nil, false
	})
	s := open(t, "", f, Config{SegmentSize: segment.MinSize})
	for n := uint64(1); n <= 5; n++ {
		for !s.idle.Load() {
			awaitNext(s)
		}
		must(t, s.WriteRecord(record(nib.LevelInfo, 0, 100)))
		if seq := <-got; seq != n {
			t.Errorf("got number %d, want %d", seq, n)
		}
	}
}
