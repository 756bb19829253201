// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

var testID = Identity{
	Spool: 0xfeed, Number: 3, Gen: 7, Stream: 0x1234567800000007, Boot: 9, Size: MinSize,
}

// filled returns a segment with records made of lines, and the offset of each.
func filled(t testing.TB, records []nib.Record) (g *Segment, offsets []int) {
	t.Helper()
	g = New(make([]byte, MinSize), testID, nil)
	g.Begin(Start{First: 100})
	for i := range records {
		m := MessageOffset(&records[i])
		size := RecordSize(&records[i], m)
		at, seq, ok := g.Reserve(size)
		if !ok || seq != 100+uint64(i) {
			t.Fatalf("reserve: got number %d and %v, want %d", seq, ok, 100+i)
		}
		g.Write(at, size, seq, &records[i], m)
		offsets = append(offsets, at)
	}
	return g, offsets
}

func sample() []nib.Record {
	line := []byte(`{"level":"info","message":"hi there","n":1}` + "\n")
	return []nib.Record{
		{Line: line},
		{Line: line, Message: line[27:35], Level: nib.LevelError, Time: -5, PC: 77, Logger: "db.pool"},
		{Line: line, Message: []byte("elsewhere")},
		{Line: line, Message: []byte{}, Level: -100000, Logger: strings.Repeat("x", 300)},
		{Line: bytes.Repeat([]byte("long "), 999)},
		{},
	}
}

func TestRecordRoundTrip(t *testing.T) {
	records := sample()
	g, offsets := filled(t, records)
	for i, want := range records {
		rec, seq, ok := recordAt(g.b, offsets[i], g.crc)
		if !ok || seq != 100+uint64(i) {
			t.Fatalf("record %d: got number %d and %v", i, seq, ok)
		}
		got := nib.Record{Time: 1, Level: 1, PC: 1, Logger: "old", Message: []byte("old"), Line: []byte("old"), Spool: 1, Seq: 1}
		ok = DecodeInto(&got, rec, true, map[string]string{})
		want.Seq = seq
		want.Level = max(want.Level, -32768)
		want.Logger = want.Logger[:min(len(want.Logger), 255)]
		if !ok || !sameRecord(got, want) {
			t.Errorf("record %d: got %+v and %v, want %+v", i, got, ok, want)
		}
	}
}

func sameRecord(a, b nib.Record) bool {
	return a.Spool == b.Spool && a.Time == b.Time && a.Level == b.Level && a.PC == b.PC && a.Logger == b.Logger && a.Seq == b.Seq &&
		bytes.Equal(a.Message, b.Message) && (a.Message == nil) == (b.Message == nil) && bytes.Equal(a.Line, b.Line)
}

func TestHeaderRoundTrip(t *testing.T) {
	g := New(make([]byte, MinSize), testID, nil)
	g.Begin(Start{First: 12, Skipped: 3})
	if id, err := ReadHeader(g.b); err != nil || id != testID {
		t.Errorf("got header %+v and %v, want %+v", id, err, testID)
	}
	if s, ok := ReadStart(g.b, g.crc); !ok || s != g.Start {
		t.Errorf("got start %+v and %v, want %+v", s, ok, g.Start)
	}
	for bit := range 88 * 8 {
		b := bytes.Clone(g.b[:88])
		b[bit/8] ^= 1 << (bit % 8)
		_, errHeader := ReadHeader(b)
		if _, okStart := ReadStart(b, g.crc); errHeader == nil && okStart {
			t.Errorf("bit %d of the header is not checked", bit)
		}
	}
}

// scanAll returns the numbers of the records that a scanner finds, and compares
// each record with the written one.
func scanAll(t testing.TB, b []byte, written map[uint64][]byte) (seqs []uint64, damaged bool) {
	t.Helper()
	s := NewScanner(b, testID, 100)
	for {
		rec, g, ok := s.Next()
		damaged = damaged || g.Damaged
		if !ok {
			return seqs, damaged
		}
		r, _ := Decode(rec, true, map[string]string{})
		if want, ok := written[r.Seq]; !ok || !bytes.Equal(rec[8:], want[8:]) {
			t.Fatalf("record %d was never written like this", r.Seq)
		}
		seqs = append(seqs, r.Seq)
	}
}

