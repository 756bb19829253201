// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"errors"
	"math/bits"
	"os"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
	"github.com/nib-log/nib/internal/vfs/vfstest"
)

const writtenName = "/segment"

// newWritten returns a segment whose records are written to a file in memory,
// with its header there.
func newWritten(t *testing.T) (*Segment, *vfstest.Mem) {
	t.Helper()
	m := vfstest.NewMem(nil)
	f, err := m.Open(writtenName, os.O_RDWR|os.O_CREATE, 0o600)
	noError(t, err, f.Preallocate(MinSize))
	g := NewWritten(f, testID, func(written, deleted vfs.File) {
		noError(t, written.Close())
		if deleted != nil {
			noError(t, deleted.Close())
		}
	})
	PutHeader(g.b, testID)
	_, err = f.WriteAt(g.b[:64], 0)
	noError(t, err)
	if !g.Begin(Start{First: 100}) {
		t.Fatal(g.Fault())
	}
	return g, m
}

func noError(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// fileOf returns the bytes of the file of newWritten.
func fileOf(t *testing.T, m *vfstest.Mem) []byte {
	t.Helper()
	f, err := m.Open(writtenName, os.O_RDONLY, 0)
	noError(t, err)
	b := make([]byte, MinSize)
	n, err := f.ReadAt(b, 0)
	noError(t, err, f.Close())
	return b[:n]
}

// add appends a record with a line, and returns whether that has succeeded.
func add(t *testing.T, g *Segment, line string) bool {
	t.Helper()
	r := nib.Record{Line: []byte(line)}
	at, seq, ok := g.Reserve(RecordSize(&r, -1))
	if !ok {
		t.Fatal("the segment is full")
	}
	ok, foreign := g.Write(at, RecordSize(&r, -1), seq, &r, -1)
	if foreign != nil {
		t.Fatal(foreign)
	}
	return ok
}

// linesIn returns the lines that a start finds in b, and whether anything there
// is damaged.
func linesIn(b []byte) (lines []string, damaged bool) {
	for sc := NewScanner(b, testID, 100); ; {
		rec, gap, ok := sc.Next()
		damaged = damaged || gap.Damaged
		if !ok {
			return lines, damaged
		}
		r, _ := Decode(rec, false, map[string]string{})
		lines = append(lines, string(r.Line))
	}
}

func wantLines(t *testing.T, name string, b []byte, want ...string) {
	t.Helper()
	got, damaged := linesIn(b)
	if damaged || len(got) != len(want) {
		t.Errorf("%s: got lines %q, damaged %v, want %q", name, got, damaged, want)
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s: got lines %q, want %q", name, got, want)
		}
	}
}

// TestWrittenRecordsAreInTheFile checks that a record is in the file when Write
// returns, also a long one and one after a claim that is not ready.
func TestWrittenRecordsAreInTheFile(t *testing.T) {
	g, m := newWritten(t)
	long := string(bytes.Repeat([]byte("x"), MinSize/2))
	if !add(t, g, "a") || !add(t, g, long) {
		t.Error("a record counts as not written")
	}
	wantLines(t, "two", fileOf(t, m), "a", long)
	if g.Whole() {
		t.Error("a segment that may get more records counts as whole")
	}
	slow := nib.Record{Line: []byte("slow")}
	at, seq, _ := g.Reserve(RecordSize(&slow, -1))
	if !add(t, g, "b") || !add(t, g, "c") {
		t.Error("a record after a gap counts as not written")
	}
	wantLines(t, "with a gap", fileOf(t, m), "a", long, "b", "c")
	if g.Seal(); g.HasNoWriters() {
		t.Error("a claim that is not written counts as written")
	}
	if g.Whole() {
		t.Error("a segment with a claim that is not written counts as whole")
	}
	g.Write(at, RecordSize(&slow, -1), seq, &slow, -1)
	wantLines(t, "without a gap", fileOf(t, m), "a", long, "slow", "b", "c")
	end, next, final := g.Claimed()
	if g.twin.written != end && g.twin.ready(g) != end || next != 105 || !final {
		t.Errorf("got %d bytes written of %d, next number %d, final %v", g.twin.written, end, next, final)
	}
	if !g.Whole() || !g.HasNoWriters() {
		t.Errorf("got whole %v and no writers %v, want both", g.Whole(), g.HasNoWriters())
	}
	if !bytes.Equal(fileOf(t, m)[:end], g.b[:end]) {
		t.Error("the file differs from the memory")
	}
	if g.Done(nil); m.Opened() != 0 {
		t.Errorf("%d files are open", m.Opened())
	}
}

