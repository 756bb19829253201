// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nib-log/nib"
)

var testID = identity{spool: 0xfeed, number: 3, gen: 7, boot: 9, size: minSegment}

// filled returns a segment with records made of lines, and the offset of each.
func filled(t testing.TB, records []nib.Record) (g *segment, offsets []int) {
	t.Helper()
	g = newSegment(make([]byte, minSegment), testID, nil)
	g.begin(start{first: 100})
	for i := range records {
		m := messageAt(&records[i])
		size := recordSize(&records[i], m)
		at, seq, ok := g.reserve(size)
		if !ok || seq != 100+uint64(i) {
			t.Fatalf("reserve: got number %d and %v, want %d", seq, ok, 100+i)
		}
		g.write(at, size, seq, &records[i], m)
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
		rec, seq, ok := recordAt(g.b, offsets[i], g.gen, g.crc)
		if !ok || seq != 100+uint64(i) {
			t.Fatalf("record %d: got number %d and %v", i, seq, ok)
		}
		got, ok := decode(rec, true, map[string]string{})
		want.Seq = seq
		want.Level = max(want.Level, -32768)
		want.Logger = want.Logger[:min(len(want.Logger), 255)]
		if !ok || !sameRecord(got, want) {
			t.Errorf("record %d: got %+v and %v, want %+v", i, got, ok, want)
		}
	}
}

func sameRecord(a, b nib.Record) bool {
	return a.Time == b.Time && a.Level == b.Level && a.PC == b.PC && a.Logger == b.Logger && a.Seq == b.Seq &&
		bytes.Equal(a.Message, b.Message) && (a.Message == nil) == (b.Message == nil) && bytes.Equal(a.Line, b.Line)
}

func TestHeaderRoundTrip(t *testing.T) {
	g := newSegment(make([]byte, minSegment), testID, nil)
	g.begin(start{first: 12, skipped: 3})
	if id, err := readHeader(g.b); err != nil || id != testID {
		t.Errorf("got header %+v and %v, want %+v", id, err, testID)
	}
	if s, ok := readStart(g.b, g.crc); !ok || s != g.start {
		t.Errorf("got start %+v and %v, want %+v", s, ok, g.start)
	}
	for bit := range 88 * 8 {
		b := bytes.Clone(g.b[:88])
		b[bit/8] ^= 1 << (bit % 8)
		_, errHeader := readHeader(b)
		if _, okStart := readStart(b, g.crc); errHeader == nil && okStart {
			t.Errorf("bit %d of the header is not checked", bit)
		}
	}
}

// scanAll returns the numbers of the records that a scanner finds, after it has compared
// each with what was written.
func scanAll(t testing.TB, b []byte, written map[uint64][]byte) (seqs []uint64, damaged bool) {
	t.Helper()
	s := newScanner(b, testID, 100)
	for {
		rec, g, ok := s.next()
		damaged = damaged || g.damaged
		if !ok {
			return seqs, damaged
		}
		r, _ := decode(rec, true, map[string]string{})
		if want, ok := written[r.Seq]; !ok || !bytes.Equal(rec[8:], want[8:]) {
			t.Fatalf("record %d was never written like this", r.Seq)
		}
		seqs = append(seqs, r.Seq)
	}
}

func writtenTo(g *segment, offsets []int) map[uint64][]byte {
	m := map[uint64][]byte{}
	for _, at := range offsets {
		rec, seq, _ := recordAt(g.b, at, g.gen, g.crc)
		m[seq] = bytes.Clone(rec)
	}
	return m
}

// TestFlippedBitCostsOneRecord flips single bits anywhere in the records.
func TestFlippedBitCostsOneRecord(t *testing.T) {
	g, offsets := filled(t, sample())
	written := writtenTo(g, offsets)
	end, _, _ := g.claimed()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		bit := headerSize*8 + rng.IntN((end-headerSize)*8)
		g.b[bit/8] ^= 1 << (bit % 8)
		if seqs, _ := scanAll(t, g.b[:end], written); len(seqs) < len(offsets)-1 {
			t.Errorf("bit %d: got %d records, want at least %d", bit, len(seqs), len(offsets)-1)
		}
		g.b[bit/8] ^= 1 << (bit % 8)
	}
}

func TestScanStates(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(g *segment, at int)
		want    uint64 // numbers missing
		damaged bool
	}{
		{"committed", func(g *segment, at int) {}, 0, false},
		{"claimed, not marked", func(g *segment, at int) { clear(g.b[at : at+align(len(sample()[1].Line)+recordHead+7)]) }, 1, false},
		{"marked, not committed", func(g *segment, at int) {
			w := word(g.b, at)
			n := int32(uint32(stored(w.Load())))
			w.Store(stored(uint64(uint32(-n))))
		}, 1, false},
		{"damaged", func(g *segment, at int) { g.b[at+recordHead+2]++ }, 1, true},
		{"length damaged", func(g *segment, at int) { g.b[at+1]++ }, 1, true},
		{"length negative", func(g *segment, at int) { g.b[at+3] |= 0x80 }, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, offsets := filled(t, sample())
			c.change(g, offsets[1])
			s := newScanner(g.b, testID, 100)
			var missing uint64
			damaged, records := false, 0
			for {
				_, gap, ok := s.next()
				if !ok {
					break
				}
				records++
				missing += gap.numbers
				damaged = damaged || gap.damaged
			}
			if missing != c.want || records != len(offsets)-int(c.want) {
				t.Errorf("got %d records and %d missing, want %d missing of %d", records, missing, c.want, len(offsets))
			}
			if damaged != c.damaged {
				t.Errorf("got damaged %v, want %v", damaged, c.damaged)
			}
		})
	}
}

// FuzzScan gives the scanner any bytes: it ends, and what it accepts has the
// right checksum.
func FuzzScan(f *testing.F) {
	g, _ := filled(f, sample())
	f.Add(g.b[headerSize:9000], uint16(50), byte(1))
	f.Fuzz(func(t *testing.T, b []byte, at uint16, change byte) {
		image := make([]byte, headerSize, headerSize+len(b)+8)
		image = append(image, b...)
		if len(b) > 0 {
			image[headerSize+int(at)%len(b)] ^= change
		}
		s := newScanner(image, testID, 100)
		last := uint64(99)
		for {
			rec, _, ok := s.next()
			if !ok {
				break
			}
			r, _ := decode(rec, false, map[string]string{})
			if seq := le.Uint64(rec[8:]); seq <= last {
				t.Fatalf("number %d after %d", seq, last)
			} else {
				last = seq
			}
			_ = r.Line
		}
	})
}