func writtenTo(g *Segment, offsets []int) map[uint64][]byte {
	m := map[uint64][]byte{}
	for _, at := range offsets {
		rec, seq, _ := recordAt(g.b, at, g.crc)
		m[seq] = bytes.Clone(rec)
	}
	return m
}

// TestFlippedBitCostsOneRecord flips single bits anywhere in the records.
func TestFlippedBitCostsOneRecord(t *testing.T) {
	g, offsets := filled(t, sample())
	written := writtenTo(g, offsets)
	end, _, _ := g.Claimed()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		bit := HeaderSize*8 + rng.IntN((end-HeaderSize)*8)
		g.b[bit/8] ^= 1 << (bit % 8)
		if seqs, _ := scanAll(t, g.b[:end], written); len(seqs) < len(offsets)-1 {
			t.Errorf("bit %d: got %d records, want at least %d", bit, len(seqs), len(offsets)-1)
		}
		g.b[bit/8] ^= 1 << (bit % 8)
	}
}

func TestScanStates(t *testing.T) {
	for _, c := range []struct {
		name         string
		change       func(g *Segment, at int)
		want         uint64 // numbers missing
		CauseDamaged bool
	}{
		{"committed", func(g *Segment, at int) {}, 0, false},
		{"claimed, not marked", func(g *Segment, at int) { clear(g.b[at : at+Align(len(sample()[1].Line)+RecordHead+7)]) }, 1, false},
		{"marked, not committed", func(g *Segment, at int) {
			w := word(g.b, at)
			n := int32(uint32(stored(w.Load())))
			w.Store(stored(uint64(uint32(-n))))
		}, 1, false},
		{"damaged", func(g *Segment, at int) { g.b[at+RecordHead+2]++ }, 1, true},
		{"length damaged", func(g *Segment, at int) { g.b[at+1]++ }, 1, true},
		{"length negative", func(g *Segment, at int) { g.b[at+3] |= 0x80 }, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, offsets := filled(t, sample())
			c.change(g, offsets[1])
			s := NewScanner(g.b, testID, 100)
			var missing uint64
			damaged, records := false, 0
			for {
				_, gap, ok := s.Next()
				if !ok {
					break
				}
				records++
				missing += gap.numbers
				damaged = damaged || gap.Damaged
			}
			if missing != c.want || records != len(offsets)-int(c.want) {
				t.Errorf("got %d records and %d missing, want %d missing of %d", records, missing, c.want, len(offsets))
			}
			if damaged != c.CauseDamaged {
				t.Errorf("got damaged %v, want %v", damaged, c.CauseDamaged)
			}
		})
	}
}

// FuzzScan passes arbitrary bytes to the scanner: it must terminate, and every
// record that it accepts must have the right checksum.
func FuzzScan(f *testing.F) {
	g, _ := filled(f, sample())
	f.Add(g.b[HeaderSize:9000], uint16(50), byte(1))
	f.Fuzz(func(t *testing.T, b []byte, at uint16, change byte) {
		image := make([]byte, HeaderSize, HeaderSize+len(b)+8)
		image = append(image, b...)
		if len(b) > 0 {
			image[HeaderSize+int(at)%len(b)] ^= change
		}
		s := NewScanner(image, testID, 100)
		last := uint64(99)
		for {
			rec, _, ok := s.Next()
			if !ok {
				break
			}
			r, _ := Decode(rec, false, map[string]string{})
			if seq := le.Uint64(rec[8:]); seq <= last {
				t.Fatalf("number %d after %d", seq, last)
			} else {
				last = seq
			}
			_ = r.Line
		}
	})
}

// TestReadyIsNotARecord writes the bytes of a ready record, which is not in the
// file yet: no reader may accept it as a record.
func TestReadyIsNotARecord(t *testing.T) {
	g, offsets := filled(t, sample())
	for _, at := range offsets {
		w := stored(word(g.b, at).Load())
		if got := negated(negated(w)); got != w {
			t.Errorf("negated twice: got %x, want %x", got, w)
		}
		word(g.b, at).Store(stored(negated(w)))
		if _, _, ok := recordAt(g.b, at, g.crc); ok || g.Committed(at) {
			t.Errorf("the record at %d counts as committed", at)
		}
	}
}