// TestOneWriteForReadyRecords has records of several calls that are ready when
// one of them gets the lock: it writes all of them.
func TestOneWriteForReadyRecords(t *testing.T) {
	g, m := newWritten(t)
	writes := 0
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Reached: func() { writes++ }})
	var claims []int
	for range 3 {
		r := nib.Record{Line: []byte("line")}
		size := RecordSize(&r, -1)
		at, seq, _ := g.Reserve(size)
		word(g.b, at).Store(stored(negated(PutRecord(g.b[at:at+size:at+size], &r, -1, seq, g.Gen, g.crc))))
		claims = append(claims, at)
	}
	if wantLines(t, "before", fileOf(t, m)); g.Committed(claims[0]) {
		t.Error("a ready record counts as committed")
	}
	add(t, g, "last")
	wantLines(t, "after", fileOf(t, m), "line", "line", "line", "last")
	end, _, _ := g.Claimed()
	if writes != 1 || g.twin.written != end {
		t.Errorf("got %d writes of %d bytes, want one of %d", writes, g.twin.written, end)
	}
	for _, at := range claims {
		if !g.Committed(at) {
			t.Errorf("the record at %d is not committed", at)
		}
	}
	add(t, g, "more")
	if writes != 2 {
		t.Errorf("got %d writes, want 2", writes)
	}
}

// TestChecksumZero writes a record whose checksum is 0, so that its first word
// looks like a claim: it is written by its own call.
func TestChecksumZero(t *testing.T) {
	g, m := newWritten(t)
	r := nib.Record{Line: make([]byte, 16)}
	size := RecordSize(&r, -1)
	sum := func() uint32 { return uint32(PutRecord(make([]byte, size), &r, -1, 100, g.Gen, g.crc) >> 32) }
	// The checksum is linear in the bits of the line, apart from a constant:
	// each basis vector is a change of the line and of the checksum.
	base := sum()
	var lines [32][16]byte
	var sums [32]uint32
	for i := range 8 * len(r.Line) {
		clear(r.Line)
		r.Line[i/8] = 1 << (i % 8)
		line, change := [16]byte(r.Line), sum()^base
		for change != 0 {
			top := bits.Len32(change) - 1
			if sums[top] == 0 {
				sums[top], lines[top] = change, line
				break
			}
			change ^= sums[top]
			for k := range line {
				line[k] ^= lines[top][k]
			}
		}
	}
	clear(r.Line)
	for left := base; left != 0; {
		top := bits.Len32(left) - 1
		left ^= sums[top]
		for k := range r.Line {
			r.Line[k] ^= lines[top][k]
		}
	}
	if sum() != 0 {
		t.Fatal("the checksum is not 0")
	}
	if !add(t, g, string(r.Line)) || !add(t, g, "next") {
		t.Error("a record counts as not written")
	}
	wantLines(t, "both", fileOf(t, m), string(r.Line), "next")
}

// TestLongBuffersAreNotKept writes a record that is longer than the buffer that
// is kept.
func TestLongBuffersAreNotKept(t *testing.T) {
	m := vfstest.NewMem(nil)
	f, err := m.Open(writtenName, os.O_RDWR|os.O_CREATE, 0o600)
	noError(t, err)
	id := testID
	id.Size = 4 * keptBuffer
	g := NewWritten(f, id, func(vfs.File, vfs.File) {})
	g.Begin(Start{First: 1})
	add(t, g, "short")
	if cap(g.twin.buf) == 0 {
		t.Error("the buffer is not kept")
	}
	add(t, g, string(make([]byte, keptBuffer)))
	if cap(g.twin.buf) > keptBuffer {
		t.Errorf("a buffer of %d bytes is kept", cap(g.twin.buf))
	}
}

// TestFailedWritesAreTakenBack fails after a write has brought records, or half
// of them: no start may find them, since their lines get other numbers, and no
// later record is written.
func TestFailedWritesAreTakenBack(t *testing.T) {
	for name, fault := range map[string]vfstest.Fault{
		"nothing was written":    {},
		"everything was written": {Done: true},
		"half was written":       {Half: true}, // of the first record
	} {
		g, m := newWritten(t)
		add(t, g, "a")
		ready := nib.Record{Line: []byte("ready")}
		size := RecordSize(&ready, -1)
		first, seq, _ := g.Reserve(size)
		word(g.b, first).Store(stored(negated(PutRecord(g.b[first:first+size:first+size], &ready, -1, seq, g.Gen, g.crc))))
		fault.Op, fault.Err, fault.Times = vfstest.OpWrite, syscall.EIO, 1
		heal := m.Fail(fault)
		if add(t, g, "b") {
			t.Errorf("%s: a record that was not written counts as written", name)
		}
		heal()
		wantLines(t, name, fileOf(t, m), "a")
		if g.Committed(first) || add(t, g, "c") || !errors.Is(g.Fault(), syscall.EIO) || g.Patch() {
			t.Errorf("%s: after the fault %v, later records are written, or patches are left", name, g.Fault())
		}
		wantLines(t, name+", later", fileOf(t, m), "a")
		g.Seal()
		if g.Whole() {
			t.Errorf("%s: a segment whose file failed counts as whole", name)
		}
	}
}

