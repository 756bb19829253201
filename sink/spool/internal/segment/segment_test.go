// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// TestReserve claims a segment up to its last byte.
func TestReserve(t *testing.T) {
	g := New(make([]byte, HeaderSize+64), testID, nil)
	g.Begin(Start{First: 100})
	if _, _, ok := g.Reserve(65); ok {
		t.Error("more was claimed than there is")
	}
	if at, seq, ok := g.Reserve(25); !ok || at != HeaderSize || seq != 100 {
		t.Errorf("got number %d at %d and %v, want 100 at %d", seq, at, ok, HeaderSize)
	}
	if end, next, final := g.Claimed(); end != HeaderSize+32 || next != 101 || final {
		t.Errorf("got end %d, next %d, final %v", end, next, final)
	}
	if at, seq, ok := g.Reserve(32); !ok || at != HeaderSize+32 || seq != 101 {
		t.Errorf("got number %d at %d and %v, want 101 at %d", seq, at, ok, HeaderSize+32)
	}
	if _, _, ok := g.Reserve(1); ok {
		t.Error("a byte was claimed in a full segment")
	}
	for size, want := range map[int]bool{64: true, 65: false} {
		if Fits(size, HeaderSize+64) != want {
			t.Errorf("%d bytes fit: %v, want %v", size, !want, want)
		}
	}
	g = New(make([]byte, MinSize), testID, nil)
	g.Begin(Start{First: 100})
	g.Seal()
	g.Seal()
	if _, _, ok := g.Reserve(1); ok {
		t.Error("a byte was claimed in a sealed segment")
	}
	if end, next, final := g.Claimed(); end != HeaderSize || next != 100 || !final {
		t.Errorf("got end %d, next %d, final %v", end, next, final)
	}
}

// TestNewHeader has no room for records, with and without a file for counts.
func TestNewHeader(t *testing.T) {
	written, m := newWritten(t)
	f, err := m.Open(writtenName, os.O_RDWR, 0)
	noError(t, err)
	closed := 0
	for _, file := range []vfs.File{nil, f} {
		g := NewHeader(testID, Start{First: 100}, file, func(f vfs.File) {
			if f != nil {
				closed++
			}
		})
		if _, _, ok := g.Reserve(0); ok {
			t.Error("a claim was made")
		}
		if end, next, final := g.Claimed(); end != HeaderSize || next != 100 || !final || g.Size != 0 || g.IsMapped() {
			t.Errorf("got end %d, next %d, final %v, size %d", end, next, final, g.Size)
		}
		noError(t, setFull(g, 7))
		g.Done(nil)
	}
	if got := testID.Counts(fileOf(t, m), SectionUnreported); got[CauseFull][1] != 7 || closed != 1 {
		t.Errorf("got counts %v, and the file released %d times, want 7 and once", got.List(), closed)
	}
	written.Done(nil)
}

// TestLastHolderReleases has a reader and a copier: whichever leaves last gives
// the memory back, with the file that was deleted.
func TestLastHolderReleases(t *testing.T) {
	g, m := newWritten(t)
	deleted, err := m.Open(writtenName, os.O_RDWR, 0)
	noError(t, err)
	g.Retain()
	if g.Done(deleted); m.Opened() != 2 {
		t.Errorf("got %d open files while there is a holder, want 2", m.Opened())
	}
	if g.Release(); m.Opened() != 0 {
		t.Errorf("got %d open files, want none", m.Opened())
	}

	g, m = newWritten(t)
	deleted, err = m.Open(writtenName, os.O_RDWR, 0)
	noError(t, err)
	g.Abandon()
	if g.Done(deleted); m.Opened() != 1 || !g.IsAbandoned() {
		t.Errorf("got %d open files of an abandoned segment, want 1, since calls may still "+
			"write to it", m.Opened())
	}

	inMemory := New(make([]byte, MinSize), testID, nil)
	deleted, err = m.Open(writtenName, os.O_RDWR, 0)
	noError(t, err)
	inMemory.Retain()
	inMemory.Release()
	if inMemory.Done(deleted); m.Opened() != 1 {
		t.Errorf("got %d open files, want the file of the abandoned segment", m.Opened())
	}
}

