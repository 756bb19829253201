// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"testing"

	"github.com/nib-log/nib"
)

// TestScannerFindsWhatIsBehindZeros has claims of all sizes to which nothing
// was written, each followed by a record.
func TestScannerFindsWhatIsBehindZeros(t *testing.T) {
	r := &sample()[0]
	for _, claim := range []int{48, 56, 504, 512, 520, 1016, 1024, 1032, 4096, 20_000} {
		g := New(make([]byte, MinSize), testID, nil)
		g.Begin(Start{First: 100})
		written, found := 0, 0
		for {
			_, _, ok := g.Reserve(claim)
			at, seq, ok2 := g.Reserve(RecordSize(r, -1))
			if !ok || !ok2 {
				break
			}
			g.Write(at, RecordSize(r, -1), seq, r, -1)
			written++
		}
		sc := NewScanner(g.b, testID, 100)
		for _, _, ok := sc.Next(); ok; _, _, ok = sc.Next() {
			found++
		}
		if found != written || written == 0 {
			t.Errorf("claims of %d bytes: found %d records of %d", claim, found, written)
		}
	}
}

// TestScanRefusesNumbersOutOfRange finds copies of records where they do not
// belong.
func TestScanRefusesNumbersOutOfRange(t *testing.T) {
	g, offsets := filled(t, sample())
	end, _, _ := g.Claimed()
	copy(g.b[end:], g.b[offsets[0]:offsets[1]])
	seqs, _ := scanAll(t, g.b, writtenTo(g, offsets))
	if len(seqs) != len(offsets) {
		t.Errorf("got the numbers %d, want %d of them", seqs, len(offsets))
	}
}

// TestScanSkipsClaims has claims of several sizes in place of the second
// record: those that a writer may have marked are not damage.
func TestScanSkipsClaims(t *testing.T) {
	g, offsets := filled(t, sample())
	size := offsets[2] - offsets[1]
	claim := func(n int) uint64 { return uint64(uint32(-int32(n))) }
	ready := stored(word(g.b, offsets[1]).Load())
	for _, c := range []struct {
		name    string
		word    uint64
		damaged bool
	}{
		{"none", 0, false},
		{"of the record", claim(size), false},
		{"of the smallest record", claim(RecordHead), false},
		{"up to the end", claim(MinSize - offsets[1]), false},
		{"beyond the end", claim(MinSize - offsets[1] + 8), true},
		{"smaller than a record", claim(RecordHead - 8), true},
		{"with a checksum", negated(ready), true},
		{"with something in its upper half", claim(size) | 1<<40, true},
		{"larger than an int32", 1 << 31, true},
	} {
		b := bytes.Clone(g.b)
		clear(b[offsets[1]:offsets[2]])
		word(b, offsets[1]).Store(stored(c.word))
		lines, damaged := linesIn(b)
		if want := map[bool]int{false: 5, true: 1}[c.name == "up to the end"]; len(lines) != want || damaged != c.damaged {
			t.Errorf("a claim %s: got %d records, damaged %v, want %d, %v", c.name, len(lines), damaged, want, c.damaged)
		}
	}
}

// TestScanTrustsNoClaimAfterDamage finds bytes that look like a claim inside a
// damaged record: the next record is not skipped.
func TestScanTrustsNoClaimAfterDamage(t *testing.T) {
	g, offsets := filled(t, sample())
	at := offsets[4] + RecordHead // in the long line
	g.b[at]++
	large := uint64(uint32(-int32(offsets[5] - at + 200)))
	word(g.b, at+8).Store(stored(large))
	if lines, damaged := linesIn(g.b); len(lines) != 5 || !damaged {
		t.Errorf("got %d records, damaged %v, want 5 and damage", len(lines), damaged)
	}
}

// TestScanBoundsNumbers has a record with the highest number that its segment
// can have, and one with the next one.
func TestScanBoundsNumbers(t *testing.T) {
	const room = (MinSize - HeaderSize) / RecordHead
	for seq, want := range map[uint64]int{100: 1, 100 + room - 1: 1, 100 + room: 0, 99: 0, 1 << 63: 0} {
		b := make([]byte, MinSize)
		r := nib.Record{Line: []byte("line")}
		size := RecordSize(&r, -1)
		le.PutUint64(b[HeaderSize:], PutRecord(b[HeaderSize:HeaderSize+size:HeaderSize+size], &r, -1, seq, testID.Gen, testID.Seed()))
		if lines, _ := linesIn(b); len(lines) != want {
			t.Errorf("number %d: got %d records, want %d", seq, len(lines), want)
		}
	}
}

// BenchmarkScan reads the records of a segment.
func BenchmarkScan(b *testing.B) {
	g := New(make([]byte, 8<<20), testID, nil)
	g.Begin(Start{First: 1})
	r := &sample()[0]
	size := RecordSize(r, -1)
	for {
		at, seq, ok := g.Reserve(size)
		if !ok {
			break
		}
		g.Write(at, size, seq, r, -1)
	}
	b.SetBytes(int64(len(g.b)))
	for b.Loop() {
		for sc := NewScanner(g.b, g.Identity, 1); ; {
			if _, _, ok := sc.Next(); !ok {
				break
			}
		}
	}
}
