// SPDX-License-Identifier: Apache-2.0

package segment

import (
	"bytes"
	"slices"
	"testing"

	"github.com/nib-log/nib"
	"github.com/nib-log/nib/internal/vfs"
)

// heap returns a segment in memory that counts as its file.
func heap(id Identity) *Segment {
	b := make([]byte, id.Size)
	PutHeader(b, id)
	return New(b, id, func() {})
}

// put writes a record to g.
func put(t *testing.T, g *Segment) {
	t.Helper()
	r := nib.Record{Line: []byte("{}\n")}
	size := RecordSize(&r, -1)
	at, seq, ok := g.Reserve(size)
	if !ok {
		t.Fatal("the segment is full")
	}
	g.Write(at, size, seq, &r, -1)
}

// found returns the segment in b as the next process finds it.
func found(t *testing.T, b []byte) *Old {
	t.Helper()
	id, err := ReadHeader(b)
	if err != nil {
		t.Fatal(err)
	}
	g := &Old{Identity: id, Streams: id.ReadStreams(b)}
	g.Start, _ = ReadStart(b, id.Seed())
	var ok bool
	if g.End, g.Used, g.Label, ok = g.RunToEnd(bytes.NewReader(b)); !ok {
		t.Fatal("the end is not found")
	}
	return g
}

// streamsOf returns the stream of each record in b.
func streamsOf(g *Old, b []byte) (got []uint64) {
	for sc := NewScanner(b, g.Identity, g.First); ; {
		rec, _, ok := sc.Next()
		if !ok {
			return got
		}
		got = append(got, g.StreamOf(rec))
	}
}

// TestStreamOfEachRecord lets processes continue a segment, with and without
// records: each record has the stream of its process, also where the list of
// streams is damaged: then the stream is made of the label.
func TestStreamOfEachRecord(t *testing.T) {
	g := heap(testID)
	g.Begin(Start{First: 100})
	put(t, g)
	want, b := []uint64{testID.Stream}, g.Bytes()
	for n := range uint64(10) {
		old := found(t, b)
		stream := 0x1111111100000000 + 0x0101010101010101*(n+1)
		if !old.CanContinue(stream) {
			t.Fatalf("process %d cannot continue the segment", n)
		}
		next := mapped(b, func() {}, old.Identity, func([]byte, func(), vfs.File) {})
		if err := next.ContinueBehind(old, stream); err != nil {
			t.Fatal(err)
		}
		if !next.Continued {
			t.Error("the segment is not continued")
		}
		for range n % 3 {
			put(t, next)
			want = append(want, stream)
		}
		if got := streamsOf(old, b); !slices.Equal(got, want) {
			t.Errorf("process %d: got the streams %x, want %x", n, got, want)
		}
	}
	old := found(t, b)
	if got := streamsOf(old, b); !slices.Equal(got, want) || len(old.Streams) != 7 {
		t.Errorf("got the streams %x of a list of %d, want %x of 7", got, len(old.Streams), want)
	}
	for i := range old.Streams {
		damaged := bytes.Clone(b)
		damaged[StreamsAt+i*streamsSize+5]++
		got := streamsOf(found(t, damaged), damaged)
		for k, x := range got {
			if is := want[k] == old.Streams[i]; is == (x == want[k]) || slices.Contains(want, x) == is {
				t.Errorf("entry %d is damaged: record %d has the stream %x, and had %x", i, k, x, want[k])
			}
		}
	}
}

// TestListOfStreamsHasRoom continues a segment until its list is full, and with
// a stream whose label is another stream's.
func TestListOfStreamsHasRoom(t *testing.T) {
	g := heap(testID)
	g.Begin(Start{First: 100})
	put(t, g)
	old := found(t, g.Bytes())
	for n := range uint64(MaxStreams) {
		stream := 1<<32 | (n + 100)
		for _, other := range append(old.Streams[:len(old.Streams):len(old.Streams)], testID.Stream) {
			if old.CanContinue(other ^ 1<<40) {
				t.Errorf("a stream with the label of %x may continue the segment", other)
			}
		}
		if !old.CanContinue(stream) {
			t.Fatalf("process %d cannot continue the segment", n)
		}
		if err := g.ContinueBehind(old, stream); err != nil {
			t.Fatal(err)
		}
		put(t, g)
		old = found(t, g.Bytes())
	}
	if old.CanContinue(1) {
		t.Errorf("a process continues a segment with %d streams", len(old.Streams)+1)
	}
	old.Used, old.Streams = 0, nil
	if old.CanContinue(1) {
		t.Error("a process continues a segment whose end is not known")
	}
}

// TestVersion1 reads a segment of version 1, in which a record has the
// generation where its label is now.
func TestVersion1(t *testing.T) {
	id := testID
	id.Stream = uint64(id.Gen)
	g := heap(id)
	g.Begin(Start{First: 100})
	put(t, g)
	b := g.Bytes()
	clear(b[44:48])
	b[8] = 1
	le.PutUint32(b[60:], Checksum(b[:60]))
	old := found(t, b)
	if got := streamsOf(old, b); !slices.Equal(got, []uint64{id.Spool}) || old.Stream != 0 {
		t.Errorf("got the streams %x, want %x", got, id.Spool)
	}
	if old.CanContinue(5) {
		t.Error("a process continues a segment of version 1")
	}
}