// TestContinueBehind continues a segment behind its last record.
func TestContinueBehind(t *testing.T) {
	first, m := newWritten(t)
	add(t, first, "a")
	add(t, first, "b")
	end, next, _ := first.Claimed()
	first.Done(nil)
	f, err := m.Open(writtenName, os.O_RDWR, 0)
	noError(t, err)
	g := NewWritten(f, testID, func(written, _ vfs.File) { noError(t, written.Close()) })
	copy(g.b, fileOf(t, m))
	old := &Old{Identity: testID, Start: Start{First: 100}, End: next, Used: end}
	if err := g.ContinueBehind(old, 5); err != nil {
		t.Fatal(err)
	}
	if g.twin.written != end {
		t.Errorf("got %d bytes that count as written, want %d", g.twin.written, end)
	}
	add(t, g, "c")
	wantLines(t, "continued", fileOf(t, m), "a", "b", "c")
	if now, next, _ := g.Claimed(); next != 103 || g.twin.written != now {
		t.Errorf("got next number %d and %d bytes written, want 103 and %d", next, g.twin.written, now)
	}
	g.Done(nil)
}

// TestNoWritersAreLeft has claims in each state.
func TestNoWritersAreLeft(t *testing.T) {
	g, offsets := filled(t, sample())
	if g.HasNoWriters() {
		t.Error("a segment that is not sealed has no writers")
	}
	at, _, _ := g.Reserve(64)
	if g.Seal(); g.HasNoWriters() {
		t.Error("a claim that is not marked has no writer")
	}
	word(g.b, at).Store(stored(uint64(uint32(0xffffffff - 63))))
	if g.HasNoWriters() || g.Committed(at) || g.IsFree(at) {
		t.Error("a claim that is marked has no writer")
	}
	word(g.b, at).Store(stored(64))
	if !g.HasNoWriters() || !g.Committed(at) || g.Behind(at) != at+64 {
		t.Error("a segment whose claims are committed has writers")
	}
	if got := g.Behind(offsets[0]); got != offsets[1] {
		t.Errorf("the first record ends at %d, want %d", got, offsets[1])
	}
}

// TestFullSegments fills segments up to their last byte.
func TestFullSegments(t *testing.T) {
	inMemory := New(make([]byte, MinSize), testID, nil)
	inMemory.Begin(Start{First: 100})
	written, m := newWritten(t)
	for name, g := range map[string]*Segment{"in memory": inMemory, "written": written} {
		if !add(t, g, "a") || !add(t, g, string(make([]byte, MinSize-HeaderSize-2*RecordHead-8))) {
			t.Errorf("%s: a record was not written", name)
		}
		end, _, _ := g.Claimed()
		if g.Seal(); end != MinSize || !g.HasNoWriters() {
			t.Errorf("%s: it ends at %d, and has no writers: %v", name, end, g.HasNoWriters())
		}
		if b, unread := g.Snapshot(); len(b) != MinSize || unread != 0 {
			t.Errorf("%s: got %d bytes, %d pages unread", name, len(b), unread)
		}
	}
	if lines, damaged := linesIn(fileOf(t, m)); len(lines) != 2 || damaged {
		t.Errorf("got %d lines, damaged %v, want 2", len(lines), damaged)
	}
}

// TestLinesOfASegment lists the lines with their levels.
func TestLinesOfASegment(t *testing.T) {
	g, _ := filled(t, sample())
	lines, whole := g.Lines()
	if len(lines) != len(sample()) || !whole {
		t.Errorf("got %d lines, whole %v, want %d", len(lines), whole, len(sample()))
	}
	for i, l := range lines {
		if want := (Line{Seq: 100 + uint64(i), Level: max(sample()[i].Level, -32768)}); l != want {
			t.Errorf("line %d: got %+v, want %+v", i, l, want)
		}
	}
}

// TestSnapshot copies the claimed part.
func TestSnapshot(t *testing.T) {
	g, _ := filled(t, sample())
	end, _, _ := g.Claimed()
	if b, unread := g.Snapshot(); unread != 0 || !bytes.Equal(b, g.b[:end]) {
		t.Errorf("got %d bytes, %d pages unread, want %d", len(b), unread, end)
	}
}

// TestVoidClaims breaks a segment: its void claims are found by offset and by
// number.
func TestVoidClaims(t *testing.T) {
	g, _ := filled(t, sample())
	if _, ok := g.VoidAt(HeaderSize); ok || g.IsBroken() || g.VoidsIn(0, 1000) != 0 {
		t.Error("a whole segment has void claims")
	}
	first, second := g.VoidClaim(5000, 61, 102), g.VoidClaim(5064, 64, 103)
	if !first || second || !g.IsBroken() {
		t.Errorf("got first %v, then %v, want only the first one to break the segment", first, second)
	}
	if size, ok := g.VoidAt(5000); size != 64 || !ok {
		t.Errorf("got a void claim of %d bytes and %v, want 64", size, ok)
	}
	if _, ok := g.VoidAt(5008); ok {
		t.Error("a claim is void that is none")
	}
	for _, c := range []struct{ from, to, want uint64 }{{100, 102, 0}, {100, 103, 1}, {102, 104, 2}, {103, 104, 1}, {104, 200, 0}} {
		if got := g.VoidsIn(c.from, c.to); got != c.want {
			t.Errorf("got %d void claims in [%d, %d), want %d", got, c.from, c.to, c.want)
		}
	}
}

