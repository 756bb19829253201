// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/nib-log/nib"
)

// TestSeedsDiffer changes one part of an identity after the other: each segment
// needs a seed of its own, or its records would be accepted in another segment.
func TestSeedsDiffer(t *testing.T) {
	id := testID
	for name, change := range map[string]func(id *Identity){
		"spool":      func(id *Identity) { id.Spool++ },
		"number":     func(id *Identity) { id.Number++ },
		"generation": func(id *Identity) { id.Gen++ },
	} {
		other := id
		if change(&other); other.Seed() == id.Seed() {
			t.Errorf("another %s has the same seed", name)
		}
	}
}

// TestOnlyHeadersAreRead has headers with a valid checksum that belong to no
// segment.
func TestOnlyHeadersAreRead(t *testing.T) {
	header := func(change func(id *Identity, b []byte)) []byte {
		id, b := testID, make([]byte, 64)
		change(&id, b)
		PutHeader(b, id)
		change(&id, b)
		le.PutUint32(b[60:], Checksum(b[:60]))
		return b
	}
	for _, c := range []struct {
		name   string
		change func(id *Identity, b []byte)
		want   error
	}{
		{"valid", func(*Identity, []byte) {}, nil},
		{"the largest size", func(id *Identity, _ []byte) { id.Size = MaxSize }, nil},
		{"another magic", func(_ *Identity, b []byte) { b[0]++ }, ErrHeader},
		{"version 0", func(_ *Identity, b []byte) { b[8] = 0 }, ErrHeader},
		{"a later version", func(_ *Identity, b []byte) { b[8] = version + 1 }, ErrVersion},
		{"too small", func(id *Identity, _ []byte) { id.Size = MinSize - 8 }, ErrHeader},
		{"too large", func(id *Identity, _ []byte) { id.Size = MaxSize + 8 }, ErrHeader},
		{"not a multiple of 8", func(id *Identity, _ []byte) { id.Size = MinSize + 4 }, ErrHeader},
	} {
		if _, err := ReadHeader(header(c.change)); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	b := header(func(*Identity, []byte) {})
	if _, err := ReadHeader(b[:63]); !errors.Is(err, ErrHeader) {
		t.Errorf("63 bytes: got %v, want %v", err, ErrHeader)
	}
}

// TestOnlyStartsAreRead has starts with a valid checksum. Only the first ones
// are possible.
func TestOnlyStartsAreRead(t *testing.T) {
	for _, c := range []struct {
		s  Start
		ok bool
	}{
		{Start{First: 1}, true},
		{Start{First: 5, Skipped: 4}, true},
		{Start{First: math.MaxInt64 - 1}, true},
		{Start{First: 5, Skipped: 5}, false},
		{Start{First: 5, Skipped: 6}, false},
		{Start{First: math.MaxInt64}, false},
		{Start{First: math.MaxUint64}, false},
	} {
		b := make([]byte, HeaderSize)
		putStart(b, 77, c.s)
		if got, ok := ReadStart(b, 77); ok != c.ok || ok && got != c.s {
			t.Errorf("%+v: got %+v and %v, want %v", c.s, got, ok, c.ok)
		}
	}
	b := make([]byte, unsureAt+8)
	putStart(b, 77, Start{First: 5})
	word(b, unsureAt).Store(stored(checked(3, unsureAt, 77)))
	whole, _ := ReadStart(b, 77)
	short, _ := ReadStart(b[:unsureAt+7], 77)
	if whole.Unsure != 3 || short.Unsure != 0 {
		t.Errorf("got %d unsure numbers, and %d of a header that is cut off, want 3 and 0", whole.Unsure, short.Unsure)
	}
}

// TestMessageOffset finds messages that are part of their line, and no others.
func TestMessageOffset(t *testing.T) {
	line := []byte("0123456789")
	for _, c := range []struct {
		name          string
		line, message []byte
		want          int
	}{
		{"none", line, nil, -1},
		{"empty", line, line[3:3], -1},
		{"at the beginning", line, line[:4], 0},
		{"within", line, line[3:5], 3},
		{"at the end", line, line[6:], 6},
		{"after the line", line[:4], line[4:6], -1},
		{"across the end of the line", line[:4], line[3:5], -1},
		{"before the line", line[4:], line[:2], -1},
		{"elsewhere", line, []byte("0123"), -1},
		{"elsewhere, with more room", line, append(make([]byte, 0, 64), "0123"...), -1},
		{"without a line", nil, []byte("0123"), -1},
	} {
		r := nib.Record{Line: c.line, Message: c.message}
		if got := MessageOffset(&r); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// TestMessagesAreStoredOnce checks the size of a record: a message that is part
// of the line takes no space, and a record without one is not marked as having
// one elsewhere.
func TestMessagesAreStoredOnce(t *testing.T) {
	line := []byte("0123456789")
	for _, c := range []struct {
		name    string
		message []byte
		size    int
		flags   byte
	}{
		{"none", nil, RecordHead + 10, 0},
		{"at the beginning", line[:4], RecordHead + 10, 0},
		{"elsewhere", []byte("abc"), RecordHead + 13, apart},
	} {
		r := nib.Record{Line: line, Message: c.message}
		m := MessageOffset(&r)
		size := RecordSize(&r, m)
		if size != c.size {
			t.Errorf("%s: got %d bytes, want %d", c.name, size, c.size)
			continue
		}
		b := make([]byte, size)
		PutRecord(b, &r, m, 100, 7, 77)
		if got, ok := Decode(b, false, map[string]string{}); !ok || b[30] != c.flags || !bytes.Equal(got.Message, c.message) || (got.Message == nil) != (c.message == nil) {
			t.Errorf("%s: got flags %d, message %q and %v, want flags %d", c.name, b[30], got.Message, ok, c.flags)
		}
	}
}

// TestRecordsOfOthersAreNotFound has records with a valid length that are cut
// off, damaged or of another segment.
func TestRecordsOfOthersAreNotFound(t *testing.T) {
	r := nib.Record{Line: []byte("0123456789abcdef")}
	size := RecordSize(&r, -1)
	put := func(seed uint32) []byte {
		b := make([]byte, size)
		le.PutUint64(b, PutRecord(b, &r, -1, 100, 7, seed))
		return b
	}
	b := put(77)
	if _, seq, ok := recordAt(b, 0, 77); !ok || seq != 100 {
		t.Fatalf("got number %d and %v, want 100", seq, ok)
	}
	damaged := bytes.Clone(b)
	damaged[size-1]++
	short := bytes.Clone(b)
	short[0] = RecordHead - 1
	for name, b := range map[string][]byte{
		"another segment": put(78), "damaged": damaged, "cut off": b[:size-8], "without a head": b[:RecordHead-8], "shorter than a head": short,
	} {
		if rec, seq, ok := recordAt(b, 0, 77); ok || rec != nil || seq != 0 {
			t.Errorf("%s: got a record with number %d", name, seq)
		}
	}
}

// TestInconsistentRecordsAreRejected changes heads to ones that no record has.
// Their checksum is computed afterwards, as a faulty program would.
func TestInconsistentRecordsAreRejected(t *testing.T) {
	r := nib.Record{Line: []byte("0123456789abcdef"), Message: []byte("abc"), Logger: "db"}
	size := RecordSize(&r, -1)
	for _, c := range []struct {
		name   string
		change func(b []byte) []byte
		ok     bool
	}{
		{"unchanged", func(b []byte) []byte { return b }, true},
		{"shorter than a head", func(b []byte) []byte { return b[:RecordHead-1] }, false},
		{"an unknown flag", func(b []byte) []byte { b[30] |= 4; return b }, false},
		{"no counts in a notice", func(b []byte) []byte { b[30] = addressed; return b }, false},
		{"a name that is longer than the record", func(b []byte) []byte { b[31] = 200; return b }, false},
		{"a message that is longer than the record", func(b []byte) []byte { le.PutUint32(b[44:], 200); return b }, false},
		{"a message after the record", func(b []byte) []byte { le.PutUint32(b[40:], 200); return b }, false},
		{"a message at the end of the record", func(b []byte) []byte { le.PutUint32(b[40:], uint32(size-RecordHead-3)); return b }, true},
		{"a message across the end of the record", func(b []byte) []byte { le.PutUint32(b[40:], uint32(size-RecordHead-2)); return b }, false},
		{"no message, with a length", func(b []byte) []byte { le.PutUint32(b[40:], math.MaxUint32); return b }, false},
	} {
		b := make([]byte, size)
		PutRecord(b, &r, -1, 100, 7, 77)
		if _, ok := Decode(c.change(b), false, map[string]string{}); ok != c.ok {
			t.Errorf("%s: got %v, want %v", c.name, ok, c.ok)
		}
	}
}

// TestNamesAreBounded reads records of many loggers, and records of one logger
// again.
func TestNamesAreBounded(t *testing.T) {
	names := map[string]string{}
	for i := range 2 * maxNames {
		b := strconv.AppendInt(nil, int64(i), 10)
		if got := intern(names, b); got != string(b) || len(names) > maxNames || names[got] != got {
			t.Fatalf("name %d: got %q, with %d names kept", i, got, len(names))
		}
		if i == maxNames-1 && len(names) != maxNames {
			t.Errorf("got %d names kept, want %d", len(names), maxNames)
		}
	}
}

// TestCountsOfEitherSection has a header that counts drops in one section:
// records must not be added to a segment whose first one would seem to report
// them.
func TestCountsOfEitherSection(t *testing.T) {
	for s := range sections {
		b := make([]byte, HeaderSize)
		if testID.HasCounts(b) {
			t.Error("an empty header has counts")
		}
		at := dropAt(s, CauseFull, 1)
		word(b, at).Store(stored(checked(1, at, testID.Seed())))
		if !testID.HasCounts(b) {
			t.Errorf("the count in section %d is not found", s)
		}
	}
}

// TestUnreportedCounts adds the counts that the first record should report, if
// the record is missing or damaged.
func TestUnreportedCounts(t *testing.T) {
	g, offsets := filled(t, sample())
	for _, s := range []section{SectionReported, SectionUnreported} {
		at := dropAt(s, CauseFull, 1)
		word(g.b, at).Store(stored(checked(uint64(1+s), at, g.crc)))
	}
	damaged := bytes.Clone(g.b)
	damaged[offsets[1]-8]++
	for _, c := range []struct {
		name string
		b    []byte
		want uint64
	}{
		{"with the record", g.b, 2}, {"damaged", damaged, 3}, {"cut off", g.b[:HeaderSize], 3},
	} {
		if got := testID.Unreported(c.b); got[CauseFull][1] != c.want {
			t.Errorf("%s: got %d unreported lines, want %d", c.name, got[CauseFull][1], c.want)
		}
	}
}