// TestPatchesAreTriedAgain cannot take back a record at first.
func TestPatchesAreTriedAgain(t *testing.T) {
	g, m := newWritten(t)
	add(t, g, "a")
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.EIO, Done: true, Times: 1})
	heal := m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.EIO})
	if add(t, g, "b") {
		t.Error("a record that was not written counts as written")
	}
	wantLines(t, "before", fileOf(t, m), "a", "b")
	if !g.Patch() {
		t.Error("no patches are left")
	}
	heal()
	if g.Patch() {
		t.Error("patches are left")
	}
	wantLines(t, "patched", fileOf(t, m), "a")
}

// TestBeginIsTakenBack fails to write the start of a segment: it is not in use,
// also if the start is in the file for a while.
func TestBeginIsTakenBack(t *testing.T) {
	m := vfstest.NewMem(nil)
	f, err := m.Open(writtenName, os.O_RDWR|os.O_CREATE, 0o600)
	noError(t, err, f.Preallocate(MinSize))
	g := NewWritten(f, testID, func(vfs.File, vfs.File) {})
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.EIO, Done: true, Times: 1})
	if g.Begin(Start{First: 100}) || !errors.Is(g.Fault(), syscall.EIO) {
		t.Errorf("the segment is in use, and its fault is %v", g.Fault())
	}
	if _, ok := ReadStart(fileOf(t, m), g.crc); ok || add(t, g, "a") {
		t.Error("the start is in the file, or a record was written")
	}
	unused := NewWritten(f, testID, func(vfs.File, vfs.File) {})
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.EIO})
	unused.Begin(Start{First: 100})
	unused.Seal()
	if unused.Whole() {
		t.Error("a segment whose start is not in the file counts as whole")
	}
}

// TestCountsAreInTheFile stores counts in the header of a segment: they are in
// the file, and in memory there are none.
func TestCountsAreInTheFile(t *testing.T) {
	g, m := newWritten(t)
	noError(t, setFull(g, 7), g.SetUnsure(0), g.SetDropped(98))
	b := fileOf(t, m)
	if got := testID.Counts(b, SectionUnreported); got[CauseFull][1] != 7 {
		t.Errorf("got counts %v, want 7", got.List())
	}
	if s, ok := ReadStart(b, g.crc); !ok || s != (Start{First: 100, Skipped: 98, Dropped: true}) {
		t.Errorf("got start %+v and %v, want 98 numbers dropped", s, ok)
	}
	noError(t, g.SetUnsure(3))
	if n := count(fileOf(t, m), unsureAt, g.crc); n != 3 {
		t.Errorf("got %d unsure numbers, want 3", n)
	}
	noError(t, g.SetUnsure(0))
	if n := count(fileOf(t, m), unsureAt, g.crc); n != 3 {
		t.Errorf("got %d unsure numbers, want 3 still", n)
	}
	f, err := m.Open(writtenName, os.O_RDWR, 0)
	noError(t, err, testID.WriteDropped(f, 97), f.Close())
	if s, ok := ReadStart(fileOf(t, m), g.crc); !ok || s.Skipped != 97 {
		t.Errorf("got start %+v and %v, want 97 numbers dropped", s, ok)
	}
	m.Fail(vfstest.Fault{Op: vfstest.OpWrite, Err: syscall.EIO})
	f, err = m.Open(writtenName, os.O_RDWR, 0)
	noError(t, err)
	if err := testID.WriteDropped(f, 96); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v, want %v", err, syscall.EIO)
	}
	if err := setFull(g, 8); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v, want %v", err, syscall.EIO)
	}
	noError(t, f.Close())
	inMemory := New(make([]byte, MinSize), testID, nil)
	noError(t, setFull(inMemory, 7))
	if testID.HasCounts(inMemory.b) {
		t.Error("a segment in memory has counts in its header")
	}
}
