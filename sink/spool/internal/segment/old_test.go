// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"io"
	"slices"
	"syscall"
	"testing"

	"github.com/nib-log/nib"
)

// oldOf describes the segment of filled as a later process sees it.
func oldOf(records int) *Old {
	end := 100 + uint64(records)
	return &Old{Identity: testID, Start: Start{First: 100}, End: end, Sure: end}
}

// without returns the bytes of g with the records at some indexes erased.
func without(g *Segment, offsets []int, erased ...int) []byte {
	b := bytes.Clone(g.b)
	for _, i := range erased {
		end := len(b)
		if i+1 < len(offsets) {
			end = offsets[i+1]
		}
		clear(b[offsets[i]:end])
	}
	return b
}

// TestComplete takes records from a copy that the file does not have, or has
// damaged, and no others.
func TestComplete(t *testing.T) {
	g, offsets := filled(t, sample())
	old := oldOf(len(offsets))
	damaged := bytes.Clone(g.b)
	damaged[offsets[2]+RecordHead]++
	stale := bytes.Clone(g.b) // with bytes of another segment, which look like a claim
	le.PutUint64(stale[offsets[2]:], uint64(uint32(offsets[2]-offsets[4])))
	for _, c := range []struct {
		name    string
		b, kept []byte
		whole   bool
	}{
		{"both whole", g.b, g.b, true},
		{"first and last one missing", without(g, offsets, 0, 5), g.b, true},
		{"damaged", damaged, g.b, true},
		{"missing here and there", without(g, offsets, 0, 2), without(g, offsets, 1, 3), true},
		{"missing in both", without(g, offsets, 1), without(g, offsets, 1), false},
		{"the file is shorter", g.b[:offsets[3]], g.b, true},
		{"the file is gone", nil, g.b, true},
		{"the copy is shorter", g.b, g.b[:offsets[3]], true},
		{"the copy is empty", g.b, nil, true},
		{"old bytes in the copy", without(g, offsets, 3), stale, true},
	} {
		got := old.Complete(bytes.Clone(c.b), c.kept)
		if old.HasAll(got) != c.whole || len(got) != max(len(c.b), len(c.kept)) {
			t.Errorf("%s: got %d bytes, all records %v, want %v", c.name, len(got), old.HasAll(got), c.whole)
		}
		if c.whole && !bytes.Equal(got[HeaderSize:], g.b[HeaderSize:len(got)]) {
			t.Errorf("%s: the records differ from what was written", c.name)
		}
	}
}

// TestIsWhole looks for gaps between records, and for damage after them.
func TestIsWhole(t *testing.T) {
	g, offsets := filled(t, sample())
	end, _, _ := g.Claimed()
	behind := bytes.Clone(g.b)
	behind[end+100] = 1
	for _, c := range []struct {
		name       string
		b          []byte
		end        uint64
		whole, all bool
	}{
		{"whole", g.b, 106, true, true},
		{"only the records", g.b[:end], 106, true, true},
		{"first one missing", without(g, offsets, 0), 106, false, false},
		{"one missing", without(g, offsets, 3), 106, false, false},
		{"last one missing", without(g, offsets, 5), 106, false, false},
		{"last one missing, its number is not known", without(g, offsets, 5), 0, true, true},
		{"more than expected", g.b, 104, true, true},
		{"damaged after the records", behind, 106, false, true},
		{"empty", make([]byte, MinSize), 100, true, true},
	} {
		old := oldOf(0)
		old.End = c.end
		if whole, all := old.IsWhole(c.b), old.HasAll(c.b); whole != c.whole || all != c.all {
			t.Errorf("%s: got whole %v, all %v, want %v, %v", c.name, whole, all, c.whole, c.all)
		}
	}
}

// TestLinesIn lists the lines before a number, and reports damage.
func TestLinesIn(t *testing.T) {
	g, offsets := filled(t, sample())
	damaged := bytes.Clone(g.b)
	damaged[offsets[1]+RecordHead]++
	for _, c := range []struct {
		name   string
		b      []byte
		end    uint64
		want   []uint64
		harmed bool
	}{
		{"all", g.b, 106, []uint64{100, 101, 102, 103, 104, 105}, false},
		{"some", g.b, 103, []uint64{100, 101, 102}, false},
		{"none", g.b, 100, nil, false},
		{"one missing", without(g, offsets, 1), 103, []uint64{100, 102}, false},
		{"one damaged", damaged, 104, []uint64{100, 102, 103}, true},
		{"one damaged after them", damaged, 101, []uint64{100}, true},
	} {
		lines, harmed := oldOf(6).LinesIn(c.b, c.end)
		var got []uint64
		for _, l := range lines {
			got = append(got, l.Seq)
			if want := max(sample()[l.Seq-100].Level, -32768); l.Level != want {
				t.Errorf("%s: line %d has level %d, want %d", c.name, l.Seq, l.Level, want)
			}
		}
		if !slices.Equal(got, c.want) || harmed != c.harmed {
			t.Errorf("%s: got %d, harmed %v, want %d, %v", c.name, got, harmed, c.want, c.harmed)
		}
	}
}

