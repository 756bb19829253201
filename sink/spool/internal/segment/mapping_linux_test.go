// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// newMapped returns a segment of size bytes in a new file, and the file. It is
// unmapped when the test ends, unless free is called before.
func newMapped(t *testing.T, size int64) (g *Segment, f vfs.File) {
	t.Helper()
	f, err := vfs.OS().Open(filepath.Join(t.TempDir(), "segment"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	id := testID
	id.Size = size
	if err := f.Preallocate(size); err != nil {
		t.Fatal(err)
	}
	g, err = NewMapped(f, id, func(_ []byte, unmap func(), _ vfs.File) { unmap() })
	if err != nil {
		t.Fatal(err)
	}
	PutHeader(g.b, id)
	t.Cleanup(func() {
		g.Done(nil)
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return g, f
}

// truncated cuts off the file of a mapping after its header. It skips the test
// where pages are larger than that, and where faults have no address.
func truncated(t *testing.T, f vfs.File) {
	t.Helper()
	if os.Getpagesize() > HeaderSize {
		t.Skip("the rest of the page stays readable")
	}
	if err := f.Truncate(HeaderSize); err != nil {
		t.Fatal(err)
	}
	b, unmap, err := mapFile(f, MinSize)
	if err != nil {
		t.Fatal(err)
	}
	defer unmap()
	if !faultsHaveAddresses(b[HeaderSize:]) {
		t.Skip("the emulator does not report where faults are")
	}
}

// faultsHaveAddresses reads the first byte of pages that are gone.
func faultsHaveAddresses(gone []byte) (have bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		fault, ok := recover().(interface{ Addr() uintptr })
		have = ok && within(fault.Addr(), gone)
	}()
	return gone[0] == 0
}

// TestFaultsPanicOnlyInTheGuard checks that accesses to a mapping leave the
// setting of the goroutine unchanged, with a fault and without.
func TestFaultsPanicOnlyInTheGuard(t *testing.T) {
	r := nib.Record{Line: []byte("line")}
	size := RecordSize(&r, -1)
	for _, gone := range []bool{false, true} {
		g, f := newMapped(t, MinSize)
		g.Begin(Start{First: 1})
		at, seq, _ := g.Reserve(size)
		if gone {
			truncated(t, f)
		}
		for name, call := range map[string]func(){
			"Write":        func() { g.Write(at, size, seq, &r, -1) },
			"HasNoWriters": func() { g.HasNoWriters() },
			"Lines":        func() { g.Lines() },
			"Snapshot":     func() { g.Snapshot() },
			"SetUnsure":    func() { _ = g.SetUnsure(1) },
			"SetDropped":   func() { _ = g.SetDropped(1) },
			"Begin":        func() { g.Begin(Start{First: 1}) },
			"PrefaultNew":  func() { _ = PrefaultNew(g, lazyFile{f}, func() {}) },
		} {
			before := debug.SetPanicOnFault(false)
			call()
			if debug.SetPanicOnFault(before) {
				t.Errorf("%s, gone=%v: faults still panic after it", name, gone)
			}
		}
	}
}

// TestWriteReportsFaults writes to a page that is gone: Write reports that the
// record does not exist, and there is no foreign panic.
func TestWriteReportsFaults(t *testing.T) {
	g, f := newMapped(t, MinSize)
	r := nib.Record{Line: []byte("line")}
	size := RecordSize(&r, -1)
	g.Begin(Start{First: 1})
	at, seq, _ := g.Reserve(size)
	if ok, foreign := g.Write(at, size, seq, &r, -1); !ok || foreign != nil {
		t.Errorf("got %v and %v, want a record", ok, foreign)
	}
	at, seq, _ = g.Reserve(size)
	truncated(t, f)
	if ok, foreign := g.Write(at, size, seq, &r, -1); ok || foreign != nil {
		t.Errorf("to a page that is gone: got %v and %v, want no record and no panic", ok, foreign)
	}
}

// TestUnreadablePages cuts off a segment with records: the readable pages are
// copied, and the rest is poisoned.
func TestUnreadablePages(t *testing.T) {
	g, f := newMapped(t, MinSize)
	g.Begin(Start{First: 100})
	for range 100 {
		add(t, g, strings.Repeat("x", 100))
	}
	if lines, whole := g.Lines(); len(lines) != 100 || !whole {
		t.Errorf("got %d lines, whole %v, want 100", len(lines), whole)
	}
	end, _, _ := g.Claimed()
	g.Seal()
	if !g.HasNoWriters() {
		t.Error("there are writers")
	}
	truncated(t, f)
	if err := f.Truncate(2 * HeaderSize); err != nil {
		t.Fatal(err)
	}
	b, unread := g.Snapshot()
	pages := (end + PageSize - 1) / PageSize
	if len(b) != end || unread != pages-2 {
		t.Errorf("got %d bytes with %d unreadable pages, want %d with %d", len(b), unread, end, pages-2)
	}
	if b[2*PageSize] != Poison || b[end-1] != Poison || b[2*PageSize-1] == Poison || !bytes.Equal(b[:88], g.b[:88]) {
		t.Error("want poison in the pages that are gone, and only there")
	}
	if lines, whole := g.Lines(); whole || len(lines) != 0 {
		t.Errorf("got %d lines, whole %v of a segment that was cut off", len(lines), whole)
	}
	if g.HasNoWriters() {
		t.Error("a segment that was cut off has no writers")
	}
}

// TestBeginOfAGoneMapping cuts off everything, the header included.
func TestBeginOfAGoneMapping(t *testing.T) {
	g, f := newMapped(t, MinSize)
	truncated(t, f)
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if g.Begin(Start{First: 1}) {
		t.Error("the segment is in use")
	}
	for name, err := range map[string]error{
		"SetUnsure":  g.SetUnsure(1),
		"SetDropped": g.SetDropped(1),
		"SetCounts":  g.SetCounts(SectionUnreported, &Tally{{1}}, &Tally{}),
		"ContinueBehind": g.ContinueBehind(
			&Old{Identity: g.Identity, Used: HeaderSize, End: 1}, testID.Stream+1),
	} {
		if err != ErrGone {
			t.Errorf("%s: got %v, want %v", name, err, ErrGone)
		}
	}
	if err := g.Fault(); err != ErrGone {
		t.Errorf("got %v, want %v", err, ErrGone)
	}
}

// TestLineThatIsGone writes a line in a mapping of the caller whose file was
// cut off: the caller gets the panic, and the claim is marked with its length.
func TestLineThatIsGone(t *testing.T) {
	line, f := newMapped(t, MinSize)
	truncated(t, f)
	r := nib.Record{Line: line.b[2*HeaderSize : 3*HeaderSize]}
	size := RecordSize(&r, -1)
	inFile, _ := newMapped(t, MinSize)
	written, _ := newWritten(t)
	for name, g := range map[string]*Segment{"mapped": inFile, "written": written} {
		g.Begin(Start{First: 100})
		at, seq, _ := g.Reserve(size)
		var foreign any
		func() {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				if p := recover(); p != nil {
					foreign = p
				}
			}()
			var ok bool
			if ok, foreign = g.Write(at, size, seq, &r, -1); ok {
				t.Errorf("%s: the record was written", name)
			}
		}()
		if foreign == nil || g.IsFault(foreign) {
			t.Errorf("%s: got panic %v, want the caller's", name, foreign)
		}
		if got := g.State(at); got != uint64(uint32(-int32(size))) {
			t.Errorf("%s: the claim has the state %#x, want its length", name, got)
		}
	}
}

// A faultAt is the panic value of a fault.
type faultAt uintptr

func (f faultAt) Addr() uintptr { return uintptr(f) }

// TestFaultsOfOthersAreNotCaught checks panic values: a fault belongs to the
// segment only if it is in the memory of a mapping.
func TestFaultsOfOthersAreNotCaught(t *testing.T) {
	g, _ := newMapped(t, MinSize)
	first := address(g.b)
	for _, c := range []struct {
		name string
		p    any
		want bool
	}{
		{"no panic", nil, false},
		{"another panic", "text", false},
		{"the first byte", faultAt(first), true},
		{"the last byte", faultAt(first + MinSize - 1), true},
		{"before", faultAt(first - 1), false},
		{"after", faultAt(first + MinSize), false},
	} {
		if got := g.IsFault(c.p); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
	inMemory := New(make([]byte, MinSize), testID, nil)
	if inMemory.IsFault(faultAt(address(inMemory.b))) {
		t.Error("a segment in memory has a fault")
	}
	func() {
		defer func() {
			if p := recover(); p != "text" {
				t.Errorf("got panic %v, want the caller's", p)
			}
		}()
		defer g.EndGuard(debug.SetPanicOnFault(true))
		panic("text")
	}()
}

// TestProbe checks that Probe finds a file that was cut off, and accepts any
// other segment.
func TestProbe(t *testing.T) {
	g, f := newMapped(t, MinSize)
	probe := func(g *Segment) (faulted bool) {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() { faulted = recover() != nil }()
		g.Probe()
		return false
	}
	if probe(g) || probe(New(make([]byte, MinSize), testID, nil)) || probe(NewHeader(testID, Start{First: 1}, nil, nil)) {
		t.Error("a whole segment is taken for cut off")
	}
	if truncated(t, f); !probe(g) {
		t.Error("a segment that was cut off is taken for whole")
	}
}

// A lazyFile writes nothing.
type lazyFile struct{ vfs.File }

func (lazyFile) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }

// A fullFile cannot be written to.
type fullFile struct{ vfs.File }

func (fullFile) WriteAt([]byte, int64) (int, error) { return 0, syscall.ENOSPC }

// A notedFile notes the parts that are written.
type notedFile struct {
	vfs.File
	parts *[][2]int64
}

func (f notedFile) WriteAt(p []byte, at int64) (int, error) {
	*f.parts = append(*f.parts, [2]int64{at, at + int64(len(p))})
	return f.File.WriteAt(p, at)
}

// TestPrefaultNew touches everything behind the header of a new mapping, in
// parts with a rest after each, and reports failures.
func TestPrefaultNew(t *testing.T) {
	const size = 3*Window + HeaderSize - 8192
	g, f := newMapped(t, size)
	var parts [][2]int64
	rests := 0
	if err := PrefaultNew(g, notedFile{f, &parts}, func() { rests++ }); err != nil {
		t.Error(err)
	}
	at := int64(HeaderSize)
	for _, p := range parts {
		if p[0] != at || p[1]-p[0] > Window {
			t.Errorf("got a part from %d to %d, want one from %d on, of up to %d bytes", p[0], p[1], at, Window)
		}
		at = p[1]
	}
	if len(parts) != 3 || at != size || rests != 3 {
		t.Errorf("got %d parts up to %d and %d rests, want 3 up to %d", len(parts), at, rests, size)
	}
	if id, err := ReadHeader(g.b); err != nil || id.Size != size {
		t.Errorf("got header %+v and %v, want it unchanged", id, err)
	}
	if err := PrefaultNew(g, fullFile{f}, func() {}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: got %v, want %v", err, syscall.ENOSPC)
	}
	exact, file := newMapped(t, HeaderSize+Window)
	rests = 0
	if err := PrefaultNew(exact, file, func() { rests++ }); err != nil || rests != 1 {
		t.Errorf("a single part: got %v after %d rests, want one", err, rests)
	}
	truncated(t, f)
	if err := PrefaultNew(g, lazyFile{f}, func() {}); err == nil ||
		!strings.Contains(err.Error(), "access a mapping") {
		t.Errorf("without the file: got %v, want that it cannot be touched", err)
	}
	written := NewWritten(f, testID, func(vfs.File, vfs.File) {})
	if err := PrefaultNew(written, fullFile{f}, func() { t.Error("a segment without a mapping is touched") }); err != nil {
		t.Errorf("without a mapping: got %v", err)
	}
}

// TestMappingsAreRemoved looks for a mapping in the list of the process.
func TestMappingsAreRemoved(t *testing.T) {
	name := filepath.Join(t.TempDir(), "segment")
	f, err := vfs.OS().Open(name, os.O_RDWR|os.O_CREATE, 0o600)
	noError(t, err, f.Preallocate(MinSize))
	isMapped := func() bool {
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip(err)
		}
		return bytes.Contains(maps, []byte(name))
	}
	g, err := NewMapped(f, testID, func(_ []byte, unmap func(), deleted vfs.File) { unmap(); noError(t, deleted.Close()) })
	noError(t, err)
	if !isMapped() {
		t.Skip("the list does not have it")
	}
	if g.Done(f); isMapped() {
		t.Error("the mapping is left")
	}
}

// TestPrefault touches a mapping in parts, with a rest after each.
func TestPrefault(t *testing.T) {
	g, f := newMapped(t, 2*warmed+8192)
	if !populate(g.b) {
		t.Skip("the kernel cannot populate pages")
	}
	rests := 0
	AdviseRandom(g.b)
	if Prefault(g.b, func() { rests++ }); rests != 3 {
		t.Errorf("got %d rests, want 3", rests)
	}
	truncated(t, f)
	Prefault(g.b, func() { t.Error("pages that are gone are touched") })
}

// TestRenew clears a used mapping and makes a new segment of it, with a new
// header followed by zeros.
func TestRenew(t *testing.T) {
	g, f := newMapped(t, 2*Window+8192)
	for i := range g.b {
		g.b[i] = 0xaa
	}
	id := testID
	id.Number, id.Size = 9, int64(len(g.b))
	rests, unmapped, freed := 0, 0, 0
	unmap := func() { unmapped++ }
	if err := Clear(g.b, func() { rests++ }); err != nil || !bytes.Equal(g.b, make([]byte, len(g.b))) {
		t.Fatalf("got %v, or bytes that are not cleared", err)
	}
	renewed, err := Renew(g.b, unmap, id, func(pages []byte, unmap func(), _ vfs.File) {
		freed = len(pages)
		unmap()
	})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, len(g.b))
	PutHeader(want, id)
	if !bytes.Equal(renewed.b, want) || rests != 3 || renewed.Identity != id {
		t.Errorf("got %+v after %d rests, want only the header of %+v after 3", renewed.Identity, rests, id)
	}
	if at, _, ok := renewed.Reserve(8); !ok || at != HeaderSize {
		t.Errorf("got a first claim at %d and %v, want %d", at, ok, HeaderSize)
	}
	if renewed.Done(nil); unmapped != 1 || freed != len(g.b) {
		t.Errorf("freed %d bytes, and unmapped %d times, want %d and once", freed, unmapped, len(g.b))
	}
	truncated(t, f)
	before := debug.SetPanicOnFault(false)
	if err := Clear(g.b, func() {}); err == nil ||
		!strings.Contains(err.Error(), "access a mapping") {
		t.Errorf("without the file: got %v, want that it cannot be cleared", err)
	}
	if err := f.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if g, err := Renew(g.b, unmap, id, nil); g != nil || err == nil ||
		!strings.Contains(err.Error(), "access a mapping") {
		t.Errorf("without the file: got %v and %v, want no segment", g, err)
	}
	if debug.SetPanicOnFault(before) {
		t.Error("faults still panic after it")
	}
}
