// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"testing"
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