// TestNeverGiven has numbers whose last ones may never have been used.
func TestNeverGiven(t *testing.T) {
	g := Old{Start: Start{First: 100}, Sure: 110, End: 150}
	for _, c := range []struct{ seq, missing, want uint64 }{
		{105, 5, 0}, {149, 5, 0}, {150, 30, 30}, {150, 40, 40}, {150, 45, 40}, {151, 45, 40},
	} {
		if got := g.NeverGiven(c.seq, c.missing); got != c.want {
			t.Errorf("%d missing before %d: got %d, want %d", c.missing, c.seq, got, c.want)
		}
	}
}

// A badReader fails from an offset on.
type badReader struct {
	io.ReaderAt
	from int64
}

func (r badReader) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > r.from {
		return 0, syscall.EIO
	}
	return r.ReaderAt.ReadAt(p, at)
}

// TestRunToEnd follows records to the zeros after the last one, through more
// than a window.
func TestRunToEnd(t *testing.T) {
	id := testID
	id.Size = 3*Window + HeaderSize
	g := New(make([]byte, id.Size), id, nil)
	g.Begin(Start{First: 100})
	old := &Old{Identity: id, Start: g.Start}
	r := nib.Record{Line: bytes.Repeat([]byte("x"), 1000)}
	size := RecordSize(&r, -1)
	check := func(name string, r io.ReaderAt, next uint64, used int, ok bool) {
		t.Helper()
		if n, at, _, is := old.RunToEnd(r); is != ok || ok && (n != next || at != used) {
			t.Errorf("%s: got number %d at %d and %v, want %d at %d and %v", name, n, at, is, next, used, ok)
		}
	}
	check("none", bytes.NewReader(g.b), 100, HeaderSize, true)
	last := 0
	for {
		end, next, _ := g.Claimed()
		if (next-100)%97 == 0 {
			check("some", bytes.NewReader(g.b), next, end, true)
		}
		at, seq, ok := g.Reserve(size)
		if !ok {
			break
		}
		last = at
		g.Write(at, size, seq, &r, -1)
	}
	end, next, _ := g.Claimed()
	check("full", bytes.NewReader(g.b), next, end, true)
	check("cut off", bytes.NewReader(g.b[:len(g.b)-8]), 0, 0, false)
	check("cut off in the first window", bytes.NewReader(g.b[:HeaderSize+2000]), 0, 0, false)
	check("unreadable", badReader{bytes.NewReader(g.b), 2 * Window}, 0, 0, false)

	b := bytes.Clone(g.b)
	clear(b[last:])
	check("one less", bytes.NewReader(b), next-1, last, true)
	check("unreadable behind the records", badReader{bytes.NewReader(b), id.Size - 8}, 0, 0, false)
	b[len(b)-8] = 1
	check("something behind the records", bytes.NewReader(b), 0, 0, false)
	clear(b[HeaderSize+Align(size):])
	b[HeaderSize+2*Window+8] = 1
	check("something far behind the records", bytes.NewReader(b), 0, 0, false)
	b = bytes.Clone(g.b)
	b[HeaderSize+5*Align(size)+RecordHead]++
	check("damaged", bytes.NewReader(b), 0, 0, false)
	b = bytes.Clone(g.b)
	b[last+RecordHead]++
	check("the last one damaged", bytes.NewReader(b), 0, 0, false)
	b = bytes.Clone(g.b)
	copy(b[HeaderSize+5*Align(size):], b[HeaderSize:HeaderSize+Align(size)])
	check("out of order", bytes.NewReader(b), 0, 0, false)
}

// TestRunToEndOfExactWindows has records that end where a window or the segment
// does, and a record that is longer than a window.
func TestRunToEndOfExactWindows(t *testing.T) {
	for _, sizes := range [][]int{{Window}, {Window, Window}, {Window / 2, Window / 2, Window}, {Window / 2, Window / 2}} {
		id := testID
		id.Size = 2*Window + HeaderSize
		g := New(make([]byte, id.Size), id, nil)
		g.Begin(Start{First: 100})
		for _, size := range sizes {
			r := nib.Record{Line: make([]byte, size-RecordHead)}
			at, seq, _ := g.Reserve(size)
			g.Write(at, size, seq, &r, -1)
		}
		end, want, _ := g.Claimed()
		old := &Old{Identity: id, Start: g.Start}
		if next, used, _, ok := old.RunToEnd(bytes.NewReader(g.b)); next != want || used != end || !ok {
			t.Errorf("%d: got number %d at %d and %v, want %d at %d", sizes, next, used, ok, want, end)
		}
	}
	id := testID
	id.Size = 2*Window + HeaderSize
	g := New(make([]byte, id.Size), id, nil)
	g.Begin(Start{First: 100})
	r := nib.Record{Line: make([]byte, Window)}
	at, seq, _ := g.Reserve(RecordSize(&r, -1))
	g.Write(at, RecordSize(&r, -1), seq, &r, -1)
	old := &Old{Identity: id, Start: g.Start}
	if _, _, _, ok := old.RunToEnd(bytes.NewReader(g.b)); ok {
		t.Error("a record that is longer than the window was read")
	}
}
