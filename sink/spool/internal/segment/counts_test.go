// SPDX-License-Identifier: Apache-2.0

package segment

import "testing"

// TestCountsAreChecked changes the bits of a count.
func TestCountsAreChecked(t *testing.T) {
	b := make([]byte, HeaderSize)
	for _, n := range []uint64{0, 1, 1 << 40} {
		at := dropAt(SectionUnreported, CauseRejected, 3)
		word(b, at).Store(stored(checked(n, at, 77)))
		if got := countsIn(b, 77, SectionUnreported); got[CauseRejected][3] != n {
			t.Errorf("got %v, want %d", got, n)
		}
		for bit := range 64 {
			was := word(b, at).Load()
			word(b, at).Store(was ^ 1<<bit)
			if got := countsIn(b, 77, SectionUnreported); got != (Tally{}) {
				t.Errorf("bit %d of %d is not checked: %v", bit, n, got)
			}
			word(b, at).Store(was)
		}
		if whole, short := countsIn(b[:dropsEnd], 77, SectionUnreported), countsIn(b[:dropsEnd-1], 77, SectionUnreported); whole[CauseRejected][3] != n || short != (Tally{}) {
			t.Errorf("got %v from a header that ends behind the counts, and %v from a header "+
				"that ends before", whole, short)
		}
		if other := countsIn(b, 78, SectionUnreported); other != (Tally{}) {
			t.Errorf("the count of another segment is read: %v", other)
		}
	}
	if dropsEnd > HeaderSize {
		t.Errorf("counts end at %d, behind the header", dropsEnd)
	}
}

// TestCountIsBoundToItsPlace moves a count to the offset of another one.
func TestCountIsBoundToItsPlace(t *testing.T) {
	b := make([]byte, dropsEnd)
	at := dropAt(SectionUnreported, CauseFull, 2)
	le.PutUint64(b[at:], checked(7, at, 5))
	if n := count(b, at, 5); n != 7 {
		t.Errorf("got %d, want 7", n)
	}
	other := dropAt(SectionUnreported, CauseOldest, 2)
	copy(b[other:other+8], b[at:at+8])
	if n := count(b, other, 5); n != 0 {
		t.Errorf("at another place: got %d, want 0", n)
	}
	if n := count(b, at, 6); n != 0 {
		t.Errorf("in another segment: got %d, want 0", n)
	}
}

// TestDroppedNumbersAreChecked reads how many numbers before a segment were
// dropped: at most as many as there are, and at least as many as its Start has
// without a record.
func TestDroppedNumbersAreChecked(t *testing.T) {
	const seed, first, skipped = 5, 100, 10
	for _, c := range []struct {
		name    string
		numbers uint64
		word    uint64
		size    int
		want    uint64 // 0: none were dropped
	}{
		{"some", 11, 0, dropsAt, 11},
		{"all", 99, 0, dropsAt, 99},
		{"those that have no record", 10, 0, dropsAt, 0},
		{"more than there are", 100, 0, dropsAt, 0},
		{"a header that is cut off", 11, 0, dropsAt - 1, 0},
		{"another checksum", 11, 1 << 32, dropsAt, 0},
	} {
		b := make([]byte, dropsAt)
		le.PutUint64(b[droppedAt:], dropped(c.numbers, seed)^c.word)
		s := Start{First: first, Skipped: skipped, Unsure: 3}
		want := s
		if c.want > 0 {
			want = Start{First: first, Skipped: c.want, Dropped: true}
		}
		if got := s.withDropped(b[:c.size], seed); got != want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, want)
		}
	}
}

// setFull stores n lines that a full spool has dropped as unreported.
func setFull(g *Segment, n uint64) error {
	var t Tally
	t[CauseFull][1] = n
	return g.SetCounts(SectionUnreported, &t, &Tally{})
}