// TestVoidClaimsAtAnyTime looks for writers while claims become void, as Close
// does while calls are in progress.
func TestVoidClaimsAtAnyTime(t *testing.T) {
	const claims, size = 1000, 64
	g := New(make([]byte, HeaderSize+claims*size), testID, nil)
	g.Begin(Start{First: 1})
	for range claims {
		g.Reserve(size)
	}
	g.Seal()
	left := make(chan struct{})
	go func() {
		defer close(left)
		for !g.HasNoWriters() {
			runtime.Gosched()
		}
	}()
	for i := range claims {
		if at := HeaderSize + i*size; g.VoidClaim(at, size, uint64(i+1)) != (i == 0) {
			t.Errorf("claim %d: it broke the segment: %v", i, i > 0)
		}
	}
	<-left
	if n := g.VoidsIn(1, claims+1); n != claims {
		t.Errorf("got %d void claims, want %d", n, claims)
	}
}

// TestOnlyMappingsAreEvicted evicts each kind of segment.
func TestOnlyMappingsAreEvicted(t *testing.T) {
	written, _ := newWritten(t)
	for name, g := range map[string]*Segment{
		"in memory": New(make([]byte, MinSize), testID, nil), "written": written,
		"header": NewHeader(testID, Start{First: 1}, nil, nil),
	} {
		if g.Evict() || g.EvictedPages() != nil || g.IsReusable() {
			t.Errorf("%s: it was evicted or can be reused", name)
		}
	}
	unmapped := 0
	g := mapped(make([]byte, MinSize), func() { unmapped++ }, testID, func(_ []byte, unmap func(), _ vfs.File) { unmap() })
	if !g.Evict() || g.Evict() {
		t.Error("want a mapping to be evicted once")
	}
	if got := g.EvictedPages(); &got[0] != &g.b[0] || g.EvictedPages() != nil || !g.IsReusable() {
		t.Error("want the evicted pages once")
	}
	if g.Release(); unmapped != 0 {
		t.Error("it was unmapped while it is held")
	}
	broken, abandoned := mapped(g.b, nil, testID, nil), mapped(g.b, nil, testID, nil)
	broken.VoidClaim(HeaderSize, 64, 1)
	abandoned.Abandon()
	if broken.IsReusable() || abandoned.IsReusable() {
		t.Error("a mapping that a call may still write to can be reused")
	}
	var reused []byte
	g.DoneFor(func(pages []byte, _ func()) { reused = pages })
	if len(reused) != MinSize || unmapped != 0 {
		t.Errorf("got %d bytes for reuse, unmapped %d times, want %d", len(reused), unmapped, MinSize)
	}
}

// TestTally counts lines by cause and level.
func TestTally(t *testing.T) {
	var a, b Tally
	a.Add(CauseFull, nib.LevelInfo, 2)
	a.Add(CauseFull, nib.LevelInfo, 1)
	b.Add(CauseFull, nib.LevelInfo, 4)
	b.Add(CauseDamaged, nib.LevelError, 1)
	sum := a.Plus(&b)
	left := sum.Minus(&b)
	if got := fmt.Sprint(sum.List()); len(sum.List()) != 2 || sum.List()[0].Lines != 7 || sum.List()[1].Lines != 1 {
		t.Errorf("got %s, want 7 and 1", got)
	}
	if left != a {
		t.Errorf("got %v, want %v", left.List(), a.List())
	}
}

// TestDamagedLengthIsBounded has committed records whose length is damaged: the
// offset after them is not beyond the segment by more than its size, nor before
// the record, on 32 bits either.
func TestDamagedLengthIsBounded(t *testing.T) {
	g, _ := filled(t, sample())
	end, _, _ := g.Claimed()
	for _, length := range []uint32{1, 8, MinSize - 1, MinSize, MinSize + 1, 0x7ffffff0, 0x7fffffff} {
		word(g.b, HeaderSize).Store(stored(uint64(length)))
		if got := g.Behind(HeaderSize); got <= HeaderSize || got > HeaderSize+MinSize || int64(length) > MinSize && got <= end {
			t.Errorf("a record of %d bytes ends at %d", length, got)
		}
		if g.Seal(); length >= MinSize && g.HasNoWriters() {
			t.Errorf("after a record of %d bytes, there are no writers", length)
		}
	}
}
